//! The arguments of a call, as a model wrote them: read kindly, refused with the right name.

use convoke_service::failure::{ErrorClass, Failure, did_you_mean};
use serde_json::{Map, Value};

use crate::catalog::{Argument, ArgumentKind, ToolName};

/// An argument that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// There is no such argument.
    #[error("`{tool}` has no argument `{name}`")]
    Unknown {
        /// The name of the called tool.
        tool: &'static str,
        /// What the call has.
        name: String,
    },
    /// A required one is missing.
    #[error("`{tool}` needs the argument `{name}`")]
    Missing {
        /// The name of the called tool.
        tool: &'static str,
        /// What the call lacks.
        name: &'static str,
    },
    /// Its value is of another kind.
    #[error("cannot use the argument `{name}`: it must be {expected}")]
    Value {
        /// The argument.
        name: String,
        /// What it must be, in words.
        expected: String,
    },
}

/// The longest value that an error repeats, in characters.
const SHOWN: usize = 40;

/// The longest name, id or path, in bytes.
const LONGEST_NAME: usize = 4096;

/// The longest text of a person or an agent, in bytes.
const LONGEST_PROSE: usize = 1024 * 1024;

/// The most texts in a list: a model that wants more documents names their folder.
const MOST_TEXTS: usize = 100;

/// The arguments of one call, checked.
#[derive(Debug, Clone)]
pub struct Arguments {
    tool: ToolName,
    values: Map<String, Value>,
}

impl Arguments {
    /// Checks names, kinds and required arguments. `null` counts as left out.
    pub fn read(tool: ToolName, given: Map<String, Value>) -> Result<Self, Failure> {
        let mut values = Map::new();
        for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
            let Some(argument) = tool.arguments().iter().find(|known| known.name == name) else {
                return Err(unknown(tool, &name));
            };
            let read = argument.read(value).ok_or_else(|| argument.refuse())?;
            values.insert(name, read);
        }
        let arguments = Self { tool, values };
        for name in tool.required() {
            arguments.text(name)?;
        }
        Ok(arguments)
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Returns a text, if the call has it.
    pub fn maybe_text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str().filter(|text| !text.trim().is_empty())
    }

    /// Returns a text that the call must have.
    pub fn text(&self, name: &'static str) -> Result<&str, Failure> {
        self.maybe_text(name).ok_or_else(|| self.missing(name))
    }

    fn choices(&self, name: &str) -> Option<String> {
        let argument = self.tool.arguments().iter().find(|known| known.name == name)?;
        match argument.kind {
            ArgumentKind::OneOf(words) => Some(format!("one of {}", words.join(", "))),
            ArgumentKind::Text
            | ArgumentKind::Prose
            | ArgumentKind::Number
            | ArgumentKind::Truth
            | ArgumentKind::Texts => {
                Some(argument.meaning.to_owned()).filter(|text| !text.is_empty())
            }
        }
    }

    /// Reads a text by a rule of the domain.
    pub fn parsed<T, E: std::fmt::Display>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Failure> {
        let Some(text) = self.maybe_text(name) else { return Ok(None) };
        parse(text.trim()).map(Some).map_err(|error| {
            let expected = format!("usable: {error}");
            let error = ArgumentError::Value { name: name.to_owned(), expected };
            Failure::new(ErrorClass::Usage, error)
        })
    }

    /// Reads a text that the call must have by a rule of the domain.
    pub fn required<T, E: std::fmt::Display>(
        &self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, Failure> {
        self.text(name)?;
        self.parsed(name, parse)?.ok_or_else(|| self.missing(name))
    }

    fn missing(&self, name: &'static str) -> Failure {
        let error = ArgumentError::Missing { tool: self.tool.name(), name };
        Failure::new(ErrorClass::Usage, error).maybe_hint(self.choices(name))
    }

    /// Returns a whole number, if the call has it.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }

    /// Returns where a page begins.
    pub fn from(&self) -> usize {
        self.number("from").and_then(|from| usize::try_from(from).ok()).unwrap_or(0)
    }

    /// Tells whether a switch is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns a list of texts.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let values = self.get(name).and_then(Value::as_array);
        values.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

fn unknown(tool: ToolName, name: &str) -> Failure {
    let known: Vec<_> = tool.arguments().iter().map(|argument| argument.name).collect();
    let shown: String = name.escape_debug().take(SHOWN).collect();
    let error = ArgumentError::Unknown { tool: tool.name(), name: shown };
    Failure::new(ErrorClass::Usage, error)
        .maybe_hint(did_you_mean(name, known.iter().copied()))
        .hint(format!("its arguments are {}", known.join(", ")))
}

impl Argument {
    /// Reads a value. A model may write a number or a switch as a text, and a single text for a list.
    fn read(&self, value: Value) -> Option<Value> {
        match (self.kind, value) {
            (ArgumentKind::Text, Value::String(text)) => usable(text, LONGEST_NAME),
            (ArgumentKind::Prose, Value::String(text)) => usable(text, LONGEST_PROSE),
            (ArgumentKind::Truth, value @ Value::Bool(_)) => Some(value),
            (ArgumentKind::Text | ArgumentKind::Prose, Value::Number(number)) => {
                Some(number.to_string().into())
            }
            (ArgumentKind::Number, value) => whole(&value).map(Value::from),
            (ArgumentKind::Truth, Value::String(word)) => {
                word.trim().parse::<bool>().ok().map(Value::from)
            }
            (ArgumentKind::Texts, Value::String(text)) => {
                usable(text, LONGEST_NAME).map(|text| vec![text].into())
            }
            (ArgumentKind::Texts, Value::Array(texts)) => {
                let is_usable = |text: &Value| {
                    text.as_str()
                        .is_some_and(|text| usable(text.to_owned(), LONGEST_NAME).is_some())
                };
                let is_list = texts.len() <= MOST_TEXTS && texts.iter().all(is_usable);
                is_list.then_some(Value::Array(texts))
            }
            (ArgumentKind::OneOf(words), Value::String(word)) => {
                let is_it = |known: &&&str| known.eq_ignore_ascii_case(word.trim());
                words.iter().find(is_it).map(|word| Value::from(*word))
            }
            _ => None,
        }
    }

    fn refuse(&self) -> Failure {
        let expected = match self.kind {
            ArgumentKind::Text => {
                format!("a text of at most {LONGEST_NAME} bytes, without the character NUL")
            }
            ArgumentKind::Prose => {
                format!("a text of at most {LONGEST_PROSE} bytes, without the character NUL")
            }
            ArgumentKind::Number => "a whole number from 0 on".to_owned(),
            ArgumentKind::Truth => "true or false".to_owned(),
            ArgumentKind::Texts => {
                format!("a list of texts: at most {MOST_TEXTS}, of {LONGEST_NAME} bytes each")
            }
            ArgumentKind::OneOf(words) => format!("one of {}", words.join(", ")),
        };
        let error = ArgumentError::Value { name: self.name.to_owned(), expected };
        Failure::new(ErrorClass::Usage, error)
    }
}

/// A text without NUL, which no file name and no argument of a program can hold.
fn usable(text: String, longest: usize) -> Option<Value> {
    (text.len() <= longest && !text.contains('\0')).then_some(Value::String(text))
}

/// Reads a whole number from 0 on, also from a text or from `5.0`.
fn whole(value: &Value) -> Option<i64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok()?,
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole,
            None => number.to_string().strip_suffix(".0")?.parse().ok()?,
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(number).filter(|number| *number >= 0)
}
