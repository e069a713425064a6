//! The lines that Claude Code began and others took over: `system`, `assistant`, `user`, `result`.

use std::borrow::Cow;

use convoke_domain::lane::event::GrantedRights;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::listener::EventQueue;
use crate::json::lenient::{Lenient, Readable};
use crate::json::{owned, parse, string};

/// One line. Fields that may be absent or vary in form stay raw, so that one odd value does not
/// cost the line.
#[derive(Deserialize)]
pub(in crate::client) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    pub(in crate::client) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(in crate::client) subtype: Option<&'a RawValue>,
    /// Claude Code's and Qwen Code's lines have one, Cursor's have none.
    #[serde(borrow)]
    pub(in crate::client) uuid: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::client) session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::client) model: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::client) parent_tool_use_id: Option<&'a RawValue>,
    /// An agent's message can be long, so it is parsed in the same pass.
    #[serde(borrow, default)]
    message: Lenient<Message<'a>>,
    #[serde(borrow)]
    pub(in crate::client) tool_call: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::client) is_api_error_message: Option<&'a RawValue>,
    #[serde(borrow, alias = "api_error_status")]
    pub(in crate::client) error_status: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::client) is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::client) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::client) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::client) errors: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::client) usage: Option<&'a RawValue>,
    /// Claude Code says here when the limit of a subscription ends.
    #[serde(borrow)]
    pub(in crate::client) rate_limit_info: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, alias = "permission_mode", rename = "permissionMode")]
    permission_mode: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::client) total_cost_usd: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    model: Lenient<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Lenient<Content<'a>>,
}

/// A content is a string, or a list of blocks.
enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Lenient<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Lenient<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Lenient<Cow<'a, str>>,
}

impl<'de: 'a, 'a> Readable<'de> for Message<'a> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        Self::deserialize(MapAccessDeserializer::new(object)).map(Some)
    }
}

impl<'de: 'a, 'a> Readable<'de> for Content<'a> {
    fn from_text(text: Cow<'de, str>) -> Option<Self> {
        Some(Self::Text(text))
    }

    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = list.next_element::<Lenient<Block<'a>>>()? {
            blocks.extend(block.0);
        }
        Ok(Some(Self::Blocks(blocks)))
    }
}

impl<'de: 'a, 'a> Readable<'de> for Block<'a> {
    fn from_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        Self::deserialize(MapAccessDeserializer::new(object)).map(Some)
    }
}

#[derive(Deserialize)]
struct Error<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

impl<'a> Line<'a> {
    /// Reads a line, if it is one.
    pub(in crate::client) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Tells whether it is a line of Claude Code's or Qwen Code's: it has a number of its own, or at
    /// least its session's.
    pub(in crate::client) fn is_of_a_session(&self) -> bool {
        let kinds = ["system", "assistant", "user", "result", "stream_event"];
        let is_known = kinds.contains(&self.kind.as_ref());
        self.uuid.is_some() || (is_known && self.session_id.is_some())
    }

    /// Returns what kind of its kind it is.
    pub(in crate::client) fn subtype(&self) -> Cow<'a, str> {
        string(self.subtype).unwrap_or_default()
    }

    /// Tells whether an agent was sent by the agent.
    pub(in crate::client) fn is_subagent(&self) -> bool {
        self.parent_tool_use_id.is_some_and(|id| id.get() != "null")
    }

    /// Tells whether a result is a failure. A success may be one.
    pub(in crate::client) fn is_failure(&self) -> bool {
        parse::<bool>(self.is_error) == Some(true) || self.subtype().starts_with("error")
    }

    /// Returns the message of a failure, from any of its fields.
    pub(in crate::client) fn failure_words(&self) -> String {
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
    pub(in crate::client) fn introduce(&self, said: &mut EventQueue) {
        said.session(&string(self.session_id).unwrap_or_default());
        if self.kind == "system" && self.subtype() == "init" {
            said.model(&string(self.model).unwrap_or_default());
            if let Some(granted) = self.granted() {
                said.rights(granted);
            }
        }
    }

    fn granted(&self) -> Option<GrantedRights> {
        let mode = owned(self.permission_mode);
        let tools: Vec<String> = parse(self.tools)?;
        Some(GrantedRights { mode, tools })
    }

    /// Passes on the agent's messages and tool calls. A subagent's text is left out.
    pub(in crate::client) fn speak(&self, said: &mut EventQueue) {
        let Some(Content::Blocks(blocks)) = self.content() else { return };
        for Block { kind, text, name } in blocks {
            match kind.0.as_deref() {
                Some("text") if !self.is_subagent() => {
                    said.text(text.0.as_deref().unwrap_or_default());
                }
                Some("tool_use") => said.tool(name.0.as_deref().unwrap_or_default()),
                _ => {}
            }
        }
    }

    /// Returns the model that a message is of.
    pub(in crate::client) fn message_model(&self) -> Option<&str> {
        self.message.0.as_ref()?.model.0.as_deref()
    }

    /// Returns all that a message says.
    pub(in crate::client) fn message_text(&self) -> String {
        match self.content() {
            None => String::new(),
            Some(Content::Text(text)) => text.clone().into_owned(),
            Some(Content::Blocks(blocks)) => {
                let texts: Vec<&str> =
                    blocks.iter().filter_map(|block| block.text.0.as_deref()).collect();
                texts.join("\n")
            }
        }
    }

    fn content(&self) -> Option<&Content<'a>> {
        self.message.0.as_ref()?.content.0.as_ref()
    }

    /// Returns the answer that a result carries.
    pub(in crate::client) fn answer(&self) -> Option<String> {
        owned(self.result)
    }
}
