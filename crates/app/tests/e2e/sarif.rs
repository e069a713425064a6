//! `--sarif`: the file that a code host gets of a review, checked with the schema of SARIF 2.1.0.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::dispatch::{APPROVED, FEATURE};
use crate::dispatch_loop::{self, PASS};
use crate::dispatch_rounds::repository;
use crate::dispatch_run::{UNCLEAR, run, say_in_turn, stream, with_claude};
use crate::harness::Project;
use crate::json_checker::faults;

/// What a reviewer says whose words and places are hostile or sloppy.
const FINDINGS: &str = include_str!("../fixtures/sarif/findings.json");

const SCHEMA: &str = include_str!("../fixtures/sarif/schema.json");

const ROLE: &str = "implement/security-reviewer";

/// The option, and where the log is then.
const SARIF: [&str; 2] = ["--sarif", "../review.sarif"];

/// Returns why a log is not SARIF 2.1.0.
pub(crate) fn schema_faults(log: &Value) -> Vec<String> {
    faults(log, &serde_json::from_str(SCHEMA).unwrap())
}

/// Reads the log of the last review, which must be SARIF.
#[track_caller]
fn logged(project: &Project) -> Value {
    let text = fs::read_to_string(project.path(SARIF[1])).unwrap();
    let log = serde_json::from_str(&text).unwrap();
    assert_eq!(schema_faults(&log), [""; 0], "{log:#}");
    log["runs"][0].clone()
}

fn results(run: &Value) -> &[Value] {
    run["results"].as_array().unwrap()
}

/// Returns where a result is, `FILE` or `FILE:FIRST-LAST`.
fn place(result: &Value) -> String {
    let place = &result["locations"][0]["physicalLocation"];
    let region = &place["region"];
    let lines =
        region.as_object().map(|_| format!(":{}-{}", region["startLine"], region["endLine"]));
    let uri = place["artifactLocation"]["uri"].as_str().unwrap();
    format!("{uri}{}", lines.unwrap_or_default())
}

/// A repository with a reviewer that gives one answer.
fn reviewed(answer: &str) -> Project {
    let project = with_claude(repository());
    fs::write(project.path("../stream"), stream(&project, "design.md", answer)).unwrap();
    project
}

#[test]
fn a_round_logs_its_verdict() {
    let project = reviewed(APPROVED);
    let passed = run(&project, &SARIF);
    assert_eq!(passed.code, Some(0), "{passed}");
    let log = logged(&project);
    assert_eq!(log["automationDetails"]["id"], "convoke/dispatch run/");
    assert_eq!(log["invocations"][0]["executionSuccessful"], true);
    assert!(results(&log).is_empty(), "{log}");
    let answer = "Files read: design.md, spec.md\n{\"approved\": false, \"issues\": [\
        {\"severity\": \"warning\", \"description\": \"No number.\", \"location\": \"spec.md:3\"}]}";
    fs::write(project.path("../stream"), stream(&project, "design.md", answer)).unwrap();
    let failed = run(&project, &SARIF);
    assert_eq!(failed.code, Some(1), "{failed}");
    let log = logged(&project);
    assert_eq!(log["invocations"][0]["executionSuccessful"], true, "a FAIL is a review");
    let [found] = results(&log) else { panic!("{log}") };
    assert_eq!((&found["ruleId"], &found["level"]), (&ROLE.into(), &"warning".into()));
    assert_eq!(place(found), format!("{FEATURE}/spec.md:3-3"));
}

/// Checks that a round fails, and that its log says that there was no review.
#[track_caller]
fn is_no_review(project: &Project, arguments: &[&str], code: i32, why: &str) {
    fs::write(project.path(SARIF[1]), "{ \"executionSuccessful\": true }\n").unwrap();
    let outcome = project.run(&[&["dispatch", "run", ROLE], &SARIF[..], arguments].concat());
    let log = logged(project);
    assert_eq!(outcome.code, Some(code), "{outcome}");
    let invocation = &log["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false, "{log}");
    assert!(results(&log).is_empty(), "what no review found is no result: {log}");
    let notice = &invocation["toolExecutionNotifications"][0];
    assert_eq!(notice["level"], "error", "{log}");
    assert!(notice["message"]["text"].as_str().unwrap().contains(why), "{log}");
}

#[test]
fn a_refused_round_fails_and_says_so() {
    let project = reviewed(APPROVED);
    let is_refused = |feature: &str, client: &str, more: &[&str], code, why| {
        let usual = ["--feature", feature, "--client", client];
        is_no_review(&project, &[&usual, more].concat(), code, why);
    };
    is_refused("031", "gemini", &[], 3, "cannot find `gemini`");
    is_refused("031", "claude", &["--summary", "none.md"], 3, "none.md");
    is_refused("999", "claude", &[], 3, "999");
    assert!(!project.path("../asked").exists(), "no agent costs anything");
}

#[test]
fn a_round_without_a_verdict_fails_and_says_so() {
    let project = reviewed(APPROVED);
    let is_unfinished = |more: &[&str], code, why| {
        let usual = ["--feature", "031", "--client", "claude"];
        is_no_review(&project, &[&usual, more].concat(), code, why);
    };
    is_unfinished(&["--require-proof"], 1, "UNPROVEN");
    let poor = ["--run", "r", "--budget", "10"];
    run(&project, &poor);
    is_unfinished(&poor, 5, "over_budget");
    fs::write(project.path("../stream"), "").unwrap();
    is_unfinished(&[], 4, "there is no verdict");
    say_in_turn(&project, UNCLEAR, "Sorry, I really cannot approve this.");
    is_unfinished(&[], 4, "AMBIGUOUS");
    let both = format!("I do not approve.\n{FINDINGS}\nOn second thought:\n{APPROVED}");
    say_in_turn(&project, &both, &both);
    is_unfinished(&[], 4, "AMBIGUOUS");
}

// Convoke refuses a log that it cannot write before an agent costs anything.
#[test]
fn a_log_without_a_folder_is_refused_before_the_round() {
    let project = reviewed(APPROVED);
    let refused = run(&project, &["--sarif", "../none/review.sarif"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("its folder does not exist"), "{refused}");
    assert!(!project.path("../asked").exists(), "{refused}");
}

/// Adds the files that the hostile findings name.
fn with_places(project: Project) -> Project {
    let project = project
        .file("docs/gr\u{f6}\u{df}e/ma\u{df}.md", "one\n")
        .file("notes:today.md", "one\n")
        .file("what?#now.md", "one\n")
        .file("../secret.txt", "one\n");
    symlink(project.path("../secret.txt"), project.path("link")).unwrap();
    project
}

/// Checks every result of a review by the hostile reviewer.
#[track_caller]
fn is_harmless(log: &Value) {
    assert_eq!(log["invocations"][0]["executionSuccessful"], true, "{log}");
    let places: Vec<_> = results(log).iter().map(place).collect();
    let spec = format!("{FEATURE}/spec.md");
    for found in [
        &format!("{spec}:3-3"),
        &format!("{spec}:1-2"),
        &format!("{spec}:2-2"),
        &format!("{spec}:9-9"),
        &spec,
        "docs/gr%C3%B6%C3%9Fe/ma%C3%9F.md:1-1",
        "notes%3Atoday.md:1-1",
        "what%3F%23now.md:1-1",
    ] {
        assert!(places.iter().any(|place| place == found), "{found}: {places:#?}");
    }
    for place in &places {
        let known = ["docs/", "notes%3A", "what%3F"];
        assert!(known.iter().any(|begin| place.starts_with(begin)), "{place}");
        assert!(!place.contains("..") && !place.contains("passwd"), "{place}");
    }
    let levels = ["error", "warning", "note"];
    let has = |level: &&str| results(log).iter().any(|result| result["level"] == **level);
    assert!(levels.iter().all(has), "{log}");
    let texts: Vec<_> =
        results(log).iter().map(|result| result["message"]["text"].as_str().unwrap()).collect();
    let is_link = |text: &&str| text.replace("\\]", "").contains("](");
    assert_eq!(texts.iter().find(|text| is_link(text)), None, "a model's words are no link");
}

#[test]
fn hostile_findings_are_logged_as_sarif() {
    let given: Value = serde_json::from_str(FINDINGS).unwrap();
    let count = given["issues"].as_array().unwrap().len();
    let answer = format!("Files read: design.md, spec.md\n{FINDINGS}");

    let round = with_places(reviewed(&answer));
    let outcome = run(&round, &SARIF);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let log = logged(&round);
    is_harmless(&log);
    assert_eq!(results(&log).len(), count, "none is left out: {log:#}");

    let answers = [("a-1", PASS), ("b-1", answer.as_str())];
    let project = with_places(dispatch_loop::project(&answers));
    let outcome = dispatch_loop::run(&project, &SARIF);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let log = logged(&project);
    is_harmless(&log);
    // A loop knows two findings in the same words at the same place as one.
    assert_eq!(results(&log).len(), count - 1, "{log:#}");
}
