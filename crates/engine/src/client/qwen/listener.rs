//! Qwen Code, with `--output-format stream-json`.

use std::borrow::Cow;

use convoke_domain::lane::event::{FailureKind, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::failure::told;
use crate::client::listener::{Dialect, EventQueue, Exit};
use crate::client::message_line::Line;
use crate::json::{count, parse, string, tokens};

/// Of a message that was begun, this much is kept.
const LONGEST_BEGINNING: usize = 1024 * 1024;

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, rename = "input_tokens")]
    input: Option<&'a RawValue>,
    #[serde(borrow, rename = "cache_read_input_tokens")]
    cached: Option<&'a RawValue>,
    #[serde(borrow, rename = "output_tokens")]
    output: Option<&'a RawValue>,
}

/// A piece of a message, or the news that it is begun anew.
#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct StreamEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Retry {
    #[serde(rename = "preserveText")]
    keeps_text: bool,
}

/// The output format of Qwen Code: Claude Code's, with other numbers and other failures.
#[derive(Debug, Default)]
pub(super) struct Qwen {
    /// The text so far of the current message.
    begun: String,
    /// The text so far when a connection broke. The client then asks again, and leaves this text
    /// before the complete answer.
    torn: String,
}

impl Dialect for Qwen {
    fn line(&mut self, text: &str, said: &mut EventQueue) -> Option<()> {
        let line = Line::parse(text).filter(Line::is_of_a_session)?;
        line.introduce(said);
        match line.kind.as_ref() {
            "assistant" => assistant(&line, said),
            "result" => self.result(&line, said),
            "stream_event" | "system" if !line.is_subagent() => {
                self.piece(text);
            }
            _ => {}
        }
        Some(())
    }

    fn exits(&mut self, exit: &Exit, said: &mut EventQueue) {
        let by_code = match exit.code {
            Some(41) => Some(FailureKind::Auth),
            // Turns; time or calls.
            Some(53 | 55) => Some(FailureKind::OverBudget),
            _ => None,
        };
        if let (false, Some(failure)) = (said.has_ended(), exit.failure(by_code)) {
            said.trouble(failure);
        }
    }
}

fn assistant(line: &Line<'_>, said: &mut EventQueue) {
    let text = line.message_text();
    // The client's own message about an error looks like the agent's text.
    if text.starts_with("[API Error:") {
        return said.trouble(told(&text));
    }
    line.speak(said);
}

fn usage(line: &Line<'_>) -> Option<Usage> {
    let said: Tokens<'_> = parse(line.usage)?;
    let (input, output) = (tokens(said.input)?, tokens(said.output)?);
    Some(Usage { input, cached: count(said.cached), output, ..Usage::default() })
}

impl Qwen {
    fn piece(&mut self, line: &str) -> Option<()> {
        let piece: Piece<'_> = serde_json::from_str(line).ok()?;
        if let Some(event) = parse::<StreamEvent<'_>>(piece.event) {
            match event.kind.as_ref() {
                "message_start" => (self.begun, self.torn) = Default::default(),
                "content_block_delta" => {
                    self.go_on(&string(parse::<Delta<'_>>(event.delta)?.text)?);
                }
                _ => {}
            }
        } else if parse::<Retry>(piece.data)?.keeps_text {
            self.torn.clone_from(&self.begun);
        }
        Some(())
    }

    fn go_on(&mut self, text: &str) {
        if self.begun.len() + text.len() <= LONGEST_BEGINNING {
            self.begun.push_str(text);
        }
    }

    /// Returns an answer without the text from before a broken connection.
    fn whole(&self, answer: String) -> String {
        let rest = answer.strip_prefix(self.torn.as_str()).filter(|rest| !rest.trim().is_empty());
        rest.map(str::to_owned).unwrap_or(answer)
    }

    fn result(&self, line: &Line<'_>, said: &mut EventQueue) {
        if let Some(usage) = usage(line) {
            said.usage(usage);
        }
        if line.is_failure() {
            said.ends_in(told(&line.failure_words()));
        } else {
            said.ends_well(line.answer().map(|answer| self.whole(answer)));
        }
    }
}
