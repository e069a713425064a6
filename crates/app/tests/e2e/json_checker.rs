//! Checks a document against its schema in `docs/reference/json`.
//!
//! The harness calls [`faults_of`] after every call of the program with `--json` or `--events`, so
//! each test of a command is also a test of its schema.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};

/// Words of a schema that say nothing about which documents it fits, or nothing that is checked here.
const REMARKS: [&str; 7] =
    ["$schema", "$defs", "definitions", "title", "description", "default", "$comment"];

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

pub(crate) fn schema(name: &str) -> Value {
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

/// Returns why a command's output matches none of its schemas in the reference. Commands without a
/// schema, and calls without output, have no faults.
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
pub(crate) fn faults(document: &Value, root: &Value) -> Vec<String> {
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
    match path {
        // A report that holds itself.
        "#" => root,
        _ => root.pointer(path.strip_prefix('#').unwrap()).unwrap(),
    }
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
                found.push(format!("{place}: {value} is not one of {rule}"));
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
            "items" | "prefixItems" | "minItems" | "maxItems" => {
                check_items(word, value, schema, root, place, found);
            }
            "anyOf" | "oneOf" => {
                let mut choices = rule.as_array().unwrap().iter();
                if !choices.any(|choice| fits_rules(value, choice, root)) {
                    found.push(format!("{place}: {value} fits none of {rule}"));
                }
            }
            "minimum" | "maximum" | "uniqueItems" | "format" | "pattern" => {
                if !keeps_to(word, rule, value) {
                    found.push(format!("{place}: {value} does not keep to `{word}: {rule}`"));
                }
            }
            "const" | "enum" => {}
            word => assert!(REMARKS.contains(&word), "teach this test what `{word}` means"),
        }
    }
}

/// Checks what one word of a schema says of a list.
fn check_items(
    word: &str,
    value: &Value,
    schema: &Value,
    root: &Value,
    place: &str,
    found: &mut Vec<String>,
) {
    let Some(items) = value.as_array() else { return };
    let (rule, first) = (&schema[word], schema["prefixItems"].as_array());
    let mut check = |index: usize, rule: &Value| {
        check_whole(&items[index], rule, root, &format!("{place}[{index}]"), found);
    };
    match (word, rule.as_u64()) {
        ("minItems", Some(least)) if (items.len() as u64) < least => {
            found.push(format!("{place}: {} items, at least {least}", items.len()));
        }
        ("maxItems", Some(most)) if items.len() as u64 > most => {
            found.push(format!("{place}: {} items, at most {most}", items.len()));
        }
        ("items", _) => (first.map_or(0, Vec::len)..items.len()).for_each(|at| check(at, rule)),
        ("prefixItems", _) => {
            let rules = first.into_iter().flatten().enumerate().take(items.len());
            rules.for_each(|(at, rule)| check(at, rule));
        }
        _ => {}
    }
}

/// Tells whether a value keeps to what one word of a schema says of its content. A rule that this
/// test cannot read counts as broken.
fn keeps_to(word: &str, rule: &Value, value: &Value) -> bool {
    match (word, value) {
        ("minimum", Value::Number(number)) => number.as_f64() >= rule.as_f64(),
        ("maximum", Value::Number(number)) => number.as_f64() <= rule.as_f64(),
        ("uniqueItems", Value::Array(items)) if rule == &json!(true) => {
            items.iter().enumerate().all(|(at, item)| !items[at + 1..].contains(item))
        }
        ("format", Value::String(text)) => match rule.as_str() {
            Some("uri") => text.contains("://") && is_uri_reference(text),
            Some("uri-reference") => is_uri_reference(text),
            _ => false,
        },
        ("pattern", Value::String(_)) => false,
        _ => true,
    }
}

/// Tells whether a text has only the characters of RFC 3986, with every `%` before two digits.
fn is_uri_reference(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => {
            bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        }
        byte => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(byte),
    })
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
    let content = json!({ "type": "object", "properties": {
        "line": { "type": "integer", "minimum": 1, "maximum": 9 },
        "uri": { "type": "string", "format": "uri-reference" },
        "names": { "type": "array", "uniqueItems": true, "items": { "type": "string" } },
        "code": { "type": "string", "pattern": "^a" } }, "additionalProperties": false });
    for (document, count) in [
        (json!({ "line": 1, "uri": "a/b%20c.md", "names": ["a", "b"] }), 0),
        (json!({ "line": 0 }), 1),
        (json!({ "line": 10 }), 1),
        (json!({ "uri": "a b" }), 1),
        (json!({ "uri": "100%" }), 1),
        (json!({ "uri": "gr\u{f6}\u{df}e" }), 1),
        (json!({ "names": ["a", "b", "a"] }), 1),
        (json!({ "code": "abc" }), 1),
        (json!({ "more": 1 }), 1),
    ] {
        let found = faults(&document, &content);
        assert_eq!(found.len(), count, "{document}: {found:?}");
    }
}
