//! A lane as telemetry shows it, and the phase that several lanes make up.

use jiff::Timestamp;

use super::names;
use super::span::{Attribute, AttributeValue, ChatMessage, FinishedSpan, SpanKind};
use super::trace::SpanId;
use crate::design::progress::Step;
use crate::lane::event::Usage;
use crate::lane::ledger::Purpose;
use crate::lane::outcome::LaneOutcome;

/// The longest prompt or answer that is sent, in characters.
const LONGEST_CONTENT: usize = 64 * 1024;

/// The agent of a lane, in the words of the conventions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetryAgent {
    /// The operation: that of an agent, or of a model's API.
    pub operation: &'static str,
    /// The agent's name, without any path.
    pub name: String,
    /// The provider of its model.
    pub provider: String,
}

/// A prompt and its answer, for users who want them sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneContent {
    /// The whole prompt, as Convoke sent it.
    pub prompt: String,
    /// The answer, if there is one.
    pub answer: Option<String>,
}

/// A lane that ended.
#[derive(Debug, Clone)]
pub struct FinishedLane {
    /// The lane's number in the ledger, if the store could record it.
    pub number: Option<i64>,
    /// The agent that worked in the lane.
    pub agent: TelemetryAgent,
    /// The lane's purpose.
    pub purpose: Purpose,
    /// The seat of a design that it is of.
    pub seat: Option<String>,
    /// The requested model.
    pub asked_model: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The client's session.
    pub session: Option<String>,
    /// Whether the agent might change files.
    pub writes: bool,
    /// How the lane ended.
    pub outcome: LaneOutcome,
    /// How many times the agent used a tool.
    pub tools: u64,
    /// Whether a recording answered.
    pub is_recorded: bool,
    /// What it spent, if known.
    pub usage: Option<Usage>,
    /// Whether the agent reports only a part of that.
    pub is_partial: bool,
    /// The prompt and the answer, if the user wants them sent.
    pub content: Option<LaneContent>,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
}

impl FinishedLane {
    /// Returns the word for its error, if it ended in one.
    pub fn error(&self) -> Option<&'static str> {
        (self.outcome != LaneOutcome::Answered).then(|| self.outcome.name())
    }

    /// Returns what metrics tell lanes apart by.
    pub fn dimensions(&self) -> Vec<Attribute> {
        let TelemetryAgent { operation, name, provider } = &self.agent;
        let model =
            |key, model: &Option<String>| model.as_deref().map(|model| Attribute::text(key, model));
        let mut all = vec![
            Attribute::text(names::OPERATION_NAME, operation),
            Attribute::text(names::PROVIDER_NAME, provider),
            Attribute::text(names::AGENT_NAME, name),
        ];
        all.extend(model(names::REQUEST_MODEL, &self.asked_model));
        all.extend(model(names::RESPONSE_MODEL, &self.model));
        all
    }

    /// Returns its span.
    pub fn span(&self, id: SpanId, parent: Option<SpanId>) -> FinishedSpan {
        let TelemetryAgent { operation, name, .. } = &self.agent;
        let object = match (*operation, &self.asked_model) {
            (names::CHAT, Some(model)) => model,
            _ => name,
        };
        let mut attributes = self.dimensions();
        attributes.extend(self.facts());
        attributes.extend(self.usage.iter().flat_map(usage));
        attributes.extend(self.is_partial.then(|| Attribute::mark(names::PARTIAL_USAGE)));
        attributes.extend(self.content.iter().flat_map(|content| messages(content, self.outcome)));
        FinishedSpan {
            id,
            parent,
            name: format!("{operation} {object}"),
            kind: SpanKind::Client,
            began: self.began,
            ended: self.ended,
            attributes,
            error: self.error(),
        }
    }

    fn facts(&self) -> Vec<Attribute> {
        let Purpose { run, role, phase } = &self.purpose;
        let texts = [
            (names::RUN_ID, run.as_deref()),
            (names::PHASE, phase.as_deref()),
            (names::ROLE, role.as_deref()),
            (names::SEAT, self.seat.as_deref()),
            (names::CONVERSATION_ID, self.session.as_deref()),
            (names::RIGHTS, Some(if self.writes { "write" } else { "read" })),
            (names::OUTCOME, Some(self.outcome.name())),
            (names::ERROR_TYPE, self.error()),
        ];
        let text = |(key, text): (&str, Option<&str>)| Some(Attribute::text(key, text?));
        let mut facts: Vec<_> = texts.into_iter().filter_map(text).collect();
        let number = self.number.and_then(|number| u64::try_from(number).ok());
        facts.extend(number.map(|number| Attribute::whole(names::LANE_ID, number)));
        facts.push(Attribute::whole(names::TOOL_CALLS, self.tools));
        facts.extend(self.is_recorded.then(|| Attribute::mark(names::RECORDED)));
        facts
    }
}

fn usage(usage: &Usage) -> Vec<Attribute> {
    let mut all = vec![
        Attribute::whole(names::INPUT_TOKENS, usage.input),
        Attribute::whole(names::CACHED_TOKENS, usage.cached),
        Attribute::whole(names::OUTPUT_TOKENS, usage.output),
        Attribute::whole(names::REASONING_TOKENS, usage.reasoning),
    ];
    all.extend(usage.micro_dollars.map(|micro| Attribute::real(names::COST_USD, dollars(micro))));
    all
}

/// Returns dollars.
#[expect(clippy::cast_precision_loss, reason = "no lane costs billions of dollars")]
pub(super) fn dollars(micro: u64) -> f64 {
    micro as f64 / 1_000_000.0
}

/// Returns the prompt and the answer, each as the one message of a conversation.
fn messages(content: &LaneContent, outcome: LaneOutcome) -> Vec<Attribute> {
    let finish_reason = if outcome == LaneOutcome::Answered { "stop" } else { "error" };
    let message = |key: &str, role, text: &str, finish_reason| Attribute {
        key: key.to_owned(),
        value: AttributeValue::Message(ChatMessage {
            role,
            text: text.chars().take(LONGEST_CONTENT).collect(),
            finish_reason,
        }),
    };
    let prompt = message(names::INPUT_MESSAGES, "user", &content.prompt, None);
    let answer = content
        .answer
        .as_deref()
        .map(|answer| message(names::OUTPUT_MESSAGES, "assistant", answer, Some(finish_reason)));
    std::iter::once(prompt).chain(answer).collect()
}

/// Returns the span of a phase: from the beginning of its first lane to the end of its last.
pub fn phase_span(
    lanes: &[FinishedLane],
    id: SpanId,
    parent: Option<SpanId>,
) -> Option<FinishedSpan> {
    let began = lanes.iter().map(|lane| lane.began).min()?;
    let ended = lanes.iter().map(|lane| lane.ended).max()?;
    let Purpose { run, phase, .. } = &lanes.first()?.purpose;
    let number = phase.as_deref()?;
    let name = match Step::parse(number) {
        Some(step) => step.name(),
        None => number,
    };
    let mut attributes = vec![Attribute::text(names::PHASE, number)];
    attributes.extend(run.as_deref().map(|run| Attribute::text(names::RUN_ID, run)));
    Some(FinishedSpan {
        id,
        parent,
        name: format!("{} {name}", names::PHASE_SPAN),
        kind: SpanKind::Internal,
        began,
        ended,
        attributes,
        error: None,
    })
}
