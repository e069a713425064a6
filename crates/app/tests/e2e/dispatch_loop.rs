//! `convoke dispatch loop`: reviewers and a fixer that are a script.

use std::fs;

use serde_json::{Value, json};

use crate::dispatch::FEATURE;
use crate::dispatch_rounds::repository;
use crate::harness::{Outcome, Project, set_mode};

/// A client that recognizes its role by its prompt, and prints the answer prepared for its next
/// turn.
const CLIENT: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo 1.0; exit; }
cat > "$TMPDIR/now"
case "$(cat "$TMPDIR/now")" in
    "Fix the following"*) who=f; cat "$TMPDIR/now" > ../fix; echo more >> docs/features/031-login/spec.md ;;
    *ROLE-A*) who=a ;;
    *) who=b; cat "$TMPDIR/now" > ../b ;;
esac
echo $who >> ../asked-$who
cat ../answers/$who-$(wc -l < ../asked-$who | tr -d ' ')
"#;

const ROLES: &str = r#"
[dispatch.roles."ship/a-reviewer"]
artifacts = ["spec"]
rubric = "a.md"

[dispatch.roles."ship/b-reviewer"]
artifacts = ["spec"]
rubric = "b.md"

[dispatch.roles."ship/fixer"]
artifacts = ["spec"]
noun = "work"
form = "fix"
"#;

/// A project whose command `ship` has two reviewers and a fixer, with what they say in turn.
pub(crate) fn project(answers: &[(&str, &str)]) -> Project {
    let project = repository()
        .file("convoke.toml", ROLES)
        .file("a.md", "ROLE-A: look at it.")
        .file("b.md", "ROLE-B: look at it.")
        .file("../home/bin/claude", CLIENT);
    set_mode(&project.path("../home/bin/claude"), 0o755);
    let bin = project.path("../home/bin").display().to_string();
    for (name, answer) in answers {
        ready(&project, name, answer);
    }
    project.variable("PATH", &format!("{bin}:/usr/bin:/bin"))
}

/// Puts an answer where the client finds it.
pub(crate) fn ready(project: &Project, name: &str, answer: &str) {
    ready_in(project, name, name, answer);
}

/// Puts an answer of a session where the client finds it.
fn ready_in(project: &Project, session: &str, name: &str, answer: &str) {
    let lines = [
        json!({ "type": "system", "subtype": "init", "session_id": session, "uuid": "1", "model": "m" }),
        json!({ "type": "result", "subtype": "success", "is_error": false, "uuid": "2",
            "result": answer, "session_id": session, "total_cost_usd": 0.001,
            "usage": { "input_tokens": 90, "output_tokens": 10 } }),
    ];
    fs::create_dir_all(project.path("../answers")).unwrap();
    let text = lines.map(|line| format!("{line}\n")).concat();
    fs::write(project.path(&format!("../answers/{name}")), text).unwrap();
}

pub(crate) const PASS: &str =
    "Files read: spec.md (62 lines)\n{\"approved\": true, \"issues\": []}";
pub(crate) const FAIL: &str = "{\"approved\": false, \"issues\": [{\"severity\": \"blocker\", \
    \"description\": \"No number.\", \"location\": \"spec.md:3\"}]}";
const FAIL_AGAIN: &str = "{\"approved\": false, \"issues\": [{\"severity\": \"Blocker\", \
    \"description\": \"no number\", \"location\": \"spec.md:4\"}]}";

pub(crate) fn run(project: &Project, more: &[&str]) -> Outcome {
    let arguments = ["dispatch", "loop", "ship", "--feature", "031", "--client", "claude"];
    project.run(&[&arguments[..], more].concat())
}

pub(crate) fn report(project: &Project, more: &[&str]) -> Value {
    serde_json::from_str(&run(project, &[&["--json"], more].concat()).stdout).unwrap()
}

/// How often each role answered.
pub(crate) fn asked(project: &Project) -> [usize; 3] {
    ["a", "b", "f"].map(|who| {
        let path = project.path(&format!("../asked-{who}"));
        fs::read_to_string(path).unwrap_or_default().lines().count()
    })
}

// D-26, D-27: all, who failed, all once more; what failed is fixed in between.
#[test]
fn a_loop_ends_when_all_approve() {
    let answers = [
        ("a-1", PASS),
        ("b-1", FAIL),
        ("f-1", "Named one."),
        ("b-2", PASS),
        ("a-2", PASS),
        ("b-3", PASS),
    ];
    let project = project(&answers);
    let done = run(&project, &["--write"]);
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(
        done.stdout,
        "round  role                       verdict   tokens\n\
         1      a-reviewer                 PASS         100\n\
         1      b-reviewer                 FAIL         100\n\
         1      fixer                      fixed        100\n\
         2      b-reviewer                 PASS         100\n\
         3      a-reviewer                 PASS         100\n\
         3      b-reviewer                 PASS         100\n\
         12a8c5579daa gone     [blocker] No number. (spec.md:3)\n\
         600 tokens, $0.006; 600 tokens for each of 1 accepted\n\
         approved after 3 rounds\n",
        "{done}"
    );
    assert!(done.stderr.contains("final round 3: a-reviewer, b-reviewer\n"), "{done}");
    assert!(!done.stderr.contains("warning:"), "what is ours is no change: {done}");
    let fix = fs::read_to_string(project.path("../fix")).unwrap();
    assert!(fix.contains("- [blocker] No number. (at: spec.md:3)"), "{fix}");
    assert_eq!(asked(&project), [2, 3, 1]);
    assert_eq!(report(&project, &["--write"])["stop"], "approved");
    assert_eq!(asked(&project), [2, 3, 1], "what is approved is not asked again");
    // An approval covers only the reviewed files.
    fs::write(project.path("new.rs"), "fn main() {}\n").unwrap();
    let outdated = run(&project, &["--write"]);
    assert_eq!(outdated.code, Some(1), "{outdated}");
    assert!(
        outdated.stdout.ends_with(": files changed since the reviewers approved\n"),
        "{outdated}"
    );
    assert!(outdated.stderr.contains("hint: files changed since the reviewers approved"));
    fs::remove_file(project.path("new.rs")).unwrap();
    assert_eq!(run(&project, &["--write"]).code, Some(0), "it is what was reviewed again");
    // A pass without proof does not count where proof is required: that reviewer answers again.
    let unread = run(&project, &["--write", "--require-proof", "--max", "1"]);
    assert_ne!(unread.code, Some(0), "{unread}");
    assert_eq!(asked(&project), [3, 3, 1]);
    project.run(&["dispatch", "reset", "--feature", "031"]);
    ready(&project, "a-4", FAIL);
    ready(&project, "b-4", PASS);
    assert_eq!(report(&project, &["--write", "--max", "1"])["stop"], "capped");
    assert!(project.path(FEATURE).join("spec.md").exists());
}

// The same finding twice, on any line and in any spelling, is no progress.
#[test]
fn a_loop_that_gets_nowhere_ends() {
    let answers = [("a-1", PASS), ("b-1", FAIL), ("f-1", "Done."), ("b-2", FAIL_AGAIN)];
    let project = project(&answers);
    let stuck = run(&project, &["--write"]);
    assert_eq!(stuck.code, Some(1), "{stuck}");
    assert!(stuck.stdout.contains(" returned [blocker] No number."), "{stuck}");
    assert!(
        stuck.stdout.ends_with(
            "not approved after 2 rounds: the fix left exactly the findings of the round before\n"
        ),
        "{stuck}"
    );
    // A person has fixed it by hand.
    for name in ["b-3", "b-4", "a-2"] {
        ready(&project, name, PASS);
    }
    let done = report(&project, &["--write"]);
    assert_eq!((&done["stop"], &done["rounds"]), (&json!("approved"), &json!(4)));
    assert_eq!((&done["findings"][0]["fate"], &done["accepted"]), (&json!("gone"), &json!(1)));
    assert_eq!(asked(&project), [2, 4, 1]);
}

// No agent writes without `--write`; then a person fixes, and the next call goes on.
#[test]
fn a_loop_waits_for_a_person() {
    let project = project(&[("a-1", PASS), ("b-1", FAIL), ("b-2", FAIL_AGAIN)]);
    let first = run(&project, &[]);
    assert_eq!(first.code, Some(1), "{first}");
    assert!(
        first.stdout.ends_with("not approved after 1 round: you have to fix what was found\n"),
        "{first}"
    );
    let hint = "hint: fix the open findings, then run this command again; with `--write`, `fixer` fixes them\n";
    assert!(first.stderr.ends_with(hint), "{first}");
    assert_eq!(asked(&project), [1, 1, 0]);
    let second = run(&project, &["--write", "--no-fix"]);
    assert_eq!(asked(&project), [1, 2, 0]);
    // No agent fixed anything, so none failed to: it still waits for a person.
    assert!(
        second.stdout.ends_with("not approved after 2 rounds: you have to fix what was found\n"),
        "{second}"
    );
    let hint = "hint: fix the open findings, then run this command again\n";
    assert!(second.stderr.ends_with(hint), "{second}");
    // Convoke does not know whether a person fixed it, but a person's work costs no tokens.
    let row = "1      by-hand                    again          -\n";
    assert!(second.stdout.contains(row), "{second}");
    assert!(second.stdout.contains("\n300 tokens, $0.003\n"), "{second}");
    let told = fs::read_to_string(project.path("../b")).unwrap();
    assert!(told.contains("iteration 2 of 5") && told.contains("No number."), "{told}");
}

// Everything that can be checked before the first lane is checked: a loop that cannot complete
// costs nothing.
#[test]
fn a_loop_checks_every_agent_before_the_first_lane() {
    let roles = |more: &str| format!("{ROLES}\n{more}");
    let other = "[dispatch.roles.'ship/c-reviewer']\n";
    for (toml, more, error) in [
        (
            roles(&format!("{other}diff = true")),
            &[][..],
            "it reviews what changed and needs `--changed-since COMMIT`",
        ),
        (
            roles(&format!("{other}required = ['*.zig']")),
            &[],
            "`required`: no file matches `*.zig`",
        ),
        (roles(&format!("{other}rubric = 'c.md'")), &[], "c.md`: there is no such file"),
        (roles(&format!("{other}target = 'tasks'")), &[], "cannot review `tasks.md`"),
        (
            roles(&format!("{other}form = 'review'")),
            &["--require-proof"],
            "cannot require proof from `ship/c-reviewer`",
        ),
        (roles(""), &["--write", "--fix-client", "gemini"], "cannot find `gemini` on the PATH"),
        (roles(""), &["--write", "--fix-client", "http:none"], "cannot give `http:none` files"),
        (roles(""), &["--write", "--fix-client", "replay:none.jsonl"], "none.jsonl"),
    ] {
        let project = project(&[("a-1", FAIL), ("b-1", FAIL)]).file("convoke.toml", &toml);
        let refused = run(&project, more);
        assert!(refused.stderr.contains(error), "{toml}\n{refused}");
        assert!(refused.stderr.contains("error: "), "{refused}");
        assert_eq!(asked(&project), [0, 0, 0], "{toml}\n{refused}");
    }
}

// Roles that have to do with no feature need none in a loop, either.
#[test]
fn a_loop_needs_a_feature_only_for_roles_that_do() {
    let own = "[dispatch.roles.'ship/a-reviewer']\nrequired = ['README.md']\nrubric = 'a.md'\n";
    let project =
        project(&[("a-1", PASS), ("a-2", PASS)]).file("README.md", "x\n").file("convoke.toml", own);
    let words = ["dispatch", "loop", "ship", "--client", "claude"];
    let done = project.run(&words);
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.stdout.ends_with("approved after 2 rounds\n"), "{done}");
    let needed = project.file("convoke.toml", ROLES).run(&words);
    assert_eq!(needed.code, Some(2), "{needed}");
    assert!(
        needed.stderr.contains("it reads documents of a feature, and none is named"),
        "{needed}"
    );
}

// An interrupted round goes on with the missing reviewers.
#[test]
fn a_loop_that_was_cut_short_goes_on() {
    let project = project(&[("a-1", PASS)]);
    let cut = run(&project, &[]);
    assert_eq!(cut.code, Some(4), "{cut}");
    assert!(cut.stdout.ends_with("not approved after 1 round: an agent gave no answer\n"), "{cut}");
    for name in ["b-2", "b-3", "a-2"] {
        ready(&project, name, PASS);
    }
    assert_eq!(report(&project, &[])["stop"], "approved");
    assert_eq!(asked(&project), [2, 3, 0], "`a` was not asked twice in round 1");
    let unknown =
        project.run(&["dispatch", "loop", "shop", "--feature", "031", "--client", "claude"]);
    assert!(
        unknown.stderr.contains("unknown command") && unknown.stderr.contains("`ship`"),
        "{unknown}"
    );
}

// A reviewer that twice neither approves nor rejects ends the loop without a verdict, and answers
// again in the next call.
#[test]
fn a_loop_ends_at_an_answer_without_a_verdict() {
    let unclear = "{\"approved\": true, \"issues\": [], \"verdict\": \"REJECT\"}";
    let project = project(&[("a-1", PASS), ("b-1", unclear)]);
    ready_in(&project, "b-1", "b-2", unclear);
    let ended = run(&project, &[]);
    assert_eq!(ended.code, Some(4), "{ended}");
    assert!(ended.stdout.ends_with(": a reviewer gave two answers without a verdict\n"), "{ended}");
    let row = "1      b-reviewer                 none         200\n";
    assert!(ended.stdout.contains(row), "what does not count was paid for: {ended}");
    assert!(ended.stderr.contains("verdict       AMBIGUOUS: `verdict` contradicts"), "{ended}");
    assert!(ended.stderr.contains("\"verdict\": \"REJECT\""), "{ended}");
    for name in ["b-3", "b-4", "a-2"] {
        ready(&project, name, PASS);
    }
    assert_eq!(report(&project, &[])["stop"], "approved");
}

// A pass is shown with what its reviewer wrote beside it: when it comes, and in the summary of every
// later call.
#[test]
fn a_loop_keeps_what_reviewers_wrote_beside_their_verdicts() {
    let odd = r#"{"approved": true, "issues": [], "summary": "Over my dead body."}"#;
    let project = project(&[("a-1", PASS), ("b-1", PASS), ("a-2", PASS), ("b-2", odd)]);
    let first = run(&project, &[]);
    assert_eq!(first.code, Some(0), "{first}");
    let words = "the reviewer also wrote: summary: Over my dead body.\n";
    assert!(first.stderr.contains(&format!("b-reviewer: {words}")), "{first}");
    let row = format!("2      b-reviewer                 PASS         100\n              {words}");
    assert!(first.stdout.contains(&row), "{first}");
    assert!(run(&project, &[]).stdout.contains(&row), "an earlier call's words are kept");
    let report = report(&project, &[]);
    let of = |at: usize| report["answers"][at]["also_wrote"].as_str();
    assert_eq!(of(0), None, "{report}");
    assert_eq!(of(3), Some("summary: Over my dead body."), "{report}");
}

// An issue that weighs nothing may hold the refusal: a loop that ends approved shows it whole.
#[test]
fn a_loop_shows_every_issue_of_an_approving_answer() {
    let light = r#"{"approved": true, "issues": [{"severity": "suggestion", "category": "taste", "description": "Over my dead body.", "location": "spec.md:1", "suggestion": "Start over."}]}"#;
    let project = project(&[("a-1", PASS), ("b-1", PASS), ("a-2", PASS), ("b-2", light)]);
    let first = run(&project, &[]);
    assert_eq!(first.code, Some(0), "{first}");
    let said = "b-reviewer: [suggestion, taste] Over my dead body. (spec.md:1) Suggestion:";
    assert!(first.stderr.contains(said), "{first}");
    let row = "2      b-reviewer                 PASS         100\n              \
               [suggestion, taste] Over my dead body. (spec.md:1) Suggestion:\n                \
               Start over.\n";
    assert!(first.stdout.contains(row), "{first}");
    let issue = &report(&project, &[])["answers"][3]["issues"][0];
    assert_eq!(issue["description"], "Over my dead body.", "{issue}");
    assert_eq!(issue["suggestion"], "Start over.", "{issue}");
}

// The second request's cost is part of the answer's, and an approval without reading does not count
// where proof is required.
#[test]
fn a_loop_counts_every_lane_and_can_require_proof() {
    let unclear = "I do not approve.\n{\"approved\": true, \"issues\": []}";
    let project = project(&[("a-1", PASS), ("b-1", unclear)]);
    ready_in(&project, "b-1", "b-2", FAIL);
    let report = report(&project, &[]);
    assert_eq!(report["answers"][1]["input_tokens"], 180, "{report}");
    ready(&project, "a-2", PASS);
    let unread = run(&project, &["--require-proof"]);
    assert_eq!(unread.code, Some(1), "{unread}");
    assert!(
        unread.stdout.ends_with(": a reviewer approved without having read everything\n"),
        "{unread}"
    );
    assert!(unread.stderr.contains("proof         confirmed, but not read: spec.md"), "{unread}");
}

// All lanes of a loop share its budget; when that is used up, it ends.
#[test]
fn a_loop_ends_when_its_budget_is_used_up() {
    let answers = [("a-1", PASS), ("b-1", FAIL), ("f-1", "Named one."), ("b-2", PASS)];
    let project = project(&answers);
    let ended = run(&project, &["--write", "--budget", "200"]);
    assert_eq!(ended.code, Some(5), "{ended}");
    assert_eq!(asked(&project), [1, 1, 0], "who fixes was not even started: {ended}");
    assert!(ended.stderr.contains("used 200 of 200 tokens"), "{ended}");
    let on = run(&project, &["--write", "--budget", "200", "--max", "2"]);
    assert_eq!(asked(&project), [1, 2, 1], "another call has a budget of its own: {on}");
}
