//! Gemini CLI, with `--output-format stream-json`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use convoke_domain::lane::event::{FailureKind, LaneFailure, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::failure::{answered, complaint, of_status, told};
use crate::client::listener::{Dialect, EventQueue, Exit};
use crate::json::{count, more_tokens, parse, string, tokens};

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_name: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    stats: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Stats<'a> {
    #[serde(borrow)]
    total_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    output_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    cached: Option<&'a RawValue>,
    #[serde(borrow)]
    models: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Error<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    code: Option<&'a RawValue>,
}

/// The JSON on stderr when no events were requested.
#[derive(Deserialize)]
struct Report<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The output format of Gemini.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    /// A message comes in pieces; these are the pieces so far.
    message: String,
    /// The last failure: an end in an error does not always name it.
    trouble: Option<LaneFailure>,
    /// The failure at the end of the turn, if its words did not show the kind.
    unknown: Option<LaneFailure>,
}

impl Dialect for Gemini {
    fn line(&mut self, line: &str, said: &mut EventQueue) -> Option<()> {
        let line: Line<'_> = serde_json::from_str(line).ok()?;
        match line.kind.as_ref() {
            "init" => {
                said.session(&string(line.session_id)?);
                said.model(&string(line.model).unwrap_or_default());
            }
            "message" if string(line.role)? == "assistant" => {
                self.message.push_str(&string(line.content)?);
            }
            "message" => self.finish_message(said),
            "tool_use" => {
                let name = string(line.tool_name)?;
                self.finish_message(said);
                said.tool(&name);
            }
            "error" => {
                let failure = told(&string(line.message)?);
                self.trouble = Some(failure.clone());
                said.trouble(failure);
            }
            "result" => self.result(&string(line.status)?, &line, said),
            _ => return None,
        }
        Some(())
    }

    fn complaint(&self, line: &str) -> Option<LaneFailure> {
        let report: Option<Report<'_>> = serde_json::from_str(line).ok();
        report.and_then(|report| reported(report.error)).or_else(|| complaint(line))
    }

    fn forget(&mut self) {
        self.message.clear();
    }

    fn exits(&mut self, exit: &Exit, said: &mut EventQueue) {
        self.finish_message(said);
        let by_code = exit.code.and_then(of_code);
        if let (Some(failure), Some(kind)) = (self.unknown.take(), by_code) {
            return said.ends_in(LaneFailure { kind, ..failure });
        }
        if let (false, Some(failure)) = (said.has_ended(), exit.failure(by_code)) {
            said.trouble(failure);
        }
    }
}

impl Gemini {
    fn finish_message(&mut self, said: &mut EventQueue) {
        said.text(&std::mem::take(&mut self.message));
    }

    fn result(&mut self, status: &str, line: &Line<'_>, said: &mut EventQueue) {
        self.finish_message(said);
        if let Some(stats) = parse::<Stats<'_>>(line.stats) {
            if let Some(usage) = usage(&stats) {
                said.usage(usage);
            }
            said.model(&only_model(stats.models).unwrap_or_default());
        }
        if status == "success" {
            return said.ends_well(None);
        }
        let failure = reported(line.error).or_else(|| self.trouble.take());
        let failure = failure.unwrap_or_else(|| told(status));
        self.unknown = Some(failure.clone()).filter(|failure| failure.kind == FailureKind::Other);
        said.ends_in(failure);
    }
}

fn reported(error: Option<&RawValue>) -> Option<LaneFailure> {
    let error: Error<'_> = parse(error)?;
    Some(answered(count(error.code), &string(error.message)?))
}

/// Its code is one of its own, or an HTTP status of which only the lowest eight bits are left.
fn of_code(code: i32) -> Option<FailureKind> {
    match code {
        41 => Some(FailureKind::Auth),
        53 => Some(FailureKind::OverBudget),
        _ => {
            let status = u64::try_from(code).ok()?.saturating_add(256);
            Some(of_status(status)).filter(|kind| *kind != FailureKind::Other)
        }
    }
}

/// The first event gives the requested name; this one gives the model behind it. If several models
/// worked, the answer's model is unknown.
fn only_model(value: Option<&RawValue>) -> Option<String> {
    let models: BTreeMap<String, &RawValue> = parse(value)?;
    let mut names = models.into_keys();
    let first = names.next()?;
    names.next().is_none().then_some(first)
}

/// The cached tokens are among the input. Those of thinking are only in the total.
fn usage(stats: &Stats<'_>) -> Option<Usage> {
    let (input, output) = (tokens(stats.input_tokens)?, tokens(stats.output_tokens)?);
    let reasoning = more_tokens(stats.total_tokens)?.saturating_sub(input.saturating_add(output));
    Some(Usage {
        input,
        cached: count(stats.cached),
        output: output.saturating_add(reasoning),
        reasoning,
        micro_dollars: None,
    })
}
