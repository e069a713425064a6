//! Agents that may only read, watched while they work; and `convoke tree` for other programs.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Outcome, Project};
use crate::lane::{init, result, said, with_claude};

/// A repository with one committed file and one that git does not know.
pub(crate) fn repository(project: Project) -> Project {
    let project = project.file("spec.md", "one\n").file("mine.md", "mine\n");
    for words in [
        &["init", "--quiet", "-b", "main"][..],
        &["add", "spec.md"],
        &["-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "first"],
    ] {
        let git = std::path::Path::new("/usr/bin/git");
        assert!(project.command(git, words).status().unwrap().success());
    }
    project
}

fn run(project: &Project, more: &[&str]) -> Outcome {
    project.run(&[&["lane", "run", "--agent", "claude", "What is it?"], more].concat())
}

// P-354: contents count, so that also a file is noticed that was new before.
#[test]
fn a_reader_that_writes_is_noticed() {
    for (script, paths) in [
        ("echo x >> mine.md", json!(["mine.md"])),
        ("echo x > spec.md; echo x > new.md", json!(["new.md", "spec.md"])),
    ] {
        let script = format!("{script}; {}{}", init(), result(|_| ()));
        let outcome = run(&repository(with_claude(&script)), &[]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(6), "The answer is 42.\n"));
        let names = paths.as_array().unwrap().iter().map(|path| path.as_str().unwrap());
        let names = names.collect::<Vec<_>>().join(", ");
        let warning =
            format!("warning: the working tree changed while claude ran read-only: {names}\n");
        assert!(outcome.stderr.contains(&warning), "{outcome}");
        let outcome = run(&repository(with_claude(&script)), &["--json"]);
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let expected = json!({ "status": "dirty", "reason": "working-tree-dirty", "paths": paths });
        assert_eq!((outcome.code, &report["tree"]), (Some(6), &expected));
    }
}

#[test]
fn no_agent_is_accused_without_cause() {
    let reads = || repository(with_claude(&format!("cat spec.md; {}{}", init(), result(|_| ()))));
    let writes =
        || repository(with_claude(&format!("echo x > spec.md; {}{}", init(), result(|_| ()))));
    let outside = with_claude(&format!("echo x > spec.md; {}{}", init(), result(|_| ())));
    for (project, flag, status) in [
        (reads(), None, json!("clean")),
        (writes(), Some("--write"), Value::Null),
        (writes(), Some("--no-tree-check"), Value::Null),
        (outside, None, json!("unknown")),
    ] {
        let flags: Vec<_> = flag.into_iter().collect();
        let outcome = run(&project, &flags);
        assert_eq!(outcome.code, Some(0), "{flag:?} {outcome}");
        assert!(!outcome.stderr.contains("warning"), "{flag:?} {outcome}");
        let outcome = run(&project, &[&flags[..], &["--json"]].concat());
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(report["tree"]["status"], status, "{flag:?}");
    }
}

// A resumed session may keep rights that it no longer has.
#[test]
fn rights_beyond_the_request_are_noticed() {
    let may = |tools: Value, mode: &str| {
        said(&json!({ "type": "system", "subtype": "init", "session_id": "s-1", "uuid": "u-1",
            "model": "claude-opus-5-5", "tools": tools, "permissionMode": mode }))
    };
    let reader = may(json!(["Glob", "Grep", "Read"]), "dontAsk");
    let writer = may(json!(["Read", "Bash", "mcp__x__y"]), "bypassPermissions");
    let excess = json!(["Bash", "mcp__x__y", "mode bypassPermissions"]);
    for (init, flags, excess) in [
        (&reader, &["--resume", "s-1"][..], json!([])),
        (&writer, &["--resume", "s-1", "--write"], json!([])),
        (&writer, &["--resume", "s-1"], excess),
    ] {
        let project = with_claude(&(init.clone() + &result(|_| ())));
        let outcome = run(&project, &[flags, &["--json"]].concat());
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(report["rights"]["excess"], excess);
        assert_eq!(report["outcome"], "answered");
        let text = run(&project, flags);
        assert_eq!(text.stderr.contains("more rights: Bash"), excess != json!([]), "{text}");
    }
}

// Variables of a shell or a git hook lead Convoke to no other repository.
#[test]
fn variables_of_git_lead_to_no_other_tree() {
    let project = repository(Project::new().variable("PATH", "/usr/bin:/bin"));
    fs::remove_file(project.path("mine.md")).unwrap();
    let other = project.path("../other").display().to_string();
    let making =
        format!("git init -q '{other}' && touch '{other}/new' && cd '{other}' && git add new");
    let sh = std::path::Path::new("/bin/sh");
    assert!(project.command(sh, &["-ec", &making]).status().unwrap().success());
    let project = project
        .variable("GIT_DIR", &format!("{other}/.git"))
        .variable("GIT_WORK_TREE", &other)
        .variable("GIT_INDEX_FILE", &format!("{other}/.git/index"));
    let check = ["tree", "check", "--mode", "checkpoint"];
    assert_eq!(project.stdout(&check), "STATUS=clean\nMODE=checkpoint");
    let project = project.file("spec.md", "two\n");
    assert!(project.stdout(&check).starts_with("STATUS=dirty\n"));
}

// P-350, P-351, P-353, P-358: for programs, nothing is an error.
#[test]
fn a_tree_can_be_checked_from_outside() {
    let project = repository(Project::new().variable("PATH", "/usr/bin:/bin"));
    let list = project.path("../list").display().to_string();
    let note = project.path("../o.dirty-tree").display().to_string();
    let check = ["tree", "check", "--mode", "baseline", "--baseline", &list, "--sidecar", &note];
    assert_eq!(project.stdout(&["tree", "baseline", &list]), "");
    assert_eq!(fs::read(&list).unwrap(), b"mine.md\0");
    let clean = "STATUS=clean\nMODE=baseline\nUNTRACKED_BASELINE=present";
    assert_eq!(project.stdout(&check), clean);
    assert_eq!(project.stdout(&["tree", "show", &note]), format!("{note}  clean"));
    let project = project.file("new.md", "x");
    assert_eq!(
        project.stdout(&check),
        format!(
            "STATUS=dirty\nMODE=baseline\nUNTRACKED_BASELINE=present\n\
             NEW_UNTRACKED_PATHS_FILE={note}.new-untracked-paths\nREASON=working-tree-dirty"
        )
    );
    let nowhere = project.path("../nothing").display().to_string();
    let shown = project.run(&["tree", "show", &note, &nowhere]);
    assert_eq!(
        (shown.code, shown.stdout),
        (Some(6), format!("{note}  dirty  working-tree-dirty\n{nowhere}  unknown\n"))
    );
    for (words, reason) in [
        (&["--mode", "checkpoint"][..], "dirty\nMODE=checkpoint\nREASON=checkpoint-dirty"),
        (&["--fix"], "unknown\nMODE=\nREASON=unknown-flag"),
        (&[], "unknown\nMODE=\nREASON=mode-missing"),
    ] {
        let expected = format!("STATUS={reason}");
        assert_eq!(project.stdout(&[&["tree", "check"], words].concat()), expected);
    }
    for words in [&["--list"][..], &[], &["a", "b"]] {
        assert_eq!(project.stdout(&[&["tree", "baseline"], words].concat()), "");
    }
    assert!(fs::exists(&list).unwrap(), "a wrong question costs no list");
}
