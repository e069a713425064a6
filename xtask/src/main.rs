//! The project's own chores: `cargo xtask test`, `clients`, `record`, `bench`, `docs`, `dist`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    },
    /// Drive real clients and nothing else: all, or those that are named
    Clients {
        /// claude, codex, gemini, opencode
        names: Vec<String>,
    },
    /// Record what real clients write down about reading files, for the tests
    Record,
    /// Measure the release binary against `cat` and the bare libraries, side by side
    Bench,
    /// Write the generated pages of docs/reference
    Docs,
    /// Write shell completions and man pages to target/dist
    Dist,
}

fn main() -> ExitCode {
    let result = match Cli::parse().chore {
        Chore::Test { clients: false } => xtask::test::run(),
        Chore::Test { clients: true } => xtask::test::run().and_then(|()| xtask::clients::run(&[])),
        Chore::Clients { names } => xtask::clients::run(&names),
        Chore::Record => xtask::clients::record::run(),
        Chore::Bench => xtask::bench::run(),
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
