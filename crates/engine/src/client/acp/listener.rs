//! What the bridge's lines mean.

use std::borrow::Cow;

use convoke_domain::lane::event::{FailureKind, GrantedRights, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::failure::{failure, readable};
use crate::client::listener::{Dialect, EventQueue};
use crate::json::{micro_dollars, more_tokens, parse, string, tokens};

/// The most characters of a tool's name.
const MOST_NAME: usize = 80;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    acp: Cow<'a, str>,
    #[serde(borrow)]
    to: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    mode: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    words: Option<Cow<'a, str>>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    answer: Option<Cow<'a, str>>,
    #[serde(borrow)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stop: Option<Cow<'a, str>>,
    #[serde(borrow)]
    torn: Option<Cow<'a, str>>,
    bytes: Option<u64>,
}

#[derive(Deserialize)]
struct Notified<'a> {
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Update<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    kind: Cow<'a, str>,
    #[serde(borrow, rename = "kind")]
    tool: Option<&'a RawValue>,
    #[serde(borrow)]
    title: Option<&'a RawValue>,
    #[serde(borrow)]
    cost: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// The model that Claude Code asked for this step.
#[derive(Deserialize)]
struct StepModel<'a> {
    #[serde(borrow, rename = "_claude/model")]
    model: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Cost<'a> {
    #[serde(borrow)]
    amount: Option<&'a RawValue>,
    #[serde(borrow)]
    currency: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Answered<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TurnResult<'a> {
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Counted<'a> {
    #[serde(borrow, rename = "totalTokens")]
    total: Option<&'a RawValue>,
    #[serde(borrow, rename = "inputTokens")]
    input: Option<&'a RawValue>,
    #[serde(borrow, rename = "outputTokens")]
    output: Option<&'a RawValue>,
    #[serde(borrow, rename = "thoughtTokens")]
    thought: Option<&'a RawValue>,
    #[serde(borrow, rename = "cachedReadTokens")]
    read: Option<&'a RawValue>,
    #[serde(borrow, rename = "cachedWriteTokens")]
    write: Option<&'a RawValue>,
}

/// Gemini's place for counters.
#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    quota: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Quota<'a> {
    #[serde(borrow)]
    token_count: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TokenCount<'a> {
    #[serde(borrow)]
    input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    output_tokens: Option<&'a RawValue>,
}

/// The output of the bridge.
#[derive(Debug, Default)]
pub(super) struct Acp {
    cost: Option<u64>,
}

impl Dialect for Acp {
    fn line(&mut self, line: &str, said: &mut EventQueue) -> Option<()> {
        let line: Line<'_> = serde_json::from_str(line).ok()?;
        match line.acp.as_ref() {
            "session" => introduce(&line, said),
            "text" => said.text(&line.text.unwrap_or_default()),
            "update" => self.update(line.message, said),
            "answer" => {
                if line.to.as_deref() == Some("session/prompt") {
                    self.counts(line.message, said);
                }
            }
            "end" => ends(line, said),
            "request" => denied(&line, said),
            "failed" => {
                let kind = line.kind.as_deref().and_then(FailureKind::parse);
                let words = line.words.unwrap_or_default();
                said.ends_in(failure(kind.unwrap_or(FailureKind::Other), &words));
            }
            "long_line" => {
                let bytes = line.bytes.unwrap_or_default();
                let words =
                    format!("the agent sent a line of {bytes} bytes, which Convoke does not read");
                said.trouble(failure(FailureKind::LongLine, &words));
            }
            "replay" | "stray" => {}
            // Among them lines that the bridge could not read.
            _ => return None,
        }
        Some(())
    }
}

fn introduce(line: &Line<'_>, said: &mut EventQueue) {
    said.session(line.id.as_deref().unwrap_or_default());
    said.model(line.model.as_deref().unwrap_or_default());
    if let Some(mode) = &line.mode {
        said.rights(GrantedRights { mode: Some(mode.to_string()), tools: Vec::new() });
    }
}

/// Records a request of the agent that Convoke did not grant.
fn denied(line: &Line<'_>, said: &mut EventQueue) {
    let method = line.method.as_deref().unwrap_or_default();
    let words = match line.answer.as_deref() {
        Some("allowed") => return,
        Some("denied") => {
            format!("Convoke denied the agent: {}", line.title.as_deref().unwrap_or_default())
        }
        _ => format!("Convoke refused the agent's request {method}, which it does not offer"),
    };
    said.trouble(failure(FailureKind::Other, &words));
}

impl Acp {
    fn update(&mut self, message: Option<&RawValue>, said: &mut EventQueue) {
        let params = parse::<Notified<'_>>(message).and_then(|notified| notified.params);
        let update = parse::<Params<'_>>(params).and_then(|params| params.update);
        let Some(update) = parse::<Update<'_>>(update) else { return };
        match update.kind.as_ref() {
            "tool_call" => said.tool(&tool_name(&update)),
            "usage_update" => {
                self.cost = cost(&update).or(self.cost);
                let model = parse::<StepModel<'_>>(update.meta).and_then(|step| string(step.model));
                said.model(&model.unwrap_or_default());
            }
            _ => {}
        }
    }

    fn counts(&self, message: Option<&RawValue>, said: &mut EventQueue) {
        let result = parse::<Answered<'_>>(message).and_then(|answered| answered.result);
        if let Some(usage) = parse::<TurnResult<'_>>(result).as_ref().and_then(usage) {
            said.usage(Usage { micro_dollars: self.cost, ..usage });
        }
    }
}

/// Judges how a turn ended. Only one that the agent ended itself, with every piece, is an answer.
fn ends(line: Line<'_>, said: &mut EventQueue) {
    let answer = line.answer.map(Cow::into_owned);
    let (kind, words) = match (line.stop.as_deref(), line.torn) {
        // The answer may be empty: a text before the last tool does not count.
        (Some("end_turn"), None) => return said.ends_well(answer),
        (Some("end_turn"), Some(torn)) => (FailureKind::Other, torn.into_owned()),
        (Some("max_tokens"), _) => {
            (FailureKind::CutOff, "the answer reached its greatest length".to_owned())
        }
        (Some("max_turn_requests"), _) => (
            FailureKind::OverBudget,
            "the agent reached its greatest number of requests".to_owned(),
        ),
        (Some("refusal"), _) => (FailureKind::Other, "the agent refuses to answer".to_owned()),
        (Some(other), _) => {
            (FailureKind::Other, format!("the agent ended its turn with `{other}`"))
        }
        (None, _) => (FailureKind::Other, "the agent did not say how its turn ended".to_owned()),
    };
    said.text(&answer.unwrap_or_default());
    said.ends_in(failure(kind, &words));
}

fn tool_name(update: &Update<'_>) -> String {
    let name = string(update.tool).or_else(|| string(update.title)).unwrap_or_default();
    let name: String = readable(&name).chars().take(MOST_NAME).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

fn cost(update: &Update<'_>) -> Option<u64> {
    let cost: Cost<'_> = parse(update.cost)?;
    let is_dollars = string(cost.currency).is_none_or(|currency| currency == "USD");
    micro_dollars(cost.amount).filter(|_| is_dollars)
}

fn usage(result: &TurnResult<'_>) -> Option<Usage> {
    if let Some(counted) = parse::<Counted<'_>>(result.usage) {
        return counted.usage();
    }
    let quota = parse::<Meta<'_>>(result.meta).and_then(|meta| meta.quota);
    let count: TokenCount<'_> = parse(parse::<Quota<'_>>(quota)?.token_count)?;
    let (input, output) = (tokens(count.input_tokens)?, tokens(count.output_tokens)?);
    Some(Usage { input, output, ..Usage::default() })
}

impl Counted<'_> {
    /// Some agents count cached tokens and thoughts among the others, some beside them; the total
    /// tells which.
    fn usage(&self) -> Option<Usage> {
        let (input, output) = (tokens(self.input)?, tokens(self.output)?);
        let (read, write) = (more_tokens(self.read)?, more_tokens(self.write)?);
        let thought = more_tokens(self.thought)?;
        let cached = read.saturating_add(write);
        let total = tokens(self.total);
        let counts = [(0, 0), (cached, 0), (0, thought), (cached, thought)];
        let fits = |(more_input, more_output): &&(u64, u64)| {
            let sum = [input, *more_input, output, *more_output].iter().sum::<u64>();
            total == Some(sum)
        };
        let (more_input, more_output) = counts.iter().find(fits).copied().unwrap_or_default();
        let input = input.saturating_add(more_input);
        Some(Usage {
            input,
            cached: read.min(input),
            output: output.saturating_add(more_output),
            reasoning: thought,
            micro_dollars: None,
        })
    }
}
