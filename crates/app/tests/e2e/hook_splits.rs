//! Hook entries that are installed in different numbers, and answers that did not leave Convoke.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::Project;

/// A project with eight unread messages of june's, each longer than a quarter of a part.
fn project() -> Project {
    let project = Project::new()
        .in_repository("main")
        .file("../home/.config/convoke/config.toml", "[wake]\nagent = 'june'\n");
    project.run(&["task", "add", "Build the parser"]);
    for number in 1..=8 {
        let text = format!("@june M{number}: {}end of M{number}", "a long story ".repeat(190));
        project.run(&["say", &text, "--as", "ana"]);
    }
    project
}

/// Returns the answer of one entry to an event.
fn ask(project: &Project, event: &str, turn: u32, part: &str, of: &str) -> String {
    let input = json!({ "session_id": "s", "cwd": project.root(), "turn": turn });
    let words = ["hook", "claude", event, "--part", part, "--of", of];
    let outcome = project.run_with_input(&words, input.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
    context.unwrap_or_default().to_owned()
}

/// Lets an entry answer into a pipe that is closed already.
fn ask_in_vain(project: &Project, event: &str, of: &str) {
    let path = project.path("../event");
    std::fs::write(&path, json!({ "session_id": "s", "cwd": project.root() }).to_string()).unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let words = ["hook", "claude", event, "--part", "1", "--of", of];
    let mut command = project.command(program, &words);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdin(std::fs::File::open(&path).unwrap()).stdout(Stdio::from(writer));
    command.spawn().unwrap().wait().unwrap();
}

/// Makes everything that hooks have kept a minute older.
fn let_a_minute_pass(project: &Project) {
    let store = project.path("../home/.local/state/convoke/store.db");
    let store = rusqlite::Connection::open(store).unwrap();
    for (table, column) in [
        ("losses", "noticed_at"),
        ("memories", "event_at"),
        ("memories", "claim_at"),
        ("deliveries", "made_at"),
    ] {
        let earlier = format!("strftime('%Y-%m-%dT%H:%M:%fZ', {column}, '-60 seconds')");
        store.execute(&format!("UPDATE {table} SET {column} = {earlier}"), []).unwrap();
    }
}

/// Every message is complete in the delivered text, or still unread.
#[track_caller]
fn check_nothing_lost(project: &Project, told: &str) {
    let unread = project.stdout(&["inbox", "june"]);
    for number in 1..=8 {
        let is_told = told.contains(&format!("M{number}: a long story"))
            && told.contains(&format!("end of M{number}"));
        assert!(is_told || unread.contains(&format!("end of M{number}")), "M{number} is lost");
    }
}

// A plugin and settings with other numbers of entries: the first that notices the event decides how
// the text is cut, and the others say nothing.
#[test]
fn parts_of_two_splits_do_not_mix() {
    let project = project();
    let order = [("1", "4"), ("2", "2"), ("2", "4"), ("1", "2"), ("3", "4"), ("4", "4")];
    let told = order.map(|(part, of)| ask(&project, "SessionStart", 0, part, of));
    assert_eq!((told[1].as_str(), told[3].as_str()), ("", ""));
    assert!(told[0].contains("M1: ") || told.concat().contains("M8: "), "{}", told[0]);
    check_nothing_lost(&project, &told.concat());
}

// An answer that did not leave Convoke is made up for by the entries that it was made for.
#[test]
fn another_split_does_not_make_up_for_a_lost_answer() {
    let project = project();
    ask_in_vain(&project, "SessionStart", "4");
    let told = ask(&project, "UserPromptSubmit", 1, "1", "1");
    check_nothing_lost(&project, &told);
    assert_eq!(told, "");
    let told = ["1", "2", "3", "4"].map(|part| ask(&project, "UserPromptSubmit", 2, part, "4"));
    assert!(!told[0].is_empty());
    check_nothing_lost(&project, &told.concat());
}

// Once the entries of the first split are gone, the others answer, with a text of their own.
#[test]
fn a_lost_answer_is_made_up_for_after_another_install() {
    let project = project();
    ask_in_vain(&project, "SessionStart", "4");
    let_a_minute_pass(&project);
    let told = ask(&project, "UserPromptSubmit", 1, "1", "1");
    assert!(told.starts_with("[convoke wake-up 1/1 ") && told.contains("Build the parser"));
    check_nothing_lost(&project, &told);
}

// A repeated answer describes the present state, not that of the lost answer.
#[test]
fn a_made_up_answer_is_fresh() {
    let project = project();
    project.run(&["pin", "add", "OLD RULE"]);
    ask_in_vain(&project, "SessionStart", "1");
    project.run(&["pin", "rm", "1"]);
    project.run(&["pin", "add", "NEW RULE"]);
    let_a_minute_pass(&project);
    let told = ask(&project, "UserPromptSubmit", 1, "1", "1");
    assert!(told.contains("NEW RULE") && !told.contains("OLD RULE"), "{told}");
    check_nothing_lost(&project, &told);
}

// A lost answer of one project is not delivered in another, nor counted there.
#[test]
fn a_lost_answer_stays_in_its_project() {
    let project = project();
    ask_in_vain(&project, "SessionStart", "1");
    let other = project.path("../other");
    std::fs::create_dir(&other).unwrap();
    let made = project.shell(&format!("git init -q -b main '{}'", other.display()), "");
    assert_eq!(made.code, Some(0), "{made}");
    let there = other.display().to_string();
    project.run(&["-C", &there, "task", "add", "Another task"]);
    let input = json!({ "session_id": "s", "cwd": there, "turn": 1 }).to_string();
    let words = ["hook", "claude", "UserPromptSubmit"];
    let outcome = project.run_with_input(&words, input.as_bytes());
    assert!(!outcome.stdout.contains("a long story"), "{outcome}");
    assert!(outcome.stdout.contains("Another task"), "{outcome}");
    check_nothing_lost(&project, "");
}
