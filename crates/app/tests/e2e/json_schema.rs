//! What commands print with `--json` is what the schemas in `docs/reference/json` promise.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::Project;
use crate::lane::{init, result, with_claude};

/// Words of a schema that say nothing about which documents it fits, or nothing that is checked here.
const REMARKS: [&str; 7] =
    ["$schema", "$defs", "title", "description", "format", "minimum", "maximum"];

fn schema(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/json");
    let path = folder.join(name).with_extension("json");
    serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap()
}

/// Returns why a document does not fit a schema, with the place of each fault.
fn faults(document: &Value, root: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(document, root, root, "$", &mut found);
    found
}

fn check(value: &Value, schema: &Value, root: &Value, place: &str, found: &mut Vec<String>) {
    let Some(rules) = schema.as_object() else {
        found.push(format!("{place}: no schema: {schema}"));
        return;
    };
    for (word, rule) in rules {
        match word.as_str() {
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                check(value, &root["$defs"][name], root, place, found);
            }
            "type" => {
                let names = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                if !names.iter().any(|name| is_of(value, name.as_str().unwrap())) {
                    found.push(format!("{place}: {value} is not {rule}"));
                }
            }
            "required" => {
                let missing = rule.as_array().unwrap().iter().map(|key| key.as_str().unwrap());
                let missing = missing.filter(|key| value.get(key).is_none());
                found.extend(missing.map(|key| format!("{place}.{key} is missing")));
            }
            "properties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    let place = format!("{place}.{key}");
                    check(value, rule.get(key).unwrap_or(&Value::Null), root, &place, found);
                }
            }
            "items" => {
                for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                    check(value, rule, root, &format!("{place}[{index}]"), found);
                }
            }
            "anyOf" => {
                let fits = |schema: &Value| {
                    let mut faults = Vec::new();
                    check(value, schema, root, place, &mut faults);
                    faults.is_empty()
                };
                if !rule.as_array().unwrap().iter().any(fits) {
                    found.push(format!("{place}: {value} fits none of {rule}"));
                }
            }
            word => assert!(REMARKS.contains(&word), "teach this test what `{word}` means"),
        }
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => unreachable!("no such type: {other}"),
    }
}

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
    let last: Value = serde_json::from_str(last.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(faults(&last["report"], &schema("lane-report")), [""; 0], "{last}");
}

// The checker must see what it is to find, or the test above holds nothing.
#[test]
fn what_a_schema_does_not_promise_is_seen() {
    let schema = json!({ "type": "object", "required": ["id", "of"],
        "properties": { "id": { "type": "integer" }, "of": { "anyOf": [
            { "$ref": "#/$defs/Part" }, { "type": "null" }] },
            "names": { "type": ["array", "null"], "items": { "type": "string" } } },
        "$defs": { "Part": { "type": "object", "required": ["line"],
            "properties": { "line": { "type": "integer" } } } } });
    for (document, count) in [
        (json!({ "id": 1, "of": null }), 0),
        (json!({ "id": 1, "of": { "line": 2 }, "names": ["a"] }), 0),
        (json!({ "id": 1 }), 1),
        (json!({ "id": "1", "of": { "line": "2" } }), 2),
        (json!({ "id": 1, "of": null, "names": ["a", 2], "more": 3 }), 2),
        (json!([]), 3),
    ] {
        let found = faults(&document, &schema);
        assert_eq!(found.len(), count, "{document}: {found:?}");
    }
}
