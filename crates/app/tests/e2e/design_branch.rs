//! Where a design works: on the branch that is checked out, with or without uncommitted changes.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::lane::{init, result, with_claude};
use crate::panel::{FEATURE, Panel, answers};

/// Returns all that a design could change about branches.
fn branches(panel: &Panel) -> String {
    panel.git(&["for-each-ref"]) + &panel.git(&["symbolic-ref", "HEAD"])
}

// P-42: a design works on any branch, and leaves it as it is.
#[test]
fn a_design_stays_on_the_branch_that_is_checked_out() {
    for branch in ["main", "feature/x", "june/other"] {
        let panel = Panel::new();
        panel.git(&["switch", "--quiet", "--force-create", branch]);
        let before = branches(&panel);
        let outcome = panel.design(&[]);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        assert!(
            outcome.stdout.contains(&format!("branch — using existing: {branch}")),
            "{outcome}"
        );
        assert_eq!(branches(&panel), before);
    }
}

// P-42: `--branch` makes one where the user is, and names it.
#[test]
fn a_branch_is_made_on_request_and_said_aloud() {
    let panel = Panel::new();
    panel.git(&["switch", "--quiet", "--create", "feature/x"]);
    let outcome = panel.design(&["--branch"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let branch = panel.git(&["branch", "--show-current"]);
    let said = format!("branch — made '{branch}' from 'feature/x' and checked it out");
    assert!(outcome.stdout.contains(&said), "{outcome}");
    assert_eq!(panel.git(&["rev-parse", "feature/x"]), panel.git(&["rev-parse", "HEAD"]));
    assert!(!outcome.stderr.contains("still checked out"), "{outcome}");
}

// P-57: a newcomer sets a project up, commits nothing, and designs.
#[test]
fn what_the_setup_wrote_refuses_no_design() {
    let panel = Panel::new();
    fs::write(panel.project.path("AGENTS.md"), "Be brief.\n").unwrap();
    panel.git(&["add", "AGENTS.md"]);
    panel.git(&["commit", "--quiet", "--message", "guidance"]);
    for set_up in [
        &["init", "--yes"][..],
        &["hooks", "install", "claude", "--as", "june"],
        &["mcp", "install", "claude"],
        &["mcp", "install", "gemini"],
        &["hooks", "install", "gemini"],
        &["mcp", "install", "codex"],
    ] {
        panel.project.stdout(set_up);
    }
    let changed = panel.git(&["status", "--porcelain"]);
    assert!(changed.contains("AGENTS.md") && changed.contains(".claude/"), "{changed}");
    let outcome = panel.design(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let note = "files of Convoke's setup are not committed";
    assert!(outcome.stdout.contains(note) && outcome.stdout.contains(".mcp.json"), "{outcome}");
    panel.project.stdout(&["mcp", "uninstall", "gemini"]);
    panel.git(&["add", ".gemini"]);
    panel.git(&["commit", "--quiet", "--message", "hooks alone", "--", ".gemini"]);
    panel.project.stdout(&["mcp", "install", "gemini"]);
    let outcome = panel.design(&[]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    fs::write(panel.project.path("AGENTS.md"), "mine\n").unwrap();
    let outcome = panel.design(&[]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stdout.contains("1 file has uncommitted changes"), "{outcome}");
}

// P-57: changes are named with what to do, and in words.
#[test]
fn uncommitted_changes_are_listed_by_name() {
    let panel = Panel::new();
    fs::write(panel.project.path("README.md"), "changed\n").unwrap();
    fs::write(panel.project.path("notes.md"), "mine\n").unwrap();
    let outcome = panel.design(&[]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert_snapshot!(outcome.stdout, @"
    ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
    > **🔶 0: setup**
    Cannot begin the design: 2 files have uncommitted changes.
      modified   README.md
      untracked  notes.md
    Commit them, or put them aside:
      git stash --include-untracked
    Or plan on them as they are:
      convoke design --allow-dirty …
    ");
    let shown = panel.project.run(&["show"]);
    assert!(shown.stdout.contains("refused: 2 files have uncommitted changes"), "{shown}");
    assert!(!outcome.to_string().contains("PREFLIGHT_ERROR"), "{outcome}");
    assert_eq!(panel.git(&["branch", "--list"]), "* main");
    let seed = panel.design(&["--policy", "seed"]);
    assert!(seed.stdout.contains("PREFLIGHT_ERROR=Working tree is not clean."), "{seed}");
    for option in ["--allow-dirty", "--branch"] {
        let refused = panel.design(&["--policy", "seed", option]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused}");
        assert!(refused.stderr.contains(&format!("cannot use `{option}` here")), "{refused}");
    }
}

// P-57: with permission the plan is made on the changes, and they stay.
#[test]
fn a_plan_is_made_on_uncommitted_changes_with_permission() {
    let panel = Panel::new();
    fs::write(panel.project.path("README.md"), "changed\n").unwrap();
    fs::write(panel.project.path("notes.md"), "mine\n").unwrap();
    let outcome = panel.design(&["--allow-dirty"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let said = "**⚠ 2 files have uncommitted changes. The agents plan on them as they are.**";
    assert!(outcome.stdout.contains(said), "{outcome}");
    assert_eq!(panel.git(&["status", "--porcelain"]), "M README.md\n?? notes.md");
}

/// A panel on changes of the user's, whose first agent runs `does` while it sketches.
fn panel_that(does: &str) -> (Panel, String) {
    let sketch = format!("Notes go to a folder. {}", "word ".repeat(60));
    let answer = result(|report| report["result"] = json!(sketch));
    let script = format!("{does}\n{}{answer}", init());
    let panel = Panel::in_project(with_claude(&script));
    panel.recorded("host", &answers());
    fs::write(panel.project.path("README.md"), "changed\n").unwrap();
    fs::write(panel.project.path("notes.md"), "mine\n").unwrap();
    let tape = |name: &str| panel.project.path(&format!("../{name}.jsonl")).display().to_string();
    let seats = format!("claude,replay:{},replay:{}", tape("codex"), tape("host"));
    (panel, seats)
}

// P-345, P-347: on a dirty tree, too, an agent that changes, adds or reverts a file is caught, and a
// resumed run compares with the state that the run began on.
#[test]
fn an_agent_that_writes_on_a_dirty_tree_is_caught() {
    for (does, undo) in [
        ("echo more >> README.md", "printf 'changed\\n' > README.md"),
        ("echo x > new.txt", "rm new.txt"),
        ("git checkout --quiet README.md", "printf 'changed\\n' > README.md"),
        ("git stash --quiet --include-untracked", "git stash pop --quiet"),
    ] {
        let once = format!("[ -e \"$HOME/wrote\" ] || {{ touch \"$HOME/wrote\"; {does}; }}");
        let (panel, seats) = panel_that(&once);
        let design =
            ["design", "--auto", "--no-probe", "--allow-dirty", "--seats", &seats, FEATURE];
        let outcome = panel.project.run(&design);
        assert_eq!(outcome.code, Some(6), "{does} {outcome}");
        assert!(!outcome.stdout.contains("2b: full plan"), "{does} {outcome}");
        let (run, _) = panel.run();
        let again = panel.project.run(&["resume", &run, "--no-probe"]);
        assert_eq!(again.code, Some(6), "{does} {again}");
        let undone = panel.project.shell(undo, "");
        assert_eq!(undone.code, Some(0), "{undone}");
        let restored = panel.project.run(&["resume", &run, "--no-probe"]);
        assert!(restored.stdout.contains("2b: full plan"), "{does} {restored}");
    }
}
