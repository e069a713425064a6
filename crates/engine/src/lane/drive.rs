//! One lane from beginning to end: a client is started, listened to, and judged.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use convoke_domain::client::Client;
use convoke_domain::lane::counted::UsageExtent;
use convoke_domain::lane::event::LaneEvent;
use convoke_domain::lane::outcome::{ClientOutput, LaneCourse, LaneOutcome, outcome};

use super::agent_ref::AgentRef;
use super::cassette::{Cassette, LaneIdentity};
use super::http::endpoint::Endpoint;
use super::supervisor::{self, ExitReport, OutputLine, Stream, Supervision, TurnState};
use super::{http, replay};
use crate::client::acp::{AcpCommand, ReadOnlyProof};
use crate::client::{
    ClientCommand, ClientRequest, Rights, UsageScope, command, excess, listen, usage_scope,
};

/// Who answers in a lane.
#[derive(Debug, Clone)]
pub enum Runner<'a> {
    /// A client's program.
    Program(ClientProgram<'a>),
    /// A model's API.
    Http(&'a Endpoint),
    /// The recording for this request.
    Replay(&'a Cassette, &'a LaneIdentity),
}

/// A client's program, with what it needs.
#[derive(Debug, Clone)]
pub struct ClientProgram<'a> {
    /// The client's name.
    pub agent: Client,
    /// The path of the client's program.
    pub program: &'a Path,
    /// Convoke's own program.
    pub convoke: &'a Path,
    /// The variables of the user's that it may see.
    pub variables: Vec<(OsString, OsString)>,
}

/// A lane from its first event to its end, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneTranscript {
    /// The outcome, judged by the evidence.
    pub outcome: LaneOutcome,
    /// What the client said.
    pub output: ClientOutput,
    /// How its process ended.
    pub exit: ExitReport,
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
    /// What is not known of it although a client is expected to show it.
    pub doubts: Vec<LaneDoubt>,
}

/// What is not known of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneDoubt {
    /// Nothing proves that the agent could only read.
    ReadOnlyUnproven,
    /// The agent reports a part of its usage: that of its last step.
    PartialUsage,
}

/// Runs a lane. `notice` receives every event as it comes.
pub fn drive(
    runner: &Runner<'_>,
    request: &ClientRequest<'_>,
    supervision: Supervision<'_>,
    notice: &mut dyn FnMut(&LaneEvent),
) -> io::Result<LaneTranscript> {
    let mut heard = ClientOutput::default();
    let mut take = |events: Vec<LaneEvent>| {
        for event in events {
            notice(&event);
            heard.take(event);
        }
        if heard.ended.is_some() { TurnState::IsOver } else { TurnState::GoesOn }
    };
    let exit = match runner {
        Runner::Program(program) => run_program(program, request, supervision, &mut take)?,
        Runner::Http(endpoint) => http::run(endpoint, request, supervision, &mut take)?,
        Runner::Replay(cassette, asked) => replay::play(cassette, asked, supervision, &mut take),
    };
    let ClientRequest { model, resume, .. } = *request;
    let course = LaneCourse { output: &heard, end: exit.end, model, resume };
    let excess = match (runner, &heard.granted) {
        (Runner::Program(program), Some(granted)) => excess(program.agent, request.rights, granted),
        (Runner::Program(_) | Runner::Http(_) | Runner::Replay(..), _) => Vec::new(),
    };
    let outcome = outcome(&course);
    let is_other = matches!(outcome, LaneOutcome::ModelMismatch | LaneOutcome::SessionLost);
    Ok(LaneTranscript {
        outcome,
        difference: course.difference().filter(|_| is_other),
        exit,
        excess,
        asked_model: model.map(str::to_owned),
        counts: counts(runner, request),
        doubts: doubts(runner, request),
        is_recorded: matches!(runner, Runner::Replay(..)),
        output: heard,
    })
}

/// Returns the scope of a runner's counters; those of a recording count as they did when it was
/// made.
fn counts(runner: &Runner<'_>, request: &ClientRequest<'_>) -> UsageScope {
    match runner {
        Runner::Program(program) => {
            request.acp.map_or_else(|| usage_scope(program.agent), AcpCommand::usage_scope)
        }
        Runner::Http(_) => UsageScope::RUN,
        Runner::Replay(cassette, asked) => {
            let agent =
                cassette.find(asked).and_then(|entry| AgentRef::parse(&entry.request.agent));
            agent.map_or(UsageScope::RUN, |agent| agent.usage_scope())
        }
    }
}

/// Returns what an agent of the protocol leaves unknown.
fn doubts(runner: &Runner<'_>, request: &ClientRequest<'_>) -> Vec<LaneDoubt> {
    let is_run = matches!(runner, Runner::Program(_));
    let Some(agent) = request.acp.filter(|_| is_run) else { return Vec::new() };
    let is_unproven = agent.proof == ReadOnlyProof::Unproven && request.rights == Rights::ReadOnly;
    let is_partial = agent.usage_extent() == UsageExtent::LastStep;
    let unproven = is_unproven.then_some(LaneDoubt::ReadOnlyUnproven);
    let partial = is_partial.then_some(LaneDoubt::PartialUsage);
    unproven.into_iter().chain(partial).collect()
}

fn run_program(
    program: &ClientProgram<'_>,
    request: &ClientRequest<'_>,
    supervision: Supervision<'_>,
    take: &mut dyn FnMut(Vec<LaneEvent>) -> TurnState,
) -> io::Result<ExitReport> {
    let ClientCommand { arguments, variables, stdin, files } = command(program.agent, request);
    let (client, ClientRequest { rights, model, .. }) = (program.agent.name(), request);
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
        folder: Path::new(request.folder),
        stdin: stdin.as_deref(),
        scratch: Path::new(request.scratch),
        supervision,
    };
    let exit = supervisor::run(&child_process, &mut |stream, words| {
        let events = match (stream, words) {
            (Stream::Stdout, OutputLine::Line(text)) => listener.stdout_line(text),
            (Stream::Stderr, OutputLine::Line(text)) => listener.stderr_line(text),
            (Stream::Stdout, OutputLine::TooLong(bytes)) => listener.long_line(bytes),
            // A line on stderr ends no turn, and is not the answer.
            (Stream::Stderr, OutputLine::TooLong(_)) => return take(Vec::new()),
        };
        let state = take(events);
        let tries_again = state == TurnState::GoesOn && listener.only_complains();
        if tries_again { TurnState::TriesAgain } else { state }
    })?;
    take(listener.exited(exit.end.exit_code()));
    Ok(exit)
}
