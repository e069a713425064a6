//! Loops of reviews that end although their reviewers do not approve.

use std::fs;

use serde_json::{Value, json};

use crate::dispatch_loop::{FAIL, PASS, asked, project, ready, report, run};
use crate::harness::Project;

/// An answer that rejects for these findings, by weight and words.
fn rejects(issues: &[(&str, &str)]) -> String {
    let issue = |(severity, words): &(&str, &str)| json!({ "severity": severity, "description": words, "location": "spec.md:3" });
    let issues: Vec<_> = issues.iter().map(issue).collect();
    json!({ "approved": false, "issues": issues }).to_string()
}

/// A loop in which `b` finds this in its rounds, and an agent fixes each.
fn finding(rounds: &[&[(&str, &str)]]) -> Project {
    let project = project(&[("a-1", PASS), ("f-1", "Done."), ("f-2", "Done."), ("f-3", "Done.")]);
    for (round, issues) in (1..).zip(rounds) {
        ready(&project, &format!("b-{round}"), &rejects(issues));
    }
    project
}

/// Returns the id of the finding with these words.
fn id_of(report: &Value, words: &str) -> String {
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["description"] == words);
    found.unwrap()["id"].as_str().unwrap().to_owned()
}

// D-93: a reviewer that says the same in other words each time would keep agents busy for ever.
#[test]
fn warnings_alone_end_a_loop_in_its_third_round() {
    let words: [&[(&str, &str)]; 4] = [
        &[("warning", "Name it better.")],
        &[("warning", "The name is unclear.")],
        &[("Warning", "Find a clearer name.")],
        &[("warning", "Still unclear.")],
    ];
    let project = finding(&words);
    let ended = run(&project, &["--write"]);
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(
        ended.stdout.ends_with("not approved after 3 rounds: only warnings are left\n"),
        "{ended}"
    );
    assert!(ended.stderr.contains("hint: only warnings are left"), "{ended}");
    assert_eq!(asked(&project), [1, 3, 2]);
    // The user wants them fixed nevertheless: an agent fixes, and the rounds go on to their limit.
    let on = report(&project, &["--write", "--floor-from", "0", "--max", "4"]);
    assert_eq!((&on["stop"], &on["rounds"]), (&json!("capped"), &json!(4)), "{on}");
    assert_eq!(asked(&project), [1, 4, 3]);
    let set = finding(&words).variable("CONVOKE_DISPATCH_FLOOR_FROM", "1");
    assert_eq!(report(&set, &["--write"])["stop"], "below_floor");
    assert_eq!(asked(&set), [1, 1, 0]);
}

// D-93
#[test]
fn an_invented_weight_is_never_below_the_floor() {
    let project = finding(&[
        &[("warning", "One.")],
        &[("apocalyptic", "Two.")],
        &[("warning", "Three."), ("low", "Four.")],
    ]);
    let ended = report(&project, &["--write", "--max", "3"]);
    assert_eq!((&ended["stop"], &ended["rounds"]), (&json!("capped"), &json!(3)), "{ended}");
}

// D-94
#[test]
fn a_finding_that_outlives_two_fixes_is_settled_by_a_person() {
    let project = finding(&[
        &[("blocker", "No number."), ("blocker", "One.")],
        &[("blocker", "no number"), ("blocker", "Two.")],
        &[("Blocker", "No number!"), ("blocker", "Three.")],
        &[("blocker", "No number.")],
    ]);
    let ended = run(&project, &["--write"]);
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(
        ended.stdout.ends_with("not approved after 3 rounds: a finding outlived two fixes\n"),
        "{ended}"
    );
    assert!(ended.stdout.contains(" returned [blocker] No number."), "{ended}");
    assert!(ended.stderr.contains("settle it with `--dismiss ID`"), "{ended}");
    assert_eq!(asked(&project), [1, 3, 2]);

    // Neither an agent nor a slip of the pen settles anything.
    let unknown = run(&project, &["--write", "--dismiss", "000000000000"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
    assert!(unknown.stderr.contains("cannot dismiss `000000000000`"), "{unknown}");
    assert_eq!(asked(&project), [1, 3, 2]);
    let project = project.variable("CONVOKE_AGENT", "june");
    let by_agent = run(&project, &["--write", "--dismiss", "000000000000"]);
    assert_eq!(by_agent.code, Some(1), "{by_agent}");
    assert!(by_agent.stderr.contains("cannot decide for the user"), "{by_agent}");
}

// D-94: what is dismissed is shown to no agent again, and does not stop the loop under the same id.
#[test]
fn a_dismissed_finding_keeps_no_loop_from_its_end() {
    let project = finding(&[
        &[("blocker", "No number."), ("blocker", "One.")],
        &[("blocker", "No number."), ("blocker", "Two.")],
        &[("blocker", "No number."), ("blocker", "Three.")],
        &[("blocker", "No number.")],
        &[("blocker", "No number.")],
    ]);
    ready(&project, "a-2", PASS);
    let disputed = report(&project, &["--write"]);
    assert_eq!(disputed["stop"], "disputed", "{disputed}");
    let id = id_of(&disputed, "No number.");
    let done = report(&project, &["--write", "--dismiss", &id]);
    assert_eq!((&done["stop"], &done["rounds"]), (&json!("approved"), &json!(5)), "{done}");
    assert_eq!(asked(&project), [2, 5, 3]);
    let fix = fs::read_to_string(project.path("../fix")).unwrap();
    assert!(fix.contains("Three.") && !fix.contains("No number."), "{fix}");
    let told = fs::read_to_string(project.path("../b")).unwrap();
    assert!(!told.contains("No number."), "{told}");
    let of = |words: &str| {
        let findings = done["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["description"] == words).unwrap()["fate"].clone()
    };
    assert_eq!([of("No number."), of("Three.")], [json!("dismissed"), json!("gone")]);
    assert_eq!(done["accepted"], 3, "{done}");
}

// W-38: a loop records with its task what each reviewer found, and what the fixer did is no verdict.
#[test]
fn a_loop_records_its_verdicts_with_its_task() {
    let project = project(&[("a-1", PASS), ("b-1", FAIL)]);
    let task = project.stdout(&["task", "add", "Task 1: Build it"]);
    project.stdout(&["task", "start", &task]);
    let recorded = |role: &str| {
        let shown = project.stdout(&["task", "show", &task, "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let deeds = shown["deeds"].as_array().unwrap();
        let last = deeds.iter().rfind(|deed| deed["role"] == role);
        last.map(|deed| deed["verdict"].as_str().unwrap().to_owned())
    };
    let with_task = ["--write", "--task", &task];
    let capped = run(&project, &[&with_task[..], &["--max", "1"]].concat());
    assert_ne!(capped.code, Some(0), "{capped}");
    let [a, b, fixer] = ["ship/a-reviewer", "ship/b-reviewer", "ship/fixer"];
    let found = [recorded(a), recorded(b), recorded(fixer)];
    assert_eq!(found, [Some("pass".to_owned()), Some("fail".to_owned()), None]);
    let woken = project.stdout(&["wake", "june"]);
    assert!(woken.contains(&format!("Have what {b} found in Task 1: Build it fixed")), "{woken}");
    for (name, answer) in [("f-1", "Named one."), ("b-2", PASS), ("a-2", PASS), ("b-3", PASS)] {
        ready(&project, name, answer);
    }
    let done = run(&project, &with_task);
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!([recorded(a), recorded(b)], [Some("pass".to_owned()), Some("pass".to_owned())]);
    assert!(recorded(fixer).is_none_or(|kind| kind == "work"), "{:?}", recorded(fixer));
    assert!(project.stdout(&["wake", "june"]).contains("Mark Task 1: Build it complete"));
}
