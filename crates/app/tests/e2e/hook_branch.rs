//! Whose tasks and rules a hook delivers after its session changed the branch: those of the branch that
//! is checked out now, as every command of the session says.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::harness::Project;
use crate::hook::{context, turn};

fn git(project: &Project, words: &[&str]) {
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let done = project.command(Path::new("git"), &[&who[..], words].concat()).output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository on `main` with a plan, whose sessions are june's, and a rule for `main` alone.
fn project() -> Project {
    let plan = "# Login\n\n### Task 1: Add the form\n\nx\n\n### Task 2: Add the token\n\ny\n";
    let project = Project::new()
        .file("plan.md", plan)
        .file("../home/.config/convoke/config.toml", "[wake]\nagent = 'june'\n");
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "first"]);
    project.stdout(&["pin", "add", "Only on main", "--scope", "branch"]);
    project
}

/// Reports an event of the session, from a folder of the project's, and returns the hook's text.
fn told(project: &Project, folder: &str, event: &str, cause: &str) -> Option<String> {
    let cwd = project.path(folder).display().to_string();
    let input = json!({ "session_id": "s", "cwd": cwd, "source": cause, "turn": turn(event) });
    let heard = project.run_with_input(&["hook", "claude", event], input.to_string().as_bytes());
    context(&heard, event)
}

/// Runs a command as the agent of the session does, in a folder of the project's.
fn of_session(project: &Project, folder: &str, words: &[&str]) -> String {
    let program =
        ["CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s", env!("CARGO_BIN_EXE_convoke"), "-C", folder];
    let done = project.run_program(Path::new("/usr/bin/env"), &[&program, words].concat());
    assert_eq!(done.code, Some(0), "{words:?}: {done}");
    done.stdout
}

/// Checks that the hook, `wake` and `task next` of the session agree on a task.
#[track_caller]
fn agree(project: &Project, folder: &str, hook: &str, task: &str) {
    let next = of_session(project, folder, &["task", "next"]);
    assert!(next.contains(task), "task next: {next}");
    let id = next.split_whitespace().next().unwrap();
    let start = format!("`convoke task start {id}`");
    for text in [hook, &of_session(project, folder, &["wake"])] {
        assert!(text.contains(task) && text.contains(&start), "{start}: {text}");
        assert!(!text.contains("No task is on branch"), "{text}");
    }
}

// W-1: a session that began on one branch works on another after `git switch`.
#[test]
fn a_hook_follows_the_branch_that_is_checked_out() {
    let project = project();
    let begun = told(&project, ".", "SessionStart", "startup").unwrap();
    assert!(begun.contains("Only on main") && !begun.contains("feature"), "{begun}");
    git(&project, &["switch", "-q", "-c", "feature/login"]);
    of_session(&project, ".", &["task", "import", "plan.md"]);
    project.stdout(&["pin", "add", "Only for the login", "--scope", "branch"]);
    project.stdout(&["say", "look at this, @june", "--as", "ana"]);
    // A message on the branch is announced there.
    let announced = told(&project, ".", "UserPromptSubmit", "").unwrap();
    assert!(announced.contains("1 unread message to you, @june"), "{announced}");
    let after = told(&project, ".", "SessionStart", "compact").unwrap();
    agree(&project, ".", &after, "Task 1: Add the form");
    assert!(after.contains("Only for the login") && !after.contains("Only on main"), "{after}");
    assert!(after.contains("look at this, @june"), "{after}");
    assert!(project.stdout(&["inbox", "june"]).starts_with("No new messages"), "it is read there");
    // Back on `main`, that branch counts again.
    git(&project, &["switch", "-q", "main"]);
    project.stdout(&["task", "add", "Release"]);
    let back = told(&project, ".", "SessionStart", "clear").unwrap();
    agree(&project, ".", &back, "Release");
    assert!(back.contains("Only on main") && !back.contains("Task 1"), "{back}");
}

// W-1: the same for a session that goes on in a worktree, and whichever agent it is bound to.
#[test]
fn a_hook_follows_its_session_into_a_worktree() {
    let project = project();
    told(&project, ".", "SessionStart", "startup").unwrap();
    of_session(&project, ".", &["agent", "use", "kim"]);
    git(&project, &["worktree", "add", "-q", "../tree", "-b", "feature/login"]);
    fs::copy(project.path("plan.md"), project.path("../tree/plan.md")).unwrap();
    of_session(&project, "../tree", &["task", "import", "plan.md"]);
    of_session(&project, "../tree", &["task", "start"]);
    let there = told(&project, "../tree", "SessionStart", "compact").unwrap();
    let woken = of_session(&project, "../tree", &["wake"]);
    for text in [&there, &woken] {
        let held = "- [ ] Task 1: Add the form (@kim, in progress)  <-- CURRENT";
        assert!(text.contains(held) && !text.contains("Only on main"), "{text}");
    }
    let here = told(&project, ".", "SessionStart", "compact").unwrap();
    assert!(here.contains("Only on main") && !here.contains("@kim, in progress"), "{here}");
}
