//! Spans and their attributes, before they have a format.

use jiff::Timestamp;

use super::names;
use super::trace::SpanId;

/// The longest text of an attribute, in characters; models name themselves, at any length.
const LONGEST_TEXT: usize = 256;

/// A fact about a span, a metric or the process.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// A name of the OpenTelemetry conventions, or one of Convoke's own that begins with `convoke.`.
    pub key: String,
    /// What OpenTelemetry sends under that name.
    pub value: AttributeValue,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeValue {
    /// Words that are neither a prompt nor an answer.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// Whether something is so.
    Truth(bool),
    /// A prompt or an answer, for users who want them sent.
    Message(ChatMessage),
}

/// The one message of a list of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The words, uncut.
    pub text: String,
    /// Why an answer ended.
    pub finish_reason: Option<&'static str>,
}

impl Attribute {
    /// Returns a text, shortened to what a name can need.
    pub fn text(key: impl Into<String>, text: &str) -> Self {
        let text = text.chars().take(LONGEST_TEXT).collect();
        Self { key: key.into(), value: AttributeValue::Text(text) }
    }

    /// Returns a number. More than a number can hold is the most that it can.
    pub fn whole(key: &str, number: u64) -> Self {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        Self { key: key.to_owned(), value: AttributeValue::Whole(number) }
    }

    /// Returns a number with decimals.
    pub fn real(key: &str, number: f64) -> Self {
        Self { key: key.to_owned(), value: AttributeValue::Real(number) }
    }

    /// Returns a mark; its absence means the opposite.
    pub fn mark(key: &str) -> Self {
        Self { key: key.to_owned(), value: AttributeValue::Truth(true) }
    }
}

/// On which side of a call a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Work inside of Convoke.
    Internal,
    /// A call to a client or a model's API.
    Client,
}

/// A piece of work that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedSpan {
    /// The span's id.
    pub id: SpanId,
    /// The span that it is part of.
    pub parent: Option<SpanId>,
    /// Its name: few different ones.
    pub name: String,
    /// Whether the time is spent here or at a model's API.
    pub kind: SpanKind,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// Facts about it.
    pub attributes: Vec<Attribute>,
    /// The class of the error that it ended in, in a word.
    pub error: Option<&'static str>,
}

/// A workflow that groups lanes, such as a design, when it ended.
#[derive(Debug, Clone)]
pub struct FinishedWorkflow<'a> {
    /// The workflow's name.
    pub workflow: &'static str,
    /// The run, if it has an id.
    pub run: Option<&'a str>,
    /// How it ended, in a word.
    pub outcome: &'static str,
    /// Whether that is an error.
    pub error: Option<&'static str>,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
}

impl FinishedWorkflow<'_> {
    /// Returns its span.
    pub fn span(&self, id: SpanId, parent: Option<SpanId>) -> FinishedSpan {
        let mut attributes = vec![
            Attribute::text(names::OPERATION_NAME, names::INVOKE_WORKFLOW),
            Attribute::text(names::WORKFLOW_NAME, self.workflow),
            Attribute::text(names::OUTCOME, self.outcome),
        ];
        attributes.extend(self.run.map(|run| Attribute::text(names::RUN_ID, run)));
        attributes.extend(self.error.map(|error| Attribute::text(names::ERROR_TYPE, error)));
        FinishedSpan {
            id,
            parent,
            name: format!("{} {}", names::INVOKE_WORKFLOW, self.workflow),
            kind: SpanKind::Internal,
            began: self.began,
            ended: self.ended,
            attributes,
            error: self.error,
        }
    }
}
