//! The project's own chores: `cargo xtask test`, `clients`, `browser`, `record`, `bench`, `docs`, `dist`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::clients::Lanes;

/// The project's own chores
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Install what the tests need, then check formatting, lints, tests and documentation
    Test {
        /// Also drive real clients from the npm registry against a stand-in for their model
        #[arg(long)]
        clients: bool,
        /// Also draw a table of diagrams with a real Mermaid in a real browser
        #[arg(long)]
        browser: bool,
    },
    /// Drive real clients and nothing else: all, or those that are named
    Clients {
        /// claude, codex, gemini, opencode, qwen, or design for a design with the first two
        names: Vec<String>,
        /// Drive them in lanes and nothing else, also those that take minutes
        #[arg(long)]
        lanes: bool,
    },
    /// Draw a table of diagrams with a real Mermaid in a real browser, and nothing else
    Browser,
    /// Record what real clients write down about reading files, for the tests
    Record,
    /// Measure the release binary against `cat` and the bare libraries, side by side
    Bench {
        /// How the groups to measure begin: brief, wake, dispatch, lane, lane-many
        names: Vec<String>,
    },
    /// Run many lanes at once, for a benchmark
    #[command(hide = true)]
    LanesAtOnce {
        /// Where their client and their files are
        folder: PathBuf,
    },
    /// Be a client that says much, for a benchmark
    #[command(hide = true)]
    Talk {
        /// What a client is started with
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Write the generated pages of docs/reference
    Docs,
    /// Write shell completions and man pages to target/dist
    Dist,
}

fn main() -> ExitCode {
    let result = match Cli::parse().chore {
        Chore::Test { clients, browser } => test(clients, browser),
        Chore::Clients { names, lanes } => {
            xtask::clients::run(&names, if lanes { Lanes::All } else { Lanes::Quick })
        }
        Chore::Browser => xtask::browser::run(),
        Chore::Record => xtask::clients::record::run(),
        Chore::Bench { names } => xtask::bench::run(&names),
        Chore::LanesAtOnce { folder } => xtask::bench::lane::at_once::run(&folder),
        Chore::Talk { .. } => xtask::bench::lane::at_once::talk(),
        Chore::Docs => xtask::docs::write(),
        Chore::Dist => xtask::dist::write(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            xtask::say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs the checks, then what takes programs that not everybody has.
fn test(clients: bool, browser: bool) -> Result<(), xtask::Error> {
    xtask::test::run()?;
    if browser {
        xtask::browser::run()?;
    }
    if clients { xtask::clients::run(&[], Lanes::Quick) } else { Ok(()) }
}
