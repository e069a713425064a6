//! Journals of an earlier release in the store of this one.

use std::fs;
use std::path::Path;

use convoke_domain::run::{RunId, RunState};
use convoke_store::StoreLocation;
use convoke_store::journal::NewEvent;
use serde_json::Value;

use crate::harness::Project;

const JOURNALS: [(&str, &str); 3] = [
    ("interview", "20200102-030405-aaaaa"),
    ("decided", "20200102-030405-bbbbb"),
    ("nested", "20200102-030405-ccccc"),
];

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/fixtures/journals");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Makes a project whose store holds the journals.
fn with_journals() -> Project {
    let project = Project::new();
    let outcome = project.run(&["design", "--rehearse", "--auto"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let path = project.path("../home/.local/state/convoke/store.db");
    let store = convoke_store::open(&StoreLocation::file(path)).unwrap();
    let runs: Value = serde_json::from_str(&project.stdout(&["runs", "--json"])).unwrap();
    let id = runs[0]["run"].as_str().unwrap();
    let record = project.stdout(&["show", id, "--artifact", "manifest"]);
    let record: Value = serde_json::from_str(&record).unwrap();
    let id = RunId::parse(id).unwrap();
    let run = store.run(record["project"].as_str().unwrap(), &id).unwrap();
    for (name, id) in JOURNALS {
        let id = RunId::parse(id).unwrap();
        let lines: Vec<Value> = fixture(&format!("{name}.jsonl"))
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let shown: Value = serde_json::from_str(&fixture(&format!("{name}.show.json"))).unwrap();
        let feature = shown["feature"].as_str().unwrap();
        store.begin_run(&id, &run.scope, feature, run.started_at).unwrap();
        let event = |line: &Value| {
            let word = |key: &str| line[key].as_str().unwrap().to_owned();
            (line["at_ms"].as_i64().unwrap(), word("kind"), word("body"))
        };
        let events: Vec<_> = lines.iter().map(event).collect();
        let events: Vec<_> = events
            .iter()
            .map(|(at_ms, kind, body)| NewEvent { at_ms: *at_ms, kind, body })
            .collect();
        store.append(&id, 1, &events).unwrap();
        store.mark_run(&id, RunState::Ended, run.started_at).unwrap();
    }
    project
}

#[test]
fn runs_of_an_earlier_release_are_shown_and_counted_as_they_were() {
    let project = with_journals();
    for (name, id) in JOURNALS {
        let replay = project.run(&["replay", id]);
        assert_eq!(replay.stdout, fixture(&format!("{name}.replay.txt")), "{name}");
        let recount = project.run(&["recount", id]);
        assert_eq!(recount.code, Some(0), "{recount}");
        assert!(recount.stdout.contains(" artifacts: the same\n"), "{recount}");
        let shown: Value = serde_json::from_str(&project.stdout(&["show", id, "--json"])).unwrap();
        let expected: Value = serde_json::from_str(&fixture(&format!("{name}.show.json"))).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&shown[key], value, "{name}: {key}");
        }
    }
}

// `show --json` has the results of every phase as facts, not only in files.
#[test]
fn show_has_the_results_of_every_phase_as_facts() {
    let project = with_journals();
    let shown = |id: &str| -> Value {
        serde_json::from_str(&project.stdout(&["show", id, "--json"])).unwrap()
    };
    let decided = shown(JOURNALS[1].1);
    let findings = decided["findings"].as_array().unwrap();
    let tally = decided["artifacts"]["voting-tally.md"].as_str().unwrap();
    for finding in findings {
        let votes = finding["votes"].as_array().unwrap().iter();
        let votes: Vec<_> = votes.map(|vote| vote["vote"].as_str().unwrap_or("—")).collect();
        let row = format!("| {} | {} |", finding["id"].as_str().unwrap(), votes.join(" | "));
        assert!(tally.contains(&row), "{row}\n{tally}");
        assert!(!finding["title"].as_str().unwrap().is_empty(), "{finding}");
    }
    let second = &decided["findings"][1];
    assert_eq!(
        (&second["id"], &second["verdict"], &second["panel"], &second["person"]),
        (&"FINDING_2".into(), &"rejected".into(), &"tied".into(), &"It is not cheap.".into())
    );
    assert_eq!(second["counts"], serde_json::json!({ "yes": 1, "no": 1, "exonerate": 0 }));
    assert_eq!(decided["tally"]["eligible"], 2);
    assert_eq!(decided["tally"]["accepted"], decided["cost"]["accepted_findings"]);
    let contest = &decided["decisions"][0];
    for key in ["title", "chosen", "alternative", "thesis", "antithesis", "resolution", "why"] {
        assert!(!contest[key].as_str().unwrap().is_empty(), "{key} in {contest}");
    }
    assert_ne!(contest["chosen"], contest["alternative"]);
    assert_eq!((&contest["id"], &contest["disposition"]), (&"DECISION_1".into(), &"voted".into()));
    assert!(contest["votes"]["winner"].is_string(), "{contest}");
    assert_eq!(decided["diagram"], "drawn");
    assert!(decided["plan"]["tasks"].as_u64().unwrap() > 0, "{}", decided["plan"]);
    let part = |voice: &Value| voice["part"].as_str().unwrap().to_owned();
    let voices = decided["voices"].as_array().unwrap().iter().map(part);
    assert_eq!(voices.filter(|part| part == "vote").count(), 2);
}
