//! One line for a client's status line and for shells.

use serde_json::{Value, json};

use crate::deeds::id_of;
use crate::harness::{Outcome, Project};
use crate::lane::{init, result, with_claude};

/// What Claude Code passes to the command of its status line.
fn input(project: &Project, session: &str) -> String {
    let folder = project.root().display().to_string();
    json!({
        "session_id": session,
        "transcript_path": "/home/u/.claude/projects/p/s.jsonl",
        "cwd": folder,
        "model": { "id": "claude-opus-5-5", "display_name": "Opus" },
        "workspace": { "current_dir": folder, "project_dir": folder, "added_dirs": [] },
        "version": "2.1.325",
        "cost": { "total_cost_usd": 0.5, "total_duration_ms": 45000 },
        "context_window": { "used_percentage": null },
    })
    .to_string()
}

fn shown(project: &Project, input: &str) -> Outcome {
    let outcome = project.run_with_input(&["statusline"], input.as_bytes());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome}");
    assert_eq!(outcome.stdout.matches('\n').count(), 1, "{outcome}");
    outcome
}

/// A project with a task in progress, a session and a message.
fn at_work() -> Project {
    let project = with_claude(&format!("{}{}", init(), result(|_| {})))
        .in_repository("main")
        .variable("CONVOKE_LANE_BUDGET_PER_DAY", "200k")
        .variable("NO_COLOR", "1");
    project.stdout(&["hooks", "install", "claude", "--as", "june", "--entries", "1"]);
    project.stdout(&["task", "add", "Write the parser of the configuration"]);
    project.stdout(&["task", "start"]);
    project.stdout(&["lane", "run", "--agent", "claude", "--no-tree-check", "Say hello"]);
    project.stdout(&["say", "look at the printer", "--to", "june"]);
    project
}

#[test]
fn a_client_gets_agent_task_messages_and_spending_in_one_line() {
    let project = at_work();
    let id = id_of(&project, "Write the parser");
    let line = shown(&project, &input(&project, "s-1")).stdout;
    assert!(line.starts_with(&format!("@june · {id} ")), "{line}");
    assert!(line.contains(" · 1 unread · today 2k tokens"), "{line}");
    assert!(line.contains(" of 200000 tokens"), "{line}");
    assert!(!line.trim_end().contains(char::is_control), "{line:?}");
    assert!(line.trim_end().chars().count() <= 80, "{line}");
}

#[test]
fn a_line_fits_the_columns_and_is_coloured_for_a_client_unless_unwanted() {
    let project = at_work().variable("COLUMNS", "40");
    let line = shown(&project, &input(&project, "s-1")).stdout;
    assert!(line.trim_end().chars().count() <= 40, "{line}");
    let project = project.variable("NO_COLOR", "");
    assert!(shown(&project, &input(&project, "s-1")).stdout.contains("\u{1b}["));
    // A prompt would count the orders as columns.
    assert!(!shown(&project, "").stdout.contains('\u{1b}'));
}

#[test]
fn a_look_leaves_the_store_and_the_messages_as_they_are() {
    let project = at_work();
    // The first line says when it was written.
    let rows = || {
        let text = project.stdout(&["store", "export", "-"]);
        text.split_once('\n').unwrap().1.to_owned()
    };
    let before = rows();
    for text in [input(&project, "s-new"), String::new(), "{".to_owned(), "[]".to_owned()] {
        shown(&project, &text);
    }
    assert_eq!(rows(), before);
}

#[test]
fn without_a_store_the_line_says_so_and_makes_none() {
    let project = Project::new().on_branch("main");
    let before = project.listing();
    let line = shown(&project, &input(&project, "s-1")).stdout;
    assert!(line.contains("no tasks or messages here yet"), "{line}");
    assert_eq!(project.listing(), before);
    assert!(!project.path("../home/.local/state/convoke/store.db").exists());
    let json = project.run_with_input(&["statusline", "--json"], b"").stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["problem"], "no tasks or messages here yet", "{json}");
}

#[test]
fn an_unusable_store_or_folder_is_a_short_line_and_no_failure() {
    let project =
        Project::new().on_branch("main").file("../store.db", "no store, however long it is");
    let store = project.path("../store.db").display().to_string();
    let project = project.variable("CONVOKE_STORE", &store);
    let line = shown(&project, "").stdout;
    assert!(line.starts_with("convoke: "), "{line}");
    let gone = json!({ "session_id": "s", "cwd": "/no/such/folder" }).to_string();
    shown(&project, &gone);
    let outcome = project.run(&["statusline", "-C", "/no/such/folder"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
}

#[test]
fn a_session_that_belongs_to_another_agent_shows_that_agent() {
    let project = at_work();
    let began = json!({ "session_id": "s-2", "cwd": project.root(), "source": "startup" });
    project.run_with_input(&["hook", "claude", "SessionStart"], began.to_string().as_bytes());
    project.stdout(&["agent", "use", "max", "--session", "s-2"]);
    let line = shown(&project, &input(&project, "s-2")).stdout;
    assert!(line.starts_with("@max · "), "{line}");
    assert!(!line.contains("unread"), "{line}");
    assert!(shown(&project, &input(&project, "s-3")).stdout.starts_with("@june · "));
}
