//! A lane of the ledger, as reports show it.

use convoke_domain::lane::budget::dollars;
use convoke_domain::lane::event::{FailureKind, Usage};
use convoke_domain::lane::ledger::LaneEntry;
use convoke_domain::lane::outcome::{LaneOutcome, ProcessEnd};
use convoke_domain::message::day_and_hours;
use convoke_domain::text::one_line;
use jiff::Timestamp;
use jiff::tz::Offset;
use serde::Serialize;

/// A lane, as the ledger records it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneEntryReport {
    /// The lane's number.
    pub id: i64,
    /// `running`, or how it ended.
    pub state: &'static str,
    /// The agent that answered.
    pub agent: String,
    /// The agent's role.
    pub role: Option<String>,
    /// The phase of the run.
    pub phase: Option<String>,
    /// The run that the lane is part of.
    pub run: Option<String>,
    /// The name of the project that the lane worked in.
    pub project: String,
    /// The branch that was checked out when the lane began.
    pub branch: String,
    /// The requested model.
    pub asked_model: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// `read` or `write`.
    pub rights: &'static str,
    /// The client session that it resumed.
    pub resumed_from: Option<String>,
    /// The client session.
    pub session: Option<String>,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub ended_at: Option<String>,
    /// How long it took, in milliseconds.
    pub took_ms: Option<u64>,
    /// How its client ended.
    pub end: Option<String>,
    /// Why there is no answer, and of what kind that is.
    pub trouble: Option<String>,
    /// The kind of failure.
    pub trouble_kind: Option<&'static str>,
    /// How many bytes its client printed.
    pub bytes: Option<u64>,
    /// The usage, if known.
    pub spent: Option<SpentReport>,
    /// How many characters the prompt had.
    pub prompt_chars: u64,
    /// The SHA-256 of the prompt.
    pub prompt_hash: String,
    /// The folder with the output of the client.
    pub kept_in: Option<String>,
    /// The process of Convoke that ran it.
    pub pid: u32,
}

/// The usage of one run; Convoke subtracts the client's counts for earlier runs of the session.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpentReport {
    /// Tokens of the prompts.
    pub input_tokens: u64,
    /// Tokens of the prompts that came from a cache.
    pub cached_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// Tokens of the answers that were thinking.
    pub reasoning_tokens: u64,
    /// Money, in millionths of a dollar.
    pub micro_dollars: Option<u64>,
}

impl From<Usage> for SpentReport {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input,
            cached_tokens: usage.cached,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
            micro_dollars: usage.micro_dollars,
        }
    }
}

impl LaneEntryReport {
    /// Reports a lane of the ledger.
    pub fn new(entry: &LaneEntry) -> Self {
        let LaneEntry { id, scope, begun, over } = entry;
        let over = over.as_ref();
        Self {
            id: *id,
            state: entry.state(),
            agent: begun.agent.clone(),
            role: begun.purpose.role.clone(),
            phase: begun.purpose.phase.clone(),
            run: begun.purpose.run.clone(),
            project: scope.project.clone(),
            branch: scope.branch.clone(),
            asked_model: begun.asked_model.clone(),
            model: over.and_then(|over| over.model.clone()),
            rights: if begun.writes { "write" } else { "read" },
            resumed_from: begun.resumed_from.clone(),
            session: over.and_then(|over| over.session.clone()),
            started_at: begun.at.to_string(),
            ended_at: over.map(|over| over.at.to_string()),
            took_ms: over.and_then(|over| over.took_ms),
            end: over.and_then(|over| over.end.clone()),
            trouble: over.and_then(|over| over.why.clone()),
            trouble_kind: over.and_then(|over| over.failure).map(FailureKind::name),
            bytes: over.and_then(|over| over.bytes),
            spent: entry.spent().map(SpentReport::from),
            prompt_chars: begun.prompt_chars,
            prompt_hash: begun.prompt_hash.clone(),
            kept_in: begun.kept_in.clone(),
            pid: begun.owner.pid,
        }
    }

    /// Returns all facts, a line each.
    pub fn lines(&self, clock: Offset) -> String {
        let text = |value: &Option<String>| value.clone();
        let time = |text: &str| text.parse().map_or(text.to_owned(), |at| shown(at, clock));
        let spent = self.spent.as_ref();
        let tokens = |spent: &SpentReport| {
            format!(
                "{} tokens in ({} cached), {} out ({} reasoning)",
                spent.input_tokens,
                spent.cached_tokens,
                spent.output_tokens,
                spent.reasoning_tokens
            )
        };
        let unknown = || "unknown".to_owned();
        let rows = [
            ("lane", Some(self.id.to_string())),
            ("state", Some(shown_state(self.state).to_owned())),
            ("agent", Some(self.agent.clone())),
            ("role", text(&self.role)),
            ("phase", text(&self.phase)),
            ("run", text(&self.run)),
            ("project", Some(format!("{} ({})", self.project, self.branch))),
            ("asked model", text(&self.asked_model)),
            ("model", text(&self.model)),
            ("rights", Some(self.rights.to_owned())),
            ("resumed", text(&self.resumed_from)),
            ("session", text(&self.session)),
            ("began", Some(time(&self.started_at))),
            ("ended", self.ended_at.as_deref().map(time)),
            ("took", self.took_ms.map(seconds)),
            ("end", self.end.as_deref().map(shown_end)),
            ("why", text(&self.trouble)),
            ("said", self.bytes.map(|bytes| format!("{bytes} bytes"))),
            ("spent", spent.map(tokens).or_else(|| self.ended_at.as_ref().map(|_| unknown()))),
            ("cost", spent.and_then(|spent| spent.micro_dollars).map(dollars)),
            ("prompt", Some(format!("{}, {}", characters(self.prompt_chars), self.prompt_hash))),
            ("kept in", text(&self.kept_in)),
            ("process", Some(self.pid.to_string())),
        ];
        let line = |(name, value): (&str, Option<String>)| {
            Some(format!("{name:<12} {}\n", one_line(&value?)))
        };
        rows.into_iter().filter_map(line).collect()
    }
}

fn shown_state(state: &'static str) -> &'static str {
    LaneOutcome::parse(state).map_or(state, LaneOutcome::state)
}

fn shown_end(end: &str) -> String {
    ProcessEnd::parse(end).map_or_else(|| end.to_owned(), ProcessEnd::words)
}

fn characters(count: u64) -> String {
    if count == 1 { "1 character".to_owned() } else { format!("{count} characters") }
}

/// Shows a time by a clock.
pub fn shown(at: Timestamp, clock: Offset) -> String {
    day_and_hours(at, clock)
}

/// Shows a duration in seconds.
pub fn seconds(milliseconds: u64) -> String {
    format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100)
}
