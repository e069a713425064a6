//! Claude Code.

use std::path::Path;
use std::process::Command;

use super::user::{User, finished};
use super::{compacted, whole_and_once};
use crate::Error;
use crate::model_server::ModelServer;

/// A session's name, as it wants it.
pub(super) const SESSION: &str = "7b0c9b7e-52f1-4d0e-9a55-0f5b1f6d2a11";

/// Variables that keep it from contacting others.
const QUIET: [&str; 4] = [
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
];

/// A rule of the user that no compaction may take away.
const RULE: &str = "Never push to main";

/// Begins a session, compacts it, and goes on.
pub(super) fn check(user: &User, bin: &Path, server: &ModelServer) -> Result<(), Error> {
    user.convoke(&["hooks", "install", "claude"])?;
    user.convoke(&["pin", "add", RULE])?;
    let ask = |prompt: &str, session: [&str; 2]| {
        let mut claude = command(user, bin, server);
        finished(claude.args(["-p", prompt, "--output-format", "json"]).args(session))
    };
    ask("hello", ["--session-id", SESSION])?;
    whole_and_once(server, 3)?;
    ask("/compact", ["--resume", SESSION])?;
    ask("go on", ["--resume", SESSION])?;
    compacted(server, "This session is being continued")?;
    whole_and_once(server, 3)?;
    user.knows_of_arrival(&["claude"])?;
    rule_arrived(user, server)?;
    // The session changes its branch, and is compacted there.
    user.write("project/.git/HEAD", "ref: refs/heads/feature/login\n")?;
    user.convoke(&["task", "add", "Sign in with a key"])?;
    ask("/compact", ["--resume", SESSION])?;
    ask("go on", ["--resume", SESSION])?;
    follows_branch(server)
}

/// Checks that the newest prompt has the task of the branch that is checked out, once.
fn follows_branch(server: &ModelServer) -> Result<(), Error> {
    let newest = server.prompts().pop().unwrap_or_default();
    let count = newest.matches("Sign in with a key (pending)  <-- CURRENT").count();
    match count {
        1 => Ok(()),
        _ => Err(format!("the task of the new branch is in the prompt {count} times").into()),
    }
}

/// Checks that the rule is in the newest prompt, once, and that its receipt records it.
fn rule_arrived(user: &User, server: &ModelServer) -> Result<(), Error> {
    let count = server.prompts().last().map_or(0, |newest| newest.matches(RULE).count());
    if count != 1 {
        return Err(format!("the rule is in the newest prompt {count} times").into());
    }
    let list = user.convoke(&["pin", "list"])?;
    let receipt = format!("to claude, session {SESSION}; arrived: seen in the client's record");
    if list.contains(&receipt) { Ok(()) } else { Err(format!("no receipt:\n{list}").into()) }
}

/// Prepares it to talk only to the stand-in.
pub(super) fn command(user: &User, bin: &Path, server: &ModelServer) -> Command {
    let mut claude = user.scrubbed(&bin.join("claude"));
    claude.envs(variables(server));
    claude.envs(QUIET.map(|name| (name, "1"))).env("CLAUDE_CODE_MAX_RETRIES", "1");
    claude
}

/// Returns the variables that direct it to the stand-in.
pub(super) fn variables(server: &ModelServer) -> Vec<(String, String)> {
    let key = ("ANTHROPIC_API_KEY".to_owned(), "no-key".to_owned());
    vec![("ANTHROPIC_BASE_URL".to_owned(), server.url()), key]
}
