//! `convoke lane`: one supervised run of one agent on one prompt.

mod list;
mod live;
mod words;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Subcommand;
use clap::builder::TypedValueParser;
use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::lane::event::FailureKind;
use convoke_domain::lane::ledger::Purpose;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_engine::client::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::supervisor::Limits;
use convoke_service::agents::first_usable_agent;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::lane::{
    BudgetNotice, LaneChecks, LaneEventLine, LaneProgress, LaneReport, LaneRequest, ParkTerms,
    ReadingReport, TreeWatching, must_be_filled, over_budget_warning, remedy, run_one, sentence,
    version_of, warnings,
};
use convoke_service::session::Session;

use self::live::Live;
pub(crate) use self::live::progress_line;
pub(super) use self::words::{AgentWord, BudgetArgs, ParkArgs, PinArgs, model_name};
use super::otel::OtelArgs;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::input;
use crate::output::{Output, TerminalObserver, Voice};

/// The longest time limit that a flag accepts.
const MOST_SECONDS: f64 = 8_640_000.0;

/// The longest prompt, in bytes.
const MAX_PROMPT: u64 = 16 * 1024 * 1024;

/// Run one agent under supervision
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one agent on one prompt and print its answer
    ///
    /// Runs the client in a separate process session with time limits, read-only unless `--write`
    /// is given. When the client ends or is stopped, Convoke ends every process that it started,
    /// even if `convoke` itself is killed.
    ///
    /// Exits 0 with an answer, 1 if the agent answered but did not read a file of `--read`, 2 for
    /// wrong usage, 3 if a prerequisite such as the client is missing, 4 without an answer, 5 if
    /// the budget is spent, 6 if the agent ran read-only and the working tree changed, and 130 if
    /// you interrupt it.
    Run(Box<RunArgs>),
    /// List running and recent lanes
    List(list::ListArgs),
    /// Show one lane in full
    Show(list::OneArgs),
    /// Stop a lane, and all lanes of the same `convoke` process
    ///
    /// Asks the `convoke` process that runs the lane to stop, which stops all its lanes. If that
    /// process no longer exists, Convoke only marks the lane as ended: the lane's guardian has
    /// already ended its client.
    Stop(list::OneArgs),
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct RunArgs {
    /// The agent that answers: a client, `acp:NAME` for an agent of the Agent Client Protocol,
    /// `http:NAME` for a configured model API, `fleet:AGENT@REPOSITORY` for an agent on another
    /// machine, or `replay:FILE` for recorded lanes [default: the first client that answered lately,
    /// else the first there is]
    #[arg(long, value_parser = AgentWord)]
    agent: Option<AgentRef>,

    /// The prompt; `-` reads stdin
    prompt: String,

    /// The model to use [default: the client's choice]
    #[arg(long, value_parser = model_name)]
    model: Option<String>,

    /// The model's reasoning effort, in the client's own words (Claude Code and Codex only)
    #[arg(long, value_name = "WORD", value_parser = model_name)]
    effort: Option<String>,

    /// Resume this session
    #[arg(long, value_name = "ID", value_parser = model_name)]
    resume: Option<String>,

    /// Let the agent change files, as far as the client's settings allow
    #[arg(long)]
    write: bool,

    /// Stop the agent after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "1200", value_parser = seconds())]
    limit: Duration,

    /// Stop the agent after this many seconds without output
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds())]
    stall: Duration,

    /// Kill the client if it has not ended this many seconds after Convoke asks it to stop
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds())]
    grace: Duration,

    /// Reject an answer with too few words or without a source
    #[arg(long)]
    substance: bool,

    /// Skip the check whether a read-only agent changed the working tree
    #[arg(long)]
    no_tree_check: bool,

    /// A file that the agent must read before it answers; may be repeated. The prompt names it, and
    /// Convoke checks in the client's transcript whether the agent read it
    #[arg(long, value_name = "FILE")]
    read: Vec<PathBuf>,

    /// Print events while the lane runs, one JSON document per line; the last line holds the full
    /// report
    #[arg(long)]
    events: bool,

    /// Save the client's output in this folder, replacing an earlier lane's output
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Stop after this many tokens or dollars, such as `200k` or `$2.50`; with `--run`, all lanes
    /// of that run count
    #[arg(long, value_name = "AMOUNT", value_parser = LaneBudget::parse)]
    budget: Option<LaneBudget>,

    /// Group the lane under this name; `convoke usage --by run` adds the lanes up
    #[arg(long, value_name = "NAME", value_parser = model_name)]
    run: Option<String>,

    /// The agent's role, for `convoke usage --by role`
    #[arg(long, value_name = "NAME", value_parser = model_name)]
    role: Option<String>,

    /// The phase of the run, for `convoke usage --by phase`
    #[arg(long, value_name = "NAME", value_parser = model_name)]
    phase: Option<String>,
    /// A description of the lane; `replay:FILE` finds recorded lanes by it
    #[arg(long, value_name = "TEXT", value_parser = model_name)]
    label: Option<String>,

    #[command(flatten)]
    park: ParkArgs,

    #[command(flatten)]
    pins: PinArgs,

    /// Append the lane to this file of recorded lanes, for `--agent replay:FILE`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    #[command(flatten)]
    otel: OtelArgs,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot take stdin for a prompt: it is not text, or longer than {MAX_PROMPT} bytes")]
struct NoPrompt;

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Run(args) => args.run(app, output),
            Command::List(args) => args.run(app, output),
            Command::Show(args) => args.show(app, output),
            Command::Stop(args) => args.stop(app, output),
        }
    }
}

impl RunArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let app = &self.otel.context(app);
        let prompt = self.prompt()?;
        must_be_filled(&prompt)?;
        let agent = match &self.agent {
            Some(agent) => agent.clone(),
            None => first_usable_agent(&app.session)?,
        };
        let mut report = self.watch(&self.request(&agent, &prompt), app, output)?;
        self.show(&agent, &report, app, output)?;
        match report.not_kept.take() {
            Some(failure) => Err(failure),
            None => Ok(report.class().map_or(Exit::Done, Exit::from)),
        }
    }

    fn request<'a>(&'a self, agent: &'a AgentRef, prompt: &'a str) -> LaneRequest<'a> {
        let watch = if self.no_tree_check { TreeWatching::Nothing } else { TreeWatching::Tree };
        LaneRequest {
            label: self.label.as_deref(),
            record: self.record.as_deref(),
            model: self.model.as_deref(),
            effort: self.effort.as_deref(),
            resume: self.resume.as_deref(),
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            rules: self.pins.rules(),
            limits: Limits {
                wall: self.limit,
                first_byte: self.stall,
                stall: self.stall,
                grace: self.grace,
            },
            purpose: Purpose {
                run: self.run.clone(),
                role: self.role.clone(),
                phase: self.phase.clone(),
            },
            budget: self.budget,
            outlook: BudgetNotice::Forecast,
            watch,
            park: self.park.terms().map(|terms| ParkTerms { tree: watch, ..terms }),
            ..LaneRequest::new(agent, prompt)
        }
    }

    /// Runs it, and shows the user what happens meanwhile.
    fn watch(
        &self,
        request: &LaneRequest<'_>,
        app: &App,
        output: &mut Output,
    ) -> Result<LaneReport, Failure> {
        let checks = LaneChecks {
            reads: &self.read,
            keep: self.keep.clone(),
            checks_substance: self.substance,
        };
        if self.events {
            return run_one(&app.session, request, &checks, &mut |progress| {
                let agent = request.agent;
                let version = || version_of(agent.client()?, &app.session).ok().flatten();
                let happening = match &progress {
                    LaneProgress::Began(id) => {
                        LaneEventLine::started(agent, *id, version(), app.session.now())
                    }
                    LaneProgress::Said(event) => LaneEventLine::said(event, app.session.now()),
                    // The messages on stderr say so.
                    LaneProgress::Parked => return ControlFlow::Continue(()),
                };
                // A program that closed the pipe does not want the lane any more.
                match output.json_line(&happening) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            });
        }
        if app.format == Format::Json || !output.is_terminal() {
            let reporter = app.session.reporter();
            let report = run_one(&app.session, request, &checks, &mut |progress| {
                if let LaneProgress::Said(event) = progress {
                    reporter.lane(event);
                }
                ControlFlow::Continue(())
            });
            reporter.lane_over();
            return report;
        }
        let voice = Voice::default();
        let live = Live::new(&voice, &app.session);
        let observer = Arc::new(TerminalObserver::new(voice.clone(), app.format));
        let session: Session = app.session.clone().observed_by(observer);
        let report = thread::scope(|threads| {
            let _ticking = live.tick(threads);
            run_one(&session, request, &checks, &mut |progress| {
                live.hear(&progress);
                ControlFlow::Continue(())
            })
        });
        live.end();
        report
    }

    /// Prints the result.
    fn show(
        &self,
        agent: &AgentRef,
        report: &LaneReport,
        app: &App,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let LaneReport { run, reading, .. } = report;
        if self.events {
            return output.json_line(&LaneEventLine::ended(report, app.session.now()));
        }
        if app.format == Format::Json {
            return output.json(report);
        }
        let transcript = &run.transcript;
        output.say(&sentence(transcript, report.substance.as_deref()));
        if let Some(remedy) = remedy(agent, transcript.outcome) {
            output.say(&format!("hint: {remedy}"));
        }
        let is_unread = report.trouble_kind == Some(FailureKind::LongLine.name());
        if is_unread && self.keep.is_none() {
            output.say("hint: `--keep DIR` saves the complete output");
        }
        let reporter = app.session.reporter();
        warnings(agent, transcript, run.tree.as_ref()).for_each(|text| reporter.warn(text));
        if let Some(text) = over_budget_warning(transcript, run.over) {
            reporter.warn(text);
        }
        reading.iter().flat_map(ReadingReport::messages).for_each(|text| reporter.tell(&text));
        let is_answered = transcript.outcome == LaneOutcome::Answered && report.substance.is_none();
        if let Some(answer) = transcript.output.answer().filter(|_| is_answered) {
            output.data(&format!("{}\n", answer.trim_end()))?;
        }
        Ok(())
    }

    fn prompt(&self) -> Result<String, Failure> {
        if self.prompt != "-" {
            return Ok(self.prompt.clone());
        }
        input::read(MAX_PROMPT).ok_or_else(|| Failure::new(ErrorClass::Usage, NoPrompt))
    }
}

/// Reads seconds, also parts of one.
pub(super) fn seconds() -> impl TypedValueParser<Value = Duration> {
    clap::builder::NonEmptyStringValueParser::new().try_map(|text| {
        let seconds: Option<f64> = text.parse().ok();
        let usable = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= MOST_SECONDS);
        let limit = usable.map(Duration::from_secs_f64).filter(|limit| !limit.is_zero());
        limit.ok_or_else(|| {
            let days = MOST_SECONDS / 86_400.0;
            format!("it must be more than 0 and at most {MOST_SECONDS} seconds ({days} days)")
        })
    })
}
