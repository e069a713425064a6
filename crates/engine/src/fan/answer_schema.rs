//! The form that answers have to have: a JSON Schema, of which the common part is checked.
//!
//! Convoke refuses a keyword that it does not check before it asks an agent: an answer must not count as
//! fitting because a part of its schema was passed over.

mod check;
mod parse;

use regex::Regex;
use serde_json::{Map, Value};

pub use self::parse::AnswerSchemaError;

/// A schema that answers can be checked against.
#[derive(Debug)]
pub struct AnswerSchema {
    root: Node,
    definitions: Vec<(String, Node)>,
}

/// A schema, or a part of one.
#[derive(Debug)]
enum Node {
    /// `true` or `false`: everything fits, or nothing does.
    Constant(bool),
    Rules(Box<Rules>),
}

#[derive(Debug, Default)]
struct Rules {
    types: Option<Vec<JsonType>>,
    one_of_values: Option<Vec<Value>>,
    constant: Option<Value>,
    properties: Vec<(String, Node)>,
    required: Vec<String>,
    additional_properties: Option<Node>,
    property_count: Bounds,
    items: Option<Node>,
    prefix_items: Vec<Node>,
    item_count: Bounds,
    has_unique_items: bool,
    length: Bounds,
    pattern: Option<Regex>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
    all_of: Vec<Node>,
    any_of: Option<Vec<Node>>,
    one_of: Option<Vec<Node>>,
    not: Option<Node>,
    /// The name of a definition.
    reference: Option<String>,
}

/// The least and the greatest number of something.
#[derive(Debug, Clone, Copy, Default)]
struct Bounds {
    least: Option<u64>,
    most: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonType {
    Null,
    Boolean,
    Object,
    Array,
    Number,
    Integer,
    String,
}

impl JsonType {
    const ALL: [Self; 7] = [
        Self::Null,
        Self::Boolean,
        Self::Object,
        Self::Array,
        Self::Number,
        Self::Integer,
        Self::String,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::String => "string",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Takes the JSON value from an answer: all of it, or its only fenced block.
pub fn value_of_answer(answer: &str) -> Result<Value, String> {
    let whole = serde_json::from_str::<Value>(answer.trim());
    let error = match whole {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let mut blocks = fenced_blocks(answer);
    match (blocks.next(), blocks.next()) {
        (Some(block), None) => serde_json::from_str(block.trim())
            .map_err(|error| format!("the fenced block is not JSON: {error}")),
        (Some(_), Some(_)) => Err("it has several fenced blocks".to_owned()),
        (None, _) => Err(format!("it is not JSON: {error}")),
    }
}

/// Returns what is between lines of three backticks.
fn fenced_blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let opening = rest.find("```").filter(|at| *at == 0 || rest[..*at].ends_with('\n'))?;
        let after = &rest[opening + 3..];
        let body = &after[after.find('\n')? + 1..];
        let end = if body.starts_with("```") { 0 } else { body.find("\n```")? + 1 };
        rest = &body[end + 3..];
        rest = rest.strip_prefix('\n').unwrap_or(rest);
        Some(&body[..end])
    })
}

/// The fields of an object.
type Fields = Map<String, Value>;

#[cfg(test)]
mod tests;
