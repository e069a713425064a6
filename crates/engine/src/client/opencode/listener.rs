//! opencode: `opencode run --format json`.

use std::borrow::Cow;

use convoke_domain::lane::event::{FailureKind, LaneFailure, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::failure::{answered, failure};
use crate::client::listener::{Dialect, EventQueue, Exit};
use crate::json::{count, micro_dollars, more_tokens, parse, string, tokens};

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, rename = "sessionID")]
    session: Option<&'a RawValue>,
    #[serde(borrow)]
    part: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, rename = "messageID")]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    tool: Option<&'a RawValue>,
    #[serde(borrow)]
    tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    cost: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    cache: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Cache<'a> {
    #[serde(borrow)]
    read: Option<&'a RawValue>,
    #[serde(borrow)]
    write: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Error<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ErrorData<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow, rename = "statusCode")]
    status: Option<&'a RawValue>,
}

/// The output format of opencode. Its exit ends the turn, and its usage is the sum of its steps.
#[derive(Debug, Default)]
pub(super) struct Opencode {
    spent: Usage,
    /// Whether a step reported no usage, so that the sum is unknown.
    is_usage_unknown: bool,
    /// The last message: its name, and its parts.
    message: (String, String),
    /// The failure since the agent's last message.
    failure: Option<LaneFailure>,
}

impl Dialect for Opencode {
    fn line(&mut self, line: &str, said: &mut EventQueue) -> Option<()> {
        let line: Line<'_> = serde_json::from_str(line).ok()?;
        said.session(&string(line.session)?);
        let part: Option<Part<'_>> = parse(line.part);
        match line.kind.as_ref() {
            "step_start" => {}
            "text" => self.text(&part?, said),
            "tool_use" => said.tool(&string(part?.tool)?),
            "step_finish" => {
                let spent = usage(&part?);
                self.is_usage_unknown |= spent.is_none();
                self.spent = self.spent.plus(spent.unwrap_or_default());
                if !self.is_usage_unknown {
                    said.usage(self.spent);
                }
            }
            "error" => {
                let failure = reported(line.error);
                self.failure = Some(failure.clone());
                said.trouble(failure);
            }
            _ => return None,
        }
        Some(())
    }

    fn forget(&mut self) {
        self.message = Default::default();
    }

    fn exits(&mut self, exit: &Exit, said: &mut EventQueue) {
        if exit.code.is_none() {
            return;
        }
        let failure = self.failure.take().or_else(|| exit.failure(None));
        let (_, answer) = std::mem::take(&mut self.message);
        match failure.or_else(|| exit.complaint.clone()) {
            Some(failure) => said.ends_in(failure),
            None if !answer.is_empty() => said.ends_well(Some(answer)),
            None => {}
        }
    }
}

impl Opencode {
    fn text(&mut self, part: &Part<'_>, said: &mut EventQueue) {
        let (name, text) = (string(part.message).unwrap_or_default(), string(part.text));
        let text = text.unwrap_or_default();
        let (last, words) = &mut self.message;
        if *last == name && !words.is_empty() {
            words.push('\n');
            words.push_str(&text);
        } else {
            self.message = (name.into_owned(), text.clone().into_owned());
        }
        self.failure = None;
        said.text(&text);
    }
}

/// Neither cached tokens nor those of reasoning are among the others.
fn usage(part: &Part<'_>) -> Option<Usage> {
    let said: Tokens<'_> = parse(part.tokens)?;
    let cache: Option<Cache<'_>> = parse(said.cache);
    let (read, write) = cache.map_or((None, None), |cache| (cache.read, cache.write));
    let (read, write) = (more_tokens(read)?, more_tokens(write)?);
    let reasoning = more_tokens(said.reasoning)?;
    Some(Usage {
        input: tokens(said.input)?.saturating_add(read).saturating_add(write),
        cached: read,
        output: tokens(said.output)?.saturating_add(reasoning),
        reasoning,
        micro_dollars: micro_dollars(part.cost),
    })
}

fn reported(error: Option<&RawValue>) -> LaneFailure {
    let error: Option<Error<'_>> = parse(error);
    let name = error.as_ref().and_then(|error| string(error.name)).unwrap_or_default();
    let data: Option<ErrorData<'_>> = parse(error.as_ref().and_then(|error| error.data));
    let words = data.as_ref().and_then(|data| string(data.message)).unwrap_or_else(|| name.clone());
    if name == "ProviderAuthError" {
        return failure(FailureKind::Auth, &words);
    }
    answered(count(data.and_then(|data| data.status)), &words)
}
