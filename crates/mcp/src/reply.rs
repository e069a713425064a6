//! The result of a call: text, and structured content with the same facts.

use convoke_service::failure::{ErrorClass, Failure, with_causes};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::page::{Page, bytes_of, page, page_within};
use crate::twins::with_tools;

/// The name of a page among the facts.
const TEXT: &str = "text";

/// The longest part of an error that is shown, in characters.
const LONGEST_ERROR: usize = 1000;

/// The longest line of facts beside a page, in characters.
const LONGEST_LINE: usize = 600;

/// The most bytes of either form of a result, before the line about unread messages: a client may show
/// its model only the beginning of a longer one.
const MOST_BYTES: usize = 7 * 1024 + 512;

/// The line in the place of what a result leaves out.
const CUT: &str = "[the result is too long; the rest is left out]";

/// How many characters of each text are kept in facts that are too long, in turn.
const SHORTER: [usize; 4] = [1000, 300, 100, 30];

/// How many entries of a list are kept in facts that are still too long.
const MOST_ENTRIES: usize = 20;

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
        let others = facts.iter().filter(|(_, value)| !says_nothing(value));
        let others: Vec<_> =
            others.map(|(name, value)| format!("{name}: {}", in_words(value))).collect();
        let mut reply = Self { facts, text: String::new(), is_error: false };
        reply.facts.insert(TEXT.to_owned(), text.clone().into());
        reply.text = text;
        if !others.is_empty() {
            let line: String = others.join("; ").chars().take(LONGEST_LINE).collect();
            reply.add_line(&format!("[{}]", line.replace('\n', " ")));
        }
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
        let hints = failure.hints.iter().map(|hint| limited(&with_tools(hint)));
        let hints: Vec<_> = hints.collect();
        let lines = hints.iter().map(|hint| format!("\nhint: {hint}"));
        let class = class(failure.class);
        let text = format!("error ({class}): {message}{}", lines.collect::<String>());
        let facts = json!({"error": message, "class": class, "hints": hints});
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
        // A task has notes of its own.
        self.facts.insert("remarks".to_owned(), notes.into());
    }

    /// Leaves out what no client would show whole. Pages have a size that needs none of this.
    fn fit(&mut self) {
        if bytes_of(&self.text) > MOST_BYTES {
            self.text = page_within(&self.text, 0, MOST_BYTES - CUT.len() - 1).text;
            self.add_line(CUT);
        }
        let page = self.facts.remove(TEXT);
        let most =
            MOST_BYTES.saturating_sub(page.as_ref().map_or(0, |page| page.to_string().len()));
        let mut facts = Value::Object(std::mem::take(&mut self.facts));
        for longest in SHORTER {
            if facts.to_string().len() > most {
                shorten(&mut facts, longest);
            }
        }
        self.facts = object(facts);
        self.facts.extend(page.map(|page| (TEXT.to_owned(), page)));
    }

    /// Adds the last line.
    pub(crate) fn finish(mut self, unread: Option<String>) -> CallToolResult {
        self.fit();
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

/// Cuts texts after so many characters, and lists after so many entries.
fn shorten(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(longest) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(entries) => {
            entries.truncate(MOST_ENTRIES);
            for entry in entries {
                shorten(entry, longest);
            }
        }
        Value::Object(facts) => facts.values_mut().for_each(|fact| shorten(fact, longest)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
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

/// Says a fact in words: the entries of a list one after another, and those of an object with names.
pub(crate) fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(", "),
        Value::Object(facts) => {
            let facts = facts.iter().map(|(name, value)| format!("{name} {}", in_words(value)));
            facts.collect::<Vec<_>>().join(", ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sizes(reply: Reply) -> (usize, usize, Value) {
        let result = reply.finish(Some("12 unread messages for @june: call `wake`".to_owned()));
        let text = serde_json::to_value(&result.content).unwrap()[0]["text"].clone();
        let facts = result.structured_content.unwrap_or_default();
        (text.as_str().unwrap_or_default().len(), facts.to_string().len(), facts)
    }

    #[test]
    fn a_page_is_never_cut_and_other_facts_are() {
        let page = Page { text: "x\n".repeat(2000), next_from: Some(4000) };
        let facts = object(json!({"notes": ["n".repeat(9000)], "run": "r"}));
        let (text, length, facts) = sizes(Reply::of_page(page.clone(), facts));
        assert!(text <= 8192 && length <= 8192, "{text} {length}");
        assert_eq!((&facts["text"], &facts["run"]), (&json!(page.text), &json!("r")));
        assert!(facts["notes"][0].as_str().unwrap().ends_with('…'));
    }

    proptest! {
        // A person may have written a note of a megabyte, and a panel may leave any number of matters.
        #[test]
        fn no_result_is_longer_than_clients_show(
            note in "\\PC{0,4}", times in 0_usize..5000, entries in 0_usize..400,
        ) {
            let note = note.repeat(times);
            let facts = json!({"note": note, "undecided": vec![note.clone(); entries.min(40)]});
            let text = format!("note: {note}\n").repeat(entries.min(40) + 1);
            let (text, facts, _) = sizes(Reply::new(text, &facts));
            prop_assert!(text <= 8192 && facts <= 8192, "{} {}", text, facts);
        }
    }
}
