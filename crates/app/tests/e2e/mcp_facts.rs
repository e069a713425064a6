//! The text of a result and its structured content: some clients show their model only the one, some
//! only the other.

use std::fs;

use serde_json::{Value, json};

use crate::design_decide::divided;
use crate::dispatch::{APPROVED, FEATURE};
use crate::dispatch_rounds::repository;
use crate::dispatch_run::{stream, with_claude};
use crate::harness::Project;
use crate::mcp_client::{McpClient, text_of};
use crate::mcp_runs::{answered, lane, with_a_question, with_api};
use crate::scripted_server::{Reply, Server};

/// A text with spaces instead of every gap.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Fails for every fact that is not in the text.
#[track_caller]
fn same(text: &str, facts: &Value, place: &str) {
    match facts {
        Value::Object(facts) => {
            for (name, value) in facts {
                same(text, value, &format!("{place}.{name}"));
            }
        }
        Value::Array(values) => {
            for value in values {
                same(text, value, place);
            }
        }
        Value::String(words) => assert!(text.contains(&plain(words)), "{place}: {words}\n{text}"),
        Value::Number(number) => {
            assert!(text.contains(&number.to_string()), "{place}: {number}\n{text}");
        }
        Value::Bool(true) => {
            let name = place.rsplit('.').next().unwrap();
            let words = name.replace('_', " ");
            assert!(text.contains(&words) || text.contains(name), "{place}\n{text}");
        }
        Value::Bool(false) | Value::Null => {}
    }
}

#[track_caller]
fn check(client: &mut McpClient, tool: &str, arguments: &Value) -> Value {
    let result = client.call_any(tool, arguments);
    let facts = &result["structuredContent"];
    same(&plain(&text_of(&result)), facts, tool);
    facts.clone()
}

#[test]
fn text_and_structured_content_have_the_same_facts() {
    let plan = "### Task 1: Model\nStore codes.\n\nTwice.\n### Task 2: Form\nOne field.\n";
    let server = Server::start(vec![answered(), answered()]);
    let long = "A line of a long document.\n".repeat(600);
    let project = with_api(&server).on_branch("main").file("plan.md", plan).file("long.md", &long);
    let project = project.file(".moai/design/spec.md", "# Spec\nOne store.\n");
    project.stdout(&["task", "import", "plan.md"]);
    let json = |words: &[&str]| -> Value { serde_json::from_str(&project.stdout(words)).unwrap() };
    let ids = json(&["task", "list", "--json"]);
    let id = |place: usize| ids[place]["id"].as_str().unwrap().to_owned();
    let (one, two) = (id(0), id(1));
    project.stdout(&["task", "note", &one, "mine"]);
    project.stdout(&[
        "task",
        "add",
        "Part",
        "--parent",
        &one,
        "--priority",
        "high",
        "--body",
        "Two\nlines",
    ]);
    project.stdout(&["task", "add", "Later", "--after", &two, "--skill", "tdd", "--agent", "kim"]);
    project.stdout(&["say", "hello", "--to", "me"]);
    let client = &mut McpClient::start(&project);
    let listed = check(client, "tasks", &json!({"state": "all"}));
    let all = listed["tasks"].to_string();
    for name in ["body", "parent", "priority", "after", "waits_for", "plan_file", "skill", "notes"]
    {
        assert!(all.contains(&format!("\"{name}\":")), "{name}: {listed}");
    }
    check(client, "task_update", &json!({"id": one, "action": "start", "note": "begun"}));
    check(client, "wake", &json!({}));
    check(client, "brief", &json!({}));
    let cut = check(client, "brief", &json!({"documents": ["long.md", "plan.md"], "budget": 3000}));
    assert!(cut["budget"].is_number() && cut["next_from"].is_number(), "{cut}");
    check(client, "say", &json!({"text": "Done", "to": "kim"}));
    let started = check(client, "run_start", &lane("k"));
    assert!(started["forecast"].as_str().unwrap().starts_with("forecast: unknown"), "{started}");
    check(client, "run_start", &lane("k"));
    let run = started["run"].as_str().unwrap();
    client.wait_for(run);
    check(client, "run_status", &json!({"run": run}));
    let answer = check(client, "run_result", &json!({"run": run}));
    assert_eq!(answer["total_chars"], json!("It is 42.".len()), "{answer}");
    // The next lane like it has a forecast.
    let again = check(client, "run_start", &lane("k-2"));
    let words = "forecast: 13 tokens, ";
    assert!(again["forecast"].as_str().unwrap().starts_with(words), "{again}");
    client.wait_for(again["run"].as_str().unwrap());
}

#[test]
fn a_question_and_what_is_undecided_are_in_the_text_too() {
    let (panel, run) = with_a_question();
    let client = &mut McpClient::start(&panel.project);
    let asked = check(client, "run_status", &json!({"run": run}));
    for name in ["id", "title", "recommended"] {
        assert!(asked["question"][name].is_string(), "{name}: {asked}");
    }
    assert!(asked["how_to_answer"].is_string(), "{asked}");

    let panel = divided();
    panel.design(&[]);
    let (run, _) = panel.run();
    let client = &mut McpClient::start(&panel.project);
    let ended = check(client, "run_status", &json!({"run": run}));
    assert_eq!(ended["undecided"].as_array().unwrap().len(), 3, "{ended}");
}

// A model that may only see the text must know whether to correct its call or to ask its user.
#[test]
fn the_text_of_an_error_names_its_class() {
    let project = Project::new().on_branch("main").variable("CONVOKE_MCP_BUDGET", "1k");
    let client = &mut McpClient::start(&project);
    let lane = json!({"kind": "lane", "key": "k", "text": "x", "agent": "claude", "budget": "2k"});
    let calls = [
        ("task_update", json!({"id": "nothing", "action": "start"}), "refused"),
        ("run_result", json!({"run": "no run"}), "usage"),
        ("run_start", lane, "over_budget"),
    ];
    for (tool, arguments, class) in calls {
        let result = client.call_any(tool, &arguments);
        assert_eq!(result["isError"], json!(true), "{result}");
        let facts = check(client, tool, &arguments);
        assert_eq!(facts["class"], json!(class), "{facts}");
        let text = text_of(&result);
        assert!(text.starts_with(&format!("error ({class}): ")), "{text}");
    }
}

#[test]
fn a_review_has_a_forecast_from_reviews_of_its_agent_in_its_role() {
    let project = with_claude(repository());
    fs::write(project.path("../stream"), stream(&project, "design.md", APPROVED)).unwrap();
    let client = &mut McpClient::start(&project);
    let mut start = |key: &str, role: &str, budget: &str| {
        let request = json!({"kind": "dispatch", "key": key, "role": role, "folder": FEATURE,
            "agent": "claude", "budget": budget});
        let started = check(client, "run_start", &request);
        client.wait_for(started["run"].as_str().unwrap());
        started["forecast"].as_str().unwrap().to_owned()
    };
    let unknown =
        "forecast: unknown, because no earlier lane like it answered and reported its usage";
    assert_eq!(start("one", "implement/security-reviewer", "10k"), unknown);
    let known = start("two", "implement/security-reviewer", "10k");
    assert!(known.starts_with("forecast: 14 tokens, "), "{known}");
    assert!(!known.contains("too small"), "{known}");
    let short = start("three", "implement/security-reviewer", "10");
    assert!(short.contains("; the budget is probably too small: "), "{short}");
    assert_eq!(start("four", "specify/spec-reviewer", "10k"), unknown);
}

// A client repeats a call whose answer it did not get.
#[test]
fn a_repeated_change_of_a_task_changes_nothing_more() {
    let project = Project::new().on_branch("main");
    let id = project.stdout(&["task", "add", "One"]);
    let id = id.trim();
    project.stdout(&["task", "note", id, "of the user"]);
    let client = &mut McpClient::start(&project);
    let shown = || -> Value {
        serde_json::from_str(&project.stdout(&["task", "show", id, "--json"])).unwrap()
    };
    let verdicts = || shown()["deeds"].as_array().unwrap().len();
    for (action, note) in [("start", "begun"), ("pass", "all green"), ("done", "shipped")] {
        let call = json!({"id": id, "action": action, "note": note, "as": "june"});
        let first = client.call("task_update", &call);
        let recorded = verdicts();
        let again = client.call("task_update", &call);
        assert_eq!(first["notes"], again["notes"], "{action}");
        assert_eq!(verdicts(), recorded, "{action}");
    }
    client.call("task_update", &json!({"id": id, "action": "note", "note": "begun"}));
    assert_eq!(shown()["notes"], json!("of the user; begun; shipped"));
    // Another reason is another verdict.
    assert_eq!(verdicts(), 1);
    let other = json!({"id": id, "action": "pass", "note": "looked twice", "as": "june"});
    client.call("task_update", &other);
    assert_eq!(verdicts(), 2);
}

// A token of a remote is in `.git/config`, and what git ignores is often a secret of this machine.
#[test]
fn an_agent_gets_no_file_that_git_keeps_to_this_machine() {
    let project = Project::new()
        .in_repository("main")
        .file(".gitignore", "*.env\nprivate/\n")
        .file("docs/plan.md", "# Plan\n")
        .file("docs/local.env", "NAME=hidden\n")
        .file("private/notes.md", "# hidden\n")
        .file("private/.gitignore", "!*.md\n")
        .file("scratch.md", "# hidden\n")
        .file(".git/info/exclude", "/scratch.md\n")
        .file(".git/config", "[core]\n");
    std::os::unix::fs::symlink("../.git/config", project.path("docs/link.md")).unwrap();
    let client = &mut McpClient::start(&project);
    for (named, why) in [
        (".git/config", "it is below `.git`"),
        (".git", "it is below `.git`"),
        (".git/*", "it is below `.git`"),
        (".git/none", "it is below `.git`"),
        ("docs/link.md", "it is below `.git`"),
        ("docs/local.env", "git ignores it"),
        ("docs/none.env", "git ignores it"),
        ("private", "git ignores it"),
        ("private/notes.md", "git ignores it"),
        ("private/*.md", "git ignores it"),
        ("scratch.md", "git ignores it"),
    ] {
        let refused = client.call_any("brief", &json!({"documents": ["docs/plan.md", named]}));
        let text = text_of(&refused);
        assert!(text.starts_with("error (refused): cannot hand out"), "{named}: {refused}");
        assert!(text.contains(why) && !text.contains("# Plan"), "{named}: {refused}");
    }
    let given =
        client.call_any("brief", &json!({"documents": ["docs/plan.md", ".gitignore", "*.md"]}));
    assert!(text_of(&given).contains("# Plan") && !text_of(&given).contains("hidden"), "{given}");
    // The person gets what they name.
    assert!(project.stdout(&["brief", "docs/local.env"]).contains("hidden"));
}

#[test]
fn a_result_says_each_thing_once_and_names_tools() {
    let server = Server::start(vec![Reply::Hangs(String::new())]);
    let project = with_api(&server).on_branch("main");
    let client = &mut McpClient::start(&project);
    let woken = text_of(&client.call_any("wake", &json!({"as": "kai"})));
    assert_eq!(woken.matches("there is no agent `kai`").count(), 1, "{woken}");
    let none = client.call_any("brief", &json!({"budget": 0}));
    assert!(text_of(&none).contains("it must be at least 1 token"), "{none}");
    // A run that works is looked at often, so its status does not list what it made so far.
    let run = client.call("run_start", &lane("k"))["run"].clone();
    assert!(server.asked().contains("What is it?"));
    let works = client.call("run_status", &json!({"run": run}));
    assert_eq!((&works["state"], works.get("artifacts")), (&json!("running"), None), "{works}");
    project.stdout(&["lane", "stop", "1"]);
    let ended = client.wait_for(run.as_str().unwrap());
    assert!(ended["artifacts"].is_array(), "{ended}");
}
