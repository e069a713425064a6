//! The result of a call: text, and structured content with the same facts.

use convoke_service::failure::{ErrorClass, Failure, with_causes};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::page::{Page, page};

/// The longest part of an error that is shown, in characters.
const LONGEST_ERROR: usize = 1000;

/// What a tool returns, before the line about unread messages is added.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    /// The facts in lines.
    pub(crate) text: String,
    /// The same facts for programs; some clients show their model only these.
    pub(crate) facts: Map<String, Value>,
    is_error: bool,
}

impl Reply {
    /// Shows a report as text and as facts.
    pub(crate) fn new(text: impl Into<String>, report: &impl Serialize) -> Self {
        let facts = serde_json::to_value(report).unwrap_or_default();
        Self { text: text.into(), facts: object(known(facts)), is_error: false }
    }

    /// Shows a text, and facts as they are.
    pub(crate) fn of_facts(text: String, facts: Map<String, Value>) -> Self {
        Self { text, facts, is_error: false }
    }

    /// Shows one page of a text, and facts beside it.
    pub(crate) fn paged(text: &str, from: usize, facts: Map<String, Value>) -> Self {
        Self::of_page(page(text, from), facts)
    }

    /// Shows a page, and facts beside it.
    pub(crate) fn of_page(page: Page, facts: Map<String, Value>) -> Self {
        let Page { text, next_from } = page;
        let mut reply = Self { facts, text: String::new(), is_error: false };
        reply.facts.insert("text".to_owned(), text.clone().into());
        reply.text = text;
        reply.go_on(next_from);
        reply
    }

    /// Says where the next page begins.
    pub(crate) fn go_on(&mut self, next_from: Option<usize>) {
        let Some(next) = next_from else { return };
        self.facts.insert("next_from".to_owned(), next.into());
        self.add_line(&format!("[more: call again with from={next}]"));
    }

    pub(crate) fn failed(failure: &Failure) -> Self {
        let message = limited(&with_causes(&*failure.error));
        let hints: Vec<_> = failure.hints.iter().map(|hint| limited(hint)).collect();
        let lines = hints.iter().map(|hint| format!("\nhint: {hint}"));
        let text = format!("error: {message}{}", lines.collect::<String>());
        let facts = json!({"error": message, "class": class(failure.class), "hints": hints});
        Self { text, facts: object(facts), is_error: true }
    }

    pub(crate) fn add_line(&mut self, line: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text += line;
    }

    /// Adds what a use case told while it ran.
    pub(crate) fn add_notes(&mut self, notes: Vec<String>) {
        if notes.is_empty() {
            return;
        }
        for note in &notes {
            self.add_line(note);
        }
        self.facts.insert("notes".to_owned(), notes.into());
    }

    /// Adds the last line.
    pub(crate) fn finish(mut self, unread: Option<String>) -> CallToolResult {
        if let Some(unread) = unread {
            self.add_line(&unread);
            self.facts.insert("unread".to_owned(), unread.into());
        }
        let content = vec![ContentBlock::text(self.text)];
        let mut result = if self.is_error {
            CallToolResult::error(content)
        } else {
            CallToolResult::success(content)
        };
        result.structured_content = Some(Value::Object(self.facts));
        result
    }
}

/// An error can repeat what a caller wrote, however long that is.
fn limited(text: &str) -> String {
    text.chars().take(LONGEST_ERROR).collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(facts) => facts,
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)) => Map::from_iter([("result".to_owned(), other)]),
    }
}

/// Leaves out what is not known, empty or off: a model pays for every word.
pub(crate) fn known(value: Value) -> Value {
    match value {
        Value::Object(facts) => {
            let facts = facts.into_iter().map(|(name, value)| (name, known(value)));
            Value::Object(facts.filter(|(_, value)| !says_nothing(value)).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(known).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(facts) => facts.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
    }
}

const fn class(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Usage => "usage",
        ErrorClass::Prerequisite => "prerequisite",
        ErrorClass::Refused => "refused",
        ErrorClass::NoAnswer => "no_answer",
        ErrorClass::OverBudget => "over_budget",
        ErrorClass::TreeChanged => "tree_changed",
        ErrorClass::Interrupted => "interrupted",
        ErrorClass::Bug => "bug",
    }
}
