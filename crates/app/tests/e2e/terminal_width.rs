//! Pages, errors and help at the width of the terminal: nothing is cut, and words stay whole.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use convoke_domain::text::width;
use rustix::process::{Pid, Signal, kill_process};

use crate::design_terminal::{Terminal, printed};
use crate::harness::Project;

const WIDTHS: [u16; 3] = [60, 80, 140];

/// A project whose Claude settings are broken, with Codex hooks that Codex does not trust, a spent
/// budget, and open tasks on another branch.
fn troubled() -> Project {
    let project = Project::new()
        .in_repository("main")
        .file("../bin/claude", "#!/bin/sh\necho '2.1.3 (Claude Code)'\n")
        .file("../bin/codex", "#!/bin/sh\necho codex-cli 0.166.0\n");
    for name in ["../bin/claude", "../bin/codex"] {
        fs::set_permissions(project.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", project.path("../bin").display());
    let project = project.variable("PATH", &path);
    project.stdout(&["hooks", "install", "codex"]);
    project.stdout(&["task", "add", "One", "Two"]);
    let project = project.file(".claude/settings.json", "{ bad");
    project.on_branch("trunk")
}

/// Returns what a terminal shows of a command, without empty lines.
fn shown(project: &Project, columns: u16, words: &[&str]) -> Vec<String> {
    let (_, shown) = Terminal::open(project, columns, words).end();
    printed(&shown).into_iter().filter(|line| !line.is_empty()).collect()
}

/// Checks that no line is too wide but for one long word, and returns all words.
fn fits(lines: &[String], columns: u16) -> String {
    for line in lines {
        let is_one_word = line.trim().split(' ').count() < 3;
        assert!(width(line) <= usize::from(columns) || is_one_word, "{columns}: {line}");
    }
    lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn status_wraps_and_cuts_nothing_useful() {
    let project = troubled();
    for columns in WIDTHS {
        let lines = shown(&project, columns, &["status"]);
        let words = fits(&lines, columns);
        for useful in [
            "start `codex` here and trust the folder, then run `/hooks` in it and trust the hooks",
            "it is not valid JSON: line 1, column 3: a key in quotes is missing",
            "branch main has 2 open tasks; see `convoke task list --all-branches`",
            "task none on this branch",
            "convoke task list --all-branches shows the open tasks of other branches",
        ] {
            assert!(words.contains(useful), "{columns}: `{useful}` is not in {words}");
        }
    }
    let wide = shown(&project, 140, &["status"]);
    assert!(wide.iter().any(|line| line.chars().count() > 100), "{wide:?}");
}

#[test]
fn a_setup_is_as_wide_as_the_terminal_and_names_each_version_once() {
    let project = troubled();
    for columns in WIDTHS {
        let words = fits(&shown(&project, columns, &["init", "--dry-run"]), columns);
        assert!(words.contains("claude 2.1.3, codex 0.166.0"), "{words}");
    }
    let wide = shown(&project, 140, &["init", "--dry-run"]);
    assert!(wide.iter().any(|line| line.chars().count() > 100), "{wide:?}");
}

#[test]
fn lists_stay_tables_on_a_narrow_terminal() {
    let project = troubled();
    // The client says nothing, and its lane is listed.
    project.run(&["lane", "run", "--agent", "claude", "hello"]);
    for columns in WIDTHS {
        for (words, header) in [(["lane", "list"], "lane "), (["agents", "-v"], "agent ")] {
            let lines = shown(&project, columns, &words);
            fits(&lines, columns);
            assert!(lines[0].starts_with(header), "{columns}: {lines:?}");
            let is_row = |line: &&String| line.contains("claude");
            assert_eq!(lines.iter().filter(is_row).count(), 1, "{columns}: {lines:?}");
        }
    }
}

// A feature takes the room that the terminal has; what is cut off ends in an ellipsis.
#[test]
fn runs_and_show_are_as_wide_as_the_terminal() {
    let project = Project::new();
    project.stdout(&["design", "--rehearse", "--auto"]);
    let mut shown_features = Vec::new();
    for columns in WIDTHS {
        let lines = shown(&project, columns, &["runs"]);
        assert_eq!(lines.len(), 2, "{columns}: {lines:?}");
        assert!(lines[0].starts_with("run "), "{lines:?}");
        assert_eq!(width(&lines[1]), usize::from(columns), "{}", lines[1]);
        assert!(lines[1].ends_with('…'), "{}", lines[1]);
        shown_features.push(lines[1].trim_end_matches('…').to_owned());
        let lines = shown(&project, columns, &["show", "--no-pager"]);
        for (header, row, end) in
            [("reviewer ", "Codex · Pragmatism ", "2"), ("seat ", "  Claude · diagram ", "OK")]
        {
            assert!(lines.iter().any(|line| line.starts_with(header)), "{columns}: {lines:#?}");
            let is_row = |line: &&String| line.starts_with(row) && line.ends_with(end);
            assert_eq!(lines.iter().filter(is_row).count(), 1, "{columns}: {row}: {lines:#?}");
        }
        let page = fits(&lines, columns);
        for useful in [
            "(rehearsal) Let people keep their notes in a folder that a file-sync program copies",
            "whoever stays with a single notes.json must not notice any difference.",
        ] {
            assert!(page.contains(useful), "{columns}: `{useful}` is not in {page}");
        }
    }
    assert!(shown_features.is_sorted_by(|narrow, wide| wide.starts_with(narrow.as_str())));
    let piped = project.stdout(&["runs"]);
    assert!(piped.lines().all(|line| width(line) <= 80), "{piped}");
}

#[test]
fn settings_are_explained_at_a_terminal() {
    let project = Project::new().variable("PAGER", "");
    for columns in WIDTHS {
        let words = fits(&shown(&project, columns, &["config", "list"]), columns);
        let useful = "wake.wake_budget = 8000 (default) the token budget of a wake-up";
        assert!(words.contains(useful), "{columns}: `{useful}` is not in {words}");
    }
    let piped = project.stdout(&["config", "list"]);
    assert!(piped.lines().all(|line| line.contains(" = ")), "a line for each setting: {piped}");
}

#[test]
fn errors_hints_notes_and_lists_wrap() {
    let project = troubled().file("AGENTS.md", "Nothing.\n");
    for words in [
        &["brief", "nope/*.md"][..],
        &["task", "import", "AGENTS.md"],
        &["hooks", "status"],
        &["hooks", "status", "codex"],
        &["say", "hello @somebodyelse"],
        &["task", "list"],
    ] {
        for columns in [60, 80] {
            fits(&shown(&project, columns, words), columns);
        }
    }
    let piped = project.run(&["brief", "nope/*.md"]).stderr;
    assert_eq!(piped.lines().count(), 2, "{piped}");
}

#[test]
fn help_is_as_wide_as_the_terminal_and_80_columns_elsewhere() {
    let project = Project::new();
    let is_too_wide = |line: &&str| width(line) > 80 && line.trim().split(' ').count() > 2;
    for words in [&["help"][..], &["config", "set", "--help"], &["lane", "run", "--help"]] {
        let piped = project.stdout(words);
        assert_eq!(piped.lines().find(is_too_wide), None, "{words:?}");
    }
    let narrow = shown(&project, 60, &["config", "set", "--help"]);
    fits(&narrow, 60);
    let wide = shown(&project, 140, &["lane", "run", "--help"]);
    assert!(wide.iter().any(|line| line.chars().count() > 100), "{wide:?}");
}

#[test]
fn an_interrupted_setup_says_that_nothing_was_changed() {
    let project = troubled();
    let mut terminal = Terminal::open(&project, 80, &["init"]);
    terminal.until("Make these changes? [y/N]");
    let (code, shown) = interrupted(terminal);
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.trim_end().ends_with("\nnothing was changed"), "{shown}");
    // Also while Convoke still asks a client for its version.
    let marker = project.path("asked");
    let script = format!("#!/bin/sh\n: > '{}'\nexec sleep 60\n", marker.display());
    let project = project.file("../bin/codex", &script);
    let mut terminal = Terminal::open(&project, 80, &["init"]);
    while !marker.exists() {
        assert_eq!(terminal.convoke.try_wait().unwrap(), None);
        thread::yield_now();
    }
    let (code, shown) = interrupted(terminal);
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.contains("nothing was changed") && !shown.contains("error:"), "{shown}");
}

fn interrupted(terminal: Terminal) -> (Option<i32>, String) {
    kill_process(Pid::from_child(&terminal.convoke), Signal::INT).unwrap();
    terminal.end()
}
