//! Sessions that begin and end without a prompt: what no model saw is not read.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::harness::Project;
use crate::hook::{project, turn};

const CONVOKE: &str = env!("CARGO_BIN_EXE_convoke");

/// A client's process, which calls a hook for each line that it reads.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
    cwd: String,
}

impl Client {
    fn open(project: &Project) -> Self {
        let script = format!(
            "while read -r event input; do \
             printf '%s' \"$input\" | {CONVOKE} hook claude \"$event\"; echo; done"
        );
        let mut command = project.command(Path::new("/bin/sh"), &["-c", &script]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        let cwd = project.root().display().to_string();
        Self { input: child.stdin.take(), child, answers, cwd }
    }

    fn hears(&mut self, event: &str, session: &str, cause: &str) -> String {
        let input = json!({ "session_id": session, "cwd": self.cwd, "source": cause,
            "turn": turn(event) });
        writeln!(self.input.as_mut().unwrap(), "{event} {input}").unwrap();
        let answer = self.answers.by_ref().map(Result::unwrap).find(|line| !line.is_empty());
        let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
        text.unwrap_or_default().to_owned()
    }

    fn starts(&mut self, session: &str, cause: &str) -> String {
        self.hears("SessionStart", session, cause)
    }

    fn leave(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// A project in which a message waits for june, the agent of all sessions.
fn waiting() -> Project {
    let project = project(3);
    project.run(&["agent", "add", "june"]);
    project.run(&["say", "please hurry, @june", "--as", "ana"]);
    project
}

const NEW: &str = "## New Message\n@ana: \"please hurry, @june\"";
const COUNTED: &str = "## New Message\n(none)\n(1 more unread to you: `convoke inbox june --mark`)";

fn is_unread(project: &Project) -> bool {
    project.stdout(&["inbox", "june"]).contains("please hurry")
}

// W-21: `claude`, and `/exit` without a prompt: the next session is given the message again.
#[test]
fn a_session_that_is_left_without_a_prompt_read_nothing() {
    let project = waiting();
    for session in ["s-1", "s-2"] {
        let mut client = Client::open(&project);
        let told = client.starts(session, "startup");
        assert!(told.contains(NEW), "{session}: {told}");
        client.leave();
        assert!(is_unread(&project), "{session}");
    }
    // The first prompt, also that of `claude -p`, shows that a model has it.
    let mut client = Client::open(&project);
    assert!(client.starts("s-3", "startup").contains(NEW));
    assert_eq!(client.hears("UserPromptSubmit", "s-3", ""), "");
    assert!(!is_unread(&project));
    client.leave();
    let mut client = Client::open(&project);
    let told = client.starts("s-4", "startup");
    assert!(told.contains("## New Message\n(none)\n\n"), "{told}");
    client.leave();
}

// W-21: a session that waits for its first prompt keeps the message from others until its user leaves.
// No later text of the session has the message as new.
#[test]
fn a_session_that_waits_for_its_first_prompt_keeps_its_messages() {
    let project = waiting();
    let (mut first, mut second) = (Client::open(&project), Client::open(&project));
    assert!(first.starts("s-1", "startup").contains(NEW));
    let told = second.starts("s-2", "startup");
    assert!(told.contains(COUNTED), "{told}");
    // Much later, too.
    let store = project.path("../home/.local/state/convoke/store.db");
    let store = rusqlite::Connection::open(store).unwrap();
    let aged =
        "UPDATE deliveries SET made_at = strftime('%Y-%m-%dT%H:%M:%fZ', made_at, '-2 hours')";
    store.execute(aged, []).unwrap();
    let aged =
        "UPDATE memories SET claim_at = strftime('%Y-%m-%dT%H:%M:%fZ', claim_at, '-2 hours')";
    store.execute(aged, []).unwrap();
    let told = second.starts("s-3", "clear");
    assert!(told.contains(COUNTED), "{told}");
    assert_eq!(first.hears("UserPromptSubmit", "s-1", ""), "");
    assert!(!is_unread(&project));
    let told = first.starts("s-1", "compact");
    assert!(!told.contains("## New Message\n@ana"), "{told}");
    project.run(&["say", "please hurry, @june", "--as", "ana"]);
    assert!(first.starts("s-4", "clear").contains(NEW));
    first.leave();
    assert!(second.starts("s-5", "clear").contains(NEW), "the other one was left");
    second.leave();
}

// W-21: a cleared session has lost what it was given, whether the client gives it a new name or not.
#[test]
fn a_session_that_is_cleared_before_its_first_prompt_is_given_its_messages_again() {
    let project = waiting();
    let mut client = Client::open(&project);
    assert!(client.starts("s-1", "startup").contains(NEW));
    for session in ["s-2", "s-3", "s-3"] {
        let told = client.hears("SessionStart", session, &format!("clear {}", turn("x")));
        assert!(told.contains(NEW), "{session}: {told}");
    }
    assert_eq!(client.hears("UserPromptSubmit", "s-3", ""), "");
    assert!(!is_unread(&project));
    let told = client.starts("s-4", "clear");
    assert!(!told.contains("## New Message\n@ana"), "{told}");
    client.leave();
}

// W-21: the hook of the prompt failed, but the client's record shows that a model had the text.
#[test]
fn a_message_in_the_clients_record_was_read() {
    let project = waiting();
    let mut client = Client::open(&project);
    let told = client.starts("s-1", "startup");
    assert!(told.contains(NEW), "{told}");
    client.leave();
    let attachment = json!({ "type": "hook_additional_context", "content": [told] });
    let line = json!({ "type": "attachment", "attachment": attachment });
    let project = project.file("../home/.claude/projects/-p/s-1.jsonl", format!("{line}\n"));
    let mut client = Client::open(&project);
    let told = client.starts("s-2", "startup");
    assert!(!told.contains("## New Message\n@ana") && !told.contains("more unread"), "{told}");
    assert!(!is_unread(&project));
    client.leave();
}
