//! Telemetry of a use case, for users who want it: its lanes, its phases and the whole run, sent to
//! an OpenTelemetry collector of theirs. A collector that fails costs a warning, never a run.

mod finished;
mod recorder;
mod target;

use std::sync::Arc;

use convoke_domain::run::RunId;
use jiff::Timestamp;

use self::recorder::Recorder;
use crate::failure::{ErrorClass, Failure};
use crate::lane::{LaneRequest, LaneRun};
use crate::session::Session;
use crate::workspace::Workspace;

/// The start of the warning that not everything was sent.
const NOT_SENT: &str = "cannot send all telemetry";

/// Whether the user asks for telemetry of this command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TelemetrySwitch {
    /// The user's configuration decides.
    #[default]
    Configured,
    /// The user asks for it.
    On,
}

/// The telemetry of a session. Clones record into the same run.
#[derive(Clone, Default)]
pub struct Telemetry {
    switch: TelemetrySwitch,
    recorder: Option<Arc<Recorder>>,
}

impl Telemetry {
    /// Returns the telemetry of a session that has recorded nothing.
    pub const fn new(switch: TelemetrySwitch) -> Self {
        Self { switch, recorder: None }
    }

    /// Returns the flag that a worker process needs to record, too.
    pub(crate) fn worker_flag(&self) -> Option<String> {
        (self.switch == TelemetrySwitch::On).then(|| "--otel".to_owned())
    }

    /// Returns the span that a worker process is part of, as `TRACEPARENT` names it.
    pub(crate) fn span_of_worker(&self) -> Option<String> {
        self.recorder.as_ref()?.worker_parent()
    }

    /// Keeps the warning back that a collector fails: a worker process has given it.
    pub(crate) fn stay_silent(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.stay_silent();
        }
    }

    /// Records a lane that ended, if anything is recorded.
    pub(crate) fn record_lane(
        &self,
        session: &Session,
        request: &LaneRequest<'_>,
        began: Timestamp,
        result: &Result<LaneRun, Failure>,
    ) {
        let Some(recorder) = &self.recorder else { return };
        if let Some(lane) = finished::finished_lane(session, request, began, result, recorder) {
            recorder.take(lane);
        }
    }
}

/// How the lanes of a use case are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanGrouping {
    /// By the phase in their purpose.
    Phases,
    /// Not at all.
    Flat,
}

/// The use case that lanes belong to.
#[derive(Debug, Clone)]
pub(crate) struct TracedWork {
    /// The workflow that has a span of its own; `None` if the lanes have it elsewhere, or need none.
    workflow: Option<&'static str>,
    /// All ids follow from this text.
    identity: String,
    /// Tells the processes of one run apart.
    part: String,
    run: Option<String>,
    project: Option<String>,
    grouping: SpanGrouping,
}

impl TracedWork {
    /// Returns a process that works on a design, which is one trace for all of them. The number of
    /// events so far tells them apart.
    pub(crate) fn design(workspace: &Workspace, run: &RunId) -> Self {
        let project = &workspace.scope.project;
        let events = workspace.store.run(project, run).map(|run| run.last_seq);
        Self {
            workflow: Some("design"),
            part: events.unwrap_or_default().to_string(),
            ..Self::worker(workspace, run)
        }
    }

    /// Returns the process that does the heavy part of a design, whose span its parent sends.
    pub(crate) fn worker(workspace: &Workspace, run: &RunId) -> Self {
        Self {
            workflow: None,
            identity: run.to_string(),
            part: String::new(),
            run: Some(run.to_string()),
            project: Some(workspace.scope.project.clone()),
            grouping: SpanGrouping::Phases,
        }
    }

    /// Returns one call of a command that runs several lanes, under the user's name for it.
    pub(crate) fn call(session: &Session, command: &'static str, run: Option<&str>) -> Self {
        Self { workflow: Some(command), run: run.map(str::to_owned), ..Self::lane(session) }
    }

    /// Returns a lane alone.
    pub(crate) fn lane(session: &Session) -> Self {
        let (folder, now) = (session.absolute_project(), session.now().as_nanosecond());
        Self {
            workflow: None,
            identity: format!("{} {now} {}", folder.display(), std::process::id()),
            part: String::new(),
            run: None,
            project: None,
            grouping: SpanGrouping::Flat,
        }
    }
}

/// Runs a use case, and sends telemetry of it if the user wants that. `class` tells how it ended.
pub(crate) fn traced<T>(
    session: &Session,
    work: TracedWork,
    run: impl FnOnce(&Session) -> Result<T, Failure>,
    class: impl FnOnce(&T) -> Option<ErrorClass>,
) -> Result<T, Failure> {
    let Some(recorder) = Recorder::start(session, work)?.map(Arc::new) else {
        return run(session);
    };
    let telemetry = Telemetry { recorder: Some(recorder.clone()), ..session.telemetry.clone() };
    let result = run(&Session { telemetry, ..session.clone() });
    let class = match &result {
        Ok(report) => class(report),
        Err(failure) => Some(failure.class),
    };
    recorder.close(session, class);
    result
}
