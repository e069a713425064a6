//! Which values fit which schemas, and which schemas Convoke refuses.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn faults(schema: &Value, value: &Value) -> Vec<String> {
    AnswerSchema::parse(&schema.to_string()).unwrap().faults(value)
}

/// Checks which values fit, by cases of the official test suite for draft 2020-12.
fn check(cases: Vec<(Value, Vec<Value>, Vec<Value>)>) {
    for (schema, fitting, unfit) in cases {
        for value in fitting {
            assert_eq!(faults(&schema, &value), [""; 0], "{schema} {value}");
        }
        for value in unfit {
            assert!(!faults(&schema, &value).is_empty(), "{schema} {value}");
        }
    }
}

// F-8
#[test]
fn types_values_and_fields_are_checked() {
    check(vec![
        (json!(true), vec![json!(1)], vec![]),
        (json!(false), vec![], vec![json!(1)]),
        (json!({}), vec![json!(null)], vec![]),
        (
            json!({ "type": "integer" }),
            vec![json!(1), json!(1.0), json!(-3)],
            vec![json!(1.1), json!("1"), json!(null), json!(true), json!([]), json!({})],
        ),
        (
            json!({ "type": ["string", "null"] }),
            vec![json!("a"), json!(null)],
            vec![json!(1), json!([])],
        ),
        (json!({ "const": 1.0 }), vec![json!(1)], vec![json!(true), json!("1")]),
        (
            json!({ "enum": [{ "a": 1, "b": 2 }, "x"] }),
            vec![json!({ "b": 2, "a": 1 }), json!("x")],
            vec![json!({ "a": 1 }), json!("y"), json!(null)],
        ),
        (
            json!({ "properties": { "a": { "type": "string" } }, "required": ["a"],
                "additionalProperties": false }),
            vec![json!({ "a": "x" }), json!(12), json!([])],
            vec![json!({}), json!({ "a": 1 }), json!({ "a": "x", "b": 1 })],
        ),
        (
            json!({ "additionalProperties": { "type": "boolean" }, "minProperties": 1,
                "maxProperties": 2 }),
            vec![json!({ "x": true })],
            vec![json!({}), json!({ "x": 1 }), json!({ "a": true, "b": true, "c": true })],
        ),
    ]);
}

// F-8
#[test]
fn items_texts_and_numbers_are_checked() {
    check(vec![
        (
            json!({ "items": { "type": "integer" }, "minItems": 1, "maxItems": 3,
                "uniqueItems": true }),
            vec![json!([1]), json!([1, 2, 3])],
            vec![json!([]), json!([1, 1.0]), json!(["a"]), json!([1, 2, 3, 4])],
        ),
        (
            json!({ "prefixItems": [{ "type": "string" }], "items": { "type": "integer" } }),
            vec![json!([]), json!(["a", 1, 2])],
            vec![json!([1]), json!(["a", "b"])],
        ),
        (
            json!({ "minLength": 2, "maxLength": 3, "pattern": "^ü" }),
            vec![json!("üb"), json!("übe"), json!(7)],
            vec![json!("ü"), json!("über"), json!("ab")],
        ),
        (
            json!({ "minimum": 1, "maximum": 3 }),
            vec![json!(1), json!(3), json!(2.5), json!("x")],
            vec![json!(0.9), json!(3.1)],
        ),
        (
            json!({ "exclusiveMinimum": 1, "exclusiveMaximum": 3 }),
            vec![json!(2)],
            vec![json!(1), json!(3)],
        ),
    ]);
}

// F-8
#[test]
fn combined_schemas_are_checked() {
    check(vec![
        (
            json!({ "allOf": [{ "minimum": 2 }, { "maximum": 4 }] }),
            vec![json!(3)],
            vec![json!(1), json!(5)],
        ),
        (
            json!({ "anyOf": [{ "type": "integer" }, { "minimum": 2 }] }),
            vec![json!(1), json!(2.5)],
            vec![json!(1.5)],
        ),
        (
            json!({ "oneOf": [{ "type": "integer" }, { "minimum": 2 }] }),
            vec![json!(1), json!(2.5)],
            vec![json!(3), json!(1.5)],
        ),
        (json!({ "not": { "type": "integer" } }), vec![json!("x")], vec![json!(1)]),
        (
            json!({ "$defs": { "node": { "type": "object", "required": ["name"], "properties": {
                "next": { "$ref": "#/$defs/node" } } } }, "$ref": "#/$defs/node" }),
            vec![json!({ "name": 1 }), json!({ "name": 1, "next": { "name": 2 } })],
            vec![json!({ "name": 1, "next": {} }), json!(1)],
        ),
    ]);
}

// F-8
#[test]
fn a_schema_that_would_be_checked_in_part_is_refused() {
    for (schema, why) in [
        ("{", "it is not JSON"),
        ("[]", "`#` is not a schema"),
        (r#"{"format":"date"}"#, "`#` has the keyword `format`, which Convoke cannot check"),
        (
            r#"{"properties":{"a":{"multipleOf":2}}}"#,
            "`#/properties/a` has the keyword `multipleOf`, which Convoke cannot check",
        ),
        (r#"{"type":"text"}"#, "`type` at `#` names the unknown type `text`"),
        (r#"{"minItems":-1}"#, "`minItems` at `#` is not a whole number from 0 on"),
        (r#"{"anyOf":[]}"#, "`anyOf` at `#` is empty"),
        (r##"{"$ref":"#/$defs/a"}"##, "`$ref` at `#` names `a`, which is not among 0 definitions"),
        (
            r#"{"$ref":"https://example.com"}"#,
            "`$ref` at `#` must begin with `#/$defs/` and name a definition",
        ),
        (
            r#"{"items":{"$defs":{}}}"#,
            "`#/items` has the keyword `$defs`, which Convoke cannot check",
        ),
    ] {
        assert_eq!(AnswerSchema::parse(schema).unwrap_err().to_string(), why, "{schema}");
    }
    let bad_pattern = AnswerSchema::parse(r#"{"pattern":"("}"#).unwrap_err().to_string();
    assert!(bad_pattern.starts_with("`pattern` at `#` is a pattern that Convoke cannot use"));
    let deep = format!("{}true{}", r#"{"not":"#.repeat(100), "}".repeat(100));
    assert!(AnswerSchema::parse(&deep).is_err());
}

#[test]
fn faults_name_their_places() {
    let schema = json!({ "type": "object", "required": ["risk"], "properties": {
        "risk": { "enum": ["low", "high"] }, "lines": { "items": { "type": "integer" } } } });
    assert_eq!(
        faults(&schema, &json!({ "risk": "some", "lines": [1, "two"] })),
        [r#"`$.risk` is not one of "low", "high""#, "`$.lines[1]` is not of type integer"]
    );
    assert_eq!(faults(&schema, &json!([])), ["`$` is not of type object"]);
    assert_eq!(faults(&schema, &json!({})), ["`$` lacks `risk`"]);
}

#[test]
fn a_schema_without_an_end_ends() {
    let schema = json!({ "$defs": { "a": { "$ref": "#/$defs/a" } }, "$ref": "#/$defs/a" });
    assert_eq!(faults(&schema, &json!(1)), ["`$` is nested too deeply"]);
}

// F-8
#[test]
fn an_answer_is_json_or_has_one_block_of_it() {
    let found = |answer: &str| value_of_answer(answer).ok();
    assert_eq!(found(" {\"a\": 1}\n"), Some(json!({ "a": 1 })));
    assert_eq!(found("```json\n{\"a\": 1}\n```"), Some(json!({ "a": 1 })));
    assert_eq!(found("Here it is:\n\n```\n[1]\n```\nDone."), Some(json!([1])));
    assert_eq!(found("```json\n1\n```\n```json\n2\n```"), None);
    assert_eq!(found("The answer is 1"), None);
    assert_eq!(found("```json\n{\"a\": 1}"), None, "a block without an end");
    assert_eq!(found("```json\n```"), None);
    assert_eq!(found(""), None);
}

proptest! {
    #[test]
    fn any_answer_is_read_or_refused(answer in ".*|(```|json|\n|1|\\{|\\}|\"a\"|:){0,20}") {
        value_of_answer(&answer).ok();
    }

    #[test]
    fn any_text_is_a_schema_or_refused(text in "\\PC*") {
        AnswerSchema::parse(&text).ok();
    }
}
