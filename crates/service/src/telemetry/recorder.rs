//! Collects what ended, and sends it: phase by phase, and at the end of the run.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_domain::telemetry::lane::{FinishedLane, phase_span};
use convoke_domain::telemetry::metric::metrics;
use convoke_domain::telemetry::span::{Attribute, FinishedSpan, FinishedWorkflow};
use convoke_domain::telemetry::trace::{Sampling, SpanId, TraceId, TraceParent};
use convoke_engine::skill::hash;
use convoke_engine::telemetry::{Exporter, TelemetryBatch};
use jiff::Timestamp;

use super::target::{LIMIT, Wishes, resource, wishes};
use super::{NOT_SENT, SpanGrouping, TracedWork};
use crate::clock::Clock;
use crate::failure::{ErrorClass, Failure};
use crate::observer::{Progress, Unobserved};
use crate::session::Session;
use crate::workspace::{Workspace, wanted_name};

/// How long a user who stopped Convoke waits for a collector.
const IMPATIENCE: Duration = Duration::from_secs(1);

/// The recorder of one process.
pub(super) struct Recorder {
    work: TracedWork,
    /// Whether prompts and answers are recorded, too.
    pub(super) content: bool,
    /// The collector's address, without its path.
    collector: String,
    resource: Vec<Attribute>,
    trace: TraceId,
    /// The span around this process.
    parent: Option<SpanId>,
    sampling: Sampling,
    clock: std::sync::Arc<dyn Clock>,
    began: Timestamp,
    state: Mutex<RecorderState>,
}

struct RecorderState {
    /// Lanes that are not sent yet.
    waiting: Vec<FinishedLane>,
    /// How many lanes there were that the store could not record.
    unnumbered: usize,
    /// When the last batch was made.
    since: Timestamp,
    exporter: Option<Exporter>,
    /// Whether the user knows already that the collector fails.
    is_told: bool,
}

impl Recorder {
    /// Starts to record; `None` if the user wants no telemetry, or a recorder is at work.
    pub(super) fn start(session: &Session, work: TracedWork) -> Result<Option<Self>, Failure> {
        if session.telemetry.recorder.is_some() {
            return Ok(None);
        }
        let Some(wishes) = wishes(session, session.telemetry.switch)? else { return Ok(None) };
        let Wishes { target, content } = wishes;
        let collector = target.url.origin();
        let exporter = match Exporter::start(target) {
            Ok(exporter) => exporter,
            Err(error) => {
                let words = format!("{NOT_SENT}: {error}");
                session.reporter().tell(&Progress::TelemetryLost(words));
                return Ok(None);
            }
        };
        let around = session.environment.traceparent();
        let around = around.as_deref().and_then(TraceParent::parse);
        let trace = TraceId::of_digest(&hash(format!("convoke trace {}", work.identity)));
        let (trace, parent, sampling) = match around {
            Some(around) => (around.trace, Some(around.span), around.sampling),
            None => (trace, None, Sampling::Recorded),
        };
        let began = session.now();
        let project = work.project.clone().unwrap_or_else(|| project_name(session));
        let state = RecorderState {
            waiting: Vec::new(),
            unnumbered: 0,
            since: began,
            exporter: Some(exporter),
            is_told: false,
        };
        Ok(Some(Self {
            content,
            collector,
            resource: resource(session, &project),
            trace,
            parent,
            sampling,
            clock: session.clock.clone(),
            began,
            state: Mutex::new(state),
            work,
        }))
    }

    /// Takes in a lane that ended. The first lane of the next phase ends the one before.
    pub(super) fn take(&self, lane: FinishedLane) {
        let mut state = self.state();
        let phase = |lane: &FinishedLane| lane.purpose.phase.clone();
        let is_next = self.work.grouping == SpanGrouping::Phases
            && state.waiting.first().is_some_and(|first| phase(first) != phase(&lane));
        let done = if is_next { mem::take(&mut state.waiting) } else { Vec::new() };
        state.waiting.push(lane);
        self.send(&mut state, &done, None);
    }

    /// Sends the rest with the span of the whole run, and warns if the collector did not take
    /// everything.
    pub(super) fn close(&self, session: &Session, class: Option<ErrorClass>) {
        let mut state = self.state();
        let lanes = mem::take(&mut state.waiting);
        let root = self.work.workflow.map(|workflow| self.workflow_span(workflow, class));
        self.send(&mut state, &lanes, root);
        let patience = if session.is_stopped() { IMPATIENCE } else { LIMIT };
        let Some(exporter) = state.exporter.take() else { return };
        let sent = exporter.finish(patience);
        if let Some(why) = sent.err().filter(|_| !state.is_told) {
            let words = format!("{NOT_SENT} to {}: {why}", self.collector);
            session.reporter().tell(&Progress::TelemetryLost(words));
        }
    }

    /// Returns the span that a worker process is part of.
    pub(super) fn worker_parent(&self) -> Option<String> {
        let span = self.lane_parent()?;
        let trace = self.trace.clone();
        Some(TraceParent { trace, span, sampling: self.sampling }.to_string())
    }

    /// Keeps the warning back: a worker process has shown it.
    pub(super) fn stay_silent(&self) {
        self.state().is_told = true;
    }

    /// Tells whether a lane's label names a seat; elsewhere it is the user's own text.
    pub(super) fn has_seats(&self) -> bool {
        self.work.grouping == SpanGrouping::Phases
    }

    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, state: &mut RecorderState, lanes: &[FinishedLane], root: Option<FinishedSpan>) {
        if lanes.is_empty() && root.is_none() {
            return;
        }
        let mut spans = self.spans(state, lanes);
        spans.extend(root);
        if self.sampling == Sampling::Dropped {
            spans.clear();
        }
        let until = self.clock.now();
        let since = mem::replace(&mut state.since, until);
        let batch = TelemetryBatch {
            resource: self.resource.clone(),
            trace: self.trace.clone(),
            spans,
            metrics: metrics(lanes),
            since,
            until,
        };
        if let Some(exporter) = &state.exporter {
            exporter.send(batch);
        }
    }

    /// Returns the spans of lanes, and of the phase that they make up.
    fn spans(&self, state: &mut RecorderState, lanes: &[FinishedLane]) -> Vec<FinishedSpan> {
        let parent = self.lane_parent();
        let phase = match self.work.grouping {
            SpanGrouping::Phases => self.phase(lanes, parent.clone()),
            SpanGrouping::Flat => None,
        };
        let parent = phase.as_ref().map(|phase| phase.id.clone()).or(parent);
        let mut spans: Vec<_> = phase.into_iter().collect();
        for lane in lanes {
            let key = lane.number.map_or_else(
                || {
                    state.unnumbered += 1;
                    format!("unnumbered {}", state.unnumbered)
                },
                |number| number.to_string(),
            );
            spans.push(lane.span(self.span_id("lane", &key), parent.clone()));
        }
        spans
    }

    /// Returns the span of a phase. A phase that a later process repeats has other lanes, so it has
    /// another id.
    fn phase(&self, lanes: &[FinishedLane], parent: Option<SpanId>) -> Option<FinishedSpan> {
        let step = lanes.first()?.purpose.phase.as_deref()?;
        let first = lanes.iter().filter_map(|lane| lane.number).min().unwrap_or_default();
        phase_span(lanes, self.span_id("phase", &format!("{step} {first}")), parent)
    }

    fn workflow_span(&self, workflow: &'static str, class: Option<ErrorClass>) -> FinishedSpan {
        let finished = FinishedWorkflow {
            workflow,
            run: self.work.run.as_deref(),
            outcome: class.map_or("ok", ErrorClass::name),
            // A review that rejects did its work.
            error: class.filter(|class| *class != ErrorClass::Refused).map(ErrorClass::name),
            began: self.began,
            ended: self.clock.now(),
        };
        finished.span(self.workflow_id(), self.parent.clone())
    }

    fn lane_parent(&self) -> Option<SpanId> {
        self.work.workflow.map(|_| self.workflow_id()).or_else(|| self.parent.clone())
    }

    fn workflow_id(&self) -> SpanId {
        self.span_id("workflow", &self.work.part)
    }

    fn span_id(&self, kind: &str, key: &str) -> SpanId {
        SpanId::of_digest(&hash(format!("convoke {kind} {} {key}", self.work.identity)))
    }
}

/// Returns the project's name in the store, or its folder's where the store cannot be opened. The lane
/// itself tells why.
fn project_name(session: &Session) -> String {
    let silent = session.clone().observed_by(std::sync::Arc::new(Unobserved));
    match Workspace::open(&silent, None) {
        Ok(workspace) => workspace.scope.project,
        Err(_) => wanted_name(&session.absolute_project()),
    }
}
