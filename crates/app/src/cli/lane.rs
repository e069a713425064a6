//! `convoke lane`: one supervised run of one agent on one prompt.

mod allowance;
mod books;
mod ending;
mod entry;
mod events;
mod foresight;
mod keep;
mod list;
mod live;
mod order;
mod reading;
mod report;
mod rules;
mod tree;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use clap::Subcommand;
use clap::builder::TypedValueParser;
use convoke_domain::lane::cap::Cap;
use convoke_domain::lane::event::FailureKind;
use convoke_domain::lane::ledger::Purpose;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::lane::substance::{Measure, substance};
use convoke_engine::lane::adapter::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::Driven;
use convoke_engine::lane::replay::TapeError;
use convoke_engine::lane::supervisor::Limits;
use convoke_engine::scratch;

pub(super) use self::allowance::{Allowance, Purse, blind, is_paid};
use self::books::Watches;
pub(super) use self::books::{Account, Ran};
use self::events::Line;
use self::keep::{keep, make_ready};
use self::live::Live;
use self::order::Told;
pub(super) use self::order::{
    AgentWord, LaneOrder, USUAL_LIMITS, check_agent, model_name, seen_by, version_of,
};
use self::reading::{Proof, Reading};
pub(super) use self::report::{LaneReport, OverReport, overdrawn, sentence, why};
use self::report::{Report, unanswered, warnings};
pub(super) use self::rules::{Rules, RulesArgs};
use self::tree::is_dirty;
pub(super) use self::tree::{Look, TreeWatch};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::output::{Output, Voice};

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
    /// for recorded lanes
    #[arg(long, value_parser = AgentWord)]
    agent: AgentRef,

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
    rules: RulesArgs,

    /// Add the lane to this file of recorded lanes, for `--agent replay:FILE`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
enum LaneError {
    #[error("cannot find `{program}` on the PATH")]
    NotInstalled { program: &'static str },
    #[error("cannot take stdin for a prompt: it is not text, or longer than {MAX_PROMPT} bytes")]
    NoPrompt,
    #[error("cannot ask nothing: the prompt is blank")]
    Blank,
    #[error("cannot run the lane")]
    Run(#[source] std::io::Error),
    #[error("cannot use `{}`", path.display())]
    Keep { path: PathBuf, source: std::io::Error },
    #[error("cannot use cassette `{}`", path.display())]
    Cassette { path: PathBuf, source: TapeError },
    #[error("cannot give `{agent}` {what}")]
    Unable { agent: AgentRef, what: &'static str },
}

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
        if prompt.trim().is_empty() {
            return Err(Failure::new(Exit::Usage, LaneError::Blank));
        }
        let reading = Reading::find(&self.read, &self.agent)?;
        // An answer that was paid for must not be lost because it cannot be kept.
        self.keep.as_deref().map_or(Ok(()), make_ready)?;
        let scratch = scratch::lane().map_err(lane_failed)?;
        let prompt = reading.prompt(&prompt);
        let order = self.order(&prompt);
        let ran = self.watched(&order, app, scratch.path(), output)?;
        let driven = &ran.driven;
        let kept = self.keep.as_deref().map_or(Ok(()), |folder| keep(scratch.path(), folder));
        let is_answered = driven.outcome == LaneOutcome::Answered;
        let proof = is_answered.then(|| reading.proof(&self.agent, scratch.path(), app));
        let found = Found { ran: &ran, thin: self.thin(driven), proof: proof.flatten() };
        // What is kept is kept, and what was said is known.
        drop(scratch);
        self.show(&found, app, output)?;
        kept?;
        Ok(found.exit())
    }

    fn order<'a>(&'a self, prompt: &'a str) -> LaneOrder<'a> {
        LaneOrder {
            agent: &self.agent,
            prompt,
            label: self.label.as_deref(),
            record: self.record.as_deref(),
            model: self.model.as_deref(),
            effort: self.effort.as_deref(),
            resume: self.resume.as_deref(),
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            rules: self.rules.rules(),
            limits: Limits {
                wall: self.limit,
                first_byte: self.stall,
                stall: self.stall,
                grace: self.grace,
            },
            account: self.account(),
        }
    }

    /// Runs it, and shows what happens meanwhile to whoever watches.
    fn watched(
        &self,
        order: &LaneOrder<'_>,
        app: &App,
        scratch: &Path,
        output: &mut Output,
    ) -> Result<Ran, Failure> {
        let voice = Voice::default();
        let watches = if self.no_tree_check { Watches::Nothing } else { Watches::Tree };
        if self.events {
            return order.run_told(app, scratch, &voice, watches, &mut |told| {
                let version = || version_of(self.agent.client()?, app).ok().flatten();
                let line = match &told {
                    Told::Began(lane) => Line::started(&self.agent, *lane, version()),
                    Told::Said(event) => Line::said(event),
                };
                // Where nobody reads any more, nobody wants it to go on.
                match output.json_line(&line) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            });
        }
        if app.format == Format::Json || !output.is_terminal() {
            return order.run_plainly(app, scratch, &voice, watches);
        }
        let live = Live::new(&voice);
        let ran = thread::scope(|threads| {
            let _ticking = live.tick(threads);
            order.run_told(app, scratch, &voice, watches, &mut |told| {
                if let Told::Said(event) = told {
                    live.notice(event);
                }
                ControlFlow::Continue(())
            })
        });
        live.end();
        ran
    }

    /// Shows what came of it.
    fn show(&self, found: &Found<'_>, app: &App, output: &mut Output) -> Result<(), Failure> {
        let Found { ran: Ran { driven, tree, over, .. }, thin, proof } = found;
        let report = || Report::new(&self.agent, found);
        if self.events {
            return output.json_line(&Line::ended(report()));
        }
        if app.format == Format::Json {
            return output.json(&report());
        }
        output.say(&sentence(driven, thin.as_deref()));
        let is_unread = unanswered(driven).is_some_and(|it| it.kind == FailureKind::LongLine);
        if is_unread && self.keep.is_none() {
            output.say("hint: `--keep DIR` keeps what is said, however long it is");
        }
        warnings(&self.agent, driven, tree.as_ref()).for_each(|line| output.say(&line));
        if let Some(line) = overdrawn(driven, *over) {
            output.say(&line);
        }
        proof.iter().flat_map(Proof::lines).for_each(|line| output.say(&line));
        let is_answered = driven.outcome == LaneOutcome::Answered && thin.is_none();
        if let Some(answer) = driven.heard.answer().filter(|_| is_answered) {
            output.data(&format!("{}\n", answer.trim_end()))?;
        }
        Ok(())
    }

    fn prompt(&self) -> Result<String, Failure> {
        if self.prompt != "-" {
            return Ok(self.prompt.clone());
        }
        input::read(MAX_PROMPT).ok_or_else(|| Failure::new(Exit::Usage, LaneError::NoPrompt))
    }

    fn account(&self) -> Account {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Account {
            purpose: Purpose {
                run: self.run.clone(),
                role: self.role.clone(),
                phase: self.phase.clone(),
            },
            budget: self.budget,
            kept_in: self.keep.as_ref().map(|path| absolute(path).display().to_string()),
            foresees: true,
            is_told_elsewhere: false,
        }
    }

    fn thin(&self, driven: &Driven) -> Option<String> {
        let answer = driven.heard.answer().filter(|_| self.substance)?;
        substance(answer, Measure::Review).err().map(|thin| thin.to_string())
    }
}

/// Everything that is known of a lane when it is over.
struct Found<'a> {
    ran: &'a Ran,
    /// Why its answer is without substance.
    thin: Option<String>,
    /// What was read of what was to be read.
    proof: Option<Proof>,
}

impl Found<'_> {
    fn exit(&self) -> Exit {
        let outcome = self.ran.driven.outcome;
        let is_unread = self.proof.as_ref().is_some_and(|proof| !proof.unproven.is_empty());
        if is_dirty(self.ran.tree.as_ref()) && outcome != LaneOutcome::Cancelled {
            Exit::DirtyTree
        } else if self.thin.is_some() {
            Exit::LaneFailed
        } else if is_unread {
            Exit::No
        } else {
            Exit::of_lane(outcome)
        }
    }
}

pub(super) fn lane_failed(error: std::io::Error) -> Failure {
    Failure::new(Exit::Surroundings, LaneError::Run(error))
}

/// Reads seconds, also parts of one.
pub(super) fn seconds() -> impl TypedValueParser<Value = Duration> {
    clap::builder::NonEmptyStringValueParser::new().try_map(|text| {
        let seconds: Option<f64> = text.parse().ok();
        let usable = seconds.filter(|it| *it > 0.0 && *it <= MOST_SECONDS);
        let limit = usable.map(Duration::from_secs_f64).filter(|limit| !limit.is_zero());
        limit.ok_or_else(|| {
            let days = MOST_SECONDS / 86_400.0;
            format!("it must be seconds above 0, and at most {MOST_SECONDS}, which are {days} days")
        })
    })
}
