//! A newcomer's first hour with Claude Code itself: what reached the model is what it was sent.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::user::{User, finished};
use super::{claude, compacted};
use crate::model_server::ModelServer;
use crate::newcomer::{Acceptance, HourError, Newcomer, Turn, hold, play};
use crate::{Error, root};

/// Where the pages are that a person reads.
const PAGES: &str = "xtask/snapshots/newcomer";

/// The command that accepts what is different.
const ACCEPT: &str = "INSTA_UPDATE=always cargo xtask clients newcomer";

/// What a wake-up begins and ends with.
const MARKS: [&str; 2] = ["[convoke wake-up ", "[end of convoke wake-up "];

/// The newcomer, with the client itself and a stand-in for its model.
struct WithClient<'w> {
    user: &'w User,
    bin: &'w Path,
    server: &'w ModelServer,
}

/// Plays the hour, and holds every page of it, also those that the plain tests play the client by.
pub(super) fn check(bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::fresh()?, ModelServer::start()?);
    let own = user.home().join("bin");
    fs::create_dir_all(&own)?;
    symlink(bin.join("claude"), own.join("claude"))?;
    symlink(std::env::current_exe()?.with_file_name("convoke"), own.join("convoke"))?;
    let mut newcomer = WithClient { user: &user, bin, server: &server };
    newcomer.watch_events()?;
    hold(&root().join(PAGES), &play(&mut newcomer)?, Acceptance::asked_for(), ACCEPT)
}

impl WithClient<'_> {
    /// Has the client tell its events to a file as well, by settings beside the project's.
    fn watch_events(&self) -> Result<(), Error> {
        let line = format!("(cat; echo) >> '{}'", self.heard().display());
        let hook = json!([{ "hooks": [{ "type": "command", "command": line }] }]);
        let settings = json!({ "hooks": { "SessionStart": hook, "UserPromptSubmit": hook } });
        self.user.write("home/watch.json", &settings.to_string())
    }

    fn heard(&self) -> PathBuf {
        self.user.home().join("events.jsonl")
    }
}

impl Newcomer for WithClient<'_> {
    fn top(&self) -> PathBuf {
        self.user.home().parent().map(Path::to_owned).unwrap_or_default()
    }

    fn program(&self, name: &str) -> Command {
        let own = self.user.home().join("bin").join(name);
        let program = if own.exists() { own } else { PathBuf::from("/usr/bin").join(name) };
        let mut command = self.user.plain(&program);
        let path = format!("{}:/usr/bin:/bin", self.user.home().join("bin").display());
        command.env("PATH", path);
        command
    }

    fn turn(&mut self, turn: Turn) -> Result<(), HourError> {
        let (prompt, session) = match turn {
            Turn::Begin => ("hello", "--session-id"),
            Turn::Compact => ("/compact", "--resume"),
            Turn::GoOn => ("go on", "--resume"),
        };
        let mut claude = claude::command(self.user, self.bin, self.server);
        claude.args(["-p", prompt, "--output-format", "json", session, claude::SESSION]);
        finished(claude.arg("--settings").arg(self.user.home().join("watch.json")))?;
        if turn == Turn::GoOn {
            compacted(self.server, "This session is being continued")?;
        }
        Ok(())
    }

    fn wake_up(&self) -> Result<String, HourError> {
        let prompts = self.server.prompts();
        let newest = prompts.last().ok_or("the model was never asked")?;
        only_wake_up(&serde_json::from_str(newest)?)
    }

    fn watched_events(&mut self) -> Result<Option<String>, HourError> {
        let heard = fs::read_to_string(self.heard())?;
        fs::remove_file(self.heard())?;
        let lines = heard.lines().filter(|line| !line.trim().is_empty());
        let events = lines.map(comparable).collect::<Result<String, _>>()?;
        Ok(Some(events))
    }
}

/// What an event measures, and no two runs alike.
const MEASURED: [&str; 3] =
    ["seconds_since_last_response", "context_tokens", "estimated_cache_write_usd"];

/// Returns an event on a line, with its keys in order and without what it measures.
fn comparable(event: &str) -> Result<String, HourError> {
    let mut event: BTreeMap<String, Value> = serde_json::from_str(event)?;
    event.retain(|key, _| !MEASURED.contains(&key.as_str()));
    Ok(serde_json::to_string(&event)? + "\n")
}

/// Returns the one wake-up that is in a request.
fn only_wake_up(request: &Value) -> Result<String, HourError> {
    let mut texts = Vec::new();
    collect_texts(request, &mut texts);
    let [first, last] = MARKS;
    let found: Vec<_> = texts.iter().filter(|text| text.contains(first)).collect();
    let [text] = found[..] else {
        return Err(format!("the model received {} wake-ups, not one", found.len()).into());
    };
    let begin = text.find(first).ok_or("no wake-up")?;
    let rest = text.get(begin..).unwrap_or_default();
    let end = rest.find(last).ok_or("the wake-up has no end")?;
    let line = rest.get(end..).and_then(|last| last.find(']')).ok_or("the end has no end")?;
    Ok(rest.get(..=end + line).unwrap_or_default().to_owned())
}

fn collect_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect_texts(value, texts)),
        Value::Object(map) => map.values().for_each(|value| collect_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_must_hold_one_wake_up() {
        let text = "context: [convoke wake-up 1/1 ab]\nBegin.\n[end of convoke wake-up 1/1 ab]\nx";
        let request = |texts: &[&str]| json!({ "messages": [{ "content": texts }] });
        let found = only_wake_up(&request(&["hello", text])).unwrap();
        assert_eq!(found, "[convoke wake-up 1/1 ab]\nBegin.\n[end of convoke wake-up 1/1 ab]");
        assert!(only_wake_up(&request(&["hello"])).is_err());
        assert!(only_wake_up(&request(&[text, text])).is_err());
        assert!(only_wake_up(&request(&["[convoke wake-up 1/1 ab]\nBegin."])).is_err());
    }
}
