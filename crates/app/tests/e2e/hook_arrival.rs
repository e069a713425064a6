//! `convoke hook`: what the client's own record says about the answers.

use serde_json::{Value, json};

use crate::harness::Project;
use crate::hook::{context, project, turn};

/// Reports an event of a session whose client keeps a record.
fn heard(project: &Project, client: &str, event: &str, cause: &str) -> Option<String> {
    let (cwd, record) = (project.root(), project.path("record.jsonl"));
    let input = json!({ "session_id": "s", "cwd": cwd, "source": cause, "transcript_path": record,
            "turn": turn(event) });
    let outcome = project.run_with_input(&["hook", client, event], input.to_string().as_bytes());
    context(&outcome, event)
}

/// Adds a line to the record.
fn record(project: &Project, line: &Value) {
    use std::io::Write;
    let path = project.path("record.jsonl");
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}

fn claude_has(project: &Project, text: &str) {
    let attachment = json!({ "type": "hook_additional_context", "content": [text] });
    record(project, &json!({ "type": "attachment", "attachment": attachment }));
}

fn claude_answers(project: &Project) {
    record(project, &json!({ "type": "assistant", "timestamp": "2999-01-01T00:00:00Z" }));
}

// W-21: a text in the client's record has arrived; a missing one is delivered once more.
#[test]
fn the_clients_record_tells_whether_a_wake_up_arrived() {
    let project = project(3);
    let status = || project.stdout(&["hooks", "status", "claude", "--json"]);
    project.run(&["hooks", "install", "claude"]);
    let given = heard(&project, "claude", "SessionStart", "startup").unwrap();
    assert_eq!(heard(&project, "claude", "UserPromptSubmit", ""), None, "nothing is known yet");
    assert!(status().contains("\"arrived_at\": null"), "{}", status());
    // It answers, and has only the beginning of its text.
    claude_has(&project, &given[..given.len() / 2]);
    claude_answers(&project);
    assert_eq!(heard(&project, "claude", "UserPromptSubmit", "").as_ref(), Some(&given));
    assert_eq!(heard(&project, "claude", "UserPromptSubmit", ""), None, "once more is enough");
    claude_has(&project, &given);
    assert_eq!(heard(&project, "claude", "UserPromptSubmit", ""), None);
    assert!(!status().contains("\"arrived_at\": null"), "{}", status());
}

// A hook that died after printing has delivered, if the record shows the text.
#[test]
fn an_unrecorded_delivery_is_not_repeated() {
    let project = project(3);
    let given = heard(&project, "claude", "SessionStart", "startup").unwrap();
    let store = project.path("../home/.local/state/convoke/store.db");
    let forgotten = "UPDATE memories SET delivered = 0; UPDATE deliveries SET delivered_at = NULL";
    rusqlite::Connection::open(store).unwrap().execute_batch(forgotten).unwrap();
    claude_has(&project, &given);
    assert_eq!(heard(&project, "claude", "UserPromptSubmit", ""), None);
    assert_eq!(heard(&project, "claude", "SessionStart", "resume"), None);
}

// Gemini says nothing of its compactions; its record shows them.
#[test]
fn geminis_compactions_are_seen_in_its_record() {
    let project = project(3);
    let said = |text: &str| json!({ "id": text, "type": "user", "content": [{ "text": text }] });
    record(&project, &said("hello"));
    let given = heard(&project, "gemini", "BeforeAgent", "").unwrap();
    let wrapped = format!("<hook_context>{}</hook_context>", given.replace('>', "&gt;"));
    record(&project, &said(&wrapped));
    assert_eq!(heard(&project, "gemini", "BeforeAgent", ""), None);
    record(&project, &json!({ "$set": { "messages": [said("a summary")] } }));
    let again = heard(&project, "gemini", "BeforeAgent", "").unwrap();
    record(&project, &said(&again));
    assert_eq!(heard(&project, "gemini", "BeforeAgent", ""), None);
}

// Convoke's own plugin reports when a text is in the session's history.
#[test]
fn opencodes_plugin_reports_arrival() {
    let project = project(3);
    project.run(&["hooks", "install", "opencode"]);
    let hear = |event: &str| {
        let input = json!({ "session_id": "s", "cwd": project.root() }).to_string();
        project.run_with_input(&["hook", "opencode", event], input.as_bytes()).stdout
    };
    assert!(hear("session.created").contains("Build the parser"));
    assert_eq!(hear("convoke.saved"), "{}\n");
    let status = project.stdout(&["hooks", "status", "opencode"]);
    assert!(status.contains("arrived: seen in the client's record"), "{status}");
    assert!(hear("session.compacted").contains("Build the parser"));
}

// A client may name any file as its record; no hook waits for it.
#[cfg(unix)]
#[test]
fn a_pipe_as_a_record_blocks_no_hook() {
    let project = project(3);
    heard(&project, "claude", "SessionStart", "startup").unwrap();
    let path = project.path("record.jsonl");
    let made = project.command(std::path::Path::new("mkfifo"), &[path.to_str().unwrap()]).status();
    assert!(made.unwrap().success());
    assert_eq!(heard(&project, "claude", "UserPromptSubmit", ""), None);
}
