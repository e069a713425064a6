//! `convoke upgrade --check`: what is behind this version, from what this machine knows.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Outcome, Project, set_mode, skipped};
use crate::lane::with_claude;

const STORE: &str = "../home/.local/state/convoke/store.db";
const CHECK: [&str; 2] = ["upgrade", "--check"];

#[test]
fn an_upgrade_check_reads_this_machine_alone() {
    let project = with_claude("echo 2.1.0").in_repository("main");
    let fresh = project.run(&["upgrade", "--check"]);
    assert_eq!(fresh.code, Some(0), "{fresh}");
    assert!(fresh.stdout.contains("store      not there yet"), "{fresh}");
    project.stdout(&["hooks", "install", "claude", "--entries", "2"]);
    let current = project.run(&["upgrade", "--check"]);
    assert_eq!(current.code, Some(0), "{current}");
    assert!(current.stdout.contains("hooks      claude current"), "{current}");
    let settings = fs::read_to_string(project.path(".claude/settings.json")).unwrap();
    let program = env!("CARGO_BIN_EXE_convoke");
    let project = project.file(".claude/settings.json", settings.replace(program, "/gone/convoke"));
    let behind = project.run(&["upgrade", "--check"]);
    assert_eq!(behind.code, Some(1), "{behind}");
    assert!(behind.stdout.contains("calls a program that is not"), "{behind}");
}

/// A project with hooks and a store, where nothing is behind.
fn current() -> Project {
    let project = with_claude("echo 2.1.325").in_repository("main");
    project.stdout(&["hooks", "install", "claude", "--entries", "2"]);
    project.stdout(&["task", "add", "One"]);
    project
}

#[track_caller]
fn behind(project: &Project, words: &str) -> Outcome {
    let checked = project.run(&CHECK);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(1), ""), "{checked}");
    let told = checked.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let list = told.split("Behind").nth(1).unwrap_or_default();
    assert!(list.contains(words), "`{words}` is not in\n{checked}");
    checked
}

fn set_schema(project: &Project, version: u32) {
    let store = rusqlite::Connection::open(project.path(STORE)).unwrap();
    store.pragma_update(None, "user_version", version).unwrap();
}

#[test]
fn a_store_of_another_version_is_behind_and_stays_as_it_is() {
    let project = current();
    assert_eq!(project.run(&CHECK).code, Some(0));
    set_schema(&project, 3);
    let before = fs::read(project.path(STORE)).unwrap();
    let old = behind(&project, "the store has schema 3 of ");
    assert!(old.stdout.contains("the next command brings it up to date"), "{old}");
    assert_eq!(fs::read(project.path(STORE)).unwrap(), before, "a check changes nothing");
    set_schema(&project, 9000);
    behind(&project, "and the store has 9000; update this program");
    let report = project.run(&["upgrade", "--check", "--json"]);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["store_schema"], json!(9000), "{report}");
    assert_eq!(report["behind"].as_array().unwrap().len(), 1, "{report}");
}

#[test]
fn hooks_of_another_program_or_version_are_behind() {
    let settings = ".claude/settings.json";
    let program = env!("CARGO_BIN_EXE_convoke");
    let changed = |from: &str, to: &str| {
        let project = current();
        let text = fs::read_to_string(project.path(settings)).unwrap();
        assert!(text.contains(from), "{text}");
        project.file(settings, text.replace(from, to))
    };
    behind(&changed("--of 2", "--of 3"), "has entries of another version");
    let other = changed(program, "/usr/bin/true");
    behind(&other, "calls another convoke; run `convoke hooks install claude`");
    let users = current();
    users.stdout(&["hooks", "install", "claude", "--user", "--entries", "1"]);
    let path = users.path("../home").join(settings);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(program, "/gone/convoke")).unwrap();
    behind(&users, "run `convoke hooks install claude --user`");
}

#[test]
fn a_client_of_an_earlier_series_is_behind() {
    let old = with_claude("echo '1.0.44 (Claude Code)'").in_repository("main");
    behind(&old, "claude is older than tested: 1.0.44 < 2.1.");
    for fine in ["2.1.1", "2.9.0", "no idea"] {
        let project = with_claude(&format!("echo '{fine}'")).in_repository("main");
        assert_eq!(project.run(&CHECK).code, Some(0), "{fine}");
    }
}

// A program that opens no socket asks no server.
#[test]
fn a_check_opens_no_socket() {
    let strace = Path::new("/usr/bin/strace");
    if !strace.exists() {
        return skipped("strace is not installed");
    }
    let project = current();
    let record = project.path("../calls");
    let record = record.to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_convoke");
    let words = ["-f", "-o", record, "-e", "trace=socket,connect", program, "upgrade", "--check"];
    let traced = project.run_program(strace, &words);
    if traced.stderr.contains("ptrace") || traced.stderr.contains("PTRACE") {
        return skipped("strace may not trace here");
    }
    assert_eq!(traced.code, Some(0), "{traced}");
    let calls = fs::read_to_string(record).unwrap();
    assert!(!calls.contains("AF_INET"), "{calls}");
}

#[test]
fn an_upgrade_is_only_checked_for() {
    let checked = Project::new().run(&["upgrade"]);
    assert_eq!(checked.code, Some(0), "{checked}");
    assert!(checked.stdout.contains("Nothing is behind."), "{checked}");
    let broken = current();
    set_mode(&broken.path(STORE), 0o600);
    let broken = broken.file(STORE, "no database at all");
    let refused = broken.run(&CHECK);
    assert!(refused.code != Some(0) && refused.stderr.contains("store.db"), "{refused}");
}
