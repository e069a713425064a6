//! Hooks in clients that Convoke starts: they deliver nothing and consume nothing.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Project;
use crate::lane::{init, result, with_claude};

const CONVOKE: &str = env!("CARGO_BIN_EXE_convoke");

/// A project whose client calls its hooks as Claude Code does, in itself and in a subagent of its
/// own, and keeps what they answer.
fn project() -> Project {
    let event = json!({ "session_id": "s-lane", "source": "startup" });
    let hook = format!("echo '{event}' | {CONVOKE} hook claude SessionStart >> ../heard");
    let subagent = format!("env A=b sh -c \"{}\"", hook.replace('"', "\\\""));
    let script = format!("cat > /dev/null\n{hook}\n{subagent}\n{}{}", init(), result(|_| ()));
    let project = with_claude(&script)
        .on_branch("main")
        .file("../home/.config/convoke/config.toml", "[wake]\nagent = 'june'\n");
    project.run(&["task", "add", "Build the parser"]);
    project.run(&["agent", "add", "june", "--session", "s-1"]);
    project.run(&["say", "please hurry, @june", "--as", "ana"]);
    project
}

fn seen(project: &Project) -> Value {
    let shown = project.stdout(&["agent", "show", "june", "--json"]);
    serde_json::from_str::<Value>(&shown).unwrap()["last_seen_message_id"].clone()
}

fn heard(project: &Project) -> String {
    fs::read_to_string(project.path("../heard")).unwrap()
}

// A lane works by its prompt alone: it is not the agent whose messages wait in its folder.
#[test]
fn a_hook_in_a_lane_delivers_and_consumes_nothing() {
    let project = project();
    let before = (project.stdout(&["inbox", "june"]), seen(&project));
    let lane = project.run(&["lane", "run", "--agent", "claude", "You are a reviewer"]);
    assert_eq!(lane.code, Some(0), "{lane}");
    assert_eq!(heard(&project), "{}\n{}\n", "in the client and in what it starts");
    assert_eq!((project.stdout(&["inbox", "june"]), seen(&project)), before);
    let status = project.run(&["hooks", "status", "claude", "--json"]);
    assert!(!status.stdout.contains("\"fired_at\": \""), "it is not even noticed: {status}");
}

// W-23: the wake-up is the lane's prompt, so its hook has nothing to add.
#[test]
fn attending_delivers_by_the_prompt_alone() {
    let project = project();
    let attended = project.run(&["attend", "--once"]);
    assert_eq!(attended.code, Some(0), "{attended}");
    assert_eq!(heard(&project), "{}\n{}\n");
    assert_eq!(project.stdout(&["inbox", "june"]), "No new messages for @june.");
}

// The user's own variables cannot take the mark away, and a session outside of lanes has none.
#[test]
fn the_mark_is_a_lanes_alone_and_cannot_be_taken_away() {
    let project = project()
        .file(
            "../home/.config/convoke/config.toml",
            "[wake]\nagent = 'june'\n[lane]\npass_env = ['A']\n",
        )
        .variable("CONVOKE_LANE", "");
    project.run(&["lane", "run", "--agent", "claude", "hello"]);
    assert_eq!(heard(&project), "{}\n{}\n");
    let event = json!({ "session_id": "s", "source": "startup" }).to_string();
    let own = project.run_with_input(&["hook", "claude", "SessionStart"], event.as_bytes());
    assert!(own.stdout.contains("please hurry"), "{own}");
}
