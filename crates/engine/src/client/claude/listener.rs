//! Claude Code: `claude -p` with `--output-format stream-json`.

use convoke_domain::lane::event::{FailureKind, LaneFailure, Usage};
use convoke_domain::lane::reset::{ResetHint, later_hint};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::failure::{answered, failure};
use crate::client::listener::{Dialect, EventQueue};
use crate::client::message_line::Line;
use crate::json::{count, micro_dollars, more_tokens, parse, string, tokens};

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, rename = "input_tokens")]
    input: Option<&'a RawValue>,
    #[serde(borrow, rename = "cache_creation_input_tokens")]
    cache_write: Option<&'a RawValue>,
    #[serde(borrow, rename = "cache_read_input_tokens")]
    cache_read: Option<&'a RawValue>,
    #[serde(borrow, rename = "output_tokens")]
    output: Option<&'a RawValue>,
    #[serde(borrow, rename = "output_tokens_details")]
    details: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Details<'a> {
    #[serde(borrow, rename = "thinking_tokens")]
    thinking: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RateLimitInfo<'a> {
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow, rename = "resetsAt")]
    resets_at: Option<&'a RawValue>,
}

/// The output format of Claude Code.
#[derive(Debug, Default)]
pub(super) struct Claude {
    /// When the limit ends that the service last refused for.
    reset: Option<ResetHint>,
}

impl Dialect for Claude {
    fn line(&mut self, line: &str, said: &mut EventQueue) -> Option<()> {
        let line = Line::parse(line).filter(Line::is_of_a_session)?;
        line.introduce(said);
        match (line.kind.as_ref(), line.subtype().as_ref()) {
            ("system", "api_retry") => said.trouble(self.trouble(&line, &line.failure_words())),
            ("assistant", _) => self.assistant(&line, said),
            // Several limits may be reached; the agent works again after the last of them.
            ("rate_limit_event", _) => {
                self.reset = match (self.reset, reset(&line)) {
                    (Some(earlier), Some(found)) => later_hint(earlier, found),
                    (earlier, found) => found.or(earlier),
                }
            }
            ("result", _) => self.result(&line, said),
            _ => {}
        }
        Some(())
    }
}

impl Claude {
    fn assistant(&self, line: &Line<'_>, said: &mut EventQueue) {
        // The client's own message about an error looks like the agent's text.
        if parse::<bool>(line.is_api_error_message) == Some(true) {
            return said.trouble(self.trouble(line, &line.message_text()));
        }
        let is_models_own = |model: &&str| *model != "<synthetic>" && !line.is_subagent();
        said.model(line.message_model().filter(is_models_own).unwrap_or_default());
        line.speak(said);
    }

    fn trouble(&self, line: &Line<'_>, words: &str) -> LaneFailure {
        let failure = answered(count(line.error_status), words);
        let reset = self.reset.filter(|_| failure.kind == FailureKind::RateLimited);
        LaneFailure { reset, ..failure }
    }

    fn result(&self, line: &Line<'_>, said: &mut EventQueue) {
        if let Some(usage) = usage(line) {
            said.usage(usage);
        }
        if !line.is_failure() {
            return said.ends_well(line.answer());
        }
        let words = line.failure_words();
        said.ends_in(match line.subtype().as_ref() {
            "error_max_turns" | "error_max_budget_usd" => failure(FailureKind::OverBudget, &words),
            _ => self.trouble(line, &words),
        });
    }
}

/// Returns when a limit ends that the service refuses for. While it only warns, nothing is refused.
fn reset(line: &Line<'_>) -> Option<ResetHint> {
    let info: RateLimitInfo<'_> = parse(line.rate_limit_info)?;
    let is_refused = string(info.status).as_deref() == Some("rejected");
    let at = Timestamp::from_second(parse(info.resets_at)?).ok()?;
    is_refused.then_some(ResetHint::At(at))
}

/// The tokens that came from a cache, or went to one, are not among the others.
fn usage(line: &Line<'_>) -> Option<Usage> {
    let said: Tokens<'_> = parse(line.usage)?;
    let details: Option<Details<'_>> = parse(said.details);
    let (cached, written) = (more_tokens(said.cache_read)?, more_tokens(said.cache_write)?);
    Some(Usage {
        input: tokens(said.input)?.saturating_add(written).saturating_add(cached),
        cached,
        output: tokens(said.output)?,
        reasoning: count(details.and_then(|details| details.thinking)),
        micro_dollars: micro_dollars(line.total_cost_usd),
    })
}
