//! `convoke dispatch next`: rounds that are resumed, and rounds that begin afresh.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::dispatch::{APPROVED, DESIGN, FEATURE, check};
use crate::harness::Project;

fn git(project: &Project, arguments: &[&str]) {
    let mut git: Command = project.command(Path::new("git"), arguments);
    let done = git.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// The same project in a real repository.
pub(crate) fn repository() -> Project {
    let project = Project::new();
    git(&project, &["init", "-q", "-b", "main", "."]);
    let project = project
        .variable("CONVOKE_DISPATCH_STATE_FILE", "true")
        .file(
            &format!("{FEATURE}/spec.md"),
            format!("# Spec\n\n{}", "R: a rule of it.\n".repeat(60)),
        )
        .file(&format!("{FEATURE}/design.md"), DESIGN);
    commit(&project);
    project
}

fn commit(project: &Project) {
    git(project, &["add", "-A"]);
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    git(project, &[&who[..], &["commit", "-q", "-m", "change"]].concat());
}

fn next(project: &Project, more: &[&str]) -> Value {
    let role = "specify/spec-reviewer";
    let arguments = [&["dispatch", "next", role, "--feature", "031", "--json"], more].concat();
    serde_json::from_str(&project.stdout(&arguments)).unwrap()
}

pub(crate) fn revise(project: &Project, words: &str) {
    let path = project.path(&format!("{FEATURE}/spec.md"));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, text.replacen("R: a rule of it.", words, 1)).unwrap();
}

// D-60, D-62..D-65
#[test]
fn a_second_round_costs_a_delta() {
    let project = repository();
    let first = next(&project, &[]);
    assert_eq!((&first["action"], &first["reason"]), (&json!("fresh"), &json!("first_iteration")));
    check(&project, "specify/spec-reviewer", &["--agent", "a-1"], APPROVED);
    revise(&project, "R: 100 ms.");
    let second = next(&project, &["--iteration", "2"]);
    assert_eq!((&second["action"], &second["agent_id"]), (&json!("resume"), &json!("a-1")));
    let prompt = second["prompt"].as_str().unwrap();
    assert!(prompt.starts_with("Review iteration 2 of 5. You already have"), "{prompt}");
    assert!(prompt.contains("+R: 100 ms.\n") && !prompt.contains("Required Artifacts"), "{prompt}");
    assert_eq!(second["is_shorter"], json!(true), "D-68");
    assert!((400..900).contains(&second["loop_per_mille"].as_u64().unwrap()), "{second}");
    assert_eq!(first["loop_per_mille"], Value::Null);
    // Asking again finds the same.
    assert_eq!(next(&project, &["--iteration", "2"]), second);
    let state = fs::read_to_string(project.path(&format!("{FEATURE}/.resume-state.json"))).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["spec-reviewer"]["last_iteration"], 2);
    assert_eq!(state["spec-reviewer"]["iteration1_prompt_length"], first["chars"]);
}

// D-64, D-66: any obstacle leads to a fresh session, and some of them are logged.
#[test]
fn what_cannot_be_resumed_begins_afresh() {
    let project = repository();
    let reason =
        |more: &[&str]| next(&project, &[&["--iteration", "2"], more].concat())["reason"].clone();
    assert_eq!(reason(&[]), "no_state");
    next(&project, &[]);
    assert_eq!(reason(&[]), "agent_id_lost");
    next(&project, &[]);
    assert_eq!(reason(&["--agent", "a-1"]), "no_changes");
    next(&project, &[]);
    revise(&project, &"R: much longer than before. ".repeat(200));
    assert_eq!(reason(&["--agent", "a-1"]), "delta_over_guard");
    next(&project, &[]);
    let last = next(&project, &["--iteration", "2", "--agent", "a-1", "--final"]);
    assert_eq!(last["reason"], "final_round", "it has no guard");
    let line = "This is the final validation round (iteration 2 of 5).";
    assert!(last["prompt"].as_str().unwrap().contains(line), "{last}");
    let failed = next(&project, &["--iteration", "3", "--resume-failed", "HTTP 400"]);
    assert_eq!(failed["reason"], "resume_failed");
    let note = "(Fresh dispatch \u{2014} prior session unavailable.)";
    assert!(failed["prompt"].as_str().unwrap().contains(note), "{failed}");
    let history =
        fs::read_to_string(project.path(&format!("{FEATURE}/.review-history.md"))).unwrap();
    assert_eq!(
        history,
        "RESUME-FALLBACK: spec-reviewer iteration 2 \u{2014} agent_id lost (context compaction)\n\
         RESUME-FALLBACK: spec-reviewer iteration 3 \u{2014} HTTP 400\n"
    );
    assert_eq!(
        project.stdout(&["dispatch", "reset", "--feature", "031"]),
        "deleted the rounds of 1 role"
    );
    assert!(!project.path(&format!("{FEATURE}/.resume-state.json")).exists());
    assert_eq!(reason(&[]), "no_state");
}

// D-63: what a resumed prompt tells counts in full: a short diff with a long summary is no delta.
#[test]
fn the_guard_counts_the_fix_summary() {
    let project = repository().file("summary.md", "I explain it at length. ".repeat(200));
    next(&project, &[]);
    revise(&project, "R: 100 ms.");
    let short = next(&project, &["--iteration", "2", "--agent", "a-1"]);
    assert_eq!(short["reason"], "within_guard");
    next(&project, &[]);
    revise(&project, "R: 200 ms.");
    let long = next(&project, &["--iteration", "2", "--agent", "a-1", "--summary", "summary.md"]);
    assert_eq!(long["reason"], "delta_over_guard", "{long}");
    assert!(long["delta_chars"].as_u64().unwrap() > 4_800, "{long}");
}

// D-23: the last round is the last.
#[test]
fn no_round_follows_the_last() {
    let project = repository();
    for (more, hint) in [
        (&["--iteration", "12", "--max", "5"][..], "`--max 12`"),
        (&["--iteration", "6"], "`--max 6`"),
    ] {
        let words = ["dispatch", "next", "specify/spec-reviewer", "--feature", "031"];
        let outcome = project.run(&[&words, more].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
        assert!(outcome.stderr.contains("cannot start round "), "{outcome}");
        assert!(outcome.stderr.contains(hint), "{outcome}");
    }
    assert_eq!(next(&project, &["--iteration", "5"])["iteration"], 5);
}

// A rewritten history leaves nothing to compare with.
#[test]
fn a_commit_that_is_gone_is_survived() {
    let project = repository();
    next(&project, &[]);
    fs::remove_dir_all(project.path(".git")).unwrap();
    git(&project, &["init", "-q", "-b", "main", "."]);
    commit(&project);
    let second = next(&project, &["--iteration", "2", "--agent", "a-1"]);
    assert_eq!(second["reason"], "delta_unavailable");
}

// D-61, D-13: where a gate failed, nothing is resumed.
#[test]
fn a_gate_that_failed_keeps_sessions_from_being_resumed() {
    let reason = "{\"r1_deferred_reason\": \"V3: forgotten\"}";
    let project = repository().file(&format!("{FEATURE}/.meta.json"), reason);
    next(&project, &[]);
    revise(&project, "R: 100 ms.");
    assert_eq!(next(&project, &["--iteration", "2", "--agent", "a"])["reason"], "resume_disabled");
    let project = project.file("notes.md", "# Notes\n").file("1", "ISSUE: x\n");
    let prompts = project.stdout(&["dispatch", "gate", "--file", "notes.md"]);
    assert!(prompts.contains("/project/notes.md") && prompts.contains("FIRST LINE:"), "{prompts}");
    let project = project.file("2", "FIRST LINE: # Notes\nISSUES: 1\n");
    let score = ["dispatch", "gate", "--file", "notes.md", "--agent", "a", "--first", "1"];
    assert_eq!(
        project.stdout(&[&score[..], &["--second", "2"]].concat()),
        "passed: sessions can be resumed here"
    );
    let failed = project.run(&[&score[..], &["--error", "HTTP 400"]].concat());
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(1), "V2: HTTP 400\n"));
    let incomplete = project.run(&["dispatch", "gate", "--agent", "a"]);
    assert_eq!(incomplete.code, Some(2), "{incomplete}");
    assert!(
        incomplete.stderr.contains("`--agent` takes a session's id only with `--first`"),
        "{incomplete}"
    );
}

// D-67: a resumed answer without a verdict fails, with the next step.
#[test]
fn a_resumed_answer_without_a_verdict_is_a_failure() {
    let project = repository();
    next(&project, &[]);
    revise(&project, "R: 100 ms.");
    next(&project, &["--iteration", "2", "--agent", "a-1"]);
    let empty = check(&project, "specify/spec-reviewer", &["--iteration", "2"], "\n");
    assert!(
        empty
            .stdout
            .contains("resume        failed: empty answer; run `dispatch next --resume-failed"),
        "{empty}"
    );
    assert!(!empty.stdout.contains("confirmation"), "nothing was demanded: {empty}");
}

fn security(project: &Project, more: &[&str]) -> Value {
    let role = "implement/security-reviewer";
    let arguments = [&["dispatch", "next", role, "--feature", "031", "--json"], more].concat();
    serde_json::from_str(&project.stdout(&arguments)).unwrap()
}

// D-62: the delta begins at the files that were shown: committed, new, or written by Convoke.
#[test]
fn a_delta_is_everything_since_the_last_look_and_nothing_else() {
    let project = repository();
    fs::write(project.path("dirty.rs"), "seen already\n").unwrap();
    security(&project, &[]);
    let second = security(&project, &["--iteration", "2", "--agent", "a"]);
    assert_eq!(second["reason"], "no_changes", "our own files are no change: {second}");
    security(&project, &[]);
    fs::create_dir(project.path("src")).unwrap();
    fs::write(project.path("src/new.rs"), "brand new\n").unwrap();
    let second = security(&project, &["--iteration", "2", "--agent", "a"]);
    let prompt = second["prompt"].as_str().unwrap();
    assert!(prompt.contains("+brand new\n") && !prompt.contains("seen already"), "{prompt}");
    assert!(!prompt.contains("resume-state"), "{prompt}");
    let listed = project.stdout(&[
        "dispatch",
        "prompt",
        "implement/security-reviewer",
        "--feature",
        "031",
        "--changed-since",
        "HEAD",
    ]);
    assert!(listed.contains("## Implementation Files\ndirty.rs\nsrc/new.rs\n\n"), "{listed}");
    let refused = security(&project, &["--iteration", "3", "--commit"]);
    assert!(refused["committed"].as_str().unwrap().starts_with("COMMIT_FAILED ("), "{refused}");
    git(&project, &["config", "user.email", "a@example.org"]);
    git(&project, &["config", "user.name", "A"]);
    let third = security(&project, &["--iteration", "3", "--commit"]);
    assert_eq!(third["committed"], "COMMIT_OK");
    let mut status: Command = project.command(Path::new("git"), &["status", "--porcelain"]);
    let left = String::from_utf8(status.output().unwrap().stdout).unwrap();
    assert_eq!(left, "?? docs/features/031-login/.resume-state.json\n", "ours is not committed");
}

// Parallel rounds lose nothing, and the copy for people is complete.
#[test]
fn parallel_rounds_and_checks_lose_nothing() {
    let project = repository();
    let roles = [
        "specify/spec-reviewer",
        "specify/phase-reviewer",
        "design/design-reviewer",
        "implement/security-reviewer",
        "implement/code-quality-reviewer",
        "implement/implementer",
    ];
    std::thread::scope(|scope| {
        for role in roles {
            let project = &project;
            scope.spawn(move || {
                project.stdout(&["dispatch", "next", role, "--feature", "031"]);
                for _ in 0..5 {
                    check(project, role, &[], "nothing");
                }
            });
        }
    });
    let state = fs::read_to_string(project.path(&format!("{FEATURE}/.resume-state.json"))).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state.as_object().unwrap().len(), roles.len(), "{state}");
    let rate: Value =
        serde_json::from_str(&project.stdout(&["dispatch", "rate", "--json"])).unwrap();
    // A spec reviewer without a PRD is sent to nothing.
    assert_eq!(rate["all"]["dispatches"], 25, "{rate}");
    let history =
        fs::read_to_string(project.path(&format!("{FEATURE}/.review-history.md"))).unwrap();
    assert_eq!(history.lines().filter(|line| line.starts_with("LAZY-LOAD-WARNING: ")).count(), 25);
}

// A feature may have any author; its links lead Convoke to no other file.
#[cfg(unix)]
#[test]
fn links_in_a_feature_are_not_written_through() {
    let project = repository().file("../home/mine", "mine\n");
    let link = |name: &str| {
        let path = project.path(&format!("{FEATURE}/{name}"));
        std::os::unix::fs::symlink(project.path("../home/mine"), path).unwrap();
    };
    link(".resume-state.json");
    link(".review-history.md");
    let refused = project.run(&["dispatch", "next", "specify/spec-reviewer", "--feature", "031"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    let note = check(&project, "implement/security-reviewer", &[], "nothing");
    assert!(note.stderr.contains("the review history could not be written"), "{note}");
    assert_eq!(fs::read_to_string(project.path("../home/mine")).unwrap(), "mine\n");
}
