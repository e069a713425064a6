//! Designs whose agents write where they may only read.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::harness::Outcome;
use crate::lane::{init, result, with_claude};
use crate::panel::{FEATURE, Panel, answers};

/// A panel whose first agent writes into the tree, once, while it sketches.
fn panel() -> Panel {
    panel_that("echo x > dirty.txt")
}

/// A panel whose first agent does something, once, while it sketches.
fn panel_that(does: &str) -> Panel {
    let sketch = format!("Notes go to a folder. {}", "word ".repeat(60));
    let answer = result(|it| it["result"] = json!(sketch));
    let script = format!(
        "[ -e \"$HOME/wrote\" ] || {{ touch \"$HOME/wrote\"; {does}; }}\n{}{answer}",
        init()
    );
    let panel = Panel::in_project(with_claude(&script));
    panel.recorded("host", &answers());
    panel
}

fn seats(panel: &Panel) -> String {
    let tape = |name: &str| panel.project.path(&format!("../{name}.jsonl")).display().to_string();
    format!("claude,replay:{},replay:{}", tape("codex"), tape("host"))
}

fn folder(panel: &Panel) -> PathBuf {
    panel.project.path("../home/.local/state/convoke/runs").join(panel.run().0)
}

fn stopped(panel: &Panel, outcome: &Outcome) {
    assert_eq!(outcome.code, Some(6), "{outcome}");
    assert_eq!(panel.run().1, "stopped");
    let note = fs::read_to_string(folder(panel).join("dirty-tree-detected.env")).unwrap();
    assert_eq!(note, "STATUS=dirty\nSTAGE=sketch-collection\nRECOVERY_REQUIRED=true\n");
    let left = fs::read_to_string(panel.project.path("dirty.txt")).unwrap();
    assert_eq!(left, "x\n", "nothing is deleted");
}

// P-6, P-345, P-347, P-348, P-349, N-1: also with `--auto`, and a person is asked once.
#[test]
fn an_agent_that_writes_is_caught_at_the_next_boundary() {
    let panel = panel();
    let seats = seats(&panel);
    let outcome =
        panel.project.run(&["design", "--auto", "--no-probe", "--seats", &seats, FEATURE]);
    stopped(&panel, &outcome);
    assert!(!outcome.stdout.contains("2b: full plan"), "{outcome}");
    let guard = folder(&panel).join(".dirty-tree-prompted-sketch-collection");
    assert!(!guard.exists(), "nobody was there to be asked");

    let (run, _) = panel.run();
    let said = panel.project.path("../said").display().to_string();
    fs::write(&said, "tree/sketch-collection: 1\n").unwrap();
    let again = panel.project.run(&["resume", &run, "--no-probe", "--answers", &said]);
    stopped(&panel, &again);
    assert_eq!(again.stderr.matches("Working tree: 1").count(), 1, "asked once: {again}");
    assert!(guard.exists());
    let third = panel.project.run(&["resume", &run, "--no-probe", "--answers", &said]);
    stopped(&panel, &third);
    assert!(!third.stderr.contains("Working tree: 1"), "{third}");

    fs::remove_file(panel.project.path("dirty.txt")).unwrap();
    let clean = panel.project.run(&["resume", &run, "--no-probe"]);
    assert!(clean.stdout.contains("2b: full plan"), "{clean}");
    assert!(!folder(&panel).join("dirty-tree-detected.env").exists(), "{clean}");
}

// N-1: a commit leaves the tree clean, and is noticed all the same.
#[test]
fn an_agent_that_commits_is_caught_too() {
    let who = "git -c user.name=a -c user.email=a@b";
    let panel = panel_that(&format!("echo x > new.txt; git add new.txt; {who} commit -qm x"));
    let seats = seats(&panel);
    let outcome =
        panel.project.run(&["design", "--auto", "--no-probe", "--seats", &seats, FEATURE]);
    assert_eq!(outcome.code, Some(6), "{outcome}");
    assert!(!outcome.stdout.contains("2b: full plan"), "{outcome}");
    let (run, _) = panel.run();
    let after = panel.project.run(&["resume", &run, "--no-probe"]);
    assert!(after.stdout.contains("2b: full plan"), "whoever resumes has looked: {after}");
}
