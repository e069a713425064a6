//! `convoke plumbing` about sessions and their files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::harness::{Outcome, Project};
use crate::plumbing_checkout::{cloned, plumbing, said};

fn value(outcome: &Outcome, key: &str) -> String {
    let lines = outcome.stdout.lines().filter_map(|line| line.split_once('='));
    let mut found = lines.filter(|(name, _)| *name == key);
    let value = found.next().map(|(_, value)| value.to_owned());
    assert!(found.next().is_none(), "{key} twice in {outcome}");
    assert!(value.is_some(), "no {key} in {outcome}");
    value.unwrap()
}

// P-29, P-30, P-31, P-32
#[test]
fn a_session_file_is_written_and_read_key_by_key() {
    let project = Project::new();
    let write = "write-session-env --output env --repo a/b --repo-unavailable false \
                 --codex-healthy true --token-session-id t-1";
    assert_eq!(said(&project, write), (Some(0), String::new(), String::new()));
    let text = fs::read_to_string(project.path("env")).unwrap();
    assert_eq!(
        text,
        "REPO=a/b\nREPO_UNAVAILABLE=false\nCODEX_HEALTHY=true\nLARCH_TOKEN_SESSION_ID=t-1\n"
    );
    assert_eq!(project.listing().len(), 1, "nothing else is left");
    let null = "write-session-env --output /dev/null --repo-unavailable true";
    assert_eq!(said(&project, null), (Some(0), String::new(), String::new()));
    for (line, error) in [
        ("--what", "ERROR=Unknown argument: --what\n"),
        ("--output env", "ERROR=Missing required arguments: --output, --repo-unavailable\n"),
    ] {
        let expected = (Some(1), String::new(), error.to_owned());
        assert_eq!(said(&project, &format!("write-session-env {line}")), expected);
    }
    for (line, code, stdout) in [
        ("--file env --key REPO", 0, "a/b\n"),
        ("--file env --key CONVOKE_TOKEN_SESSION_ID", 0, "t-1\n"),
        ("--file env --key NOTHING", 0, "\n"),
        ("--file env --key NOTHING --default d", 0, "d\n"),
        ("--file nowhere --key REPO --default d", 0, "d\n"),
        ("--file '' --key REPO --default d", 0, "d\n"),
        ("--file nowhere --key REPO", 1, ""),
        ("--key REPO --default d", 1, ""),
        ("--file env --default d", 1, ""),
        ("--file env --key REPO --what", 1, ""),
    ] {
        let outcome = plumbing(&project, &format!("read-session-key {line}"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(code), stdout), "{line}");
        assert_eq!(outcome.stderr.is_empty(), code == 0, "{line}");
    }
}

// P-310, P-311, P-312
#[test]
fn a_log_is_added_to() {
    let project = Project::new().file("entry.md", "- two\n  lines\n");
    let add = |words: &[&str]| {
        let outcome = project.run(&[&["plumbing", "log-issue", "--log", "log.md"], words].concat());
        (outcome.code, outcome.stdout)
    };
    let added = (Some(0), "APPENDED=true\nLOG=log.md\n".to_owned());
    assert_eq!(add(&["--category", "Warnings", "--entry", "- one"]), added);
    assert_eq!(add(&["--category", "Q/A", "--entry-file", "entry.md"]), added);
    assert_eq!(
        fs::read_to_string(project.path("log.md")).unwrap(),
        "### Warnings\n\n- one\n\n### Q/A\n\n- two\n  lines\n"
    );
    let wrong = add(&["--category", "Other", "--entry", "x"]);
    assert_eq!(wrong, (Some(1), "FAILED=true\nERROR=usage: unsupported category: Other\n".into()));
    let unreadable = add(&["--category", "Warnings", "--entry-file", "nowhere"]);
    let error = "FAILED=true\nERROR=usage: --entry-file not readable: nowhere\n".to_owned();
    assert_eq!(unreadable, (Some(1), error));
    fs::remove_file(project.path("log.md")).unwrap();
    fs::create_dir(project.path("log.md")).unwrap();
    let refused = add(&["--category", "Warnings", "--entry", "x"]);
    assert_eq!(refused.0, Some(2));
    assert!(refused.1.starts_with("FAILED=true\nERROR=cannot read `log.md`"), "{}", refused.1);
}

/// Puts a script in place of a client.
fn client(project: Project, name: &str, script: &str) -> Project {
    let project = project.file(&format!("../home/bin/{name}"), format!("#!/bin/sh\n{script}\n"));
    let path = project.path(&format!("../home/bin/{name}"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let bin = path.parent().unwrap().display().to_string();
    project.variable("PATH", &format!("{bin}:/usr/bin:/bin"))
}

/// A Cursor that answers, and a Codex that does not.
fn with_clients() -> Project {
    let answer = json!({ "type": "result", "subtype": "success", "is_error": false, "result": "OK",
        "session_id": "s-1" });
    let cursor = format!("echo cursor >> \"$HOME/asked\"\necho '{answer}'");
    let project = client(cloned(), "cursor-agent", &cursor);
    let project = client(project, "codex", "echo codex >> \"$HOME/asked\"\nexit 9");
    project.variable("CONVOKE_HEALTH_PAUSE_SECONDS", "0")
}

fn asked(project: &Project) -> usize {
    fs::read_to_string(project.path("../home/asked")).unwrap_or_default().lines().count()
}

// P-27, P-61, P-63, P-64, P-65, P-66, P-68, P-76, P-79, P-80
#[test]
fn a_session_is_set_up_and_lists_the_reviewers() {
    let project = with_clients();
    let outcome = plumbing(
        &project,
        "session-setup --prefix claude-design --skip-repo-check --check-reviewers \
         --write-health ../env.health",
    );
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let keys: Vec<_> = outcome.stdout.lines().map(|line| line.split('=').next().unwrap()).collect();
    assert_eq!(
        keys,
        [
            "SESSION_TMPDIR",
            "SESSION_ID",
            "LARCH_RENDER_CACHE_DIR",
            "CODEX_AVAILABLE",
            "CURSOR_AVAILABLE",
            "CODEX_HEALTHY",
            "CURSOR_HEALTHY",
            "CODEX_PROBE_ERROR",
            "GEMINI_HEALTHY",
            "GEMINI_AVAILABLE",
        ]
    );
    let folder = value(&outcome, "SESSION_TMPDIR");
    let place = project.path("../home/.cache/convoke/sessions/claude-design-project-");
    let place = fs::canonicalize(place.parent().unwrap()).unwrap().join("claude-design-project-");
    assert!(folder.replace("/project/..", "").starts_with(place.to_str().unwrap()), "{folder}");
    assert_eq!(value(&outcome, "LARCH_RENDER_CACHE_DIR"), format!("{folder}/render-cache"));
    let id = fs::read_to_string(Path::new(&folder).join("session-id")).unwrap();
    assert_eq!(id.trim(), value(&outcome, "SESSION_ID"));
    assert!(Path::new(&folder).join(".larch-keepalive").is_file());
    let health = ["CODEX_AVAILABLE", "CODEX_HEALTHY", "CURSOR_HEALTHY", "GEMINI_HEALTHY"];
    assert_eq!(health.map(|key| value(&outcome, key)), ["true", "false", "true", "false"]);
    assert!(value(&outcome, "CODEX_PROBE_ERROR").starts_with("Probe attempt 3"), "{outcome}");
    let rule = "═".repeat(59);
    let banner = format!("{rule}\n⚠  CODEX HEALTH CHECK FAILED — not responding\n   Cause: ");
    assert!(outcome.stderr.contains(&banner), "{outcome}");
    let file = fs::read_to_string(project.path("../env.health")).unwrap();
    assert_eq!(file, "CODEX_HEALTHY=false\nCURSOR_HEALTHY=true\nGEMINI_HEALTHY=false\n");
    // P-380, T-58: a session that was set up can be removed.
    let temp = project.path("..").display().to_string();
    let project = project.variable("TMPDIR", &temp);
    let removed = plumbing(&project, &format!("cleanup --dir {folder}"));
    assert_eq!((removed.code, removed.stdout.as_str()), (Some(0), ""), "{removed}");
    assert!(!Path::new(&folder).exists());
}

// P-25, P-26, P-65, P-67, P-75, P-82: what the caller knows is not found out again.
#[test]
fn a_session_takes_over_what_its_caller_knows() {
    let caller = "REPO=ann/app\nCODEX_HEALTHY=true\nCURSOR_HEALTHY=true\nCURSOR_HEALTHY=false\n\
                  LARCH_TOKEN_SESSION_ID=t-1\nSESSION_TMPDIR=/x\nLARCH_TIMING_LEDGER=";
    let project = with_clients();
    let ledger = project.path("../times.tsv").display().to_string();
    let project = project.file("../env", format!("{caller}{ledger}\n"));
    let words = "session-setup --prefix p --check-reviewers --caller-env ../env \
                 --write-health /dev/null --write-session-env ../next";
    let outcome = plumbing(&project, words);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert_eq!(asked(&project), 0);
    let keys = ["REPO", "REPO_UNAVAILABLE", "CODEX_HEALTHY", "CURSOR_HEALTHY"];
    assert_eq!(keys.map(|key| value(&outcome, key)), ["ann/app", "false", "true", "false"]);
    assert_ne!(value(&outcome, "SESSION_TMPDIR"), "/x");
    assert!(outcome.stdout.ends_with("\nLARCH_TOKEN_SESSION_ID=t-1\n"), "{outcome}");
    let next = || fs::read_to_string(project.path("../next")).unwrap();
    // Its folder's name has `..` in it here, which is no plain path.
    assert!(!next().contains("LARCH_TIMING_LEDGER"), "{}", next());
    let real = fs::canonicalize(project.path("..")).unwrap();
    for (path, is_kept) in [
        (real.join("times.tsv"), true),
        (Path::new("/etc/times.tsv").to_owned(), false),
        (real.join("no-such-folder/times.tsv"), false),
    ] {
        let path = path.display();
        fs::write(project.path("../env"), format!("LARCH_TIMING_LEDGER={path}\n")).unwrap();
        let outcome =
            plumbing(&project, &format!("{words} --skip-codex-probe --skip-cursor-probe"));
        assert!(!outcome.stdout.contains("LARCH_TIMING_LEDGER"), "{outcome}");
        let line = format!("LARCH_TIMING_LEDGER={path}\n");
        assert_eq!((next().contains(&line), outcome.stderr.is_empty()), (is_kept, is_kept));
        assert_eq!(value(&outcome, "CODEX_HEALTHY"), "false", "no agent was probed");
        assert_eq!(value(&outcome, "CODEX_AVAILABLE"), "true");
    }
    assert_eq!(asked(&project), 0);
}

// P-28, P-60, P-62
#[test]
fn a_session_that_may_not_begin_is_not_made() {
    let project = cloned();
    for (words, error) in [
        ("session-setup", "session-setup: --prefix is required\n"),
        ("session-setup --prefix x --what", "session-setup: unknown option: --what\n"),
    ] {
        assert_eq!(said(&project, words), (Some(4), String::new(), error.to_owned()));
    }
    fs::write(project.path("new.txt"), "x").unwrap();
    let dirty = plumbing(&project, "session-setup --prefix x --skip-repo-check");
    let text = "PREFLIGHT=fail\nPREFLIGHT_ERROR=Working tree is not clean. Commit or stash changes first.\n";
    assert_eq!((dirty.code, dirty.stdout.as_str()), (Some(2), text));
    assert!(!project.path("../home/.cache").exists());
    fs::remove_file(project.path("new.txt")).unwrap();
    let empty = plumbing(&project, "session-setup --prefix x --caller-env nowhere");
    assert_eq!(empty.code, Some(0), "{empty}");
    assert_eq!(value(&empty, "REPO_UNAVAILABLE"), "true", "a folder is no repository");
    assert!(!empty.stdout.contains("CODEX"), "the script did not ask");
}

// P-74, T-42
#[test]
fn a_broken_setting_stops_the_probes() {
    let project = with_clients().variable("CONVOKE_HEALTH_PAUSE_SECONDS", "soon");
    let words = "session-setup --prefix x --skip-repo-check --check-reviewers";
    let outcome = plumbing(&project, words);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(!value(&outcome, "WAIT_INFRA_ERROR").is_empty());
    let keys = ["CODEX_AVAILABLE", "CODEX_HEALTHY", "CURSOR_HEALTHY"];
    assert_eq!(keys.map(|key| value(&outcome, key)), ["true", "false", "false"]);
    assert_eq!(asked(&project), 0);
}

// P-380, P-381, P-382
#[test]
fn only_a_session_is_removed() {
    let project = Project::new();
    let temp = fs::canonicalize(project.path("..")).unwrap().join("temp");
    let project = project.variable("TMPDIR", temp.to_str().unwrap());
    for folder in ["session", "unmarked"] {
        fs::create_dir_all(temp.join(folder)).unwrap();
    }
    fs::write(temp.join("session/.larch-keepalive"), "").unwrap();
    let empty = "ERROR: --dir is required and must be non-empty\n".to_owned();
    assert_eq!(said(&project, "cleanup --dir ''"), (Some(1), String::new(), empty));
    for path in [temp.join("unmarked"), temp.clone(), project.root()] {
        let outcome = plumbing(&project, &format!("cleanup {}", path.display()));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{outcome}");
        assert!(outcome.stderr.starts_with("ERROR: --dir must "), "{outcome}");
        assert!(path.exists());
    }
    let session = temp.join("session").display().to_string();
    for _ in 0..2 {
        assert_eq!(plumbing(&project, &format!("cleanup --dir {session}")).code, Some(0));
    }
    assert!(!temp.join("session").exists());
    let log = fs::read_to_string(temp.join("larch-cleanup-audit.log")).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.ends_with(&format!(" dir={session}\n")), "{log}");
}
