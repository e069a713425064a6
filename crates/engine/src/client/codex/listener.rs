//! Codex CLI: `codex exec --json`.

use std::borrow::Cow;
use std::collections::HashSet;

use convoke_domain::lane::event::{FailureKind, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::failure::told;
use crate::client::listener::{Dialect, EventQueue, Exit};
use crate::json::{count, parse, string, tokens};

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    thread_id: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    server: Option<&'a RawValue>,
    #[serde(borrow)]
    tool: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, rename = "input_tokens")]
    input: Option<&'a RawValue>,
    #[serde(borrow, rename = "cached_input_tokens")]
    cached: Option<&'a RawValue>,
    #[serde(borrow, rename = "output_tokens")]
    output: Option<&'a RawValue>,
    #[serde(borrow, rename = "reasoning_output_tokens")]
    reasoning: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Error<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

/// The output format of Codex.
#[derive(Debug, Default)]
pub(super) struct Codex {
    /// Tools that have started and not yet ended.
    running: HashSet<String>,
}

impl Dialect for Codex {
    fn line(&mut self, line: &str, said: &mut EventQueue) -> Option<()> {
        let line: Line<'_> = serde_json::from_str(line).ok()?;
        match line.kind.as_ref() {
            "thread.started" => said.session(&string(line.thread_id)?),
            "item.started" | "item.completed" => self.item(&line, &parse(line.item)?, said),
            "turn.completed" => {
                if let Some(usage) = usage(line.usage) {
                    said.usage(usage);
                }
                said.ends_well(None);
            }
            "turn.failed" => {
                let error: Option<Error<'_>> = parse(line.error);
                let words = error.and_then(|error| string(error.message));
                said.ends_in(told(&words.unwrap_or(Cow::Borrowed("the turn failed"))));
            }
            // It continues: it connects again, or the end of the turn will follow.
            "error" => said.trouble(told(&string(line.message)?)),
            _ => return None,
        }
        Some(())
    }

    fn exits(&mut self, exit: &Exit, said: &mut EventQueue) {
        let by_code = (exit.code == Some(2)).then_some(FailureKind::RefusedFlags);
        if let (false, Some(failure)) = (said.has_ended(), exit.failure(by_code)) {
            said.trouble(failure);
        }
    }
}

impl Codex {
    fn item(&mut self, line: &Line<'_>, item: &Item<'_>, said: &mut EventQueue) {
        let is_completed = line.kind == "item.completed";
        match item.kind.as_ref() {
            "agent_message" if is_completed => said.text(&string(item.text).unwrap_or_default()),
            "command_execution" | "mcp_tool_call" | "file_change" | "web_search" => {
                let id = string(item.id).unwrap_or_default().into_owned();
                let name = name(item);
                if is_completed {
                    self.tool_ends(&id, &name, said);
                } else {
                    self.tool_starts(id, &name, said);
                }
            }
            // Most are warnings.
            "error" if is_completed => {
                let failure = told(&string(item.message).unwrap_or_default());
                if failure.kind != FailureKind::Other {
                    said.trouble(failure);
                }
            }
            _ => {}
        }
    }

    /// Reports a tool at its start.
    fn tool_starts(&mut self, id: String, name: &str, said: &mut EventQueue) {
        if self.running.insert(id) {
            said.tool(name);
        }
    }

    /// Reports a tool at its end, if the client did not report the start.
    fn tool_ends(&mut self, id: &str, name: &str, said: &mut EventQueue) {
        if !self.running.remove(id) {
            said.tool(name);
        }
    }
}

fn name(item: &Item<'_>) -> String {
    match (string(item.server), string(item.tool)) {
        (Some(server), Some(tool)) => format!("{server}.{tool}"),
        _ => item.kind.clone().into_owned(),
    }
}

/// The cached tokens are among the input, those of reasoning among the output.
fn usage(value: Option<&RawValue>) -> Option<Usage> {
    let said: Tokens<'_> = parse(value)?;
    Some(Usage {
        input: tokens(said.input)?,
        cached: count(said.cached),
        output: tokens(said.output)?,
        reasoning: count(said.reasoning),
        micro_dollars: None,
    })
}
