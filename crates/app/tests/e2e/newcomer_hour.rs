//! A newcomer's first hour, step by step, on pages that a person reads. The client is played by the
//! events that it was recorded with; `cargo xtask clients newcomer` plays the same hour with the
//! client itself, and holds the events too.

#[path = "../../../../xtask/src/newcomer.rs"]
mod script;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use self::script::{Acceptance, HourError, Newcomer, Turn, hold, play};
use crate::harness::{Project, set_mode};

/// The command that accepts what is different.
const ACCEPT: &str = "INSTA_UPDATE=always cargo test -p convoke --test e2e newcomer_hour";

/// The id that the recorded session has.
const SESSION: &str = "7b0c9b7e-52f1-4d0e-9a55-0f5b1f6d2a11";

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/snapshots/newcomer")
}

/// A newcomer whose client does what Claude Code does with hooks, and nothing else: it reads them
/// from the project's settings, tells them its recorded events, and writes down what they answer.
struct WithRecord {
    project: Project,
    /// The last text that hooks gave since the last compaction.
    given: Vec<String>,
}

impl WithRecord {
    fn new() -> Self {
        let script = "#!/bin/sh\necho '2.1.325 (Claude Code)'\n";
        let project = Project::new().file("../home/bin/claude", script);
        set_mode(&project.path("../home/bin/claude"), 0o755);
        let own = Path::new(env!("CARGO_BIN_EXE_convoke")).parent().unwrap().display().to_string();
        let bin = project.root().parent().unwrap().join("home/bin");
        let path = format!("{}:{own}:/usr/bin:/bin", bin.display());
        Self { project: project.variable("PATH", &path), given: Vec::new() }
    }

    /// Returns what the client tells its hooks in a turn.
    fn events(&self, turn: Turn) -> Vec<Value> {
        let recorded = fs::read_to_string(pages().join(turn.events_page())).unwrap();
        let top = self.top().display().to_string();
        let joined = top.replace(['/', '.'], "-");
        let here = recorded.replace("TOP", &top).replace("JOINED", &joined);
        let here = here.replace("HASH", SESSION);
        here.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the commands that the project's settings have for an event.
    fn hooks(&self, event: &str) -> Vec<String> {
        let settings = fs::read_to_string(self.project.path(".claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let groups = settings["hooks"][event].as_array().cloned().unwrap_or_default();
        assert!(groups.iter().all(|group| group["matcher"].is_null()), "{settings}");
        let entries = groups.iter().flat_map(|group| group["hooks"].as_array().unwrap());
        entries.map(|entry| entry["command"].as_str().unwrap().to_owned()).collect()
    }
}

/// Writes a line as the client does, into the record that an event names.
fn record(event: &Value, line: &Value) {
    let path = Path::new(event["transcript_path"].as_str().unwrap());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut record = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(record, "{line}").unwrap();
}

impl Newcomer for WithRecord {
    fn top(&self) -> PathBuf {
        self.project.root().parent().unwrap().to_owned()
    }

    fn program(&self, name: &str) -> Command {
        let program = if name == "convoke" { env!("CARGO_BIN_EXE_convoke") } else { name };
        self.project.command(Path::new(program), &[])
    }

    fn turn(&mut self, turn: Turn) -> Result<(), HourError> {
        for event in self.events(turn) {
            let name = event["hook_event_name"].as_str().ok_or("an event without a name")?;
            if event["source"] == "compact" {
                record(&event, &json!({ "type": "system", "subtype": "compact_boundary" }));
                self.given.clear();
            }
            for command in self.hooks(name) {
                let answered = self.project.shell(&command, &event.to_string());
                assert_eq!((answered.code, answered.stderr.as_str()), (Some(0), ""), "{answered}");
                let answer: Value = serde_json::from_str(&answered.stdout)?;
                let Some(text) = answer["hookSpecificOutput"]["additionalContext"].as_str() else {
                    continue;
                };
                let given = json!({ "type": "hook_additional_context", "content": [text] });
                record(&event, &json!({ "type": "attachment", "attachment": given }));
                self.given.push(text.to_owned());
            }
            if name == "UserPromptSubmit" {
                let at = "2999-01-01T00:00:00Z";
                record(&event, &json!({ "type": "assistant", "timestamp": at }));
            }
        }
        Ok(())
    }

    fn wake_up(&self) -> Result<String, HourError> {
        let [text] = &self.given[..] else {
            return Err(format!("the model has {} wake-ups, not one", self.given.len()).into());
        };
        Ok(text.trim_end().to_owned())
    }
}

#[test]
fn a_newcomers_first_hour_is_as_its_pages_say() {
    let mut newcomer = WithRecord::new();
    let found = play(&mut newcomer).unwrap();
    let held = hold(&pages(), &found, Acceptance::asked_for(), ACCEPT);
    assert!(held.is_ok(), "{}", held.err().unwrap());
}

// A page without a step, or a step without a page, would hold nothing.
#[test]
fn every_page_belongs_to_a_step() {
    let names = fs::read_dir(pages()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    let steps = names.iter().filter(|name| name.starts_with(|c: char| c.is_ascii_digit())).count();
    let events = names.iter().filter(|name| name.starts_with("events-")).count();
    assert_eq!((steps, events, names.len()), (9, 3, 12), "{names:?}");
}
