//! `convoke plumbing` about branches and checkouts.

use std::fs;
use std::path::Path;

use crate::harness::{Outcome, Project, set_mode};

pub(crate) fn git(project: &Project, words: &[&str]) {
    let mut git = project.command(Path::new("/usr/bin/git"), &["-c", "user.email=a@example.org"]);
    let ended = git.args(words).output().unwrap();
    assert!(ended.status.success(), "{words:?} {ended:?}");
}

/// A clone of Ann's with one commit, and the remote that it came from.
pub(crate) fn cloned() -> Project {
    let project = Project::new().variable("PATH", "/usr/bin:/bin");
    let remote = project.path("../remote").display().to_string();
    let identity = ["-c", "user.name=Ann Lee", "-C", &remote];
    fs::create_dir(&remote).unwrap();
    fs::write(project.path("../remote/a.txt"), "one\n").unwrap();
    for words in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "."],
        &["commit", "--quiet", "-m", "one"],
    ] {
        git(&project, &[&identity, words].concat());
    }
    git(&project, &["clone", "--quiet", &remote, "."]);
    git(&project, &["config", "user.name", "Ann Lee"]);
    git(&project, &["config", "user.email", "a@example.org"]);
    project
}

pub(crate) fn plumbing(project: &Project, line: &str) -> Outcome {
    let words: Vec<_> =
        line.split_whitespace().map(|word| if word == "''" { "" } else { word }).collect();
    project.run(&[&["plumbing"], &words[..]].concat())
}

/// Returns exit code, stdout and stderr.
pub(crate) fn said(project: &Project, line: &str) -> (Option<i32>, String, String) {
    let outcome = plumbing(project, line);
    (outcome.code, outcome.stdout, outcome.stderr)
}

// P-36, P-37, P-38, P-41
#[test]
fn a_branch_is_checked_in_four_lines() {
    let project = cloned();
    let lines = |branch: &str, main: bool, own: bool| {
        let text = format!(
            "CURRENT_BRANCH={branch}\nIS_MAIN={main}\nIS_USER_BRANCH={own}\nUSER_PREFIX=ann-lee\n"
        );
        (Some(0), text, String::new())
    };
    assert_eq!(said(&project, "branch-check --check"), lines("main", true, false));
    for (branch, own) in [("ann-lee/x", true), ("other", false)] {
        git(&project, &["checkout", "--quiet", "-b", branch]);
        assert_eq!(said(&project, "branch-check --check"), lines(branch, false, own));
    }
    git(&project, &["checkout", "--quiet", "--detach"]);
    assert_eq!(said(&project, "branch-check --check"), lines("", true, false));
    for words in ["branch-check", "branch-check --what", "branch-check --branch"] {
        let outcome = plumbing(&project, words);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
    }
}

// P-40
#[test]
fn a_branch_is_made_where_the_remote_is() {
    let project = cloned();
    fs::write(project.path("../remote/a.txt"), "two\n").unwrap();
    let remote = project.path("../remote").display().to_string();
    git(&project, &["-C", &remote, "-c", "user.name=B", "commit", "--quiet", "-am", "two"]);
    let made = (Some(0), "BRANCH_NAME=ann-lee/x\nACTION=created\n".to_owned(), String::new());
    assert_eq!(said(&project, "branch-check --branch ann-lee/x"), made);
    assert_eq!(fs::read_to_string(project.path("a.txt")).unwrap(), "two\n");
    assert!(plumbing(&project, "branch-check --check").stdout.contains("=ann-lee/x\n"));
    for (name, code, error) in [
        ("ann-lee/x", 1, "ERROR: Branch already exists: ann-lee/x\n"),
        ("bob/x", 2, "ERROR: Branch name must start with 'ann-lee/': bob/x\n"),
        ("ann-lee/a..b", 2, "ERROR: Failed to create branch: ann-lee/a..b\n"),
    ] {
        let words = format!("branch-check --branch {name}");
        assert_eq!(said(&project, &words), (Some(code), String::new(), error.to_owned()));
    }
    fs::remove_dir_all(&remote).unwrap();
    let error = "ERROR: Failed to fetch origin/main\n".to_owned();
    let words = "branch-check --branch ann-lee/y";
    assert_eq!(said(&project, words), (Some(2), String::new(), error));
}

// P-54, P-55, P-56, P-57, P-59
#[test]
fn a_checkout_is_judged_before_a_workflow_begins() {
    let project = cloned();
    let failed = |error: &str| format!("PREFLIGHT=fail\nPREFLIGHT_ERROR={error}\n");
    let check = |line: &str| {
        let outcome = plumbing(&project, &format!("preflight {line}"));
        (outcome.code, outcome.stdout)
    };
    let ok = || (Some(0), "PREFLIGHT=ok\n".to_owned());
    let mark = project.path(".git/larch-stalled-run.txt");
    fs::write(&mark, "").unwrap();
    assert_eq!(check(""), ok());
    assert!(!mark.exists(), "a clean start makes it outdated");
    fs::write(project.path("new.txt"), "x").unwrap();
    let dirty = "Working tree is not clean. Commit or stash changes first.";
    assert_eq!(check(""), (Some(2), failed(dirty)));
    fs::write(&mark, "").unwrap();
    assert_eq!(check("--skip-clean-check"), ok());
    assert!(mark.exists(), "the check of the tree was left out");
    git(&project, &["checkout", "--quiet", "-b", "x"]);
    let elsewhere =
        "Not on main branch (on 'x'). Switch to main first, or pass --skip-branch-check.";
    assert_eq!(check(""), (Some(1), failed(elsewhere)));
    assert_eq!(check("--skip-branch-check"), (Some(2), failed(dirty)));
    assert_eq!(check("--skip-branch-check --skip-clean-check"), ok());
    let unknown = (Some(3), String::new(), "Unknown option: --fix\n".to_owned());
    assert_eq!(said(&project, "preflight --fix"), unknown);
    fs::remove_dir_all(project.path("../remote")).unwrap();
    let fetch = failed("git fetch origin main failed.");
    assert_eq!(check("--skip-branch-check --skip-clean-check"), (Some(3), fetch));
}

// P-55, P-56: a rebase that fails is undone.
#[test]
fn main_is_brought_up_to_date_only_if_all_was_looked_at() {
    let project = cloned();
    let remote = project.path("../remote").display().to_string();
    fs::write(project.path("../remote/a.txt"), "two\n").unwrap();
    git(&project, &["-C", &remote, "-c", "user.name=B", "commit", "--quiet", "-am", "two"]);
    let text = || fs::read_to_string(project.path("a.txt")).unwrap();
    assert_eq!(plumbing(&project, "preflight --skip-branch-check").code, Some(0));
    assert_eq!(text(), "one\n");
    fs::write(project.path("a.txt"), "mine\n").unwrap();
    git(&project, &["commit", "--quiet", "-am", "mine"]);
    let outcome = plumbing(&project, "preflight");
    let failed = "PREFLIGHT=fail\nPREFLIGHT_ERROR=git rebase origin/main failed.\n";
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), failed));
    assert_eq!(text(), "mine\n");
    assert_eq!(plumbing(&project, "clean-tree").stdout, "CLEAN=true\n");
    git(&project, &["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_eq!(plumbing(&project, "preflight").code, Some(0));
    assert_eq!(text(), "two\n");
}

// P-58
#[test]
fn a_tree_is_clean_or_dirty_or_unknown() {
    let project = cloned();
    assert_eq!(said(&project, "clean-tree"), (Some(0), "CLEAN=true\n".to_owned(), String::new()));
    fs::write(project.path("new\u{1}.txt"), "x").unwrap();
    fs::write(project.path("a.txt"), "x").unwrap();
    let outcome = plumbing(&project, "clean-tree --fail-closed");
    assert!(outcome.stdout.starts_with("CLEAN=false\nDIRTY_OUT= M a.txt"), "{outcome}");
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(0), 2));
    fs::write(project.path(".git/index"), "garbage").unwrap();
    let open = plumbing(&project, "clean-tree");
    assert_eq!((open.code, open.stdout.as_str()), (Some(0), "CLEAN=true\n"));
    assert!(open.stderr.contains("git status --porcelain failed"), "{open}");
    let closed = plumbing(&project, "clean-tree --fail-closed");
    assert!(closed.stdout.starts_with("CLEAN=unknown\nPROBE_ERROR=git exited 128 ("), "{closed}");
    assert_eq!(closed.code, Some(1));
    assert_eq!(plumbing(&project, "clean-tree --what").code, Some(2));
}

// P-58: a tree that git did not check is not clean, even if a script skipped the check.
#[test]
fn a_tree_is_not_clean_without_git() {
    let project = cloned().variable("PATH", "/none");
    let open = plumbing(&project, "clean-tree");
    assert_eq!((open.code, open.stdout.as_str()), (Some(3), ""), "{open}");
    assert!(open.stderr.contains("clean-tree: git did not run: it is not on the PATH"), "{open}");
    let closed = plumbing(&project, "clean-tree --fail-closed");
    assert_eq!(closed.code, Some(1), "{closed}");
    assert!(closed.stdout.starts_with("CLEAN=unknown\nPROBE_ERROR=git did not run ("), "{closed}");
}

// A folder is the same project by every name, also by `..` from inside and from beside it.
#[test]
fn a_project_that_is_named_from_elsewhere_keeps_git_and_its_branch() {
    let project = cloned();
    for folder in ["docs/deep", "../app"] {
        fs::create_dir_all(project.path(folder)).unwrap();
    }
    fs::write(project.path("new.txt"), "x").unwrap();
    let task = project.stdout(&["task", "add", "Keep notes"]);
    for (from, named) in
        [("docs", ".."), ("docs/deep", "../.."), ("docs", "deep"), ("../app", "../project")]
    {
        let line = format!(
            "cd {from} && {0} -C {named} plumbing clean-tree && {0} -C {named} task list",
            env!("CARGO_BIN_EXE_convoke")
        );
        let outcome = project.shell(&line, "");
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{named}: {outcome}");
        assert!(outcome.stdout.starts_with("CLEAN=false\nDIRTY_OUT=?? new.txt"), "{outcome}");
        assert!(outcome.stdout.contains(&task), "{named}: {outcome}");
    }
}

// P-350, P-351, T-18, T-22, T-23
#[test]
fn a_probe_of_the_tree_always_exits_0() {
    let project = cloned();
    let probe = |line: &str| said(&project, &format!("dirty-tree {line}"));
    let clean = |text: &str| (Some(0), text.to_owned(), String::new());
    assert_eq!(probe("--mode checkpoint"), clean("STATUS=clean\nMODE=checkpoint\n"));
    fs::write(project.path("new\nfile"), "x").unwrap();
    let dirty = "STATUS=dirty\nMODE=checkpoint\nREASON=checkpoint-dirty\n";
    assert_eq!(probe("--mode checkpoint"), clean(dirty));
    assert_eq!(probe("--mode checkpoint"), clean(dirty), "the same again");
    let list = project.path("../list").display().to_string();
    project.run(&["tree", "baseline", &list]);
    let before = "STATUS=clean\nMODE=baseline\nUNTRACKED_BASELINE=present\n";
    assert_eq!(probe(&format!("--mode baseline --baseline {list}")), clean(before));
    assert_eq!(probe("--fix"), clean("STATUS=unknown\nMODE=\nREASON=unknown-flag\n"));
}

// P-352, T-21: a failure of git leads to the reason for its command.
#[test]
fn a_git_that_fails_is_a_reason() {
    for (fails, mode, reason) in [
        ("*' status '*", "checkpoint", "git-status-failed"),
        ("*' diff '*", "baseline --baseline ../list", "git-diff-failed"),
        ("*' --cached '*", "baseline --baseline ../list", "git-diff-cached-failed"),
        ("*' ls-files '*", "baseline --baseline ../list", "git-ls-files-failed"),
    ] {
        let project = cloned();
        project.run(&["tree", "baseline", "../list"]);
        let script = format!(
            "#!/bin/sh\ncase \" $* \" in {fails}) exit 1;; esac\nexec /usr/bin/git \"$@\"\n"
        );
        let project = project.file("../bin/git", script);
        set_mode(&project.path("../bin/git"), 0o755);
        let path = project.path("../bin").display().to_string() + ":/usr/bin:/bin";
        let outcome =
            plumbing(&project.variable("PATH", &path), &format!("dirty-tree --mode {mode}"));
        assert_eq!(outcome.code, Some(0), "{outcome}");
        assert!(outcome.stdout.starts_with("STATUS=unknown\n"), "{outcome}");
        assert!(outcome.stdout.ends_with(&format!("REASON={reason}\n")), "{outcome}");
    }
}
