//! `convoke lane`: one supervised run of one agent on one prompt.

mod books;
mod entry;
mod list;
mod order;
mod report;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Subcommand;
use clap::builder::TypedValueParser;
use convoke_domain::lane::cap::Cap;
use convoke_domain::lane::ledger::Purpose;
use convoke_domain::lane::outcome::Outcome;
use convoke_domain::lane::substance::{Measure, substance};
use convoke_engine::lane::adapter::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::Driven;
use convoke_engine::lane::replay::TapeError;
use convoke_engine::lane::supervisor::Limits;

pub(super) use self::books::{Account, Ran};
pub(super) use self::order::{AgentWord, LaneOrder, USUAL_LIMITS, model_name, seen_by, version_of};
use self::report::Report;
use self::report::warnings;
pub(super) use self::report::{sentence, why};
pub(super) use self::tree::TreeWatch;
use self::tree::is_dirty;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::output::{Output, Voice};

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
    /// unless `--write` is given. Exit 0 means that there is an answer, 4 that there is none, and 6
    /// that the working tree changed although the agent could only read.
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
    #[arg(long, value_name = "WORD")]
    effort: Option<String>,

    /// The session to go on with
    #[arg(long, value_name = "ID")]
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

    /// Keep what the client said in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// What it may spend, such as 200k tokens or $2.50: with `--run` all lanes of the run together
    #[arg(long, value_name = "CAP", value_parser = Cap::parse)]
    budget: Option<Cap>,

    /// The run that it is part of, in any words: `convoke usage --by run` sums it up
    #[arg(long, value_name = "NAME")]
    run: Option<String>,

    /// What the agent is asked to be, for `convoke usage --by role`
    #[arg(long, value_name = "NAME")]
    role: Option<String>,

    /// The part of the run, for `convoke usage --by phase`
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// What the lane is for, in your words; recorded lanes can be found by it
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,

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
        // An answer that was paid for must not be lost because it cannot be kept.
        if let Some(folder) = &self.keep {
            fs::create_dir_all(folder).map_err(|source| {
                let error = LaneError::Keep { path: folder.clone(), source };
                Failure::new(Exit::Surroundings, error)
            })?;
        }
        let scratch = tempfile::tempdir().map_err(lane_failed)?;
        let order = LaneOrder {
            agent: &self.agent,
            prompt: &prompt,
            label: self.label.as_deref(),
            record: self.record.as_deref(),
            model: self.model.as_deref(),
            effort: self.effort.as_deref(),
            resume: self.resume.as_deref(),
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            limits: Limits {
                wall: self.limit,
                first_byte: self.stall,
                stall: self.stall,
                grace: self.grace,
            },
            account: self.account(),
        };
        let watch =
            if self.no_tree_check { TreeWatch::Off } else { TreeWatch::begin(app, order.rights) };
        let ran = order.run(app, scratch.path(), &Voice::default())?;
        let (driven, tree) = (&ran.driven, watch.end());
        if let Some(folder) = &self.keep {
            keep(scratch.path(), folder)?;
        }
        let thin = self.thin(driven);
        let is_answered = driven.outcome == Outcome::Answered && thin.is_none();
        match app.format {
            Format::Json => {
                let tree = tree.as_ref();
                output.json(&Report::new(&self.agent, &ran, thin.clone(), tree))?;
            }
            Format::Text => {
                output.say(&sentence(driven, thin.as_deref()));
                warnings(&self.agent, driven, tree.as_ref()).for_each(|line| output.say(&line));
                if let Some(answer) = driven.heard.answer().filter(|_| is_answered) {
                    output.data(&format!("{}\n", answer.trim_end()))?;
                }
            }
        }
        let is_cancelled = driven.outcome == Outcome::Cancelled;
        Ok(if is_dirty(tree.as_ref()) && !is_cancelled {
            Exit::DirtyTree
        } else if thin.is_some() {
            Exit::LaneFailed
        } else {
            Exit::of_lane(driven.outcome)
        })
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
        }
    }

    fn thin(&self, driven: &Driven) -> Option<String> {
        let answer = driven.heard.answer().filter(|_| self.substance)?;
        substance(answer, Measure::Review).err().map(|thin| thin.to_string())
    }
}

fn keep(scratch: &Path, folder: &Path) -> Result<(), Failure> {
    let copy = || {
        fs::create_dir_all(folder)?;
        for name in ["stdout", "stderr", "stdin"] {
            if scratch.join(name).exists() {
                fs::copy(scratch.join(name), folder.join(name))?;
            }
        }
        Ok(())
    };
    copy().map_err(|source| {
        let error = LaneError::Keep { path: folder.to_owned(), source };
        Failure::new(Exit::Surroundings, error)
    })
}

pub(super) fn lane_failed(error: std::io::Error) -> Failure {
    Failure::new(Exit::Surroundings, LaneError::Run(error))
}

/// Reads seconds, also parts of one.
pub(super) fn seconds() -> impl TypedValueParser<Value = Duration> {
    clap::builder::NonEmptyStringValueParser::new().try_map(|text| {
        let seconds: Option<f64> = text.parse().ok();
        let usable = seconds.filter(|it| it.is_finite() && *it > 0.0 && *it < 1e7);
        usable.map(Duration::from_secs_f64).ok_or("it must be a number of seconds above 0")
    })
}
