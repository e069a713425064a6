//! The project's own chores: `cargo xtask test`, `clients`, `browser`, `record`, `bench`,
//! `pack-recall`, `docs`, `book`, `demo`, `pictures`, `dist`, `audit`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::Error;
use xtask::audit::Advisories;
use xtask::clients::Lanes;
use xtask::dist::{DistRequest, PackageKind, Target, Trial};
use xtask::pack_recall::{Half, MissChoice, PeerChoice, RecallRequest};
use xtask::packages::{
    Consent, FOR_BENCHES, FOR_BROWSER, FOR_CLIENTS, FOR_DEMO, FOR_FLEET, FOR_LINUX_PACKAGES,
    FOR_PACKAGE_CHECKS, FOR_PACKAGES, FOR_PICTURES, FOR_TESTS, Needed, provide,
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
        /// Also open the dashboard and draw a table of diagrams in a real browser
        #[arg(long)]
        browser: bool,
        /// Also test stores on a real Postgres server and lanes on workers; the tests start the servers
        #[arg(long)]
        fleet: bool,
        /// Also install packages of npm and Python with programs that are not optimized, and run them
        #[arg(long)]
        packages: bool,
    },
    /// Drive real clients and nothing else: all, or those that are named
    Clients {
        /// claude, codex, gemini, opencode, design for a design with the first two, acp or acp-AGENT,
        /// mcp or mcp-CLIENT, mcp-inspector, mcp-conformance; newcomer for a first hour with claude,
        /// lines for the documents' lines that ask agents, own-lanes for the hooks in lanes, sessions for those in your own; qwen, acp-qwen and mcp-qwen only when they are named
        names: Vec<String>,
        /// Drive them in lanes and nothing else, also those that take minutes
        #[arg(long)]
        lanes: bool,
    },
    /// Open the dashboard and draw a table of diagrams in a real browser, and nothing else
    Browser {
        /// `diagrams`, or words of the dashboard's trials; without any, everything
        words: Vec<String>,
    },
    /// Record what real clients write down about reading files, for the tests
    Record,
    /// Measure the program as it is released against `cat` and the bare libraries, side by side
    Bench {
        /// How the groups to measure begin: brief, wake, dispatch, lane, lane-many
        names: Vec<String>,
    },
    /// Measure how often a repository pack holds the files that a commit then changed
    PackRecall {
        /// Repositories [default: this one]
        repositories: Vec<PathBuf>,
        /// Measure this many commits of each
        #[arg(long, default_value_t = 50)]
        commits: usize,
        /// Which commits: every other one is kept for tuning
        #[arg(long, value_enum, default_value = "report")]
        half: Half,
        /// Also measure repomix and aider's map, from npm and pip, installed in this folder
        #[arg(long, value_name = "FOLDER")]
        peers: Option<PathBuf>,
        /// Name every file, with its rank
        #[arg(long)]
        misses: bool,
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
    /// Take the pictures of the dashboard that the documents show, in a real browser
    Pictures,
    /// Make the packages of a release in target/packages
    Dist {
        /// Make this kind of package and no other; can be repeated
        #[arg(long, value_name = "KIND")]
        only: Vec<PackageKind>,
        /// Build for this system and no other; can be repeated [default: all that can be built here]
        #[arg(long, value_name = "TRIPLE", value_parser = Target::parse)]
        target: Vec<Target>,
        /// Package the programs in this folder instead of building them; for a quick check alone
        #[arg(long, value_name = "FOLDER", requires = "check")]
        built: Option<PathBuf>,
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
            Self::Test { clients, browser, fleet, packages } => {
                let clients = clients.then_some(&FOR_CLIENTS[..]);
                let browser = browser.then_some(&FOR_BROWSER[..]);
                let fleet = fleet.then_some(&FOR_FLEET[..]);
                let linux = cfg!(target_os = "linux") && *packages;
                let linux = linux.then_some(&FOR_LINUX_PACKAGES[..]);
                let packages = packages.then_some(&FOR_PACKAGES[..]);
                let all = [Some(&FOR_TESTS[..]), clients, browser, fleet, packages, linux];
                all.into_iter().flatten().collect()
            }
            Self::Clients { .. } | Self::Record => vec![&FOR_CLIENTS],
            Self::Browser { .. } => vec![&FOR_BROWSER],
            Self::Pictures => vec![&FOR_PICTURES],
            Self::Bench { .. } => vec![&FOR_BENCHES, &FOR_FLEET],
            Self::Dist { check, .. } => {
                let linux = cfg!(target_os = "linux").then_some(&FOR_LINUX_PACKAGES[..]);
                let check = linux.and(check.then_some(&FOR_PACKAGE_CHECKS[..]));
                [Some(&FOR_PACKAGES[..]), linux, check].into_iter().flatten().collect()
            }
            Self::PackRecall { .. }
            | Self::LanesAtOnce { .. }
            | Self::Talk { .. }
            | Self::Docs
            | Self::Book
            | Self::Audit { .. } => Vec::new(),
            Self::Demo => vec![&FOR_DEMO],
        }
    }

    fn run(self) -> Result<(), Error> {
        match self {
            Self::Test { clients, browser, fleet, packages } => {
                xtask::test::run()?;
                if fleet {
                    xtask::test::run_fleet()?;
                }
                if packages {
                    xtask::test::run_packages()?;
                }
                if browser {
                    xtask::browser::run(&[])?;
                }
                if clients { xtask::clients::run(&[], Lanes::Quick) } else { Ok(()) }
            }
            Self::Clients { names, lanes } => {
                xtask::clients::run(&names, if lanes { Lanes::All } else { Lanes::Quick })
            }
            Self::Browser { words } => xtask::browser::run(&words),
            Self::Record => xtask::clients::record::run(),
            Self::Bench { names } => xtask::bench::run(&names),
            Self::PackRecall { repositories, commits, half, peers, misses } => {
                let peers = peers.map_or(PeerChoice::Without, PeerChoice::With);
                let misses = if misses { MissChoice::Named } else { MissChoice::Hidden };
                xtask::pack_recall::run(&RecallRequest {
                    repositories,
                    commits,
                    half,
                    peers,
                    misses,
                })
            }
            Self::LanesAtOnce { folder } => xtask::bench::lane::at_once::run(&folder),
            Self::Talk { .. } => xtask::bench::lane::at_once::talk(),
            Self::Docs => xtask::docs::write(),
            Self::Book => xtask::book::build(),
            Self::Demo => xtask::demo::write(),
            Self::Pictures => xtask::dashboard::pictures::write(),
            Self::Dist { only, target, built, check } => xtask::dist::write(&DistRequest {
                kinds: only,
                targets: target,
                built,
                trial: if check { Trial::Install } else { Trial::Skip },
            }),
            Self::Audit { no_advisories: true } => xtask::audit::run_all(Advisories::Skipped),
            Self::Audit { no_advisories: false } => xtask::audit::run_all(Advisories::Needed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns the lines of a document's `text` blocks, without remarks.
    fn typed_lines(document: &str) -> Vec<&str> {
        let blocks = document.split("```text\n").skip(1);
        let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
        lines.map(|line| line.split(" # ").next().unwrap_or(line).trim()).collect()
    }

    // The chores make and try the packages, and the plugin; here the lines must lead to them.
    #[test]
    fn every_line_to_type_in_the_readme_leads_somewhere() {
        let readme = fs::read_to_string(xtask::root().join("README.md")).unwrap();
        let lines = typed_lines(&readme);
        assert!(lines.len() > 8, "{lines:?}");
        for line in lines {
            // A shell would read the sign of a placeholder as a redirection, and write a file.
            assert!(!line.contains(['<', '>']), "{line}");
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["cargo", "xtask", ..] => {
                    let cli = Cli::try_parse_from(&words[1..]).unwrap();
                    if let Chore::Dist { target, .. } = cli.chore {
                        // For every system, it takes hours on a small machine.
                        assert_eq!(target.len(), 1, "{line}");
                    }
                }
                ["cargo", "install", "--locked", "--path", path] => {
                    assert!(xtask::root().join(path).join("Cargo.toml").is_file(), "{line}");
                }
                ["cargo", "run", "--", ref words @ ..] => {
                    let words = ["convoke"].iter().chain(words);
                    drop(convoke::cli::Cli::try_parse_from(words).unwrap());
                }
                ["git", "clone", "REPOSITORY", "convoke", "&&", "cd", "convoke"]
                | ["sudo", "apt", "install", _]
                | ["pipx" | "npm", "install", ..]
                | ["claude", "plugin", "marketplace", "add", "./"]
                | ["claude", "plugin", "install", "convoke@convoke"] => {}
                _ => panic!("no test knows `{line}`"),
            }
        }
    }

    // A chore that was renamed would be missed when a tag is pushed, and not before.
    #[test]
    fn a_release_runs_every_check_by_its_name() {
        let root = xtask::root();
        let workflow = fs::read_to_string(root.join(".github/workflows/release.yml")).unwrap();
        let steps = workflow.split("cargo xtask ").skip(1);
        let mut names = Vec::new();
        for step in steps.map(|rest| rest.lines().next().unwrap_or_default()) {
            let words = step.split("${{").next().unwrap_or_default().split_whitespace();
            let words: Vec<_> = ["xtask"].into_iter().chain(words).collect();
            let chore = Cli::try_parse_from(&words).unwrap().chore;
            let known = [
                ("audit", matches!(chore, Chore::Audit { no_advisories: false })),
                ("book", matches!(chore, Chore::Book)),
                ("dist", matches!(chore, Chore::Dist { check: true, .. })),
            ];
            let name = known.iter().find(|(_, is_it)| *is_it).map(|(name, _)| *name);
            names.push(name.unwrap_or_else(|| panic!("a release does not need `{step}`")));
        }
        assert_eq!(names, ["audit", "book", "dist"]);
    }
}
