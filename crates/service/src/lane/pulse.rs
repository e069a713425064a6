//! What a lane does at the moment, for other processes: a small file beside the store, replaced with each
//! tool and otherwise a few times a second at most, and removed at the end. It is no record: without it,
//! only less is shown.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use convoke_domain::design::quote::line;
use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::lane::counted::UsageScope;
use convoke_domain::lane::event::{LaneEvent, Usage};
use convoke_engine::file;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LaneProgress, LaneRequest, OnProgress};
use crate::session::Session;

/// The least time between two files of one lane, in milliseconds.
const STEP: i64 = 200;

/// The longest name of a tool or model, in characters.
const LONGEST: usize = 200;

/// No such file is larger.
const MAX_BYTES: u64 = 8 * 1024;

/// What a lane does at the moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct LanePulse {
    /// The seat or label of the lane.
    pub(crate) label: Option<String>,
    /// The folder in which its client works.
    pub(crate) folder: Option<PathBuf>,
    /// The model that answers.
    pub(crate) model: Option<String>,
    /// The tool that the agent used last.
    pub(crate) last_tool: Option<String>,
    /// How many tools it used.
    pub(crate) tools: u64,
    /// Tokens of this lane so far, as far as the client says.
    pub(crate) tokens: Option<u64>,
    /// Money of this lane so far, in millionths of a dollar, as far as the client says.
    pub(crate) micro_dollars: Option<u64>,
    /// When the client last said something, in milliseconds since 1970.
    pub(crate) at_ms: i64,
}

/// Writes the pulse of one lane.
pub(super) struct PulseWriter<'s> {
    session: &'s Session,
    path: Option<PathBuf>,
    counts: UsageScope,
    before: Option<Usage>,
    pulse: LanePulse,
    written_at: Option<Timestamp>,
}

impl LanePulse {
    /// Returns how much of a budget the lane has spent so far, as far as its client says.
    pub(crate) const fn spent_of(&self, budget: LaneBudget) -> Option<u64> {
        match budget {
            LaneBudget::Tokens(_) => self.tokens,
            LaneBudget::MicroDollars(_) => self.micro_dollars,
        }
    }
}

fn path_of(session: &Session, id: i64) -> Option<PathBuf> {
    Some(session.environment.lane_pulses()?.join(format!("{id}.json")))
}

impl<'s> PulseWriter<'s> {
    /// Begins with a lane that has no number and has said nothing.
    pub(super) fn new(session: &'s Session, request: &LaneRequest<'_>) -> Self {
        let folder = Some(session.absolute_project());
        let pulse = LanePulse { label: request.label.map(short), folder, ..LanePulse::default() };
        Self {
            session,
            path: None,
            counts: request.agent.usage_scope(),
            // What a client had counted before it resumed a session is unknown here.
            before: request.resume.is_none().then(Usage::default),
            pulse,
            written_at: None,
        }
    }

    fn begin(&mut self, id: Option<i64>) {
        let path = id.and_then(|id| path_of(self.session, id));
        let folder = path.as_deref().and_then(Path::parent);
        self.path = folder.and_then(|folder| fs::create_dir_all(folder).ok()).and(path.clone());
    }

    /// Takes in what the client says, and passes it on.
    pub(super) fn pass_on(
        &mut self,
        progress: LaneProgress<'_>,
        on_progress: &mut OnProgress<'_>,
    ) -> ControlFlow<()> {
        self.hear(&progress);
        on_progress(progress)
    }

    fn hear(&mut self, progress: &LaneProgress<'_>) {
        if let LaneProgress::Began(id) = progress {
            self.begin(*id);
        }
        if let LaneProgress::Said(event) = progress {
            match event {
                LaneEvent::Model(name) => self.pulse.model = Some(short(name)),
                LaneEvent::Tool(name) => {
                    self.pulse.last_tool = Some(short(name));
                    self.pulse.tools = self.pulse.tools.saturating_add(1);
                }
                LaneEvent::Usage(said) => {
                    let spent = self.counts.of_run(*said, self.before);
                    self.pulse.tokens = spent.map(Usage::tokens);
                    self.pulse.micro_dollars = spent.and_then(|spent| spent.micro_dollars);
                }
                LaneEvent::Session(_)
                | LaneEvent::Rights(_)
                | LaneEvent::Text(_)
                | LaneEvent::Ended(_)
                | LaneEvent::Trouble(_) => {}
            }
        }
        let now = self.session.now();
        let is_due = self
            .written_at
            .is_none_or(|at| now.as_millisecond().saturating_sub(at.as_millisecond()) >= STEP);
        // A client may say nothing for minutes after it used a tool.
        let is_news = |event: &LaneEvent| {
            matches!(event, LaneEvent::Model(_) | LaneEvent::Tool(_) | LaneEvent::Usage(_))
        };
        if is_due || matches!(progress, LaneProgress::Said(event) if is_news(event)) {
            self.pulse.at_ms = now.as_millisecond();
            self.written_at = Some(now);
            self.write();
        }
    }

    /// A full disk must not stop an agent, so this cannot fail.
    fn write(&self) {
        let Some(path) = &self.path else { return };
        if let Ok(text) = serde_json::to_vec(&self.pulse) {
            file::put_private(path, &text).ok();
        }
    }
}

impl Drop for PulseWriter<'_> {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            fs::remove_file(path).ok();
        }
    }
}

fn short(name: &str) -> String {
    line(name).chars().take(LONGEST).collect()
}

/// Reads the pulse of a lane, if it has one.
pub(crate) fn read_pulse(session: &Session, id: i64) -> Option<LanePulse> {
    let text = file::text(&path_of(session, id)?, MAX_BYTES)?;
    serde_json::from_str(&text).ok()
}

/// Removes the pulse of a lane whose process is gone.
pub(crate) fn remove_pulse(session: &Session, id: i64) {
    if let Some(path) = path_of(session, id) {
        fs::remove_file(path).ok();
    }
}
