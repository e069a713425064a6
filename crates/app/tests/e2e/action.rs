//! The steps of `action.yml`: what CI learns from a review, and from one that did not take place.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::dispatch_loop::{FAIL, PASS, project};
use crate::harness::{Outcome, Project};
use crate::sarif::schema_faults;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A step of a workflow that ended.
struct Step {
    outcome: Outcome,
    outputs: String,
    report: Value,
    sarif: Value,
}

/// Runs the action's script as a runner does, with some inputs.
fn step(project: Project, inputs: &[(&str, &str)]) -> Step {
    let reports = project.path("../reports");
    let output = project.path("../outputs");
    fs::write(&output, "").unwrap();
    let text = |path: &Path| path.display().to_string();
    let usual = [
        ("REVIEW_KIND", "dispatch-loop".to_owned()),
        ("REVIEW_ROLES", "ship".to_owned()),
        ("REVIEW_FEATURE", "031".to_owned()),
        ("REVIEW_CLIENT", "claude".to_owned()),
        ("REVIEW_CONVOKE", env!("CARGO_BIN_EXE_convoke").to_owned()),
        ("REVIEW_REPORTS", text(&reports)),
        ("GITHUB_OUTPUT", text(&output)),
        ("GITHUB_STEP_SUMMARY", text(&project.path("../summary"))),
    ];
    let inputs = inputs.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let project = usual
        .into_iter()
        .chain(inputs)
        .fold(project, |project, (name, value)| project.variable(name, &value));
    let outcome = project.run_program(&repository().join("action/run.sh"), &[]);
    let json = |name: &str| -> Value {
        let text = fs::read_to_string(reports.join(name)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    let (report, sarif) = (json("report.json"), json("review.sarif"));
    if !sarif.is_null() {
        assert_eq!(schema_faults(&sarif), [""; 0], "{outcome}");
    }
    Step { outcome, outputs: fs::read_to_string(&output).unwrap(), report, sarif }
}

impl Step {
    fn said(&self, name: &str) -> Option<&str> {
        let mut lines = self.outputs.lines().filter_map(|line| line.split_once('='));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Checks that the action tells CI that there was no review.
    #[track_caller]
    fn is_no_review(&self, code: i32, why: &str) {
        assert_eq!(self.outcome.code, Some(code), "{}", self.outcome);
        assert_eq!(self.said("outcome"), Some("no-review"), "{}", self.outcome);
        assert_eq!(self.said("sarif"), None, "an upload would close alerts");
        let run = &self.sarif["runs"][0];
        assert_eq!(run["invocations"][0]["executionSuccessful"], false, "{}", self.sarif);
        let notices = run["invocations"][0]["toolExecutionNotifications"].to_string();
        assert!(notices.contains(why), "{notices}");
    }
}

const APPROVALS: [(&str, &str); 4] = [("a-1", PASS), ("b-1", PASS), ("a-2", PASS), ("b-2", PASS)];

#[test]
fn an_approved_review_passes() {
    let passed = step(project(&APPROVALS), &[]);
    assert_eq!(passed.outcome.code, Some(0), "{}", passed.outcome);
    assert_eq!(passed.said("outcome"), Some("passed"));
    assert_eq!(passed.report["stop"], "approved");
    let run = &passed.sarif["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    assert_eq!(run["results"], Value::Array(Vec::new()));
    assert!(passed.said("sarif").is_some_and(|path| path.ends_with("review.sarif")));
}

#[test]
fn a_review_with_findings_fails_and_shows_them() {
    let answers = [("a-1", PASS), ("b-1", FAIL)];
    let failed = step(project(&answers), &[]);
    assert_eq!(failed.outcome.code, Some(1), "{}", failed.outcome);
    assert_eq!(failed.said("outcome"), Some("failed"));
    let result = &failed.sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "b-reviewer");
    assert_eq!(result["level"], "error");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "docs/features/031-login/spec.md");
    assert_eq!(place["region"]["startLine"], 3);
    let accepted = step(project(&answers), &[("REVIEW_ACCEPT_FINDINGS", "true")]);
    assert_eq!(accepted.outcome.code, Some(0), "{}", accepted.outcome);
    assert_eq!(accepted.said("outcome"), Some("failed"));
}

// A review that did not take place never passes, also where findings are accepted.
#[test]
fn a_review_that_did_not_take_place_fails() {
    let accepting = ("REVIEW_ACCEPT_FINDINGS", "true");
    let missing = step(project(&APPROVALS), &[("REVIEW_CLIENT", "gemini"), accepting]);
    missing.is_no_review(3, "cannot find `gemini`");
    assert_eq!(missing.report["exit_code"], 3);
    let spent = step(project(&APPROVALS), &[("REVIEW_BUDGET", "50"), accepting]);
    spent.is_no_review(5, "over_budget");
    assert_eq!(spent.report["stop"], "over_budget");
    let answers = [("a-1", PASS), ("b-1", "Looks good to me."), ("b-2", "As I said.")];
    step(project(&answers), &[accepting]).is_no_review(4, "ambiguous");
    let unproven = [("REVIEW_ARGUMENTS", "--require-proof --max 2"), accepting];
    step(project(&APPROVALS), &unproven).is_no_review(1, "unproven");
}

// What an earlier step left is not taken for this one's.
#[test]
fn an_old_report_is_no_report() {
    let project = project(&APPROVALS)
        .file("../reports/report.json", "{\n  \"stop\": \"approved\",\n}\n")
        .file("../reports/review.sarif", "\"executionSuccessful\": true\n");
    // A program that succeeds without a word.
    let silent = step(project, &[("REVIEW_CONVOKE", "true")]);
    assert_eq!(silent.outcome.code, Some(4), "{}", silent.outcome);
    assert_eq!(silent.said("outcome"), Some("no-review"));
}

// A runner obeys lines of the log that begin with `::`.
#[test]
fn an_agents_words_are_no_commands_of_the_runner() {
    let hostile = "::error::owned\n::set-env name=PATH::/tmp\nno verdict";
    let answers = [("a-1", PASS), ("b-1", hostile), ("b-2", hostile)];
    let log = step(project(&answers), &[]).outcome.stderr;
    let (_, stopped) = log.split_once("::stop-commands::").unwrap();
    let (token, rest) = stopped.split_once('\n').unwrap();
    assert_eq!(token.len(), 32, "{log}");
    let (inside, after) = rest.split_once(&format!("\n::{token}::\n")).unwrap();
    assert!(inside.contains("owned") && !after.contains("owned"), "{log}");
}

#[test]
fn a_rehearsed_design_passes() {
    let inputs =
        [("REVIEW_KIND", "design"), ("REVIEW_FEATURE", ""), ("REVIEW_ARGUMENTS", "--rehearse")];
    let passed = step(Project::new().in_repository("main"), &inputs);
    assert_eq!(passed.outcome.code, Some(0), "{}", passed.outcome);
    assert_eq!(passed.said("outcome"), Some("passed"));
    let run = &passed.sarif["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    assert!(!run["results"].as_array().unwrap().is_empty(), "{}", passed.sarif);
    let none = [("REVIEW_KIND", "design"), ("REVIEW_FEATURE", "Keep drafts")];
    let project = Project::new().in_repository("main").variable("PATH", "/usr/bin:/bin");
    step(project, &none).is_no_review(3, "agent");
}

// Every variable of the script is an input of the action.
#[test]
fn the_action_passes_every_input_on() {
    let action = fs::read_to_string(repository().join("action.yml")).unwrap();
    let script = fs::read_to_string(repository().join("action/run.sh")).unwrap();
    let variables = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_ascii_uppercase() && c != '_');
        words.filter(|word| word.starts_with("REVIEW_")).map(str::to_owned).collect()
    };
    assert_eq!(variables(&action), variables(&script));
    let (inputs, steps) = action.split_once("\nruns:\n").unwrap();
    for used in steps.split("inputs.").skip(1) {
        let name = used.split(' ').next().unwrap();
        assert!(inputs.contains(&format!("\n  {name}:\n")), "{name}");
    }
}
