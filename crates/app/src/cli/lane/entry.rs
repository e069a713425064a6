//! A lane of the ledger, as it is shown.

use convoke_domain::lane::cap::dollars;
use convoke_domain::lane::event::{FailureKind, Usage};
use convoke_domain::lane::ledger::LaneEntry;
use convoke_domain::text::one_line;
use jiff::Timestamp;
use jiff::tz::Offset;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct EntryReport<'a> {
    pub(super) id: i64,
    pub(super) state: &'static str,
    pub(super) agent: &'a str,
    pub(super) role: Option<&'a str>,
    pub(super) phase: Option<&'a str>,
    pub(super) run: Option<&'a str>,
    pub(super) project: &'a str,
    pub(super) branch: &'a str,
    pub(super) asked_model: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    pub(super) rights: &'static str,
    pub(super) resumed_from: Option<&'a str>,
    pub(super) session: Option<&'a str>,
    pub(super) started_at: String,
    pub(super) ended_at: Option<String>,
    pub(super) took_ms: Option<u64>,
    pub(super) end: Option<&'a str>,
    /// Why there is no answer, and of what kind that is.
    pub(super) trouble: Option<&'a str>,
    pub(super) trouble_kind: Option<&'static str>,
    pub(super) bytes: Option<u64>,
    pub(super) spent: Option<SpentReport>,
    pub(super) prompt_chars: u64,
    pub(super) prompt_hash: &'a str,
    pub(super) kept_in: Option<&'a str>,
    pub(super) pid: u32,
}

/// What one run spent, whatever its client counts.
#[derive(Serialize)]
pub(in crate::cli) struct SpentReport {
    pub(in crate::cli) input_tokens: u64,
    pub(in crate::cli) cached_tokens: u64,
    pub(in crate::cli) output_tokens: u64,
    pub(in crate::cli) reasoning_tokens: u64,
    pub(in crate::cli) micro_dollars: Option<u64>,
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

impl<'a> EntryReport<'a> {
    pub(super) fn new(entry: &'a LaneEntry) -> Self {
        let LaneEntry { id, scope, begun, over } = entry;
        let over = over.as_ref();
        Self {
            id: *id,
            state: entry.state(),
            agent: &begun.agent,
            role: begun.purpose.role.as_deref(),
            phase: begun.purpose.phase.as_deref(),
            run: begun.purpose.run.as_deref(),
            project: &scope.project,
            branch: &scope.branch,
            asked_model: begun.asked_model.as_deref(),
            model: over.and_then(|it| it.model.as_deref()),
            rights: if begun.writes { "write" } else { "read" },
            resumed_from: begun.resumed_from.as_deref(),
            session: over.and_then(|it| it.session.as_deref()),
            started_at: begun.at.to_string(),
            ended_at: over.map(|it| it.at.to_string()),
            took_ms: over.and_then(|it| it.took_ms),
            end: over.and_then(|it| it.end.as_deref()),
            trouble: over.and_then(|it| it.why.as_deref()),
            trouble_kind: over.and_then(|it| it.failure).map(FailureKind::name),
            bytes: over.and_then(|it| it.bytes),
            spent: entry.spent().map(SpentReport::from),
            prompt_chars: begun.prompt_chars,
            prompt_hash: &begun.prompt_hash,
            kept_in: begun.kept_in.as_deref(),
            pid: begun.owner.pid,
        }
    }

    /// Returns everything that is known, a line for each thing.
    pub(super) fn lines(&self, clock: Offset) -> String {
        let text = |value: Option<&str>| value.map(str::to_owned);
        let time = |text: &str| text.parse().map_or(text.to_owned(), |at| shown(at, clock));
        let spent = self.spent.as_ref();
        let tokens = |it: &SpentReport| {
            format!(
                "{} tokens in ({} cached), {} out ({} reasoning)",
                it.input_tokens, it.cached_tokens, it.output_tokens, it.reasoning_tokens
            )
        };
        let unknown = || "unknown".to_owned();
        let rows = [
            ("lane", Some(self.id.to_string())),
            ("state", Some(self.state.to_owned())),
            ("agent", Some(self.agent.to_owned())),
            ("role", text(self.role)),
            ("phase", text(self.phase)),
            ("run", text(self.run)),
            ("project", Some(format!("{} ({})", self.project, self.branch))),
            ("asked model", text(self.asked_model)),
            ("model", text(self.model)),
            ("rights", Some(self.rights.to_owned())),
            ("resumed", text(self.resumed_from)),
            ("session", text(self.session)),
            ("began", Some(time(&self.started_at))),
            ("ended", self.ended_at.as_deref().map(time)),
            ("took", self.took_ms.map(seconds)),
            ("end", text(self.end)),
            ("why", text(self.trouble)),
            ("said", self.bytes.map(|bytes| format!("{bytes} bytes"))),
            ("spent", spent.map(tokens).or_else(|| self.ended_at.as_ref().map(|_| unknown()))),
            ("cost", spent.and_then(|it| it.micro_dollars).map(dollars)),
            ("prompt", Some(format!("{}, {}", characters(self.prompt_chars), self.prompt_hash))),
            ("kept in", text(self.kept_in)),
            ("process", Some(self.pid.to_string())),
        ];
        let line = |(name, value): (&str, Option<String>)| {
            Some(format!("{name:<12} {}\n", one_line(&value?)))
        };
        rows.into_iter().filter_map(line).collect()
    }
}

fn characters(count: u64) -> String {
    if count == 1 { "1 character".to_owned() } else { format!("{count} characters") }
}

/// Shows a time by a clock.
pub(super) fn shown(at: Timestamp, clock: Offset) -> String {
    clock.to_datetime(at).strftime("%Y-%m-%d %H:%M").to_string()
}

pub(super) fn seconds(milliseconds: u64) -> String {
    format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100)
}
