//! Designs whose agents write where they may only read.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::Outcome;
use crate::lane::{init, result, with_claude};
use crate::panel::{FEATURE, Panel, answers_of_chair};

/// A panel whose first agent writes into the tree, once, while it sketches.
fn panel() -> Panel {
    panel_that("echo x > dirty.txt")
}

/// A panel whose first agent runs `does`, once, while it sketches.
fn panel_that(does: &str) -> Panel {
    let sketch = format!("Notes go to a folder. {}", "word ".repeat(60));
    let answer = result(|line| line["result"] = json!(sketch));
    let script = format!(
        "[ -e \"$HOME/wrote\" ] || {{ touch \"$HOME/wrote\"; {does}; }}\n{}{answer}",
        init()
    );
    let panel = Panel::in_project(with_claude(&script));
    // Its lanes are recorded under its own name.
    panel.recorded("host", &answers_of_chair("host"));
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

// P-6, P-345, P-347, P-348, P-349, N-1: also with `--auto`, and Convoke asks a person once.
#[test]
fn an_agent_that_writes_is_caught_at_the_next_boundary() {
    let panel = panel();
    let seats = seats(&panel);
    let outcome =
        panel.project.run(&["design", "--auto", "--no-probe", "--seats", &seats, FEATURE]);
    stopped(&panel, &outcome);
    assert!(!outcome.stdout.contains("2b: full plan"), "{outcome}");
    let guard = folder(&panel).join(".dirty-tree-prompted-sketch-collection");
    assert!(!guard.exists(), "there was no person to ask");

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

// N-1: a commit leaves the tree clean, and Convoke still notices it.
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
    assert!(after.stdout.contains("2b: full plan"), "resuming confirms the tree: {after}");
}

/// Plants of agents that change git's later behaviour, with their names in the report.
const PLANTED: [(&str, &str, &str); 8] = [
    (
        "mkdir -p .git/hooks; echo 'touch x' > .git/hooks/post-checkout",
        "git-settings-changed",
        ".git/hooks/post-checkout",
    ),
    ("ln -s /bin/true .git/hooks/pre-push", "git-settings-changed", ".git/hooks/pre-push"),
    ("git config core.fsmonitor 'touch x'", "git-settings-changed", ".git/config"),
    (
        "git config extensions.worktreeConfig true; git config --worktree core.pager 'touch x'",
        "git-settings-changed",
        ".git/config, .git/config.worktree",
    ),
    ("echo '*.md filter=x' > .git/info/attributes", "git-settings-changed", ".git/info/attributes"),
    ("echo '*' > .git/info/exclude; echo x > new", "working-tree-dirty", "new, .git/info/exclude"),
    ("git checkout --quiet -b other", "branch-changed", ".git/HEAD"),
    ("git checkout --quiet --detach", "branch-changed", ".git/HEAD"),
];

// N-1: a design notices what `lane run` notices.
#[test]
fn what_agents_plant_for_git_is_caught_as_after_a_lane() {
    for (does, reason, paths) in PLANTED {
        let panel = panel_that(does);
        let seats = seats(&panel);
        let design = ["design", "--auto", "--no-probe", "--no-branch", "--seats", &seats, FEATURE];
        let outcome = panel.project.run(&design);
        assert_eq!(outcome.code, Some(6), "{does}: {outcome}");
        let warning =
            format!("the working tree is dirty after sketch-collection: {reason} ({paths})");
        assert!(outcome.stdout.contains(&warning), "{does}: {outcome}");

        let panel = panel_that(does);
        let lane = panel.project.run(&["lane", "run", "--agent", "claude", "Which?"]);
        assert_eq!(lane.code, Some(6), "{does}: {lane}");
        let warning =
            format!("warning: the working tree changed while claude ran read-only: {paths}\n");
        assert!(lane.stderr.contains(&warning), "{does}: {lane}");
    }
}

// N-1: the voters are the last agents to work. The run reports their changes at the end and in its
// exit code, but the plan is there. A worker process changes nothing in that.
#[test]
fn changes_by_the_last_agents_are_reported_at_the_end() {
    for flags in [&[][..], &["--subagent"]] {
        let (panel, seats) = Panel::new().with_spender();
        let program = panel.project.path("../bin/claude");
        let script = fs::read_to_string(&program).unwrap();
        let plants = "grep -q 'FINDING_1' && echo x > .git/hooks/post-merge || true";
        fs::write(&program, script.replace("cat > /dev/null", plants)).unwrap();
        let design = ["design", "--auto", "--no-probe", "--seats", &seats];
        let outcome = panel.project.run(&[&design[..], flags, &[FEATURE]].concat());
        assert_eq!(outcome.code, Some(6), "{outcome}");
        let warning = "warning: the working tree changed while agents ran read-only: \
                       .git/hooks/post-merge\n";
        assert_eq!(outcome.stderr.matches(warning).count(), 1, "{outcome}");
        assert!(outcome.stdout.contains("## Implementation Plan"), "{outcome}");
    }
}

/// Kills the process that works on the design. An agent's guardian is a child of it.
const KILLS: &str = "kill -9 $(sed -n 's/^PPid:[^0-9]*//p' /proc/$PPID/status); exec sleep 600";

/// Runs a design whose process is killed while its first agent works.
fn killed(does: &str, flags: &[&str]) -> (Panel, String) {
    let panel = panel_that(&format!("{does}{KILLS}"));
    let seats = seats(&panel);
    let design = ["design", "--auto", "--no-probe", "--no-branch", "--seats", &seats];
    let outcome = panel.project.run(&[&design[..], flags, &[FEATURE]].concat());
    assert_ne!(outcome.code, Some(0), "{outcome}");
    let (run, _) = panel.run();
    (panel, run)
}

// N-1: a killed process can no longer compare. Resuming the run reports the change.
#[test]
fn plants_before_a_kill_are_reported_when_the_run_is_resumed() {
    for flags in [&[][..], &["--subagent"]] {
        let (panel, run) = killed("echo 'touch x' > .git/hooks/post-checkout; ", flags);
        let again = panel.project.run(&["resume", &run, "--no-probe"]);
        let warning = "warning: changed since the run was interrupted, by an agent or a person: \
                       .git/hooks/post-checkout\n";
        assert_eq!(again.stderr.matches(warning).count(), 1, "{flags:?}: {again}");
        assert_eq!(again.code, Some(0), "{flags:?}: {again}");
        assert!(again.stdout.contains("## Implementation Plan"), "{flags:?}: {again}");
        assert!(!again.stderr.contains("note: files of the working tree changed"), "{again}");
    }
}

// A person who commits between two processes of a run is no reason to stop it, or to warn.
#[test]
fn what_a_person_commits_before_a_run_is_resumed_stops_nothing() {
    let (panel, run) = killed("", &[]);
    let commit = "echo more >> README.md; git add README.md\n\
                  git -c user.name=a -c user.email=a@b commit -qm more";
    let done = panel.project.command(Path::new("/bin/sh"), &["-ec", commit]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let again = panel.project.run(&["resume", &run, "--no-probe"]);
    let note = "note: files of the working tree changed since the run was interrupted\n";
    assert_eq!(again.stderr.matches(note).count(), 1, "{again}");
    assert!(!again.stderr.contains("warning: changed"), "{again}");
    assert!(again.stdout.contains("2b: full plan"), "{again}");
}

// Half a note is no note, and a tree that cannot be compared is not called unchanged.
#[test]
fn a_tree_that_cannot_be_compared_is_not_called_unchanged() {
    let (panel, run) = killed("", &[]);
    fs::write(folder(&panel).join("tree-before-agents"), "files=1\n").unwrap();
    let again = panel.project.run(&["resume", &run, "--no-probe"]);
    let warning = "warning: Convoke cannot tell what changed in the working tree since the run was \
                   interrupted\n";
    assert_eq!(again.stderr.matches(warning).count(), 1, "{again}");
    let (panel, run) = killed("", &[]);
    let again = panel.project.run(&["resume", &run, "--no-probe"]);
    assert!(!again.stderr.contains("since the run was interrupted"), "{again}");
}
