//! Cursor's CLI, with `--output-format stream-json`, as its documentation describes it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use convoke_domain::lane::event::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::failure::{complaint, told};
use crate::client::listener::{Dialect, EventQueue, Exit};
use crate::client::message_line::Line;
use crate::json::{more_tokens, parse, string, tokens};

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, rename = "inputTokens")]
    input: Option<&'a RawValue>,
    #[serde(borrow, rename = "cacheReadTokens")]
    cache_read: Option<&'a RawValue>,
    #[serde(borrow, rename = "cacheWriteTokens")]
    cache_write: Option<&'a RawValue>,
    #[serde(borrow, rename = "outputTokens")]
    output: Option<&'a RawValue>,
}

/// The output format of Cursor. On failure it prints no event, only text.
#[derive(Debug, Default)]
pub(super) struct Cursor;

impl Dialect for Cursor {
    fn line(&mut self, text: &str, said: &mut EventQueue) -> Option<()> {
        let Some(line) = Line::parse(text).filter(is_ours) else {
            return plain_words(text, said);
        };
        // The model has a name for people there (`Claude 4.5 Sonnet`), which differs from the
        // requested one (`sonnet-4.5`) and would look like another model.
        said.session(&string(line.session_id)?);
        match (line.kind.as_ref(), line.subtype().as_ref()) {
            ("assistant", _) => line.speak(said),
            ("tool_call", "started") => said.tool(&tool_name(line.tool_call)),
            ("result", _) => result(&line, said),
            _ => {}
        }
        Some(())
    }

    fn exits(&mut self, exit: &Exit, said: &mut EventQueue) {
        if let (false, Some(failure)) = (said.has_ended(), exit.failure(None)) {
            said.ends_in(failure);
        }
    }
}

/// Others print lines of the same kinds, but theirs have a number of their own.
fn is_ours(line: &Line<'_>) -> bool {
    let kinds = ["system", "user", "assistant", "thinking", "tool_call", "result"];
    line.uuid.is_none() && kinds.contains(&line.kind.as_ref())
}

/// Some complaints come on stdout, between the events.
fn plain_words(text: &str, said: &mut EventQueue) -> Option<()> {
    said.trouble(complaint(text)?);
    Some(())
}

/// A call is an object with one key, such as `readToolCall`.
fn tool_name(value: Option<&RawValue>) -> String {
    let call: BTreeMap<Cow<'_, str>, &RawValue> = parse(value).unwrap_or_default();
    let named = call.into_keys().find(|key| key.ends_with("ToolCall"));
    named.map_or_else(|| "tool".to_owned(), |key| key.trim_end_matches("ToolCall").to_owned())
}

fn result(line: &Line<'_>, said: &mut EventQueue) {
    // Not documented, but some versions say it.
    if let Some(usage) = parse::<Tokens<'_>>(line.usage).and_then(|tokens| usage(&tokens)) {
        said.usage(usage);
    }
    if line.is_failure() {
        said.ends_in(told(&line.failure_words()));
    } else {
        said.ends_well(line.answer());
    }
}

fn usage(said: &Tokens<'_>) -> Option<Usage> {
    let (cached, written) = (more_tokens(said.cache_read)?, more_tokens(said.cache_write)?);
    let fresh = tokens(said.input)?.saturating_add(written);
    Some(Usage {
        input: fresh.saturating_add(cached),
        cached,
        output: tokens(said.output)?,
        ..Usage::default()
    })
}
