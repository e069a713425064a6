//! `convoke design --subagent`: the heavy part in a process of its own.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::design_terminal::{Terminal, panel_that_works};
use crate::harness::Outcome;
use crate::lane::{init, result, with_claude};
use crate::panel::{FEATURE, Panel, answers};

/// Returns how each worker of the only run ended.
fn workers(panel: &Panel) -> Vec<String> {
    let store = panel.project.path("../home/.local/state/convoke/store.db");
    let store = rusqlite::Connection::open(store).unwrap();
    let mut found = store.prepare("SELECT body FROM journal WHERE kind = 'worked'").unwrap();
    let found = found.query_map([], |row| row.get::<_, String>(0)).unwrap();
    found.map(|body| body.unwrap()).collect()
}

// P-9, P-10, P-313, P-315, P-316, P-321
#[test]
fn a_worker_makes_the_same_and_shows_it_at_the_end() {
    let inline = Panel::new();
    assert_eq!(inline.design(&[]).code, Some(0));
    let panel = Panel::new();
    let outcome = panel.design(&["--subagent"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let headers = outcome.stdout.lines().filter(|line| line.starts_with("## "));
    let mut headers: Vec<_> = headers.collect();
    headers.retain(|line| !line.starts_with("## Per-finding") && !line.starts_with("## Reviewer"));
    let at = |header: &str| headers.iter().position(|line| *line == header);
    let order = [
        "## Implementation Plan",
        "## Voting Tally and Reviewer Competition Scoreboard",
        "## Plan Review Findings (Voted In)",
        "## Out-of-Scope Observations",
        "## Architecture Diagram",
        "## Unimplemented Plan Review Suggestions",
    ];
    let places: Vec<_> = order.iter().map(|header| at(header)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {outcome}");
    assert!(!outcome.stdout.contains("📊") && !outcome.stdout.contains("🔶 2b"), "{outcome}");
    assert_eq!(workers(&panel).len(), 1);
    assert_eq!(workers(&inline).len(), 0);
    let (run, state) = panel.run();
    assert_eq!(state, "ended");
    assert_eq!(panel.project.run(&["replay", &run]).stdout, outcome.stdout);
    let files = |panel: &Panel| panel.shown(&panel.run().0)["artifacts"].clone();
    let (ours, theirs) = (files(&panel), files(&inline));
    for name in ["plan.txt", "voting-tally.md", "dialectic-resolutions.md", "oos.md"] {
        assert_eq!(ours[name], theirs[name], "{name}");
    }
    let lanes = |panel: &Panel| panel.shown(&panel.run().0)["lanes"].as_array().unwrap().len();
    assert_eq!(lanes(&panel), lanes(&inline));
    // With `--quick` there is no worker.
    panel.git(&["switch", "--quiet", "main"]);
    assert_eq!(panel.design(&["--subagent", "--quick"]).code, Some(0));
    assert_eq!(workers(&panel).len(), 1);
}

// P-10, P-284, P-320: where it is done does not change who gets it.
#[test]
fn another_workflow_gets_what_a_worker_made() {
    let panel = Panel::new();
    let parent = panel.project.path("..").canonicalize().unwrap().join("parent");
    fs::create_dir(&parent).unwrap();
    let env = parent.join("env").display().to_string();
    let outcome = panel.design(&["--subagent", "--session-env", &env]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(!outcome.stdout.contains("\n## "), "{outcome}");
    assert!(parent.join("design-export/manifest.env").is_file());
    assert!(parent.join("oos-accepted-design.md").is_file());
    assert_eq!(workers(&panel).len(), 1);
}

// P-322: the calling workflow learns that there is no manifest, and finds none, not even an older
// one.
#[test]
fn a_heavy_part_that_failed_leaves_no_manifest() {
    let panel = Panel::new();
    let parent = panel.project.path("..").canonicalize().unwrap().join("parent");
    fs::create_dir(&parent).unwrap();
    let env = parent.join("env").display().to_string();
    let flags = ["--subagent", "--session-env", &env];
    assert_eq!(panel.design(&flags).code, Some(0));
    let mut knows = answers();
    knows.retain(|label, _| !label.starts_with("chair/plan"));
    for agent in ["cursor", "codex", "claude"] {
        panel.recorded(agent, &knows);
    }
    let outcome = panel.design(&flags);
    assert_eq!(outcome.code, Some(4), "{outcome}");
    assert!(outcome.stdout.contains("will see MANIFEST_FAILED"), "{outcome}");
    let manifest = parent.join("design-export/manifest.env");
    assert!(!manifest.exists() && parent.join("design-export/plan.txt").exists());
    for agent in ["cursor", "codex", "claude"] {
        panel.recorded(agent, &answers());
    }
    let again = panel.project.run(&["resume", &panel.run().0]);
    assert_eq!(again.code, Some(0), "{again}");
    assert!(manifest.is_file(), "{again}");
}

/// A panel whose first agent runs a script once, before it sketches.
fn with_first(script: &str) -> Panel {
    let sketch = format!("## Approach\nNotes go to a folder. {}", "word ".repeat(60));
    let answer = result(|line| line["result"] = json!(sketch));
    let script = format!(
        "[ -e \"$HOME/once\" ] || {{ touch \"$HOME/once\"; {script}; }}\n{}{answer}",
        init()
    );
    let panel = Panel::in_project(with_claude(&script));
    panel.recorded("host", &answers());
    panel
}

fn design(panel: &Panel) -> Outcome {
    let tape = |name: &str| panel.project.path(&format!("../{name}.jsonl")).display().to_string();
    let seats = format!("claude,replay:{},replay:{}", tape("codex"), tape("host"));
    let flags = ["design", "--auto", "--subagent", "--no-probe", "--seats", &seats, FEATURE];
    panel.project.run(&flags)
}

// P-317, P-322, P-323, P-324: a killed worker prints nothing; recorded answers are kept.
#[test]
fn a_killed_worker_is_noticed_and_followed() {
    // The agent's guardian is a child of the worker.
    let panel =
        with_first("kill -9 $(sed -n 's/^PPid:[^0-9]*//p' /proc/$PPID/status); exec sleep 600");
    let outcome = design(&panel);
    assert_eq!(outcome.code, Some(4), "{outcome}");
    let line = "**⚠ 2a: sketches — heavy worker subagent failed: worker-yielded-without-artifacts. Preserving ";
    assert!(outcome.stdout.contains(line), "{outcome}");
    assert!(!outcome.stdout.contains("design complete!"), "{outcome}");
    let (run, state) = panel.run();
    assert_eq!(state, "stopped");
    let folder = panel.project.path("../home/.local/state/convoke/runs").join(&run);
    assert!(folder.join("session-id").exists(), "it is kept");
    let again = panel.project.run(&["resume", &run, "--no-probe"]);
    assert_eq!(again.code, Some(0), "{again}");
    assert!(again.stdout.contains("## Implementation Plan"), "{again}");
    assert_eq!(workers(&panel).len(), 2);
}

// A person who waits for the worker sees which agents work, for how long, and with which tool.
#[test]
fn the_agents_of_a_worker_are_seen_at_a_terminal() {
    let (panel, seats) = panel_that_works();
    let arguments = ["design", "--auto", "--subagent", "--no-probe", "--seats", &seats, FEATURE];
    let mut terminal = Terminal::open(&panel.project, 100, &arguments);
    terminal.until("another process makes and reviews the plan");
    terminal.shows_who_works();
}

// The lines of the design come at the end, so a note says meanwhile how far the worker is.
#[test]
fn the_phases_of_a_worker_are_named_in_a_pipe() {
    let (panel, seats) = panel_that_works();
    let arguments = ["design", "--auto", "--subagent", "--no-probe", "--seats", &seats, FEATURE];
    let errors = panel.project.path("../errors");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let mut command = panel.project.command(program, &arguments);
    let mut convoke = command.stderr(fs::File::create(&errors).unwrap()).spawn().unwrap();
    let note = "note: phase Sketches began in another process\n";
    while !fs::read_to_string(&errors).unwrap().contains(note) {
        let ended = convoke.try_wait().unwrap();
        assert!(ended.is_none(), "{}", fs::read_to_string(&errors).unwrap());
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&convoke), Signal::INT).unwrap();
    let ended = convoke.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let said = fs::read_to_string(&errors).unwrap();
    assert_eq!(said.matches(note).count(), 1, "{said}");
    let shown = String::from_utf8(ended.stdout).unwrap();
    assert!(!shown.contains("another process"), "for programs: {shown}");
}

// P-325: the worker asks no person; the process that began the run does.
#[test]
fn a_worker_in_a_changed_tree_leaves_the_question_to_others() {
    let panel = with_first("echo x > dirty.txt");
    let outcome = design(&panel);
    assert_eq!(outcome.code, Some(6), "{outcome}");
    let (run, state) = panel.run();
    assert_eq!(state, "stopped");
    let folder = panel.project.path("../home/.local/state/convoke/runs").join(&run);
    let note = fs::read_to_string(folder.join("dirty-tree-detected.env")).unwrap();
    assert_eq!(note, "STATUS=dirty\nSTAGE=sketch-collection\nRECOVERY_REQUIRED=true\n");
    assert!(workers(&panel).is_empty(), "it did not fail");
    fs::remove_file(panel.project.path("dirty.txt")).unwrap();
    let again = panel.project.run(&["resume", &run, "--no-probe"]);
    assert_eq!(again.code, Some(0), "{again}");
    assert!(again.stdout.contains("## Implementation Plan"), "{again}");
}

// P-383: the process that began the run reports the warnings of the worker.
#[test]
fn the_warnings_of_a_failed_worker_are_shown() {
    let panel = Panel::new();
    let mut knows = answers();
    knows.retain(|label, _| !label.starts_with("sketch/Cursor"));
    panel.recorded("cursor", &knows);
    let mut host = answers();
    host.retain(|label, _| !label.starts_with("chair/plan"));
    panel.recorded("claude", &host);
    panel.recorded("codex", &host);
    let outcome = panel.design(&["--subagent"]);
    assert_eq!(outcome.code, Some(4), "{outcome}");
    let (_, after) = outcome.stdout.split_once("worker subagent failed: plan-missing.").unwrap();
    for warning in [
        "**⚠ Cursor failed — ",
        "**⚠ Claude sketch failed (Cursor-Arch): ",
        "**⚠ Claude sketch failed (Cursor-Edge): ",
        "**⚠ Claude failed as the chair — ",
    ] {
        assert_eq!(after.matches(warning).count(), 1, "{warning}: {outcome}");
    }
    let (run, _) = panel.run();
    for agent in ["codex", "claude"] {
        panel.recorded(agent, &answers());
    }
    let again = panel.project.run(&["resume", &run]);
    assert_eq!(again.code, Some(0), "{again}");
    let replayed = panel.project.run(&["replay", &run]);
    assert_eq!(replayed.stdout, outcome.stdout + &again.stdout);
}

// A worker outlives the process that started it for as long as its lanes take to stop.
#[test]
fn a_worker_that_is_still_there_is_waited_for() {
    let panel = with_first("trap '' TERM; : > \"$HOME/ready\"; sleep 600 & wait; sleep 600");
    let tape = |name: &str| panel.project.path(&format!("../{name}.jsonl")).display().to_string();
    let seats = format!("claude,replay:{},replay:{}", tape("codex"), tape("host"));
    let flags = ["design", "--auto", "--subagent", "--no-probe", "--seats", &seats, FEATURE];
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
    let mut parent = panel.project.command(program, &flags).spawn().unwrap();
    let ready = panel.project.path("../home/ready");
    while !ready.exists() {
        assert!(parent.try_wait().unwrap().is_none(), "it ended too soon");
        std::thread::yield_now();
    }
    parent.kill().unwrap();
    parent.wait().unwrap();
    let (run, state) = panel.run();
    assert_eq!(state, "stopped");
    let again = panel.project.run(&["resume", &run, "--no-probe"]);
    assert_eq!(again.code, Some(0), "{again}");
    assert!(again.stderr.contains("note: waiting for the worker of an earlier process"), "{again}");
    assert!(again.stdout.contains("## Implementation Plan"), "{again}");
}
