//! The cost of designs: forecasts, and reports.

use std::fs;

use serde_json::Value;

use crate::harness::{Outcome, Project};
use crate::panel::{FEATURE, Panel};

fn design(panel: &Panel, seats: &str, flags: &[&str]) -> Outcome {
    let usual = ["design", "--auto", "--no-probe", "--no-branch", "--seats", seats];
    let outcome = panel.project.run(&[&usual[..], flags, &[FEATURE]].concat());
    assert_eq!(outcome.code, Some(0), "{outcome}");
    outcome
}

fn sum(rows: &Value, name: &str) -> u64 {
    rows.as_array().unwrap().iter().map(|row| row[name].as_u64().unwrap_or(0)).sum()
}

/// The comparison with a single pass uses the sums of `show`.
fn counted_alike(panel: &Panel, run: &str, total: &Value) {
    let compared = panel.project.stdout(&["compare", run, "--json"]);
    let compared: Value = serde_json::from_str(&compared).unwrap();
    for name in ["lanes", "input_tokens", "output_tokens"] {
        assert_eq!(compared["panel"][name], total[name], "{name}: {compared}");
    }
}

#[test]
fn what_a_run_cost_is_added_up_from_the_ledger() {
    let (panel, seats) = Panel::new().with_spender();
    // A fan-out says nothing about the cost of a design.
    fs::write(panel.project.path("../items.txt"), "a\n").unwrap();
    let fan = ["fan", "{{item}}", "--lines", "../items.txt", "--agent", "claude"];
    let fan = panel.project.run(&fan);
    assert!(fan.stderr.contains("100 tokens"), "{fan}");
    let first = design(&panel, &seats, &[]);
    assert!(first.stderr.starts_with("forecast: unknown, because no earlier run"), "{first}");
    assert!(!first.stdout.contains("forecast"), "{first}");
    let (run, _) = panel.run();
    let shown = panel.shown(&run);
    let cost = &shown["cost"];
    let lanes = shown["lanes"].as_array().unwrap();
    let of_host = lanes.iter().filter(|lane| lane["agent"] == "claude").count() as u64;
    assert_eq!(cost["total"]["lanes"], lanes.len());
    assert_eq!(cost["total"]["without_usage"], 0);
    assert_eq!(cost["recorded_lanes"], lanes.len() as u64 - of_host);
    assert_eq!(cost["total"]["input_tokens"], of_host * 60);
    assert_eq!(cost["total"]["micro_dollars"], of_host * 10_000);
    for rows in ["steps", "seats"] {
        for name in ["lanes", "input_tokens", "output_tokens", "micro_dollars"] {
            assert_eq!(cost["total"][name], sum(&cost[rows], name), "{rows} {name}: {cost}");
        }
    }
    let findings = cost["accepted_findings"].as_u64().unwrap();
    assert!(findings > 0, "{cost}");
    assert_eq!(cost["tokens_per_accepted_finding"], of_host * 100 / findings);
    let plan = cost["steps"].as_array().unwrap().iter().find(|row| row["name"] == "2b: full plan");
    assert_eq!(plan.unwrap()["output_tokens"], 80, "it was asked twice");
    let text = panel.project.stdout(&["show", &run]);
    for line in ["\nseat ", "\nPlan ", "\n  Claude · plan ", "\nspent in all: "] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let recorded = lanes.len() as u64 - of_host;
    let end = format!(" per accepted finding ({findings}); {recorded} lanes recorded, at no cost");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&end), "{text}");
    counted_alike(&panel, &run, &cost["total"]);

    // The next run knows what this one needed, and whether that may be spent.
    let needed = of_host * 100;
    let second = design(&panel, &seats, &["--budget", "1M"]);
    let said =
        format!("forecast: an earlier run needed {}.{}k", needed / 1000, needed % 1000 / 100);
    assert!(second.stderr.starts_with(&said), "{second}");
    assert!(
        second.stderr.contains("the budget of 1000000 tokens is probably enough\n"),
        "{second}"
    );
    let poor =
        ["design", "--auto", "--no-probe", "--no-branch", "--seats", &seats, "--budget", "90"];
    let poor = panel.project.run(&[&poor[..], &[FEATURE]].concat());
    assert_eq!(poor.code, Some(5), "{poor}");
    assert!(poor.stderr.contains("the budget of 90 tokens is probably too small\n"), "{poor}");
    let resumed = panel.project.run(&["resume", &panel.run().0, "--no-probe"]);
    assert!(
        resumed.stderr.lines().next().unwrap().ends_with("; spent so far: 100 $0.01"),
        "{resumed}"
    );
}

// A budget that does not include some lanes guarantees nothing, and the run warns of it once.
#[test]
fn a_budget_says_what_it_does_not_know_of() {
    let (panel, seats) = Panel::new().with_spender();
    let program = panel.project.path("../bin/claude");
    let silent = fs::read_to_string(&program).unwrap().replace("\"input_tokens\":60,", "");
    fs::write(&program, silent).unwrap();
    let said = " reported no usage and ";
    let outcome = design(&panel, &seats, &["--budget", "1M"]);
    assert_eq!(outcome.stderr.matches(said).count(), 1, "{outcome}");
    let without = design(&panel, &seats, &[]);
    assert!(!without.stderr.contains(said), "{without}");
}

// A rehearsal costs nothing, and the output says so.
#[test]
fn a_rehearsal_shows_the_recorded_cost() {
    let project = Project::new();
    let outcome = project.run(&["design", "--rehearse"]);
    assert!(!outcome.stderr.contains("forecast"), "{outcome}");
    let runs: Value = serde_json::from_str(&project.stdout(&["runs", "--json"])).unwrap();
    let run = runs[0]["run"].as_str().unwrap();
    let text = project.stdout(&["show", run]);
    assert!(text.contains("\nrecorded in all: ") && !text.contains("spent"), "{text}");
    let shown: Value = serde_json::from_str(&project.stdout(&["show", run, "--json"])).unwrap();
    assert_eq!(shown["cost"]["is_recorded"], true);
    assert_eq!(sum(&shown["lanes"], "input_tokens"), shown["cost"]["total"]["input_tokens"]);
}

// P-390: too few designs are `unknown`; three that agree are enough.
#[test]
fn an_estimate_says_what_earlier_designs_suggest() {
    let (panel, seats) = Panel::new().with_spender();
    let estimate = |flags: &[&str]| -> Value {
        let stdout = panel.project.stdout(&[&["design", "--estimate", "--json"], flags].concat());
        serde_json::from_str(&stdout).unwrap()
    };
    let text = panel.project.stdout(&["design", "--estimate", FEATURE]);
    assert!(text.starts_with("suggestion: unknown: 0 earlier designs"), "{text}");
    assert!(text.contains("unknown"), "{text}");
    let mut needed = 0;
    for number in 1..=3 {
        let before = estimate(&[]);
        assert_eq!(before["suggestion"], "unknown", "{before}");
        assert_eq!(before["panel"]["runs"], number - 1, "{before}");
        assert_eq!(before["panel"]["tokens"], Value::Null, "{before}");
        let outcome = design(&panel, &seats, &[]);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        let (run, _) = panel.run();
        let total = &panel.shown(&run)["cost"]["total"];
        needed = total["input_tokens"].as_u64().unwrap() + total["output_tokens"].as_u64().unwrap();
        assert_eq!(panel.project.run(&["compare", &run]).code, Some(0));
    }
    let runs = panel.project.stdout(&["runs", "--json"]);
    let found = estimate(&[]);
    assert_eq!(found["suggestion"], "panel", "{found}");
    assert_eq!((&found["panels"], &found["changed"]), (&3.into(), &3.into()), "{found}");
    assert_eq!(found["panel"]["tokens"]["median"], needed, "{found}");
    assert_eq!(found["panel"]["micro_dollars"]["median"], needed * 100, "{found}");
    assert!(found["panel"]["seconds"]["median"].is_u64(), "{found}");
    assert_eq!(found["single"]["tokens"]["nine_of_ten"], 100, "{found}");
    let quick = estimate(&["--quick"]);
    assert_eq!(quick["panel"]["tokens"], Value::Null, "another kind: {quick}");
    assert_eq!(quick["kind"], "quick", "{quick}");
    assert_eq!(panel.project.stdout(&["runs", "--json"]), runs, "it begins nothing");
}
