//! Hooks of real clients that Convoke itself starts: the agent in a lane is not the one whose
//! messages wait in its folder. The same hooks deliver in a session of the user's own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::lanes::{Row, TimedCase, check_cases, setup};
use super::user::{User, finished};
use super::{claude, codex, whole_and_once};
use crate::Error;
use crate::model_server::ModelServer;
use crate::packages::folder_of;

const MESSAGE: &str = "please hurry with it, @june";

/// How every part of a wake-up begins.
const MARK: &str = "[convoke wake-up";

/// Runs a lane of each client, then a session of its user's, and one with hooks from two places.
/// Adds a row for each, also for one that went wrong.
pub(super) fn check(bins: &[PathBuf; 2], rows: &mut Vec<Row>) -> Result<(), Error> {
    let [claude, codex] = bins;
    let cases: [TimedCase<'_>; 3] = [
        ("claude", "hooks in a lane", "silent", &|| in_lane("claude", claude)),
        ("codex", "hooks in a lane", "silent", &|| in_lane("codex", codex)),
        ("claude", "hooks in settings and plugin", "delivered once", &|| twice(claude)),
    ];
    check_cases(&cases, rows)
}

fn in_lane(client: &'static str, bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    let variables = setup::configure(client, &user, &server)?;
    let own = prepare(&user, bin, &[client])?;
    let before = mail(&user)?;
    let program = std::env::current_exe()?.with_file_name("convoke");
    let mut convoke = user.plain(&program);
    let node = folder_of("node").unwrap_or_default();
    let path = format!("{}:{}:/usr/bin:/bin:{node}", own.display(), bin.display());
    convoke.env("PATH", path).envs(variables);
    finished(convoke.args(["lane", "run", "--agent", client, "You are an independent reviewer"]))?;
    is_silent(&user, &server, &before)?;
    match client {
        "claude" => {
            let mut claude = claude::command(&user, bin, &server);
            finished(claude.args(["-p", "hello", "--session-id", claude::SESSION]))?;
        }
        _ => {
            finished(codex::command(&user, bin).arg("hello"))?;
        }
    }
    whole_and_once(&server, 3)?;
    let after = mail(&user)?;
    if after.contains(MESSAGE) {
        return Err(format!("the message was delivered and is still unread:\n{after}").into());
    }
    Ok(())
}

/// Installs a client's hooks twice, in its settings and by the plugin.
fn twice(bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    prepare(&user, bin, &["claude"])?;
    super::plugin::install(&user, bin, &server)?;
    let mut claude = super::claude::command(&user, bin, &server);
    finished(claude.args(["-p", "hello", "--session-id", claude::SESSION]))?;
    whole_and_once(&server, 3)?;
    let mut claude = super::claude::command(&user, bin, &server);
    finished(claude.args(["-p", "/compact", "--resume", claude::SESSION]))?;
    let mut claude = super::claude::command(&user, bin, &server);
    finished(claude.args(["-p", "go on", "--resume", claude::SESSION]))?;
    super::compacted(&server, "This session is being continued")?;
    whole_and_once(&server, 3)?;
    user.knows_of_arrival(&["claude", "--user"])
}

/// Installs clients' hooks for the user, leaves a message for june, and returns a folder with a
/// Codex that runs untrusted hooks.
pub(super) fn prepare(user: &User, codex: &Path, clients: &[&str]) -> Result<PathBuf, Error> {
    for client in clients {
        user.convoke(&["hooks", "install", client, "--user"])?;
    }
    user.convoke(&["agent", "add", "june"])?;
    user.convoke(&["say", MESSAGE, "--as", "ana"])?;
    let real = codex.join("codex").display().to_string();
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = exec ] || exec {real} \"$@\"\nshift\n\
         exec {real} exec --dangerously-bypass-hook-trust \"$@\"\n"
    );
    user.write("home/bin/codex", &script)?;
    let folder = user.home().join("bin");
    fs::set_permissions(folder.join("codex"), fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

/// Returns june's messages and read state.
pub(super) fn mail(user: &User) -> Result<String, Error> {
    let inbox = user.convoke(&["inbox", "june"])?;
    Ok(inbox + &user.convoke(&["agent", "show", "june", "--json"])?)
}

/// Checks that no prompt had a wake-up in it, and that june's messages are as they were.
pub(super) fn is_silent(user: &User, server: &ModelServer, before: &str) -> Result<(), Error> {
    let prompts = server.prompts();
    if prompts.is_empty() {
        return Err("the model was never asked".into());
    }
    if let Some(prompt) = prompts.iter().find(|prompt| prompt.contains(MARK)) {
        return Err(format!("a lane was woken as another agent: {prompt}").into());
    }
    let after = mail(user)?;
    if after == *before && after.contains(MESSAGE) {
        return Ok(());
    }
    Err(format!("a lane has read june's messages: {before}, and then {after}").into())
}
