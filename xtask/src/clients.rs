//! Real clients, driven against a stand-in for their model: the unedited output of `convoke hooks
//! install` must bring a wake-up larger than the client's limit to the model, complete and once, at
//! the start of a session and again after a compaction.
//!
//! Every client runs with an environment of its own: its own home, an invalid key, and no address
//! but the loopback. A client that cannot be installed is skipped with a message.

mod claude;
mod codex;
mod cut;
mod design;
mod evidence;
mod fresh;
mod gemini;
mod lane_command;
mod lanes;
mod mcp;
mod newcomer;
mod opencode;
mod own_lanes;
mod plugin;
mod reading;
pub mod record;
mod user;
mod verdict;

use std::path::{Path, PathBuf};

use convoke_engine::client::acp::KNOWN_AGENTS;
use convoke_engine::client::adapter;

use self::user::{RULES, User};
use crate::model_server::ModelServer;
use crate::process::{run as run_program, succeeds};
use crate::{Error, root, say};

/// A check of a client's hooks.
type Check = fn(&User, &Path, &ModelServer) -> Result<(), Error>;

/// A client from the npm registry, and how it is driven.
struct Client {
    /// Its package.
    name: &'static str,
    kind: convoke_domain::client::Client,
    /// Packages that it needs beside itself.
    with: &'static [&'static str],
    /// The check of its hooks, if Convoke has hooks for it.
    check: Option<Check>,
}

const CLIENTS: [Client; 5] = [
    Client {
        name: "@anthropic-ai/claude-code",
        kind: convoke_domain::client::Client::Claude,
        with: &[],
        check: Some(claude::check),
    },
    Client {
        name: "@openai/codex",
        kind: convoke_domain::client::Client::Codex,
        with: &[],
        check: Some(codex::check),
    },
    Client {
        name: "@google/gemini-cli",
        kind: convoke_domain::client::Client::Gemini,
        with: &["node@22.23.3"],
        check: Some(gemini::check),
    },
    Client {
        name: "opencode-ai",
        kind: convoke_domain::client::Client::Opencode,
        with: &[],
        check: Some(opencode::check),
    },
    Client {
        name: "@qwen-code/qwen-code",
        kind: convoke_domain::client::Client::Qwen,
        with: &["node@22.23.3"],
        check: None,
    },
];

/// Which clients are driven in lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    /// Those that take seconds.
    Quick,
    /// All, and nothing but lanes.
    All,
}

/// Runs the clients that are named and can be had, `design` with some of them as its seats,
/// `newcomer` for a first hour with one of them, `own-lanes` for the hooks of clients that Convoke
/// starts; without a name, all of these. Only when they are named: `acp` drives the agents of the Agent
/// Client Protocol, `mcp` (`mcp-claude` for one client) has clients call tools over MCP, and
/// `mcp-inspector` and `mcp-conformance` have the protocol's own programs do so.
pub fn run(names: &[String], lanes: Lanes) -> Result<(), Error> {
    let is_chosen =
        |client: &&Client| names.is_empty() || names.iter().any(|name| name == client.short());
    run_program("cargo", &["build"])?;
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for client in CLIENTS.iter().filter(is_chosen) {
        let name = client.versioned(" ");
        if client.check.is_none() && lanes == Lanes::Quick {
            continue;
        }
        let Some(bin) = client.install() else {
            say(&format!("SKIPPED: {name} cannot be installed here"));
            continue;
        };
        if lanes == Lanes::Quick {
            client.check(&bin).map_err(|error| format!("{name}: {error}"))?;
        }
        if lanes == Lanes::All || lanes::is_quick(client.short()) {
            let driven = lanes::check(client.short(), &bin, &mut rows);
            wrong.extend(driven.err().map(|error| format!("{name}: {error}")));
        }
    }
    let is_named = |name: &str| names.iter().any(|wanted| wanted == name);
    if lanes == Lanes::Quick && is_named("newcomer") {
        let claude = CLIENTS.iter().find(|client| client.short() == "claude");
        let bin = claude.and_then(Client::install).ok_or("claude cannot be installed here")?;
        newcomer::check(&bin)?;
    }
    if lanes == Lanes::Quick && is_named("own-lanes") {
        own_lanes::check(&seats().ok_or("claude and codex cannot be installed here")?, &mut rows)?;
    }
    if is_named("acp") {
        wrong.extend(acp(lanes, &mut rows).err().map(|error| error.to_string()));
    }
    wrong.extend(mcp(&is_named, &mut rows));
    let designed = if lanes == Lanes::Quick && (names.is_empty() || is_named("design")) {
        seated(&mut rows)
    } else {
        Ok(())
    };
    lanes::print(&rows);
    let wrong = wrong.into_iter().chain(designed.err().map(|error| error.to_string()));
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Drives the agents of the Agent Client Protocol that can be installed here. Qwen takes minutes, and
/// runs with `--lanes` alone.
fn acp(lanes: Lanes, rows: &mut Vec<lanes::Row>) -> Result<(), Error> {
    for agent in KNOWN_AGENTS {
        let vendor = CLIENTS.iter().find(|client| client.kind == agent.vendor);
        let is_meant = |client: &&Client| client.check.is_some() || lanes == Lanes::All;
        let bin = if let Some((name, version)) = agent.package {
            installed(name, &version.to_string(), &[])
        } else {
            vendor.filter(is_meant).and_then(Client::install)
        };
        let Some(bin) = bin else {
            say(&format!("SKIPPED: acp:{} is not driven here", agent.name));
            continue;
        };
        lanes::acp::check(agent, &bin, rows)
            .map_err(|error| format!("acp:{}: {error}", agent.name))?;
    }
    Ok(())
}

/// Runs a program of the protocol's own, and adds its rows.
type Suite = fn(&mut Vec<lanes::Row>) -> Result<(), Error>;

/// Has those call tools over MCP that are named, and returns what went wrong.
fn mcp(is_named: &dyn Fn(&str) -> bool, rows: &mut Vec<lanes::Row>) -> Vec<String> {
    let mut wrong = Vec::new();
    for client in CLIENTS.iter().filter(|client| mcp::CLIENTS.contains(&client.short())) {
        let name = client.short();
        if !is_named("mcp") && !is_named(&format!("mcp-{name}")) {
            continue;
        }
        let Some(bin) = client.install() else {
            say(&format!("SKIPPED: {} cannot be installed here", client.versioned(" ")));
            continue;
        };
        wrong.extend(mcp::check(name, &bin, rows).err().map(|error| error.to_string()));
    }
    let suites: [(&str, Suite); 2] =
        [("mcp-inspector", mcp::suites::inspect), ("mcp-conformance", mcp::suites::conform)];
    for (name, run) in suites {
        if is_named("mcp") || is_named(name) {
            wrong.extend(run(rows).err().map(|error| format!("{name}: {error}")));
        }
    }
    wrong
}

/// Returns where the programs of Claude Code and Codex are.
fn seats() -> Option<[PathBuf; 2]> {
    let clients = CLIENTS.iter().filter(|client| matches!(client.short(), "claude" | "codex"));
    let bins: Option<Vec<_>> = clients.map(Client::install).collect();
    bins.and_then(|bins| <[PathBuf; 2]>::try_from(bins).ok())
}

/// Sends clients to read, and seats them in a design: those with which that takes a minute or two.
fn seated(rows: &mut Vec<lanes::Row>) -> Result<(), Error> {
    let Some(bins) = seats() else {
        say("SKIPPED: a design, whose clients cannot be installed here");
        return Ok(());
    };
    own_lanes::check(&bins, rows)?;
    reading::check(&bins, rows)?;
    verdict::check(&bins, rows)?;
    design::check(&bins, rows)
}

impl Client {
    /// Returns what we call it.
    const fn short(&self) -> &'static str {
        self.kind.name()
    }

    /// Returns its package and the version that Convoke's adapter says it is tested with.
    fn versioned(&self, between: &str) -> String {
        format!("{}{between}{}", self.name, self.version())
    }

    fn version(&self) -> String {
        let tested = adapter(self.kind).tested;
        tested.map_or("latest".to_owned(), |tested| tested.to_string())
    }

    /// Tries its hooks, and whether its record proves what its agent read.
    fn check(&self, bin: &Path) -> Result<(), Error> {
        let Some(check) = self.check else { return Ok(()) };
        lane_command::check(self.short(), bin)?;
        say(&format!("{}: takes the command of a lane without a prompt", self.versioned(" ")));
        let (user, server) = (User::new()?, ModelServer::start()?);
        check(&user, bin, &server)?;
        let name = self.versioned(" ");
        say(&format!("{name}: the wake-up arrived, whole and once, before and after a compaction"));
        let fresh: Option<Check> = match self.short() {
            "claude" => Some(fresh::check_claude),
            "codex" => Some(fresh::check_codex),
            _ => None,
        };
        if let Some(check) = fresh {
            check(&User::fresh()?, bin, &ModelServer::start()?)?;
            say(&format!("{name}: a new user's two commands were enough for a wake-up"));
        }
        let (user, server) = (User::new()?, ModelServer::start()?);
        if evidence::check(self.short(), &user, bin, &server)? {
            say(&format!("{name}: its record proves what its agent read"));
        }
        if self.short() == "codex" {
            cut::check(bin)?;
            say(&format!("{name}: what it prints and does not show its agent proves nothing"));
        }
        if self.short() == "claude" {
            let (user, server) = (User::new()?, ModelServer::start()?);
            plugin::check(&user, bin, &server)?;
            say(&format!("{name}: the plugin was installed, its command called and its hooks"));
            newcomer::check(bin)?;
            say(&format!("{name}: a newcomer's first hour went as its pages say"));
        }
        Ok(())
    }

    /// Installs the package below the build folder, once, and returns where its programs are.
    fn install(&self) -> Option<PathBuf> {
        installed(self.name, &self.version(), self.with)
    }
}

/// Installs a package below the build folder, once, and returns where its programs are.
fn installed(name: &str, version: &str, with: &[&str]) -> Option<PathBuf> {
    let folder = root().join("target/clients").join(name).join(version);
    let bin = folder.join("node_modules/.bin");
    let spec = format!("{name}@{version}");
    let prefix = folder.display().to_string();
    let options = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", &prefix];
    let arguments = [&options, with, &[spec.as_str()]].concat();
    (bin.is_dir() || succeeds("npm", &arguments)).then_some(bin)
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
