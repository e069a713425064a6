//! The project's own chores: `cargo xtask test`, `clients`, `browser`, `record`, `bench`, `docs`,
//! `book`, `demo`, `dist`, `audit`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::Error;
use xtask::audit::Advisories;
use xtask::clients::Lanes;
use xtask::dist::{DistRequest, PackageKind, Target, Trial};
use xtask::packages::{
    Consent, FOR_BENCHES, FOR_BROWSER, FOR_CLIENTS, FOR_DEMO, FOR_LINUX_PACKAGES,
    FOR_PACKAGE_CHECKS, FOR_PACKAGES, FOR_TESTS, Needed, provide,
};

/// The project's own chores
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    /// Install missing system packages with apt-get without asking
    #[arg(long, global = true)]
    install: bool,
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check formatting, lints, tests and documentation
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
        /// claude, codex, gemini, opencode, qwen, design for a design with the first two, newcomer for
        /// a first hour with claude; only when they are named: acp, mcp, mcp-CLIENT, mcp-inspector,
        /// mcp-conformance
        names: Vec<String>,
        /// Drive them in lanes and nothing else, also those that take minutes
        #[arg(long)]
        lanes: bool,
    },
    /// Draw a table of diagrams with a real Mermaid in a real browser, and nothing else
    Browser,
    /// Record what real clients write down about reading files, for the tests
    Record,
    /// Measure the program as it is released against `cat` and the bare libraries, side by side
    Bench {
        /// How the groups to measure begin: brief, wake, dispatch, lane, lane-many
        names: Vec<String>,
    },
    /// Run many lanes in parallel, for a benchmark
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
    /// Build the documents as a book in target/book, with an mdbook from crates.io
    Book,
    /// Record a rehearsed design as the README's picture
    Demo,
    /// Make the packages of a release in target/packages
    Dist {
        /// Make this kind of package and no other; can be repeated
        #[arg(long, value_name = "KIND")]
        only: Vec<PackageKind>,
        /// Build for this system and no other; can be repeated [default: all that can be built here]
        #[arg(long, value_name = "TRIPLE", value_parser = Target::parse)]
        target: Vec<Target>,
        /// Also install the packages in temporary folders, and run what they install
        #[arg(long)]
        check: bool,
    },
    /// Check dependencies: licences, sources, known faults, and those that no code uses
    Audit {
        /// Do not look up known faults, for a machine without a network
        #[arg(long)]
        no_advisories: bool,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let consent = if cli.install { Consent::Given } else { Consent::Asked };
    let result = provide(&cli.chore.needed(), consent).and_then(|()| cli.chore.run());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            xtask::say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

impl Chore {
    /// Returns the programs that the chore runs. The chore searches for them first, so that it does
    /// not stop in the middle after many minutes.
    fn needed(&self) -> Vec<&'static [Needed]> {
        match self {
            Self::Test { clients, browser } => {
                let clients = clients.then_some(&FOR_CLIENTS[..]);
                let browser = browser.then_some(&FOR_BROWSER[..]);
                [Some(&FOR_TESTS[..]), clients, browser].into_iter().flatten().collect()
            }
            Self::Clients { .. } | Self::Record => vec![&FOR_CLIENTS],
            Self::Browser => vec![&FOR_BROWSER],
            Self::Bench { .. } => vec![&FOR_BENCHES],
            Self::Dist { check, .. } => {
                let linux = cfg!(target_os = "linux").then_some(&FOR_LINUX_PACKAGES[..]);
                let check = linux.and(check.then_some(&FOR_PACKAGE_CHECKS[..]));
                [Some(&FOR_PACKAGES[..]), linux, check].into_iter().flatten().collect()
            }
            Self::LanesAtOnce { .. }
            | Self::Talk { .. }
            | Self::Docs
            | Self::Book
            | Self::Audit { .. } => Vec::new(),
            Self::Demo => vec![&FOR_DEMO],
        }
    }

    fn run(self) -> Result<(), Error> {
        match self {
            Self::Test { clients, browser } => test(clients, browser),
            Self::Clients { names, lanes } => {
                xtask::clients::run(&names, if lanes { Lanes::All } else { Lanes::Quick })
            }
            Self::Browser => xtask::browser::run(),
            Self::Record => xtask::clients::record::run(),
            Self::Bench { names } => xtask::bench::run(&names),
            Self::LanesAtOnce { folder } => xtask::bench::lane::at_once::run(&folder),
            Self::Talk { .. } => xtask::bench::lane::at_once::talk(),
            Self::Docs => xtask::docs::write(),
            Self::Book => xtask::book::build(),
            Self::Demo => xtask::demo::write(),
            Self::Dist { only, target, check } => xtask::dist::write(&DistRequest {
                kinds: only,
                targets: target,
                trial: if check { Trial::Install } else { Trial::Skip },
            }),
            Self::Audit { no_advisories: true } => xtask::audit::run_all(Advisories::Skipped),
            Self::Audit { no_advisories: false } => xtask::audit::run_all(Advisories::Needed),
        }
    }
}

/// Runs the checks, then those whose programs are not always installed.
fn test(clients: bool, browser: bool) -> Result<(), Error> {
    xtask::test::run()?;
    if browser {
        xtask::browser::run()?;
    }
    if clients { xtask::clients::run(&[], Lanes::Quick) } else { Ok(()) }
}
