//! Runs that were written under other rules than those that count them now.

use std::fs;

use convoke_domain::design::rules::RulesVersion;
use convoke_domain::run::{RunId, RunState};
use convoke_store::StoreLocation;
use convoke_store::journal::{Entry, NewEvent};
use serde_json::Value;

use crate::harness::Project;

/// Changes a verdict that the journal keeps, and no artifact.
const VERDICT: &str = "a verdict";

const OLDER: &str = "20200102-030405-abcde";

/// Has a rehearsal, and the same as an earlier program would have left it: without the number of its
/// rules. `changed` is an artifact that the other rules made otherwise.
fn with_older_run(changed: Option<&str>) -> (Project, String) {
    with_run_of("", changed)
}

/// Has a rehearsal, and the same as a program with other rules would have left it.
fn with_run_of(rules: &str, changed: Option<&str>) -> (Project, String) {
    let project = Project::new();
    let outcome = project.run(&["design", "--rehearse", "--auto"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let path = project.path("../home/.local/state/convoke/store.db");
    let store = convoke_store::open(&StoreLocation::file(path)).unwrap();
    let root = serde_json::from_str::<Value>(&project.stdout(&["runs", "--json"])).unwrap();
    let id = RunId::parse(root[0]["run"].as_str().unwrap()).unwrap();
    let record = project.stdout(&["show", id.as_str(), "--artifact", "manifest"]);
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["rules"], RulesVersion::PRESENT.number());
    let run = store.run(record["project"].as_str().unwrap(), &id).unwrap();
    let older = RunId::parse(OLDER).unwrap();
    store.begin_run(&older, &run.scope, &run.feature, run.started_at).unwrap();
    let entries: Vec<_> =
        store.events(&id).unwrap().into_iter().map(|entry| aged(entry, rules, changed)).collect();
    let events: Vec<_> = entries.iter().map(NewEvent::from).collect();
    store.append(&older, 1, &events).unwrap();
    store.mark_run(&older, RunState::Ended, run.started_at).unwrap();
    (project, id.to_string())
}

fn aged(mut entry: Entry, rules: &str, changed: Option<&str>) -> Entry {
    match entry.kind.as_str() {
        "begun" => {
            let present = format!(",\"rules\":{}", RulesVersion::PRESENT);
            assert!(entry.body.contains(&present), "{}", entry.body);
            entry.body = entry.body.replace(&present, rules);
        }
        "kept" => {
            let mut body: Value = serde_json::from_str(&entry.body).unwrap();
            if changed == Some(VERDICT) {
                body["verdicts"][2][1] = "rejected".into();
            } else if let Some(name) = changed {
                let text = body.to_string();
                let at = text.find(name).unwrap() + name.len() + 3;
                let hash = &text[at..at + 64];
                body = serde_json::from_str(&text.replacen(hash, &"0".repeat(64), 1)).unwrap();
                assert_eq!(body["verdicts"][2], serde_json::json!(["FINDING_1", "accepted"]));
                if !name.ends_with("-prompt.txt") {
                    body["verdicts"][2][1] = "rejected".into();
                }
            }
            entry.body = body.to_string();
        }
        _ => {}
    }
    entry
}

// A better parser of old answers is no sign that the answers were changed.
#[test]
fn a_run_under_other_rules_is_labelled_and_not_called_changed() {
    let said = "recounted by rules 3; the run was written under rules 1";
    for changed in [None, Some("voting-tally.md")] {
        let (project, run) = with_older_run(changed);
        let recount = project.run(&["recount", OLDER]);
        assert_eq!(recount.code, Some(0), "{recount}");
        let differs = changed.map_or(String::new(), |name| format!("differs: {name}\n"));
        let verdicts = match changed {
            Some(_) => "this 1 verdict differs: FINDING_1 (rejected, now accepted)",
            None => "no verdict differs",
        };
        let verdicts = format!("verdicts: recounted by newer rules: {verdicts}\n");
        let expected = format!("journal: sound\nrules: {said}\n{verdicts}{differs}");
        assert!(recount.stdout.starts_with(&expected), "{recount}");
        assert_eq!(recount.stdout.contains(" artifacts: the same"), changed.is_none(), "{recount}");
        for arguments in [&["show", OLDER][..], &["replay", OLDER], &["decide", OLDER]] {
            let looked = project.run(arguments);
            assert_eq!(looked.code, Some(0), "{looked}");
            assert_eq!(looked.stderr.matches(&format!("note: {said}\n")).count(), 1, "{looked}");
        }
        for command in ["recount", "show", "replay"] {
            let told: Value =
                serde_json::from_str(&project.run(&[command, OLDER, "--json"]).stdout).unwrap();
            assert_eq!((&told["rules"], &told["written_under"]), (&3.into(), &1.into()));
            let told: Value =
                serde_json::from_str(&project.run(&[command, &run, "--json"]).stdout).unwrap();
            let present: Value = RulesVersion::PRESENT.number().into();
            assert_eq!((&told["rules"], &told["written_under"]), (&present, &present));
            assert!(!project.run(&[command, &run]).stderr.contains("rules"));
        }
        let folder = project.path("../older");
        let to = folder.to_str().unwrap();
        let written = project.run(&["manifest", "write", "--run", OLDER, "--to", to]);
        if changed.is_some() {
            assert_eq!(written.code, Some(1), "{written}");
            assert!(written.stderr.contains("changed with the rules (recounted by"), "{written}");
            continue;
        }
        assert_eq!(written.code, Some(0), "{written}");
        let verified = project.run(&["manifest", "verify", to]);
        assert_eq!(verified.code, Some(0), "{verified}");
        assert!(verified.stderr.contains("note: the run was written under rules 1"), "{verified}");
        let told: Value =
            serde_json::from_str(&project.stdout(&["manifest", "verify", to, "--json"])).unwrap();
        assert_eq!((&told["rules"], &told["written_under"]), (&3.into(), &1.into()));
        // A record of an earlier program names no rules.
        let record = folder.join("manifest.json");
        let text = fs::read_to_string(&record).unwrap();
        fs::write(&record, text.replace("  \"rules\": 1,\n", "")).unwrap();
        let verified = project.run(&["manifest", "verify", to]);
        assert!(verified.stderr.contains("note: the run was written under rules 1"), "{verified}");
    }
}

// Rules that this program still has judge the runs that began under them.
#[test]
fn a_changed_result_is_not_excused_by_a_version_whose_rules_still_exist() {
    let change = "counted again: this 1 verdict differs: FINDING_1 (rejected, now accepted)";
    for (changed, differs) in [("voting-tally.md", "differs: voting-tally.md\n"), (VERDICT, "")] {
        let (project, _) = with_run_of(",\"rules\":4", Some(changed));
        let recount = project.run(&["recount", OLDER]);
        assert_eq!(recount.code, Some(1), "{recount}");
        let expected = format!("journal: sound\nverdicts: {change}\n{differs}");
        assert_eq!(recount.stdout, expected, "{recount}");
    }
}

#[test]
fn a_run_of_rules_that_still_exist_is_counted_by_them() {
    let (project, _) = with_run_of(",\"rules\":4", None);
    let recount = project.run(&["recount", OLDER]);
    assert_eq!(recount.code, Some(0), "{recount}");
    assert!(!recount.stdout.contains("rules: "), "{recount}");
    assert!(recount.stdout.contains(" artifacts: the same\n"), "{recount}");
    let told: Value = serde_json::from_str(&project.stdout(&["recount", OLDER, "--json"])).unwrap();
    assert_eq!((&told["rules"], &told["written_under"]), (&4.into(), &4.into()));
}

// Convoke words its own prompts anew from time to time, which changes no answer and no verdict.
#[test]
fn a_prompt_in_other_words_is_no_sign_of_a_change() {
    const PROMPT: &str = "debate-1-thesis-prompt.txt";
    for rules in [",\"rules\":6", ",\"rules\":4", ""] {
        let (project, _) = with_run_of(rules, Some(PROMPT));
        let recount = project.run(&["recount", OLDER]);
        assert_eq!(recount.code, Some(0), "{recount}");
        assert!(recount.stdout.contains(&format!("\nworded anew: {PROMPT}\n")), "{recount}");
        assert!(!recount.stdout.contains("differs: "), "{recount}");
        assert!(recount.stdout.contains(" artifacts: the same\n"), "{recount}");
        let told: Value =
            serde_json::from_str(&project.stdout(&["recount", OLDER, "--json"])).unwrap();
        assert_eq!(told["reworded"], serde_json::json!([PROMPT]));
        assert_eq!(told["differing"], serde_json::json!([]));
        let folder = project.path("../older");
        let to = folder.to_str().unwrap();
        let written = project.run(&["manifest", "write", "--run", OLDER, "--to", to]);
        assert_eq!(written.code, Some(1), "{written}");
        assert!(written.stderr.contains(&format!("words `{PROMPT}` otherwise")), "{written}");
    }
}

// The same artifacts by the same rules are still demanded.
#[test]
fn a_run_under_the_present_rules_has_no_such_excuse() {
    let (project, run) = with_older_run(None);
    let store = rusqlite::Connection::open(project.path("../home/.local/state/convoke/store.db"));
    let changed = store
        .unwrap()
        .execute("UPDATE journal SET body = replace(body, 'FINDING_5: NO', 'FINDING_5: YES')", []);
    assert!(changed.unwrap() > 0);
    for run in [OLDER, &run] {
        let recount = project.run(&["recount", run]);
        assert_eq!(recount.code, Some(1), "{recount}");
        assert!(recount.stdout.contains("journal: changed at event "), "{recount}");
    }
}
