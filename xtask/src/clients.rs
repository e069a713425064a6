//! Real clients, driven against a stand-in for their model: what `convoke hooks install` wrote,
//! unedited, must bring a wake-up larger than the client's limit to the model, whole and once, at
//! the start of a session and again after a compaction.
//!
//! Every client runs with an environment of its own: its own home, a key that is none, and no
//! address but the loopback. A client that cannot be installed is skipped aloud.

mod claude;
mod codex;
mod design;
mod evidence;
mod gemini;
mod lanes;
mod opencode;
mod plugin;
mod reading;
pub mod record;
mod user;

use std::path::{Path, PathBuf};

use self::user::{RULES, User};
use crate::model_server::ModelServer;
use crate::packages::{FOR_CLIENTS, install};
use crate::process::{run as run_program, succeeds};
use crate::{Error, root, say};

/// A client from the npm registry, and how it is driven.
struct Client {
    name: &'static str,
    /// What we call it.
    short: &'static str,
    version: &'static str,
    /// What it needs beside itself.
    with: &'static [&'static str],
    check: fn(&User, &Path, &ModelServer) -> Result<(), Error>,
}

const CLIENTS: [Client; 4] = [
    Client {
        name: "@anthropic-ai/claude-code",
        short: "claude",
        version: "2.1.325",
        with: &[],
        check: claude::check,
    },
    Client {
        name: "@openai/codex",
        short: "codex",
        version: "0.166.0",
        with: &[],
        check: codex::check,
    },
    Client {
        name: "@google/gemini-cli",
        short: "gemini",
        version: "0.61.0",
        with: &["node@22.23.3"],
        check: gemini::check,
    },
    Client {
        name: "opencode-ai",
        short: "opencode",
        version: "1.18.33",
        with: &[],
        check: opencode::check,
    },
];

/// Runs the clients that are named and can be had, or `design` with some of them as its seats;
/// without a name, all.
pub fn run(names: &[String]) -> Result<(), Error> {
    let is_chosen =
        |client: &&Client| names.is_empty() || names.iter().any(|name| name == client.short);
    install(&FOR_CLIENTS)?;
    run_program("cargo", &["build", "--quiet"])?;
    let mut rows = Vec::new();
    for client in CLIENTS.iter().filter(is_chosen) {
        let name = format!("{} {}", client.name, client.version);
        let Some(bin) = client.install() else {
            say(&format!("SKIPPED: {name} cannot be installed here"));
            continue;
        };
        let (user, server) = (User::new()?, ModelServer::start()?);
        (client.check)(&user, &bin, &server).map_err(|error| format!("{name}: {error}"))?;
        say(&format!("{name}: the wake-up arrived, whole and once, before and after a compaction"));
        let (user, server) = (User::new()?, ModelServer::start()?);
        let proven = evidence::check(client.short, &user, &bin, &server);
        if proven.map_err(|error| format!("{name}: {error}"))? {
            say(&format!("{name}: its record proves what its agent read"));
        }
        if client.short == "claude" {
            let (user, server) = (User::new()?, ModelServer::start()?);
            plugin::check(&user, &bin, &server).map_err(|error| format!("{name}: {error}"))?;
            say(&format!("{name}: the plugin was installed, its command called and its hooks"));
        }
        if let Err(error) = lanes::check(client.short, &bin, &mut rows) {
            lanes::print(&rows);
            return Err(format!("{name}: {error}").into());
        }
    }
    let designed = if names.is_empty() || names.iter().any(|name| name == "design") {
        seated(&mut rows)
    } else {
        Ok(())
    };
    lanes::print(&rows);
    designed
}

/// Sends clients to read, and seats them in a design: those with which that takes a minute or two.
fn seated(rows: &mut Vec<lanes::Row>) -> Result<(), Error> {
    let clients = CLIENTS.iter().filter(|it| matches!(it.short, "claude" | "codex"));
    let bins: Option<Vec<_>> = clients.map(Client::install).collect();
    let Some(bins) = bins.and_then(|bins| <[PathBuf; 2]>::try_from(bins).ok()) else {
        say("SKIPPED: a design, whose clients cannot be installed here");
        return Ok(());
    };
    reading::check(&bins, rows)?;
    design::check(&bins, rows)
}

impl Client {
    /// Installs the package below the build folder, once, and returns where its programs are.
    fn install(&self) -> Option<PathBuf> {
        let folder = root().join("target/clients").join(self.name).join(self.version);
        let bin = folder.join("node_modules/.bin");
        let spec = format!("{}@{}", self.name, self.version);
        let prefix = folder.display().to_string();
        let options = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", &prefix];
        let arguments = [&options, self.with, &[spec.as_str()]].concat();
        (bin.is_dir() || succeeds("npm", &arguments)).then_some(bin)
    }
}

/// Checks that the newest prompt is of a session that was compacted, by words of the client's.
fn compacted(server: &ModelServer, words: &str) -> Result<(), Error> {
    let prompts = server.prompts();
    let compacted = prompts.last().is_some_and(|newest| newest.contains(words));
    if compacted { Ok(()) } else { Err("the session was not compacted".into()) }
}

/// Checks the newest prompt: every part is there once, marked at both ends, and no rule is missing.
fn whole_and_once(server: &ModelServer, parts: usize) -> Result<(), Error> {
    let prompts = server.prompts();
    let newest = prompts.last().ok_or("the model was never asked")?;
    for part in 1..=parts {
        for start in ["[convoke wake-up", "[end of convoke wake-up"] {
            let mark = format!("{start} {part}/{parts} ");
            let count = newest.matches(&mark).count();
            if count != 1 {
                return Err(format!("`{mark}` is in prompt {} {count} times", prompts.len()).into());
            }
        }
    }
    let missing = (0..RULES).find(|rule| !newest.contains(&format!("Rule {rule}:")));
    missing.map_or(Ok(()), |rule| Err(format!("rule {rule} did not arrive").into()))
}
