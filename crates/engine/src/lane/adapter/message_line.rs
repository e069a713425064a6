//! The lines that Claude Code began and others took over: `system`, `assistant`, `user`, `result`.

use std::borrow::Cow;

use convoke_domain::lane::event::Granted;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::hearing::Said;
use crate::json::{content_text, parse, string};

/// One line. What is not always there, or not always the same, stays as it is written, so that one
/// odd value does not cost the line.
#[derive(Deserialize)]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) subtype: Option<&'a RawValue>,
    /// Cursor's lines have none.
    #[serde(borrow)]
    pub(super) uuid: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) model: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) parent_tool_use_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_call: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) is_api_error_message: Option<&'a RawValue>,
    #[serde(borrow, alias = "api_error_status")]
    pub(super) error_status: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) errors: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, alias = "permission_mode", rename = "permissionMode")]
    permission_mode: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) total_cost_usd: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) model: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Error<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

impl<'a> Line<'a> {
    /// Reads a line, if it is one.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns what kind of its kind it is.
    pub(super) fn subtype(&self) -> Cow<'a, str> {
        string(self.subtype).unwrap_or_default()
    }

    /// Tells whether an agent was sent by the agent.
    pub(super) fn is_subagent(&self) -> bool {
        self.parent_tool_use_id.is_some_and(|id| id.get() != "null")
    }

    /// Tells whether a result is a failure. A success may be one.
    pub(super) fn is_failure(&self) -> bool {
        parse::<bool>(self.is_error) == Some(true) || self.subtype().starts_with("error")
    }

    /// Returns what a failure says of itself, wherever it says it.
    pub(super) fn failure_words(&self) -> String {
        let errors: Vec<String> = parse(self.errors).unwrap_or_default();
        let of_errors = (!errors.is_empty()).then(|| errors.join("\n"));
        let of_error = || {
            let error: Option<Error<'_>> = parse(self.error);
            error.map_or_else(|| string(self.error), |error| string(error.message))
        };
        let words = string(self.result).or(of_errors.map(Cow::Owned)).or_else(of_error);
        words.unwrap_or_else(|| self.subtype()).into_owned()
    }

    /// Passes on the session's name and, at the beginning, the model's and what it may do.
    pub(super) fn introduce(&self, said: &mut Said) {
        said.session(&string(self.session_id).unwrap_or_default());
        if self.kind == "system" && self.subtype() == "init" {
            said.model(&string(self.model).unwrap_or_default());
            if let Some(granted) = self.granted() {
                said.rights(granted);
            }
        }
    }

    fn granted(&self) -> Option<Granted> {
        let mode = string(self.permission_mode).map(Cow::into_owned);
        let tools: Vec<String> = parse(self.tools)?;
        Some(Granted { mode, tools })
    }

    /// Passes on what the agent says and does. What a subagent says is not said to us.
    pub(super) fn speak(&self, said: &mut Said) {
        let Some(message) = parse::<Message<'_>>(self.message) else { return };
        let blocks: Vec<Block<'_>> = parse(message.content).unwrap_or_default();
        for block in &blocks {
            match block.kind.as_ref() {
                "text" if !self.is_subagent() => said.text(&string(block.text).unwrap_or_default()),
                "tool_use" => said.tool(&string(block.name).unwrap_or_default()),
                _ => {}
            }
        }
    }

    /// Returns all that a message says.
    pub(super) fn message_text(&self) -> String {
        let message: Option<Message<'_>> = parse(self.message);
        let text = message.and_then(|message| content_text(message.content));
        text.unwrap_or_default().into_owned()
    }

    /// Returns the answer that a result carries.
    pub(super) fn answer(&self) -> Option<String> {
        string(self.result).map(Cow::into_owned)
    }
}
