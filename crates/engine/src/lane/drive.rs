//! One lane from beginning to end: a client is started, listened to, and judged.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use convoke_domain::client::Client;
use convoke_domain::lane::event::LaneEvent;
use convoke_domain::lane::outcome::{LaneCourse, LaneOutcome, LaneTranscript, ProcessEnd, outcome};

use super::agent_ref::AgentRef;
use super::cancel::Cancel;
use super::cassette::{Cassette, LaneIdentity};
use super::http::endpoint::Endpoint;
use super::supervisor::{self, Limits, OutputLine, Stream, TurnState};
use super::{http, replay};
use crate::client::{
    ClientCommand, ClientRequest, UsageScope, command, excess, listen, usage_scope,
};

/// How much of a client's stderr is kept for people.
const TAIL: u64 = 2000;

/// Everything a lane needs.
#[derive(Debug, Clone)]
pub struct Lane<'a> {
    /// The runner that answers.
    pub runner: Runner<'a>,
    /// The request to the agent.
    pub request: ClientRequest<'a>,
    /// How long it may take.
    pub limits: Limits,
    /// The value that may stop it.
    pub cancel: &'a Cancel,
}

/// The runner of a lane.
#[derive(Debug, Clone)]
pub enum Runner<'a> {
    /// A client's program.
    Program(Program<'a>),
    /// A model's API.
    Http(&'a Endpoint),
    /// The recording for this request.
    Replay(&'a Cassette, &'a LaneIdentity),
}

/// A client's program, with what it needs.
#[derive(Debug, Clone)]
pub struct Program<'a> {
    /// The client's name.
    pub agent: Client,
    /// The path of the client's program.
    pub program: &'a Path,
    /// Convoke's own program.
    pub convoke: &'a Path,
    /// The variables of the user's that it may see.
    pub variables: Vec<(OsString, OsString)>,
}

/// The result of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneResult {
    /// The outcome, judged by the evidence.
    pub outcome: LaneOutcome,
    /// The client's messages.
    pub heard: LaneTranscript,
    /// How the process ended.
    pub end: ProcessEnd,
    /// How long it took.
    pub took: Duration,
    /// How much the client printed, in bytes.
    pub bytes: u64,
    /// The end of the client's stderr.
    pub stderr: String,
    /// The rights that the client reports beyond the requested ones.
    pub excess: Vec<String>,
    /// The requested model.
    pub asked_model: Option<String>,
    /// Which other model or session answered, if that is why there is no answer.
    pub difference: Option<String>,
    /// The scope of its counters.
    pub counts: UsageScope,
    /// Whether it was played instead of run.
    pub is_recorded: bool,
}

/// A runner's report, beside the events.
pub(super) struct Ran {
    pub(super) end: ProcessEnd,
    pub(super) took: Duration,
    pub(super) bytes: u64,
    /// The end of the client's stderr.
    pub(super) stderr: String,
}

/// Runs a lane. It calls `notice` for every event as it comes.
pub fn drive(lane: &Lane<'_>, notice: &mut dyn FnMut(&LaneEvent)) -> io::Result<LaneResult> {
    let mut heard = LaneTranscript::default();
    let mut take = |events: Vec<LaneEvent>| {
        for event in events {
            notice(&event);
            heard.take(event);
        }
        if heard.ended.is_some() { TurnState::IsOver } else { TurnState::GoesOn }
    };
    let Ran { end, took, bytes, stderr } = match &lane.runner {
        Runner::Program(program) => run_program(program, lane, &mut take)?,
        Runner::Http(endpoint) => http::run(endpoint, lane, &mut take)?,
        Runner::Replay(cassette, asked) => replay::play(cassette, asked, lane, &mut take),
    };
    let ClientRequest { model, resume, .. } = lane.request;
    let course = LaneCourse { heard: &heard, end, model, resume };
    let excess = match (&lane.runner, &heard.granted) {
        (Runner::Program(program), Some(granted)) => {
            excess(program.agent, lane.request.rights, granted)
        }
        (Runner::Program(_) | Runner::Http(_) | Runner::Replay(..), _) => Vec::new(),
    };
    let outcome = outcome(&course);
    let is_other = matches!(outcome, LaneOutcome::ModelMismatch | LaneOutcome::SessionLost);
    Ok(LaneResult {
        outcome,
        difference: course.difference().filter(|_| is_other),
        end,
        took,
        bytes,
        stderr,
        excess,
        asked_model: model.map(str::to_owned),
        counts: counts(&lane.runner),
        is_recorded: matches!(lane.runner, Runner::Replay(..)),
        heard,
    })
}

/// Returns the scope of a runner's counters; those of a recording count as they did when it was
/// made.
fn counts(runner: &Runner<'_>) -> UsageScope {
    match runner {
        Runner::Program(program) => usage_scope(program.agent),
        Runner::Http(_) => UsageScope::RUN,
        Runner::Replay(cassette, asked) => {
            let agent =
                cassette.find(asked).and_then(|entry| AgentRef::parse(&entry.request.agent));
            agent.and_then(|agent| agent.client()).map_or(UsageScope::RUN, usage_scope)
        }
    }
}

fn run_program(
    program: &Program<'_>,
    lane: &Lane<'_>,
    take: &mut dyn FnMut(Vec<LaneEvent>) -> TurnState,
) -> io::Result<Ran> {
    let ClientCommand { arguments, variables, stdin, files } =
        command(program.agent, &lane.request);
    let (client, ClientRequest { rights, model, .. }) = (program.agent.name(), &lane.request);
    tracing::debug!(client, ?rights, model, "chose the client's adapter");
    for (path, text) in files {
        fs::write(path, text)?;
    }
    let own = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
    let variables: Vec<_> = program.variables.iter().cloned().chain(own).collect();
    let mut listener = listen(program.agent);
    let child_process = supervisor::ChildProcess {
        convoke: program.convoke,
        program: program.program,
        arguments: &arguments,
        variables: &variables,
        folder: Path::new(lane.request.folder),
        stdin: stdin.as_deref(),
        scratch: Path::new(lane.request.scratch),
        limits: lane.limits,
        cancel: lane.cancel,
    };
    let finished = supervisor::run(&child_process, &mut |stream, words| {
        take(match (stream, words) {
            (Stream::Stdout, OutputLine::Line(text)) => listener.stdout_line(text),
            (Stream::Stderr, OutputLine::Line(text)) => listener.stderr_line(text),
            (Stream::Stdout, OutputLine::TooLong(bytes)) => listener.long_line(bytes),
            // A line on stderr ends no turn, and is not the answer.
            (Stream::Stderr, OutputLine::TooLong(_)) => Vec::new(),
        })
    })?;
    take(listener.exited(match finished.end {
        ProcessEnd::Exited(code) => Some(code),
        ProcessEnd::Signalled(_)
        | ProcessEnd::WallLimit
        | ProcessEnd::FirstByteLimit
        | ProcessEnd::StallLimit
        | ProcessEnd::BudgetLimit
        | ProcessEnd::Cancelled
        | ProcessEnd::NotStarted
        | ProcessEnd::Lost => None,
    }));
    let stderr = tail(&finished.stderr);
    Ok(Ran { end: finished.end, took: finished.took, bytes: finished.bytes, stderr })
}

/// Reads the end of a file, however long it is.
fn tail(path: &Path) -> String {
    let read = || {
        let mut file = fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        io::Result::Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    read().unwrap_or_default()
}
