//! `convoke lane`: one supervised run of one agent on one prompt.

mod events;
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
use convoke_domain::lane::cap::Cap;
use convoke_domain::lane::event::FailureKind;
use convoke_domain::lane::ledger::Purpose;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_engine::client::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::supervisor::Limits;
use convoke_service::agents::first_usable_agent;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::lane::{
    FinishedLane, LaneProgress, LaneRequest, OneLane, Outlook, ReadingReport, Watch,
    over_budget_warning, run_one, sentence, version_of, warnings,
};
use convoke_service::session::Session;

use self::events::EventLine;
use self::live::Live;
pub(crate) use self::live::progress_line;
pub(super) use self::words::{AgentWord, BudgetArgs, PinArgs, model_name};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::input;
use crate::output::{Output, TerminalObserver, Voice};

/// The longest limit: nobody waits longer.
const MOST_SECONDS: f64 = 8_640_000.0;

/// The longest prompt.
const MAX_PROMPT: u64 = 16 * 1024 * 1024;

/// Run agents so that nothing hangs, leaks or lies
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one agent on one prompt and print its answer
    ///
    /// The client runs in a session of its own, under limits, and when it ends or is stopped nothing
    /// of it is left, whatever it started; also when convoke itself is killed. It may only read
    /// unless `--write` is given.
    ///
    /// Exit 0 means that there is an answer; 1 that there is one, and a file of `--read` was not
    /// read; 2 that it was asked for wrongly; 3 that something around it is missing, such as the
    /// client; 4 that there is no answer; 5 that a budget is used up; 6 that the working tree changed
    /// although the agent could only read; and 130 that somebody stopped it.
    Run(Box<RunArgs>),
    /// List the lanes that run, and the last ones; one whose convoke is gone is `lost`
    List(list::ListArgs),
    /// Print everything that is known of a lane
    Show(list::OneArgs),
    /// Stop a lane, by asking the convoke that runs it
    ///
    /// All lanes of that convoke stop. One whose convoke is gone is only closed: its guardian has
    /// ended what was left of it.
    Stop(list::OneArgs),
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct RunArgs {
    /// Who answers: a client, `http:NAME` for a model's API of your configuration, or `replay:FILE`
    /// for recorded lanes [default: the first client that answered lately, else the first there is]
    #[arg(long, value_parser = AgentWord)]
    agent: Option<AgentRef>,

    /// What to ask; `-` is stdin
    prompt: String,

    /// The model [default: the client's own choice]
    #[arg(long, value_parser = model_name)]
    model: Option<String>,

    /// How hard the model shall think, in the client's own words: Claude Code and Codex
    #[arg(long, value_name = "WORD", value_parser = model_name)]
    effort: Option<String>,

    /// The session to go on with
    #[arg(long, value_name = "ID", value_parser = model_name)]
    resume: Option<String>,

    /// Let it change files, as far as its own settings allow
    #[arg(long)]
    write: bool,

    /// How long it may take in all, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1200", value_parser = seconds())]
    limit: Duration,

    /// How long it may say nothing, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds())]
    stall: Duration,

    /// How long it may take to stop when it is asked to, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds())]
    grace: Duration,

    /// Also ask whether the answer has substance: enough words, and a source
    #[arg(long)]
    substance: bool,

    /// Do not look whether the working tree changed while an agent could only read
    #[arg(long)]
    no_tree_check: bool,

    /// A file to read before answering, named in the prompt and not pasted; afterwards the client's
    /// own record tells whether it was. Can be given several times
    #[arg(long, value_name = "FILE")]
    read: Vec<PathBuf>,

    /// Print what happens as it happens, one JSON document in each line; the last one has everything
    #[arg(long)]
    events: bool,

    /// Keep what the client said in this folder, in place of what an earlier lane left there
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// What it may spend, such as 200k tokens or $2.50: with `--run` all lanes of the run together
    #[arg(long, value_name = "CAP", value_parser = Cap::parse)]
    budget: Option<Cap>,

    /// The run that it is part of, in any words: `convoke usage --by run` sums it up
    #[arg(long, value_name = "NAME", value_parser = model_name)]
    run: Option<String>,

    /// What the agent is asked to be, for `convoke usage --by role`
    #[arg(long, value_name = "NAME", value_parser = model_name)]
    role: Option<String>,

    /// The part of the run, for `convoke usage --by phase`
    #[arg(long, value_name = "NAME", value_parser = model_name)]
    phase: Option<String>,
    /// What the lane is for, in your words; recorded lanes can be found by it
    #[arg(long, value_name = "TEXT", value_parser = model_name)]
    label: Option<String>,

    #[command(flatten)]
    pins: PinArgs,

    /// Add the lane to this file of recorded lanes, for `--agent replay:FILE`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
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
        let prompt = self.prompt()?;
        let agent = match &self.agent {
            Some(agent) => agent.clone(),
            None => first_usable_agent(app)?,
        };
        let lane = OneLane {
            request: self.request(&agent, &prompt),
            reads: &self.read,
            keep: self.keep.clone(),
            checks_substance: self.substance,
            watch: if self.no_tree_check { Watch::Nothing } else { Watch::Tree },
        };
        let mut finished = self.watched(&lane, app, output)?;
        self.show(&agent, &finished, app, output)?;
        match finished.not_kept.take() {
            Some(failure) => Err(failure),
            None => Ok(finished.class().map_or(Exit::Done, Exit::from)),
        }
    }

    fn request<'a>(&'a self, agent: &'a AgentRef, prompt: &'a str) -> LaneRequest<'a> {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
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
            kept_in: self.keep.as_ref().map(|path| absolute(path).display().to_string()),
            outlook: Outlook::Forecast,
            ..LaneRequest::new(agent, prompt)
        }
    }

    /// Runs it, and shows the user what happens meanwhile.
    fn watched(
        &self,
        lane: &OneLane<'_>,
        app: &App,
        output: &mut Output,
    ) -> Result<FinishedLane, Failure> {
        if self.events {
            return run_one(app, lane, &mut |progress| {
                let agent = lane.request.agent;
                let version = || version_of(agent.client()?, app).ok().flatten();
                let happening = match &progress {
                    LaneProgress::Began(id) => EventLine::started(agent, *id, version(), app.now()),
                    LaneProgress::Said(event) => EventLine::said(event, app.now()),
                };
                // A program that closed the pipe does not want the lane any more.
                match output.json_line(&happening) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            });
        }
        if app.format == Format::Json || !output.is_terminal() {
            let reporter = app.reporter();
            return run_one(app, lane, &mut |progress| {
                if let LaneProgress::Said(event) = progress {
                    reporter.lane(event);
                }
                ControlFlow::Continue(())
            });
        }
        let voice = Voice::default();
        let live = Live::new(&voice, app);
        let observer = Arc::new(TerminalObserver::new(voice.clone(), app.format));
        let session: Session = app.session.clone().observed_by(observer);
        let finished = thread::scope(|threads| {
            let _ticking = live.tick(threads);
            run_one(&session, lane, &mut |progress| {
                if let LaneProgress::Said(event) = progress {
                    live.notice(event);
                }
                ControlFlow::Continue(())
            })
        });
        live.end();
        finished
    }

    /// Shows what came of it.
    fn show(
        &self,
        agent: &AgentRef,
        finished: &FinishedLane,
        app: &App,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let FinishedLane { run, report, reading, .. } = finished;
        if self.events {
            return output.json_line(&EventLine::ended(report, app.now()));
        }
        if app.format == Format::Json {
            return output.json(report);
        }
        let driven = &run.driven;
        output.say(&sentence(driven, report.substance.as_deref()));
        let is_unread = report.trouble_kind == Some(FailureKind::LongLine.name());
        if is_unread && self.keep.is_none() {
            output.say("hint: `--keep DIR` keeps what is said, however long it is");
        }
        let reporter = app.reporter();
        warnings(agent, driven, run.tree.as_ref()).for_each(|text| reporter.warn(text));
        if let Some(text) = over_budget_warning(driven, run.over) {
            reporter.warn(text);
        }
        reading.iter().flat_map(ReadingReport::messages).for_each(|text| reporter.tell(&text));
        let is_answered = driven.outcome == LaneOutcome::Answered && report.substance.is_none();
        if let Some(answer) = driven.heard.answer().filter(|_| is_answered) {
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
            format!("it must be seconds above 0, and at most {MOST_SECONDS}, which are {days} days")
        })
    })
}
