//! The output of `--json` matches the schemas in `docs/reference/json`.

use serde_json::{Value, json};

use crate::harness::Project;
use crate::json_checker::{faults, schema};
use crate::lane::{init, result, with_claude};

#[track_caller]
fn fits(project: &Project, arguments: &[&str], name: &str) -> Value {
    let outcome = project.run(&[arguments, &["--json"]].concat());
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(faults(&document, &schema(name)), [""; 0], "{outcome}");
    document
}

#[test]
fn documents_of_lanes_are_what_their_schemas_promise() {
    let project = with_claude(&format!("cat > /dev/null; {}{}", init(), result(|_| ())))
        .in_repository("main")
        .file("notes.md", "Read me.\n");
    let run = ["lane", "run", "--agent", "claude", "What is it?"];
    let recorded = [&run[..], &["--record", "../tape", "--model", "opus"]].concat();
    let report = fits(&project, &recorded, "lane-report");
    assert_eq!(report["outcome"], "answered");
    let replay = ["lane", "run", "--agent", "replay:../tape", "What is it?", "--model", "opus"];
    assert_eq!(fits(&project, &replay, "lane-report")["recorded"], true);
    let reading = fits(&project, &[&run[..], &["--read", "notes.md"]].concat(), "lane-report");
    assert_eq!(reading["receipts"].as_array().map(Vec::len), Some(1), "{reading}");
    let poor = fits(&project, &[&run[..], &["--budget", "1"]].concat(), "lane-report");
    assert!(poor["over_budget"].is_object(), "{poor}");
    let nothing = ["lane", "run", "--agent", "replay:../tape", "Another question?"];
    assert_eq!(fits(&project, &nothing, "lane-report")["outcome"], "not_started");
    let listed = fits(&project, &["lane", "list"], "lane-list");
    assert_eq!(listed.as_array().map(Vec::len), Some(5), "{listed}");
    fits(&project, &["lane", "show", "1"], "lane-entry");
    let last = project.run(&[&run[..], &["--events"]].concat());
    assert!(last.stdout.lines().count() > 3, "{last}");
}

/// Calls in their order; `ONE`, `TWO` and `THREE` are tasks.
const CALLS: &str = "\
task next
task start ONE
task note ONE Why
task assign ONE june
task edit ONE --priority high
task reorder ONE --last
task pass ONE --by reviewer
task fail ONE --by reviewer
task tree
task list --all-branches
task search One
task show ONE
task done ONE
task skip TWO
task move THREE --branch other
task move THREE --from-branch other
task log
task rm THREE
task restore
task restore THREE
task undo
agent add june
agent add may
agent status june idle
agent show june
agent list
agent archive may
agent rename may april
say @june
inbox june
inbox --thread 1
wake june
wake june --explain
agent rm april
pin add Kindness
pin list
pin rm 1
plan cancel plan.md
plan resume plan.md
project list
hooks install claude --dry-run
hooks install claude
hooks status claude
hooks uninstall claude --dry-run
hooks uninstall claude
skill list
skill unpin tdd
brief
brief --explain
brief init
runs
usage
usage --forecast
lane list
agents
doctor --no-probe
dispatch roles
dispatch rate
dispatch rate --histories
store check
store backup copy.db
store export all.jsonl";

// The harness checks each document; this calls what other tests leave out.
#[test]
fn documents_of_tasks_and_agents_are_what_their_schemas_promise() {
    let project =
        Project::new().in_repository("main").file("plan.md", "# P\n\n### Task 1: Begin\n");
    let json = |arguments: &[&str]| -> Value {
        let outcome = project.run(&[arguments, &["--json"]].concat());
        let document = serde_json::from_str(&outcome.stdout);
        document.unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{outcome}"))
    };
    let added = json(&["task", "add", "One", "Two", "Three"]);
    let ids: Vec<_> =
        added["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!((added["id"].as_str(), ids.len()), (Some(ids[0]), 3), "{added}");
    let alone = json(&["task", "add", "Four"]);
    assert_eq!(alone["ids"], json!([alone["id"]]), "one task has the shape of several");
    assert_eq!(json(&["task", "import", "plan.md"])["ids"].as_array().unwrap().len(), 1);
    assert_eq!(json(&["task", "import", "plan.md"]), json!({ "id": null, "ids": [] }));
    for call in CALLS.lines() {
        let word = |word| match word {
            "ONE" => ids[0],
            "TWO" => ids[1],
            "THREE" => ids[2],
            word => word,
        };
        json(&call.split(' ').map(word).collect::<Vec<_>>());
    }
    // Several tasks are one document, too.
    let moved = json(&["task", "move", ids[0], ids[1]]);
    assert_eq!(moved.as_array().map(Vec::len), Some(2), "{moved}");
    let lines = project.stdout(&["store", "export", "-", "--json"]);
    assert!(lines.lines().count() > 2, "{lines}");
    for (file, is_written) in [(&["list"][..], true), (&[], false)] {
        let baseline = project.run(&[&["--json", "tree", "baseline"], file].concat());
        let said = baseline.stdout.contains(&format!("\"written\": {is_written},"));
        assert!(said && baseline.code == Some(0), "{baseline}");
    }
}
