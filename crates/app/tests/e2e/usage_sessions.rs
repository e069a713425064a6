//! What all sessions used, by records of the real clients.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;

use crate::harness::Project;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/fixtures/usage")
}

/// A user with records of five clients, in folders that variables name and in the usual one.
fn with_records() -> Project {
    let chat = "tmp/project/chats/session-2026-11-16T23-16-7b0c9b7e.jsonl";
    let text = fs::read(fixtures().join("gemini").join(chat)).unwrap();
    let at = |name: &str| fixtures().join(name).display().to_string();
    Project::new()
        .file(&format!("../home/.gemini/{chat}"), text)
        .variable("CLAUDE_CONFIG_DIR", &at("claude"))
        .variable("CODEX_HOME", &at("codex"))
        .variable("XDG_DATA_HOME", &at(""))
        .variable("QWEN_HOME", &at("qwen"))
}

fn document(project: &Project, more: &[&str]) -> Value {
    let words = [&["--json", "usage", "--all-sessions"], more].concat();
    serde_json::from_str(&project.stdout(&words)).unwrap()
}

#[test]
fn every_clients_sessions_are_added_up_and_unknown_counts_are_marked() {
    let project = with_records();
    let shown = project.run(&["usage", "--all-sessions", "--by", "client"]);
    assert_snapshot!(format!("{}{}", shown.stdout, shown.stderr));
    assert!(!project.path("../home/.local/state/convoke/store.db").exists(), "it needs no store");
}

#[test]
fn sessions_are_added_up_by_day_model_and_project_since_a_day() {
    let project = with_records();
    let names = |more: &[&str]| -> Vec<String> {
        let rows = document(&project, more)["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row["name"].as_str().unwrap_or("-").to_owned()).collect()
    };
    assert_eq!(names(&[]), ["2026-11-16"]);
    assert_eq!(names(&["--by", "project"]), ["/project", "-"], "this Gemini names no folder");
    assert_eq!(names(&["--by", "model"]).len(), 6);
    assert_eq!(document(&project, &["--since", "2026-11-16"])["total"]["answers"], 27);
    assert_eq!(document(&project, &["--since", "2026-11-17"])["total"]["answers"], 0);
    let none = project.stdout(&["usage", "--all-sessions", "--since", "2099-01-01"]);
    assert_eq!(none, "No answers in the clients' records.");
}

#[test]
fn a_key_that_does_not_fit_is_refused_with_those_that_do() {
    let project = with_records();
    let wrong = project.run(&["usage", "--all-sessions", "--by", "role"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    assert!(wrong.stderr.contains("the keys are day, model, client, project"), "{wrong}");
    let wrong = project.run(&["usage", "--by", "client"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    assert!(wrong.stderr.contains("`convoke usage --all-sessions --by client`"), "{wrong}");
    for since in ["yesterday", "0d", "2026-13-01"] {
        let wrong = project.run(&["usage", "--since", since]);
        assert_eq!(wrong.code, Some(2), "{wrong}");
    }
    assert_eq!(project.run(&["usage", "--since", "today"]).code, Some(0));
    assert_eq!(project.run(&["usage", "--since", "7d"]).code, Some(0));
}

#[test]
fn what_cannot_be_read_is_announced() {
    let project = Project::new()
        .file("../home/.claude/projects/p/s.jsonl", "{\"type\":\"assistant\"\n")
        .file("../home/.codex/sessions", "no folder")
        .file("../home/.cursor/cli-config.json", "{}");
    let shown = project.run(&["usage", "--all-sessions"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    for note in [
        "note: 1 damaged line was skipped",
        "note: 1 file could not be read",
        "note: the records of cursor hold no usage",
    ] {
        assert!(shown.stderr.contains(note), "{shown}");
    }
}
