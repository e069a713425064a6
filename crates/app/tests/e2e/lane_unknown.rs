//! Lanes without reported usage, and budgets that do not include them.

use serde_json::{Value, json};

use crate::harness::Project;
use crate::lane::{init, result, with_claude};

/// A client that answers, and says this of what it spent.
fn saying(usage: &Value) -> Project {
    with_claude(&(init() + &result(|line| line["usage"] = usage.clone())))
}

fn document(project: &Project, arguments: &[&str]) -> Value {
    serde_json::from_str(&project.run(&[&["--json"], arguments].concat()).stdout).unwrap()
}

const LANE: [&str; 5] = ["lane", "run", "--agent", "claude", "x"];

// Missing counts are not zero.
#[test]
fn counts_that_are_missing_are_unknown() {
    for usage in [json!({}), json!({ "input_tokens": null, "output_tokens": 7 })] {
        let project = saying(&usage);
        let outcome = project.run(&LANE);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        assert!(!outcome.stderr.contains("tokens"), "{usage}: {outcome}");
        assert_eq!(document(&project, &["lane", "show", "1"])["spent"], Value::Null, "{usage}");
    }
    let project = saying(&json!({ "input_tokens": 3, "output_tokens": 7 }));
    assert!(project.run(&LANE).stderr.contains(", 3 tokens in, 7 out"), "no cache is no doubt");
}

// A budget that does not include some lanes must not look as if it held.
#[test]
fn a_budget_says_what_it_does_not_know_of() {
    let project = saying(&json!({}));
    let lane = |more: &[&str]| project.run(&[&LANE[..], more].concat());
    let budget = ["--run", "r1", "--budget", "2k"];
    let first = lane(&budget);
    assert!(!first.stderr.contains("unknown"), "there was no lane before it: {first}");
    let said = "warning: 1 earlier lane reported no usage and is not counted\n";
    let second = lane(&budget);
    assert!(second.stderr.starts_with(said), "{second}");
    assert_eq!(second.code, Some(0), "it is only said");
    assert!(!lane(&["--run", "r1"]).stderr.contains("unknown"), "there is no budget");
    let third = [&["--json"], &LANE[..], &budget].concat();
    let third = project.run(&third);
    let report: Value = serde_json::from_str(&third.stdout).unwrap();
    assert_eq!(report["lanes_without_usage"], 3, "{report}");
    let said = "warning: 3 earlier lanes reported no usage and are not counted\n";
    assert!(third.stderr.contains(said), "{third}");
}

// A lane that never started needs no report of its usage.
#[test]
fn lanes_that_never_ran_are_no_doubt() {
    let project = with_claude(&(init() + &result(|_| ())));
    assert_eq!(project.run(&LANE).code, Some(0));
    assert_eq!(project.run(&[&LANE[..], &["--budget", "0"]].concat()).code, Some(5));
    assert_eq!(project.run(&["lane", "run", "--agent", "codex", "x"]).code, Some(3));
    let usage = project.run(&["usage", "--by", "role"]);
    let total = usage.stdout.lines().last().unwrap();
    let cells: Vec<_> = total.split_whitespace().collect();
    assert_eq!(cells, ["total", "3", "2400", "2000", "84", "0", "$0.00368"], "{usage}");
    assert_eq!(usage.stderr, "", "{usage}");
}
