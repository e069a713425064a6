//! What the figures of dispatches rest on: scoping, fresh rounds, the PRD, and prefixes that stay.

use serde_json::{Value, json};

use crate::dispatch::FEATURE;
use crate::harness::Project;

/// A feature whose design and plan are long, with a task of each kind that real lists have.
fn feature() -> Project {
    let part = |name: &str, number: usize| {
        format!("### {name}{number}: Part\n{}\n", "It says what it does. ".repeat(40))
    };
    let all = |name: &str| (1..=20).map(|number| part(name, number)).collect::<String>();
    let tasks = "# Tasks\n\n### Task 1: Scoped\n**Why:** Plan Step 1A.7, Design I7\nDo it.\n\n\
        ### Task 2: Unscoped\nDo it.\n\n### Task 3: Unreadable\n**Why:** because of the meeting\n\
        Do it.\n";
    let prd = "# PRD\n\n## Problem Statement\nPeople log in twice.\n\n## Goals\nOnce is enough.\n\n\
        ## Appendix\nMany words of no use to one task.\n";
    Project::new()
        .on_branch("main")
        .file(&format!("{FEATURE}/spec.md"), "# Spec\n\nR1: once.\n")
        .file(&format!("{FEATURE}/design.md"), format!("# Design\n\n{}", all("I")))
        .file(&format!("{FEATURE}/plan.md"), format!("# Plan\n\n{}", all("1A.")))
        .file(&format!("{FEATURE}/tasks.md"), tasks)
        .file(&format!("{FEATURE}/prd.md"), prd)
}

fn task(project: &Project, number: &str) -> Value {
    let words = ["dispatch", "task", number, "--feature", "031", "--json"];
    serde_json::from_str(&project.stdout(&words)).unwrap()
}

// D-39: scoping is strong where a task refers to sections, and saves nothing where it does not.
#[test]
fn a_task_is_scoped_only_by_references_that_lead_somewhere() {
    let project = feature();
    let [scoped, unscoped, unreadable] = ["1", "2", "3"].map(|number| task(&project, number));
    let chars = |report: &Value| {
        let sections = report["sections"].as_array().unwrap();
        sections.iter().map(|section| section["chars"].as_u64().unwrap()).sum::<u64>()
    };
    assert!(chars(&scoped) * 10 < chars(&unscoped), "{scoped}");
    assert_eq!(chars(&unscoped), chars(&unreadable), "all of both documents");
    for whole in [&unscoped, &unreadable] {
        let prompt = whole["prompt"].as_str().unwrap();
        assert!(prompt.contains("### I20: Part") && prompt.contains("### 1A.20: Part"));
        let remarks = whole["diagnostics"].as_array().unwrap();
        let loads_all = |remark: &Value| remark.as_str().unwrap().contains("full artifacts");
        assert!(remarks.iter().any(loads_all), "a remark says so: {whole}");
    }
}

// D-85: a task reads the whole PRD, unless the caller names two sections of it.
#[test]
fn the_prd_of_a_task_is_whole_unless_the_caller_names_sections() {
    let project = feature();
    let names_prd = |report: &Value| {
        let artifacts = report["artifacts"].as_array().unwrap();
        artifacts.iter().any(|artifact| artifact.to_string().contains("prd.md"))
    };
    let whole = task(&project, "1");
    let prompt = whole["prompt"].as_str().unwrap();
    assert!(names_prd(&whole) && !prompt.contains("People log in twice."), "{whole}");
    let project = project.variable("CONVOKE_DISPATCH_PRD_SCOPE", "sections");
    let sections = task(&project, "1");
    let prompt = sections["prompt"].as_str().unwrap();
    assert!(!names_prd(&sections), "{sections}");
    assert!(prompt.contains("People log in twice.") && prompt.contains("Once is enough."));
    assert!(!prompt.contains("Many words of no use"), "{prompt}");
}

// D-69: a client without sessions is sent the findings and the files again.
#[test]
fn a_round_without_a_session_has_all_that_a_fresh_agent_needs() {
    let issues = json!([{ "severity": "blocker", "description": "No number.",
        "location": "spec.md:3" }]);
    let project = feature().file("issues.json", issues.to_string());
    let words = ["dispatch", "next", "specify/spec-reviewer", "--feature", "031", "--json"];
    let round = ["--iteration", "2", "--issues", "issues.json"];
    let report: Value =
        serde_json::from_str(&project.stdout(&[&words[..], &round].concat())).unwrap();
    assert_eq!((&report["action"], &report["reason"]), (&json!("fresh"), &json!("no_state")));
    let prompt = report["prompt"].as_str().unwrap();
    for words in ["No number.", "spec.md:3", "## Required Artifacts", "R1: once.", "2"] {
        assert!(prompt.contains(words), "`{words}` is not in\n{prompt}");
    }
}

// D-81: a prefix that stays the same from round to round is what a cache can keep.
#[test]
fn rounds_of_a_stable_prefix_begin_alike() {
    let issues = json!([{ "severity": "blocker", "description": "No number." }]);
    let project = feature().file("issues.json", issues.to_string());
    let prompt = |profile: &str, more: &[&str]| {
        let words = ["dispatch", "prompt", "specify/spec-reviewer", "--feature", "031"];
        project.stdout(&[&words[..], &["--profile", profile], more].concat())
    };
    let shared = |profile: &str| {
        let second = prompt(profile, &["--iteration", "2", "--issues", "issues.json"]);
        let first = prompt(profile, &[]);
        first.chars().zip(second.chars()).take_while(|(one, two)| one == two).count()
    };
    let (seed, stable) = (shared("seed"), shared("stable-prefix"));
    assert!(stable > seed, "{stable} characters are alike, and {seed} without the profile");
}
