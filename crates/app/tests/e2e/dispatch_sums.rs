//! `convoke dispatch rate`, `audit` and `savings`, and answers that nothing was prepared for.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::dispatch::{APPROVED, FEATURE, check, project};
use crate::harness::Project;

// D-51, D-54: rounds logged before the ledger existed count, too.
#[test]
fn histories_are_counted() {
    let history = "## Spec Review - Iteration 1 - 2026-02-28T10:00:00Z\n**Decision:** x\n---\n\
        - LAZY-LOAD-WARNING: spec-reviewer did not confirm artifact reads (iteration 1)\n\
        The LAZY-LOAD-WARNING count is one.\n## Iteration 2 - 2026-02-28T11:00:00Z [FINAL VALIDATION]\n\
        ## Task Review Iteration 1 - 2026-02-28T12:00:00Z\n**Reviewer:** task-reviewer (skeptic)\n\
        RESUME-FALLBACK: task-reviewer iteration 2 \u{2014} HTTP 400\n";
    let project = project();
    assert_eq!(project.stdout(&["dispatch", "rate", "--histories"]), "No review histories.");
    let project = project.file(&format!("{FEATURE}/.review-history.md"), history);
    assert_snapshot!(project.stdout(&["dispatch", "rate", "--histories"]), @"
    role                                     rounds  unconfirmed    share  fallbacks
    spec-reviewer                                 0            1        -          0
    task-reviewer                                 1            0    0.0 %          1

    feature                                  rounds  unconfirmed    share  fallbacks
    031-login                                     3            1   33.3 %          1

    all                                           3            1   33.3 %          1
    ");
    let report = project.stdout(&["dispatch", "rate", "--histories", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["all"]["rounds"], &report["all"]["fallbacks"]), (&json!(3), &json!(1)));
    assert_eq!(report["all"]["warning_per_mille"], 333);
}

// A history that cannot be written stops nothing; an answer of any size is judged.
#[test]
fn odd_answers_and_places_are_survived() {
    let project = project();
    fs::create_dir(project.path(&format!("{FEATURE}/.review-history.md"))).unwrap();
    let outcome = check(&project, "implement/security-reviewer", &[], "");
    assert!(outcome.stderr.contains("note: the review history could not be written"), "{outcome}");
    assert!(outcome.stdout.ends_with("the answer is empty\n"), "{outcome}");
    assert_eq!(outcome.code, Some(4), "{outcome}");
    let long = format!("<think>{}</think>\n{APPROVED}", "x".repeat(4_000_000));
    assert_eq!(check(&project, "implement/security-reviewer", &[], &long).code, Some(0));
    let binary = project.run_with_input(
        &["dispatch", "check", "implement/security-reviewer", "--feature", "031"],
        b"\xff\xfe",
    );
    assert_eq!(binary.code, Some(2), "{binary}");
}

// D-70..D-72
#[test]
fn prompts_that_paste_are_found() {
    let project = Project::new()
        .file("specify.md", "## Spec (what you're reviewing)\n{content of spec.md}\n\n{content of prd.md, or \"None\"}\n");
    assert_snapshot!(project.run(&["dispatch", "audit", "specify.md"]), @r#"
    exit: 1
    --- stdout
    specify.md:2: P1 P4 {content of spec.md}  (allowed: the artifact under review)
    specify.md:4: P4 {content of prd.md, or "None"}
    1 pasted, 1 allowed
    --- stderr
    "#);
    let strict = project.run(&["dispatch", "audit", "specify.md", "--profile", "all-reference"]);
    assert!(strict.stdout.ends_with("2 pasted, 0 allowed\n"), "{strict}");
}

// D-82: both sums.
#[test]
fn savings_tell_both_sums() {
    let body = "A sentence of the document.\n".repeat(400);
    let mut project = Project::new();
    for feature in ["001-a", "002-b"] {
        for file in ["spec.md", "design.md", "plan.md", "tasks.md"] {
            project = project.file(&format!("docs/features/{feature}/{file}"), &body);
        }
    }
    let project = project.file("docs/features/003-c/spec.md", "only this");
    let table = project.stdout(&["dispatch", "savings"]);
    let row = |part: &str, label: &str| {
        let part = table.split(part).nth(1).unwrap();
        let line = part.lines().find(|line| line.trim_start().starts_with(label)).unwrap();
        line.split_whitespace().find(|word| word.starts_with(['−', '+'])).unwrap().to_owned()
    };
    // Paths are part of prompts, so the figures differ a little from place to place.
    assert!(row("tokens that the dispatcher sends", "by reference").starts_with("−86."), "{table}");
    assert!(
        row("tokens that the agents use, including reading", "by reference").starts_with("−10.")
    );
    assert!(table.contains("2 measured, 1 left out because"), "{table}");
    let report: Value =
        serde_json::from_str(&project.stdout(&["dispatch", "savings", "--json"])).unwrap();
    assert_eq!(
        (&report["features"], &report["skipped"]),
        (&json!(["001-a", "002-b"]), &json!(["003-c"]))
    );
    // Without the frame only documents and lists of paths are left.
    let bare = project.stdout(&["dispatch", "savings", "--bare", "--json"]);
    let bare: Value = serde_json::from_str(&bare).unwrap();
    let of =
        |report: &Value, kind: &str| report["all"][kind]["prompt_tokens_x10"].as_u64().unwrap();
    assert!(of(&bare, "pasted") < of(&report, "pasted"), "{bare}");
    let references = of(&bare, "all_reference") / 2 / 14 / 10;
    assert!((50..250).contains(&references), "a list of paths: {references} tokens");
    let none = Project::new().run(&["dispatch", "savings"]);
    assert_eq!(none.code, Some(1), "{none}");
}
