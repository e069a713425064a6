//! `convoke serve --report dispatch`: which documents each round read, and the evidence.

use std::fs;

use serde_json::{Value, json};

use crate::dispatch::{APPROVED, FEATURE, project};
use crate::dispatch_evidence::record;
use crate::dispatch_rounds::{repository, revise};
use crate::dispatch_run::{pass_gate, run, stream, with_claude};
use crate::harness::Project;

fn rounds(project: &Project) -> Vec<Value> {
    let report = project.stdout(&["serve", "--report", "dispatch"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    report["features"][0]["rounds"].as_array().unwrap().clone()
}

// D-52: the ledger keeps what a check found, with the calls and the lines.
#[test]
fn the_matrix_has_the_evidence_of_each_check() {
    let project = project();
    let (design, spec) = (format!("{FEATURE}/design.md"), format!("{FEATURE}/spec.md"));
    let path = record(&project, &[(&design, None), (&spec, Some((1, 2)))], APPROVED);
    let role = "implement/security-reviewer";
    let words = ["dispatch", "check", role, "--feature", "031", "--transcript", &path];
    let done = project.run(&[&words[..], &["--client", "claude"]].concat());
    assert_eq!(done.code, Some(0), "{done}");
    let found = rounds(&project);
    let [round] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((&round["verdict"], &round["mode"]), (&json!("PASS"), &json!("fresh")));
    let cell = |name: &str| &round["receipts"][name];
    assert_eq!(cell("design.md")["state"], "whole");
    assert_eq!(cell("spec.md")["state"], "part");
    assert_eq!(cell("spec.md")["receipt"]["lines"], json!(["1-2"]));
    let spec = project.path(&spec).display().to_string();
    let showing = json!([{ "call": format!("read {spec}"), "lines": "1-2" }]);
    assert_eq!(cell("spec.md")["receipt"]["shown_by"], showing);
}

// D-52, D-64: a round says why it was resumed, and what that saved.
#[test]
fn the_matrix_says_why_a_round_was_resumed_and_what_it_saved() {
    let project = with_claude(repository());
    pass_gate(&project);
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    assert_eq!(run(&project, &[]).code, Some(0));
    revise(&project, "R: 100 ms.");
    assert_eq!(run(&project, &["--iteration", "2"]).code, Some(0));
    let found = rounds(&project);
    let [first, second] = found.as_slice() else { panic!("{found:?}") };
    let told = |round: &Value| ["mode", "reason", "verdict"].map(|key| round[key].clone());
    assert_eq!(told(first), ["fresh", "first_iteration", "PASS"]);
    assert_eq!(told(second), ["resume", "within_guard", "PASS"]);
    assert_eq!(first["saved_tokens"], Value::Null);
    assert_eq!(first["receipts"]["spec.md"]["state"], "not_read");
    let chars = |key: &str| second[key].as_u64().unwrap();
    assert!(chars("saved_chars") > 0 && chars("saved_tokens") > 0, "{second}");
    assert!(chars("saved_tokens") < chars("saved_chars"), "{second}");
}
