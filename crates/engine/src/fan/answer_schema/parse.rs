//! Reads a schema, and refuses all that would not be checked.

use regex::Regex;
use serde_json::Value;

use super::{AnswerSchema, Bounds, Fields, JsonType, Node, Rules};

/// Keywords that say nothing about which values fit.
const REMARKS: [&str; 9] = [
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "$defs",
];

/// Where definitions are.
const DEFINITIONS: &str = "#/$defs/";

/// How deep a schema may be.
const DEEPEST: usize = 64;

/// A schema that answers cannot be checked against.
#[derive(Debug, thiserror::Error)]
pub enum AnswerSchemaError {
    /// It is not JSON.
    #[error("it is not JSON")]
    Json(#[source] serde_json::Error),
    /// A keyword that is not checked.
    #[error("`{place}` has the keyword `{keyword}`, which Convoke cannot check")]
    Keyword {
        /// The part of the schema.
        place: String,
        /// Its name, as the schema writes it.
        keyword: String,
    },
    /// A value that its keyword cannot have.
    #[error("`{keyword}` at `{place}` {why}")]
    Value {
        /// The part of the schema.
        place: String,
        /// Its name, as the schema writes it.
        keyword: String,
        /// The defect.
        why: String,
    },
    /// A part that is neither an object nor `true` or `false`.
    #[error("`{place}` is not a schema")]
    NoSchema {
        /// The part.
        place: String,
    },
    /// It is nested too deeply.
    #[error("it is nested more than {DEEPEST} levels deep")]
    Deep,
}

impl AnswerSchema {
    /// Parses a schema.
    pub fn parse(text: &str) -> Result<Self, AnswerSchemaError> {
        let value: Value = serde_json::from_str(text).map_err(AnswerSchemaError::Json)?;
        let mut definitions = Vec::new();
        if let Some(found) = value.get("$defs") {
            let place = Place { path: "#".to_owned(), keyword: "$defs", depth: 0 };
            for (name, schema) in place.object(found)? {
                definitions.push((name.clone(), node(schema, &place.inside(name)?)?));
            }
        }
        let root = Place { path: "#".to_owned(), keyword: "", depth: 0 };
        let schema = Self { root: node(&value, &root)?, definitions };
        schema.check_references(&value, "#")?;
        Ok(schema)
    }

    /// Refuses references to definitions that are not there.
    fn check_references(&self, value: &Value, place: &str) -> Result<(), AnswerSchemaError> {
        let nodes = self.definitions.iter().map(|(_, node)| node).chain([&self.root]);
        let mut names = Vec::new();
        nodes.for_each(|node| node.references(&mut names));
        let is_there = |name: &str| self.definitions.iter().any(|(defined, _)| defined == name);
        match names.into_iter().find(|name| !is_there(name)) {
            None => Ok(()),
            Some(name) => Err(AnswerSchemaError::Value {
                place: place.to_owned(),
                keyword: "$ref".to_owned(),
                why: format!(
                    "names `{name}`, which is not among {} definitions",
                    value.get("$defs").and_then(Value::as_object).map_or(0, serde_json::Map::len)
                ),
            }),
        }
    }
}

impl Node {
    fn references<'n>(&'n self, names: &mut Vec<&'n str>) {
        let Self::Rules(rules) = self else { return };
        names.extend(rules.reference.as_deref());
        let lists = [&rules.any_of, &rules.one_of].into_iter().flatten().flatten();
        let single = [&rules.additional_properties, &rules.items, &rules.not];
        let nodes = rules.properties.iter().map(|(_, node)| node);
        nodes
            .chain(&rules.prefix_items)
            .chain(&rules.all_of)
            .chain(lists)
            .chain(single.into_iter().flatten())
            .for_each(|node| node.references(names));
    }
}

/// Where a keyword is.
struct Place<'k> {
    path: String,
    keyword: &'k str,
    depth: usize,
}

impl Place<'_> {
    fn inside(&self, name: &str) -> Result<Place<'static>, AnswerSchemaError> {
        let path = format!("{}/{}/{name}", self.path, self.keyword);
        self.deeper(path)
    }

    fn below(&self) -> Result<Place<'static>, AnswerSchemaError> {
        self.deeper(format!("{}/{}", self.path, self.keyword))
    }

    fn deeper(&self, path: String) -> Result<Place<'static>, AnswerSchemaError> {
        let depth = self.depth + 1;
        if depth > DEEPEST {
            return Err(AnswerSchemaError::Deep);
        }
        Ok(Place { path, keyword: "", depth })
    }

    fn wrong(&self, why: impl Into<String>) -> AnswerSchemaError {
        let (place, keyword) = (self.path.clone(), self.keyword.to_owned());
        AnswerSchemaError::Value { place, keyword, why: why.into() }
    }

    fn object<'v>(&self, value: &'v Value) -> Result<&'v Fields, AnswerSchemaError> {
        value.as_object().ok_or_else(|| self.wrong("is not an object"))
    }

    fn array<'v>(&self, value: &'v Value) -> Result<&'v Vec<Value>, AnswerSchemaError> {
        value.as_array().ok_or_else(|| self.wrong("is not an array"))
    }

    fn text<'v>(&self, value: &'v Value) -> Result<&'v str, AnswerSchemaError> {
        value.as_str().ok_or_else(|| self.wrong("is not a string"))
    }

    fn number(&self, value: &Value) -> Result<Option<f64>, AnswerSchemaError> {
        value.as_f64().map(Some).ok_or_else(|| self.wrong("is not a number"))
    }

    fn count(&self, value: &Value) -> Result<Option<u64>, AnswerSchemaError> {
        value.as_u64().map(Some).ok_or_else(|| self.wrong("is not a whole number from 0 on"))
    }

    fn nodes(&self, value: &Value) -> Result<Vec<Node>, AnswerSchemaError> {
        let schemas = self.array(value)?;
        if schemas.is_empty() {
            return Err(self.wrong("is empty"));
        }
        let part = |(at, schema)| node(schema, &self.inside(&usize::to_string(&at))?);
        schemas.iter().enumerate().map(part).collect()
    }

    fn node(&self, value: &Value) -> Result<Node, AnswerSchemaError> {
        node(value, &self.below()?)
    }
}

fn node(value: &Value, place: &Place<'_>) -> Result<Node, AnswerSchemaError> {
    match value {
        Value::Bool(fits) => Ok(Node::Constant(*fits)),
        Value::Object(fields) => {
            let mut rules = Rules::default();
            for (keyword, value) in fields {
                let place = Place { path: place.path.clone(), keyword, depth: place.depth };
                // Definitions below the top would be out of reach.
                if keyword == "$defs" && place.depth > 0 {
                    return Err(unknown(&place));
                }
                if !REMARKS.contains(&keyword.as_str()) {
                    rules.add(&place, value)?;
                }
            }
            Ok(Node::Rules(Box::new(rules)))
        }
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(AnswerSchemaError::NoSchema { place: place.path.clone() })
        }
    }
}

fn unknown(place: &Place<'_>) -> AnswerSchemaError {
    let (place, keyword) = (place.path.clone(), place.keyword.to_owned());
    AnswerSchemaError::Keyword { place, keyword }
}

impl Rules {
    fn add(&mut self, place: &Place<'_>, value: &Value) -> Result<(), AnswerSchemaError> {
        match place.keyword {
            "type" => self.types = Some(types(place, value)?),
            "enum" => self.one_of_values = Some(place.array(value)?.clone()),
            "const" => self.constant = Some(value.clone()),
            "properties" => {
                for (name, schema) in place.object(value)? {
                    self.properties.push((name.clone(), node(schema, &place.inside(name)?)?));
                }
            }
            "required" => {
                let names = place.array(value)?.iter().map(|name| place.text(name));
                self.required =
                    names.map(|name| name.map(str::to_owned)).collect::<Result<_, _>>()?;
            }
            "additionalProperties" => self.additional_properties = Some(place.node(value)?),
            "minProperties" => self.property_count.least = place.count(value)?,
            "maxProperties" => self.property_count.most = place.count(value)?,
            "items" => self.items = Some(place.node(value)?),
            "prefixItems" => self.prefix_items = place.nodes(value)?,
            "minItems" => self.item_count.least = place.count(value)?,
            "maxItems" => self.item_count.most = place.count(value)?,
            "uniqueItems" => {
                let flag = value.as_bool();
                self.has_unique_items = flag.ok_or_else(|| place.wrong("is not true or false"))?;
            }
            "minLength" => self.length.least = place.count(value)?,
            "maxLength" => self.length.most = place.count(value)?,
            "pattern" => {
                let pattern = Regex::new(place.text(value)?);
                self.pattern = Some(pattern.map_err(|error| {
                    place.wrong(format!("is a pattern that Convoke cannot use: {error}"))
                })?);
            }
            "minimum" => self.minimum = place.number(value)?,
            "maximum" => self.maximum = place.number(value)?,
            "exclusiveMinimum" => self.above = place.number(value)?,
            "exclusiveMaximum" => self.below = place.number(value)?,
            "allOf" => self.all_of = place.nodes(value)?,
            "anyOf" => self.any_of = Some(place.nodes(value)?),
            "oneOf" => self.one_of = Some(place.nodes(value)?),
            "not" => self.not = Some(place.node(value)?),
            "$ref" => {
                let name = place.text(value)?.strip_prefix(DEFINITIONS);
                let name = name.filter(|name| !name.contains(['/', '~', '%']));
                let name = name.ok_or_else(|| {
                    place.wrong(format!("must begin with `{DEFINITIONS}` and name a definition"))
                })?;
                self.reference = Some(name.to_owned());
            }
            _ => return Err(unknown(place)),
        }
        Ok(())
    }
}

fn types(place: &Place<'_>, value: &Value) -> Result<Vec<JsonType>, AnswerSchemaError> {
    let one = |name: &Value| {
        let name = place.text(name)?;
        JsonType::parse(name).ok_or_else(|| place.wrong(format!("names the unknown type `{name}`")))
    };
    match value {
        Value::Array(names) => names.iter().map(one).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Ok(vec![one(value)?])
        }
    }
}

impl Bounds {
    /// Returns what is wrong with a number of things.
    pub(super) fn fault(self, count: usize, things: &str) -> Option<String> {
        let count = count as u64;
        match (self.least, self.most) {
            (Some(least), _) if count < least => {
                Some(format!("has {count} {things}, and needs at least {least}"))
            }
            (_, Some(most)) if count > most => {
                Some(format!("has {count} {things}, and may have at most {most}"))
            }
            _ => None,
        }
    }
}
