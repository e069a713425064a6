//! The heavy part of a design in a process of its own: starting it, and being it.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use std::{fs, io, thread};

use convoke_domain::design::event::LaneId;
use convoke_domain::design::heavy::{GiveUpReason, WorkerResult};
use convoke_domain::design::seat::Panel;
use convoke_domain::design::seat_name::{lane_holder, lane_seat};
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::ledger::LaneEntry;
use convoke_domain::run::RunId;
use convoke_engine::design::run_folder::RunFolders;
use convoke_engine::lane::supervisor::{
    ChildProcess, ExitReport, KEPT_STREAMS, Limits, Supervision, TurnState, run,
};
use convoke_engine::{file, owner, scratch};
use convoke_store::lane::LaneQuery;

use super::course::{CourseRequest, folders, held};
use super::event_loop::work;
use super::front_end::{DesignFrontEnd, UnattendedFrontEnd, WorkerLane};
use super::stage::{Stage, stopped};
use super::worker_report::{PrintLine, WorkerObserver, WorkerReport, print_end};
use super::{DesignError, open_journal};
use crate::failure::{ErrorClass, Failure, with_causes};
use crate::lane::{lane_failed, read_pulse};
use crate::session::Session;
use crate::telemetry::{TracedWork, traced};
use crate::workspace::Workspace;

/// The longest output of a worker: its messages on stdout, its log on stderr.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Lanes have limits of their own; a worker that waits for them has time.
const PATIENCE: Duration = Duration::from_hours(24 * 7);

/// How long a worker may take to stop its lanes.
const GRACE: Duration = Duration::from_secs(20);

/// How long to wait for a worker whose parent was killed: longer than it may take to stop.
const LAST_WORDS: Duration = Duration::from_secs(40);

/// How often to check it meanwhile.
const STEP: Duration = Duration::from_millis(100);

/// How often to look which lanes a worker runs.
const LOOK: Duration = Duration::from_millis(500);

/// Does the heavy part of a run that another process began. It shows nothing, and asks no person.
pub fn run_worker(
    session: &Session,
    run: &RunId,
    course: &CourseRequest,
) -> Result<WorkerResult, Failure> {
    let span = tracing::info_span!("design", run = %run, worker = std::process::id());
    let _entered = span.enter();
    let workspace = Workspace::open(session, None)?;
    let _lock = folders(session)?.hold_for_worker(run).map_err(held)?;
    let do_heavy_part = |session: &Session| {
        let (journal, events) = open_journal(&workspace, run)?;
        let mut front_end = UnattendedFrontEnd;
        let mut stage = course.stage(session, run, &events, &mut front_end)?;
        stage.is_worker = true;
        work(journal, events, &mut stage)
    };
    traced(session, TracedWork::worker(&workspace, run), do_heavy_part, |_| None)
}

/// Does the same for the process that started the worker: prints every message and the result as
/// lines that it reads.
pub fn report_as_worker(
    session: &Session,
    run: &RunId,
    course: &CourseRequest,
    print: &PrintLine,
) -> WorkerResult {
    let session = session.clone().observed_by(Arc::new(WorkerObserver { print: print.clone() }));
    let result = run_worker(&session, run, course).unwrap_or_else(|failure| {
        let reporter = session.reporter();
        reporter.warn(with_causes(&*failure.error));
        failure.hints.into_iter().for_each(|hint| reporter.hint(hint));
        WorkerResult::gave_up(GiveUpReason::INTERNAL_ERROR)
    });
    print_end(&result, print);
    result
}

/// Waits for a worker whose parent was killed: it stops its lanes and ends, and until then it may
/// still write the journal.
pub(super) fn wait_for_last(
    session: &Session,
    folders: &RunFolders,
    id: &RunId,
) -> Result<(), Failure> {
    let cancel = session.cancel();
    let mut left = LAST_WORDS;
    while let Some(worker) = folders.worker(id) {
        if cancel.is_cancelled() {
            return Err(stopped(id));
        }
        if left.is_zero() {
            let error = DesignError::WorkerLives { pid: worker.pid };
            return Err(Failure::new(ErrorClass::Prerequisite, error)
                .hint("wait until that process has ended"));
        }
        if left == LAST_WORDS {
            session.reporter().remark("waiting for the worker of an earlier process to end");
        }
        owner::wait(&worker, STEP).ok();
        left = left.saturating_sub(STEP);
    }
    Ok(())
}

/// Runs a worker to its end, and meanwhile shows the lanes that it runs.
fn watched(
    process: &ChildProcess<'_>,
    session: &Session,
    (id, panel): (&RunId, &Panel),
    front_end: &mut dyn DesignFrontEnd,
) -> io::Result<ExitReport> {
    let workspace = Workspace::open(session, None).ok();
    let (sender, ended) = channel::<()>();
    let span = tracing::Span::current();
    thread::scope(|threads| {
        let running = threads.spawn(move || {
            let _entered = span.enter();
            let _ends = sender;
            run(process, &mut |_, _| TurnState::GoesOn)
        });
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            // A store that cannot be read at the moment costs some lines at a terminal, not the run.
            let query = LaneQuery { run: Some(id.as_str()), open: true, ..LaneQuery::default() };
            let open = workspace.as_ref().and_then(|here| here.store.lanes(query).ok());
            let lanes = open.unwrap_or_default();
            let shown = lanes.iter().filter_map(|lane| worker_lane(session, panel, lane));
            front_end.worker_lanes(shown.collect());
        }
        running.join().unwrap_or_else(|_| Err(io::Error::other("its supervisor panicked")))
    })
}

/// Returns an open lane as people see it; nothing before its agent has begun.
fn worker_lane(session: &Session, panel: &Panel, lane: &LaneEntry) -> Option<WorkerLane> {
    let pulse = read_pulse(session, lane.id)?;
    let id = LaneId::parse(pulse.label.as_deref()?)?;
    let holder = lane_holder(&id, panel);
    let seat = holder.map(|holder| lane_seat(&id, panel.named(holder)));
    let usage =
        |tokens| Usage { input: tokens, micro_dollars: pulse.micro_dollars, ..Usage::default() };
    Some(WorkerLane {
        seat: seat.unwrap_or_else(|| lane.begun.agent.clone()),
        since: lane.begun.at,
        usage: pulse.tokens.map(usage),
        last_tool: pulse.last_tool,
        tools: usize::try_from(pulse.tools).unwrap_or(usize::MAX),
        id,
    })
}

/// Has a worker do the heavy part, and returns its judged result; `None` if the user stopped it.
pub(super) fn started(
    stage: &mut Stage<'_>,
    panel: &Panel,
) -> Result<Option<WorkerResult>, Failure> {
    let scratch = scratch::lane().map_err(lane_failed)?;
    let environment = &stage.session.environment;
    let convoke = environment.program();
    let variables = match stage.session.telemetry.span_of_worker() {
        Some(span) => environment.in_span(&span).for_worker(),
        None => environment.for_worker(),
    };
    let cancel = stage.session.cancel();
    let limits = Limits { wall: PATIENCE, first_byte: PATIENCE, stall: PATIENCE, grace: GRACE };
    let process = ChildProcess {
        convoke: &convoke,
        program: &convoke,
        arguments: &stage.worker,
        variables: &variables,
        folder: &stage.session.project,
        stdin: None,
        scratch: scratch.path(),
        supervision: Supervision { limits, cancel: &cancel },
    };
    let run = (&stage.run, panel);
    watched(&process, stage.session, run, stage.front_end).map_err(lane_failed)?;
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let [stdout, stderr] = KEPT_STREAMS.map(|name| scratch.path().join(name));
    let report = WorkerReport::read(&file::text(&stdout, MAX_BYTES).unwrap_or_default());
    if report.has_lost_telemetry() {
        stage.session.telemetry.stay_silent();
    }
    for (source, progress) in &report.told {
        stage.session.observer.observe(source.as_deref(), progress);
    }
    // What is on stderr is a log, or the words of a panic.
    let log = file::text(&stderr, MAX_BYTES).unwrap_or_default();
    let reporter = stage.session.reporter();
    log.lines().for_each(|line| reporter.say(line));
    let length = |name: &str| {
        let found = fs::symlink_metadata(stage.folder.join(name)).ok()?;
        found.is_file().then_some(found.len())
    };
    Ok(Some(WorkerResult::judged(report.result, length)))
}
