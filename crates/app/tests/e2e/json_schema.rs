//! What commands print with `--json` is what the schemas in `docs/reference/json` promise.
//!
//! The harness asks [`faults_of`] after every call of the program with `--json` or `--events`, so each
//! test of a command is also a test of its schema.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::harness::Project;
use crate::lane::{init, result, with_claude};

/// Words of a schema that say nothing about which documents it fits, or nothing that is checked here.
const REMARKS: [&str; 8] =
    ["$schema", "$defs", "title", "description", "format", "minimum", "maximum", "$comment"];

/// Options of all commands that have a value.
const WITH_VALUE: [&str; 4] = ["-C", "--project", "--log", "--log-file"];

/// A row of `docs/reference/json/README.md`.
struct Row {
    /// The command's words, without its arguments.
    command: Vec<String>,
    is_lines: bool,
    schema: Value,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(rows);

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/json")
}

fn schema(name: &str) -> Value {
    let path = folder().join(name).with_extension("json");
    serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap()
}

fn rows() -> Vec<Row> {
    let page = fs::read_to_string(folder().join("README.md")).unwrap();
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ["));
    let mut rows = Vec::new();
    for (commands, rest) in cells {
        let (name, summary) = rest.split_once(".json]").unwrap();
        for command in commands.split("`, `") {
            let is_word = |word: &&str| {
                word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
            };
            let command = command.split(' ').take_while(is_word).map(str::to_owned).collect();
            let is_lines = summary.contains("| JSON lines.");
            rows.push(Row { command, is_lines, schema: schema(name) });
        }
    }
    rows
}

/// Returns why what a command printed fits none of the schemas that the reference has for it. Commands
/// without a schema, and calls that print nothing, have no faults.
pub(crate) fn faults_of(arguments: &[&str], stdout: &str) -> Vec<String> {
    let own = arguments.split(|word| *word == "--").next().unwrap_or_default();
    if stdout.is_empty() || !own.iter().any(|word| ["--json", "--events"].contains(word)) {
        return Vec::new();
    }
    let mut words = Vec::new();
    let mut rest = own.iter();
    while let Some(word) = rest.next() {
        if WITH_VALUE.contains(word) {
            rest.next();
        } else if !word.starts_with('-') {
            words.push(*word);
        }
    }
    let longest = ROWS.iter().map(|row| &row.command).filter(|path| {
        words.len() >= path.len() && path.iter().zip(&words).all(|(one, other)| one == other)
    });
    let Some(command) = longest.max_by_key(|path| path.len()) else { return Vec::new() };
    let mut found = Vec::new();
    for row in ROWS.iter().filter(|row| row.command == *command) {
        let documents: Result<Vec<Value>, _> = if row.is_lines {
            stdout.lines().map(serde_json::from_str).collect()
        } else {
            serde_json::from_str(stdout).map(|document| vec![document])
        };
        let faults = match documents {
            Ok(documents) => documents.iter().flat_map(|one| faults(one, &row.schema)).collect(),
            Err(error) => vec![error.to_string()],
        };
        if faults.is_empty() {
            return faults;
        }
        found.push(format!("{}: {}", row.schema["title"], faults.join("; ")));
    }
    found
}

/// Returns why a document does not fit a schema, with the place of each fault.
fn faults(document: &Value, root: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check_whole(document, root, root, "$", &mut found);
    found
}

/// Checks a value, and that the schema knows every key of it.
fn check_whole(value: &Value, schema: &Value, root: &Value, place: &str, found: &mut Vec<String>) {
    let before = found.len();
    check(value, schema, root, place, found);
    if found.len() > before {
        return;
    }
    let mut known = BTreeSet::new();
    let is_open = keys(value, schema, root, &mut known);
    for (key, _) in value.as_object().into_iter().flatten().filter(|_| !is_open) {
        if !known.contains(key.as_str()) {
            found.push(format!("{place}.{key} is unknown"));
        }
    }
}

/// Collects the keys that a schema knows; tells whether it takes any others.
fn keys<'a>(
    value: &Value,
    schema: &'a Value,
    root: &'a Value,
    known: &mut BTreeSet<&'a str>,
) -> bool {
    let mut is_open = schema.get("additionalProperties").is_some() || schema == &json!(true);
    known.extend(
        schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str()),
    );
    if let Some(name) = schema["$ref"].as_str() {
        is_open |= keys(value, definition(root, name), root, known);
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        for choice in schema[word].as_array().into_iter().flatten() {
            if fits_rules(value, choice, root) {
                is_open |= keys(value, choice, root, known);
            }
        }
    }
    is_open
}

fn definition<'a>(root: &'a Value, path: &str) -> &'a Value {
    &root["$defs"][path.strip_prefix("#/$defs/").unwrap()]
}

fn fits_rules(value: &Value, schema: &Value, root: &Value) -> bool {
    let mut found = Vec::new();
    check(value, schema, root, "", &mut found);
    found.is_empty()
}

fn check(value: &Value, schema: &Value, root: &Value, place: &str, found: &mut Vec<String>) {
    if schema == &json!(true) {
        return;
    }
    let Some(rules) = schema.as_object() else {
        found.push(format!("{place}: no schema: {schema}"));
        return;
    };
    for (word, rule) in rules {
        match word.as_str() {
            "$ref" => check(value, definition(root, rule.as_str().unwrap()), root, place, found),
            "const" if value != rule => found.push(format!("{place}: {value} is not {rule}")),
            "enum" if !rule.as_array().unwrap().contains(value) => {
                found.push(format!("{place}: {value} is none of {rule}"));
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
                    if let Some(rule) = rule.get(key) {
                        check_whole(value, rule, root, &format!("{place}.{key}"), found);
                    }
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties");
                let others = value.as_object().into_iter().flatten();
                for (key, value) in
                    others.filter(|(key, _)| known.is_none_or(|known| known.get(key).is_none()))
                {
                    check_whole(value, rule, root, &format!("{place}.{key}"), found);
                }
            }
            "items" => {
                let first = schema["prefixItems"].as_array().map_or(0, Vec::len);
                let items = value.as_array().into_iter().flatten().enumerate().skip(first);
                for (index, value) in items {
                    check_whole(value, rule, root, &format!("{place}[{index}]"), found);
                }
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten().zip(rule.as_array().unwrap());
                for (index, (value, rule)) in items.enumerate() {
                    check_whole(value, rule, root, &format!("{place}[{index}]"), found);
                }
            }
            "minItems" | "maxItems" => {
                let count = value.as_array().map_or(0, Vec::len) as u64;
                let most = rule.as_u64().unwrap();
                if word == "minItems" && count < most || word == "maxItems" && count > most {
                    found.push(format!("{place}: {count} items, {word} is {most}"));
                }
            }
            "anyOf" | "oneOf" => {
                let mut choices = rule.as_array().unwrap().iter();
                if !choices.any(|choice| fits_rules(value, choice, root)) {
                    found.push(format!("{place}: {value} fits none of {rule}"));
                }
            }
            "const" | "enum" => {}
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
    assert!(last.stdout.lines().count() > 3, "{last}");
}

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
    for words in [
        &["task", "next"][..],
        &["task", "start", ids[0]],
        &["task", "note", ids[0], "Why"],
        &["task", "assign", ids[0], "june"],
        &["task", "edit", ids[0], "--priority", "high"],
        &["task", "reorder", ids[0], "--last"],
        &["task", "pass", ids[0], "--by", "reviewer"],
        &["task", "fail", ids[0], "--by", "reviewer"],
        &["task", "tree"],
        &["task", "list", "--all-branches"],
        &["task", "search", "One"],
        &["task", "show", ids[0]],
        &["task", "done", ids[0]],
        &["task", "skip", ids[1]],
        &["task", "move", ids[2], "--branch", "other"],
        &["task", "move", ids[2], "--from-branch", "other"],
        &["task", "log"],
        &["task", "rm", ids[2]],
        &["task", "restore"],
        &["task", "restore", ids[2]],
        &["task", "undo"],
        &["agent", "add", "june"],
        &["agent", "add", "may"],
        &["agent", "status", "june", "idle"],
        &["agent", "show", "june"],
        &["agent", "list"],
        &["agent", "archive", "may"],
        &["agent", "rename", "may", "april"],
        &["say", "@june hello"],
        &["inbox", "june"],
        &["inbox", "--thread", "1"],
        &["wake", "june"],
        &["wake", "june", "--explain"],
        &["agent", "rm", "april"],
        &["pin", "add", "Be kind."],
        &["pin", "list"],
        &["pin", "rm", "1"],
        &["plan", "cancel", "plan.md"],
        &["plan", "resume", "plan.md"],
        &["project", "list"],
        &["hooks", "install", "claude", "--dry-run"],
        &["hooks", "install", "claude"],
        &["hooks", "status", "claude"],
        &["hooks", "uninstall", "claude", "--dry-run"],
        &["hooks", "uninstall", "claude"],
        &["skill", "list"],
        &["skill", "unpin", "tdd"],
        &["brief"],
        &["brief", "--explain"],
        &["brief", "init"],
        &["runs"],
        &["usage"],
        &["usage", "--forecast"],
        &["lane", "list"],
        &["agents"],
        &["doctor", "--no-probe"],
        &["dispatch", "roles"],
        &["dispatch", "rate"],
        &["dispatch", "rate", "--histories"],
        &["store", "check"],
        &["store", "backup", "copy.db"],
        &["store", "export", "all.jsonl"],
    ] {
        json(words);
    }
    // Several tasks are one document, too.
    let moved = json(&["task", "move", ids[0], ids[1]]);
    assert_eq!(moved.as_array().map(Vec::len), Some(2), "{moved}");
    let lines = project.stdout(&["store", "export", "-", "--json"]);
    assert!(lines.lines().count() > 2, "{lines}");
    let baseline = project.run(&["--json", "tree", "baseline", "list"]);
    assert!(baseline.stdout.contains("\"written\": false"), "{baseline}");
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
        (json!({ "id": 1, "of": null, "names": ["a", 2] }), 1),
        (json!({ "id": 1, "of": null, "more": 3 }), 1),
        (json!([]), 3),
    ] {
        let found = faults(&document, &schema);
        assert_eq!(found.len(), count, "{document}: {found:?}");
    }
}
