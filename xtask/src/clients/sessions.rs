//! What hooks deliver to a user's own sessions of real clients: messages that do not fit, an agent that a
//! variable names, hooks whose program is missing, and an install beside the plugin.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::lanes::{Row, TimedCase, check_cases};
use super::user::{User, finished};
use super::{claude, codex, plugin, whole_and_once};
use crate::Error;
use crate::model_server::ModelServer;
use crate::packages::folder_of;

/// How many messages wait.
const MESSAGES: usize = 15;

/// Settings as a person may keep them: tabs, CRLF, a blank too much, a repeated key and an escape.
const ODD_SETTINGS: &str = "{\r\n\t\"cleanupPeriodDays\" : 30,\r\n\t\"cleanupPeriodDays\": 31,\r\n\t\"env\": { \"A\": \"\\u0041\"  }\r\n}\r\n";

/// Runs all cases. Adds a row for each, also for one that went wrong.
pub(super) fn check(bins: &[PathBuf; 2], rows: &mut Vec<Row>) -> Result<(), Error> {
    let [claude, codex] = bins;
    let cases: [TimedCase<'_>; 5] = [
        ("claude", "15 long messages", "delivered or counted", &|| messages(claude)),
        ("claude", "session of CONVOKE_AGENT", "its own wake-up", &|| named_in_claude(claude)),
        ("codex", "session of CONVOKE_AGENT", "its own wake-up", &|| named_in_codex(codex)),
        ("claude", "install beside the plugin", "refused", &|| beside_plugin(claude)),
        ("claude", "hooks without their program", "silent", &|| without_program(claude)),
    ];
    check_cases(&cases, rows)
}

fn newest(server: &ModelServer) -> Result<String, Error> {
    server.prompts().pop().ok_or_else(|| "the model was never asked".into())
}

fn hello(mut claude: Command) -> Result<String, Error> {
    finished(claude.args(["-p", "hello", "--output-format", "json"]))
}

/// Every message is in the prompt, cut there with a mark, or counted there; the last two stay unread.
fn messages(bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    user.convoke(&["hooks", "install", "claude"])?;
    let mark = |number: usize, place: &str| format!("{place}-{number:02}");
    for number in 1..=MESSAGES {
        let text = "y".repeat(2480);
        let [begin, end] = ["begin", "end"].map(|place| mark(number, place));
        user.convoke(&["say", &format!("{begin} {text} {end} @june"), "--as", "ana"])?;
    }
    hello(claude::command(&user, bin, &server))?;
    let prompt = newest(&server)?;
    let inbox = user.convoke(&["inbox", "june", "--limit", "100"])?;
    let is_whole = |number: &usize| {
        [mark(*number, "begin"), mark(*number, "end")].iter().all(|mark| prompt.contains(mark))
    };
    let is_unread = |number: &usize| inbox.contains(&mark(*number, "begin"));
    let wrong: Vec<_> = (1..=MESSAGES).filter(|one| is_whole(one) == is_unread(one)).collect();
    if !wrong.is_empty() {
        return Err(format!("both delivered and unread, or neither: {wrong:?}").into());
    }
    let unread = (1..=MESSAGES).filter(is_unread).count();
    let cut = prompt.matches("characters more: `convoke inbox june --mark`").count();
    let counted = prompt.split(" more unread to you: `convoke inbox june --mark`").next();
    let counted = counted.and_then(|before| before.rsplit('(').next()?.parse::<usize>().ok());
    match (unread, counted) {
        (0 | MESSAGES, _) => Err(format!("{unread} of {MESSAGES} are unread").into()),
        (_, Some(counted)) if counted + cut == unread => Ok(()),
        _ => {
            Err(format!("{unread} are unread, {cut} cut, and the prompt counts {counted:?}").into())
        }
    }
}

/// Gives bob a task and a message, and june another message.
fn prepare_bob(user: &User) -> Result<(), Error> {
    let task = user.convoke(&["task", "add", "Write the manual"])?;
    user.convoke(&["task", "assign", task.trim(), "bob"])?;
    user.convoke(&["say", "only for bob", "--to", "bob", "--as", "ana"])?;
    user.convoke(&["say", "only for june", "--to", "june", "--as", "ana"]).map(drop)
}

/// Checks that the session was bob's, and that june has her message still.
fn was_bobs(user: &User, server: &ModelServer) -> Result<(), Error> {
    let prompt = newest(server)?;
    for (words, expected) in [
        ("[convoke wake-up 1/", 1),
        ("Write the manual (@bob, pending)", 1),
        ("@ana: \\\"only for bob\\\"", 1),
        ("You are @june", 0),
    ] {
        let count = prompt.matches(words).count();
        if count != expected {
            return Err(format!("`{words}` is in the prompt {count} times").into());
        }
    }
    let [bob, june] = ["bob", "june"].map(|name| user.convoke(&["inbox", name]));
    let (bob, june) = (bob?, june?);
    if !bob.contains("only for bob") && june.contains("only for june") {
        return Ok(());
    }
    Err(format!("bob's messages are {bob}, and june's {june}").into())
}

/// Checks that an agent without a task got the line about getting one, and nothing else.
fn learned_of_tasks(server: &ModelServer) -> Result<(), Error> {
    let prompt = newest(server)?;
    let line =
        "[convoke] You are @carol. No task is assigned to you. `convoke task next --as carol`";
    match (prompt.matches(line).count(), prompt.matches("## Your Current").count()) {
        (1, 0) => Ok(()),
        counts => {
            Err(format!("the line and a list of tasks are in the prompt {counts:?} times").into())
        }
    }
}

fn named_in_claude(bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    user.convoke(&["hooks", "install", "claude"])?;
    prepare_bob(&user)?;
    let session = |name: &str| {
        let mut claude = claude::command(&user, bin, &server);
        claude.env("CONVOKE_AGENT", name);
        hello(claude)
    };
    session("bob")?;
    was_bobs(&user, &server)?;
    session("carol")?;
    learned_of_tasks(&server)
}

fn named_in_codex(bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    codex::configure(&user, &server)?;
    user.convoke(&["hooks", "install", "codex", "--user"])?;
    prepare_bob(&user)?;
    let session =
        |name: &str| finished(codex::command(&user, bin).env("CONVOKE_AGENT", name).arg("hello"));
    session("bob")?;
    was_bobs(&user, &server)?;
    session("carol")?;
    learned_of_tasks(&server)
}

/// The plugin brings the hooks, so an install writes none and says why.
fn beside_plugin(bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    plugin::install(&user, bin, &server)?;
    let settings = user.project().join(".claude/settings.json");
    match user.convoke(&["hooks", "install", "claude"]) {
        Ok(printed) => return Err(format!("it was installed: {printed}").into()),
        Err(why) if !why.to_string().contains("convoke@convoke") => return Err(why),
        Err(_) if settings.exists() => return Err("settings were written".into()),
        Err(_) => {}
    }
    hello(claude::command(&user, bin, &server))?;
    whole_and_once(&server, 3)
}

/// A client whose hooks' program was removed goes on without a word, and an uninstall gives the
/// settings their bytes back.
fn without_program(bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    user.write("project/.claude/settings.json", ODD_SETTINGS)?;
    user.convoke(&["hooks", "install", "claude"])?;
    let node = folder_of("node").unwrap_or_default();
    let mut claude = claude::command(&user, bin, &server);
    claude.env("PATH", format!("{}:{node}:/usr/bin:/bin", bin.display()));
    claude.args(["-p", "hello", "--output-format", "stream-json", "--verbose"]);
    let printed = finished(claude.arg("--include-hook-events"))?;
    let prompt = newest(&server)?;
    let is_called = printed.contains("\"hook_event\":\"SessionStart\"");
    let said = ["[convoke", "not found", "\"exit_code\":127", "\"outcome\":\"error\""];
    let said = said.iter().find(|words| printed.contains(**words) || prompt.contains(**words));
    if let Some(words) = said {
        return Err(format!("`{words}` is in what it printed or sent: {printed}").into());
    }
    if !is_called {
        return Err(format!("no hook was called: {printed}").into());
    }
    user.convoke(&["hooks", "uninstall", "claude"])?;
    let settings = fs::read_to_string(user.project().join(".claude/settings.json"))?;
    if settings == ODD_SETTINGS {
        return Ok(());
    }
    Err(format!("the settings are {settings:?}").into())
}
