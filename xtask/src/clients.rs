//! Real clients, driven against a stand-in for their model: the unedited output of `convoke hooks
//! install` must bring a wake-up larger than the client's limit to the model, complete and once, at
//! the start of a session and again after a compaction.
//!
//! Every client runs with an environment of its own: its own home, an invalid key, and no address
//! but the loopback. A client that cannot be installed is skipped with a message; where `CI` is set,
//! that fails the run.

mod claude;
mod codex;
mod cut;
mod design;
mod evidence;
mod fresh;
mod gemini;
mod lane_command;
mod lanes;
mod lines;
mod mcp;
mod newcomer;
mod opencode;
mod own_lanes;
mod plugin;
mod reading;
pub mod record;
mod sessions;
mod user;
mod verdict;

use std::path::{Path, PathBuf};
use std::thread;

use convoke_engine::client::acp::KNOWN_AGENTS;
use convoke_engine::client::adapter;

use self::user::{RULES, User};
use crate::model_server::ModelServer;
use crate::process::{is_ci, run as run_program};
use crate::{Error, root, say, second_try, tools};

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
/// `lines` for the documents' lines that ask agents, `newcomer` for a first hour with one of them, `own-lanes` for the hooks of clients that Convoke
/// starts, `sessions` for those of its user's own sessions, `acp` (`acp-claude` for one) for the agents of the Agent Client Protocol, `mcp`
/// (`mcp-claude` for one) for clients that call tools over MCP, `mcp-inspector` and `mcp-conformance`
/// for the protocol's own programs; without a name, all of these except Qwen, which takes minutes.
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
            wrong.extend(skipped(&name, Skipping::here()));
            continue;
        };
        if lanes == Lanes::Quick {
            let checked = second_try::run(&name, || client.check(&bin));
            wrong.extend(checked.err().map(|error| format!("{name}: {error}")));
        }
        if lanes == Lanes::All || lanes::is_quick(client.short()) {
            let driven =
                with_rows(&name, &mut rows, |rows| lanes::check(client.short(), &bin, rows));
            wrong.extend(driven.err().map(|error| format!("{name}: {error}")));
        }
    }
    let is_named = |name: &str| names.iter().any(|wanted| wanted == name);
    if lanes == Lanes::Quick && is_named("newcomer") {
        let claude = CLIENTS.iter().find(|client| client.short() == "claude");
        let bin = claude.and_then(Client::install).ok_or("claude cannot be installed here")?;
        newcomer::check(&bin)?;
        say("claude: a newcomer's first hour went as its pages say");
    }
    if lanes == Lanes::Quick && is_named("lines") {
        lines::check(&seats().ok_or("claude and codex cannot be installed here")?, &mut rows)?;
    }
    if lanes == Lanes::Quick && is_named("own-lanes") {
        own_lanes::check(&seats().ok_or("claude and codex cannot be installed here")?, &mut rows)?;
    }
    if lanes == Lanes::Quick && is_named("sessions") {
        sessions::check(&seats().ok_or("claude and codex cannot be installed here")?, &mut rows)?;
    }
    // Qwen takes minutes.
    let is_quick = |name: &str| !name.ends_with("-qwen");
    let is_meant = |group: &str, name: &str| {
        let is_in_group =
            is_named(group) || (lanes == Lanes::Quick && names.is_empty() && is_quick(name));
        is_named(name) || (is_in_group && (is_quick(name) || lanes == Lanes::All))
    };
    wrong.extend(acp(&|name| is_meant("acp", name), &mut rows));
    wrong.extend(mcp(&|name| is_meant("mcp", name), &mut rows));
    let designed = if lanes == Lanes::Quick && (names.is_empty() || is_named("design")) {
        seated(&mut rows)
    } else {
        Ok(())
    };
    if !rows.is_empty() {
        lanes::print(&rows);
    }
    let wrong = wrong.into_iter().chain(designed.err().map(|error| error.to_string()));
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Whether a check may be left out because its client cannot be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Skipping {
    /// On a machine without a network, say.
    Allowed,
    /// In CI, where a green run means that every client was driven.
    Forbidden,
}

impl Skipping {
    fn here() -> Self {
        if is_ci() { Self::Forbidden } else { Self::Allowed }
    }
}

/// Says that something is left out, and returns why that is wrong, if it is.
fn skipped(what: &str, skipping: Skipping) -> Option<String> {
    match skipping {
        Skipping::Allowed => {
            say(&format!("SKIPPED: {what} cannot be installed here"));
            None
        }
        Skipping::Forbidden => Some(format!("{what} cannot be installed, and `CI` is set")),
    }
}

/// Runs a program of the protocol's own, and adds its rows.
type Suite = fn(&mut Vec<lanes::Row>) -> Result<(), Error>;

/// A case of its own user and model, which can run beside others.
type Work<'a> = Box<dyn FnMut(&mut Vec<lanes::Row>) -> Result<(), Error> + Send + 'a>;

/// Drives the agents of the Agent Client Protocol that are meant, and returns what went wrong.
fn acp(is_meant: &dyn Fn(&str) -> bool, rows: &mut Vec<lanes::Row>) -> Vec<String> {
    let mut all: Vec<(String, Work<'_>)> = Vec::new();
    let mut wrong = Vec::new();
    for agent in KNOWN_AGENTS.iter().filter(|agent| is_meant(&format!("acp-{}", agent.name))) {
        let vendor = CLIENTS.iter().find(|client| client.kind == agent.vendor);
        let bin = match agent.package {
            Some((name, version)) => installed(name, &version.to_string(), &[]),
            None => vendor.and_then(Client::install),
        };
        let name = format!("acp:{}", agent.name);
        match bin {
            Some(bin) => {
                all.push((name, Box::new(move |rows| lanes::acp::check(agent, &bin, rows))));
            }
            None => wrong.extend(skipped(&name, Skipping::here())),
        }
    }
    wrong.extend(in_parallel(all, rows));
    wrong
}

/// Has those call tools over MCP that are meant, and returns what went wrong.
fn mcp(is_meant: &dyn Fn(&str) -> bool, rows: &mut Vec<lanes::Row>) -> Vec<String> {
    let mut all: Vec<(String, Work<'_>)> = Vec::new();
    let mut wrong = Vec::new();
    for client in CLIENTS.iter().filter(|client| is_meant(&format!("mcp-{}", client.short()))) {
        let name = client.short();
        match client.install() {
            Some(bin) => {
                all.push((name.to_owned(), Box::new(move |rows| mcp::check(name, &bin, rows))));
            }
            None => wrong.extend(skipped(&client.versioned(" "), Skipping::here())),
        }
    }
    let suites: [(&str, Suite); 2] =
        [("mcp-inspector", mcp::suites::inspect), ("mcp-conformance", mcp::suites::conform)];
    for (name, run) in suites.into_iter().filter(|(name, _)| is_meant(name)) {
        all.push((name.to_owned(), Box::new(run)));
    }
    wrong.extend(in_parallel(all, rows));
    wrong
}

/// Runs a case that adds rows, and once more without its first rows if it fails.
fn with_rows(
    name: &str,
    rows: &mut Vec<lanes::Row>,
    mut work: impl FnMut(&mut Vec<lanes::Row>) -> Result<(), Error>,
) -> Result<(), Error> {
    let before = rows.len();
    second_try::run(name, || {
        rows.truncate(before);
        work(rows)
    })
}

/// Runs cases in parallel, because most of them wait most of the time; adds their rows in the order of
/// the cases, and returns what went wrong.
fn in_parallel(all: Vec<(String, Work<'_>)>, rows: &mut Vec<lanes::Row>) -> Vec<String> {
    thread::scope(|scope| {
        let run = |(name, work): (String, Work<'_>)| {
            let mut rows = Vec::new();
            let done = with_rows(&name, &mut rows, work);
            (rows, done.err().map(|error| format!("{name}: {error}")))
        };
        let running: Vec<_> = all.into_iter().map(|work| scope.spawn(move || run(work))).collect();
        let mut wrong = Vec::new();
        for one in running {
            match one.join() {
                Ok((more, problem)) => {
                    rows.extend(more);
                    wrong.extend(problem);
                }
                Err(_) => wrong.push("a case broke off".to_owned()),
            }
        }
        wrong
    })
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
        let wrong = skipped("a design with claude and codex", Skipping::here());
        return wrong.map_or(Ok(()), |wrong| Err(wrong.into()));
    };
    with_rows("own-lanes", rows, |rows| own_lanes::check(&bins, rows))?;
    with_rows("sessions", rows, |rows| sessions::check(&bins, rows))?;
    with_rows("reading", rows, |rows| reading::check(&bins, rows))?;
    with_rows("verdict", rows, |rows| verdict::check(&bins, rows))?;
    with_rows("lines", rows, |rows| lines::check(&bins, rows))?;
    with_rows("design", rows, |rows| design::check(&bins, rows))
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
    let spec = format!("{name}@{version}");
    match tools::npm(&folder, &[with, &[&spec]].concat()) {
        Ok(()) => Some(folder.join("node_modules/.bin")),
        Err(error) => {
            say(&format!("{spec} is not installed: {error}"));
            None
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    // A green run of CI means that every client was driven.
    #[test]
    fn a_client_that_cannot_be_installed_fails_ci_alone() {
        assert_eq!(skipped("codex 1.0", Skipping::Allowed), None);
        let wrong = skipped("codex 1.0", Skipping::Forbidden);
        assert_eq!(wrong.as_deref(), Some("codex 1.0 cannot be installed, and `CI` is set"));
    }
}
