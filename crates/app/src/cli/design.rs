//! `convoke design`: from a feature sentence to a reviewed plan.

mod course;
mod ending;
mod ground;
mod lane;
mod nested;
mod person;
mod probe;
mod question;
mod rehearsal;
mod screen;
mod seats;
mod stage;
mod watched;
mod worker;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) use self::course::{CourseArgs, hold};
use self::rehearsal::Rehearsal;
use self::seats::Seats;
pub(super) use self::worker::WorkerArgs;
use crate::app::App;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::input::{self, Typed};
use crate::interrupt;
use crate::output::Output;
use crate::workspace::{Workspace, refused};
use convoke_domain::client::Client as Agent;
use convoke_domain::design::event::{Event, Settings};
use convoke_domain::design::policy::Policy;
use convoke_domain::design::progress::Prefix;
use convoke_domain::design::rules::RulesVersion;
use convoke_domain::design::walk::{NoAnswer, has_keys};
use convoke_domain::run::RunId;
use convoke_engine::client::adapter;
use convoke_service::brief::brief_block;
pub(super) use convoke_service::design::open_journal as opened;
use convoke_service::design::{DesignError, MAX_FEATURE, lane_limits};

/// Plan a feature with several agents: sketches, debates, a plan, a review, votes, a diagram
///
/// Two agents and a host sketch alone, contested decisions are debated and judged, a plan is written
/// and attacked by reviewers, and voters decide on every finding. Agents may only read. Everything
/// that happens is in a journal: a run that was stopped or killed goes on with `convoke resume`.
/// Flags stand before the feature; whatever follows its first word belongs to it.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Args {
    /// Ask nobody anything: the recommendations stand
    #[arg(long)]
    auto: bool,

    /// Two sketches without personalities instead of four
    #[arg(long)]
    quick: bool,

    /// Do the heavy part, from sketches to the review, in a process of its own, and show what it
    /// made when it is over; without effect if `--quick` is given
    #[arg(long)]
    subagent: bool,

    /// Another workflow's session file: what it says about agents is believed, and what is made is
    /// handed over in its folder, for that workflow to show
    #[arg(long, value_name = "PATH")]
    session_env: Option<OsString>,

    /// What stands before step numbers and names: `NUMBER::PATH`
    #[arg(long, value_name = "PREFIX", hide = true)]
    step_prefix: Option<String>,

    /// What the calling workflow knows of the branch
    #[arg(long, value_name = "FACTS", hide = true)]
    branch_info: Option<String>,

    /// Stay on the branch that is checked out
    #[arg(long)]
    no_branch: bool,

    /// Who takes part: two agents that compete and the host, each perhaps with a model, such as
    /// `cursor,codex=gpt-5.5,claude` [default: cursor, codex and claude, or whoever is installed]
    #[arg(long, value_name = "FIRST,SECOND,HOST")]
    seats: Option<String>,

    /// Whose rules hold where they changed: `safe`, or `seed` for the first version's
    #[arg(long, value_name = "NAME", default_value = "safe", value_parser = policy)]
    policy: Policy,

    /// Give the design folder's documents to whoever sketches, as `convoke brief` prints them
    #[arg(long)]
    brief: bool,

    /// A feature's folder: its documents are to be read, and it gets `plan.md` and `tasks.md`
    #[arg(long = "feature", alias = "feature-dir", value_name = "DIR")]
    feature_dir: Option<PathBuf>,

    #[command(flatten)]
    course: CourseArgs,

    /// Run the whole workflow with recorded answers on an example project, in a temporary copy; a
    /// folder of your own can be named
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "a flag that may have a value")]
    rehearse: Option<Option<PathBuf>>,

    /// What is to be designed
    #[arg(trailing_var_arg = true, value_name = "FEATURE")]
    feature: Vec<String>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if let Some(folder) = &self.feature_dir
            && !folder.is_dir()
        {
            let (path, source) = (folder.clone(), std::io::ErrorKind::NotADirectory.into());
            return Err(Failure::new(ErrorClass::Usage, DesignError::Folder { path, source }));
        }
        self.course.check()?;
        if let Some(env) = self.session_env.as_ref().filter(|_| self.is_nested()) {
            has_folder(Path::new(env))?;
        }
        if let Some(folder) = &self.rehearse {
            if !self.feature.is_empty() {
                let said = "note: a rehearsal is about its own feature; what you asked for is not looked at";
                output.say(said);
            }
            let rehearsal = Rehearsal::prepare(folder.as_deref())?;
            let stage = app.in_project(rehearsal.project());
            let (seats, feature) = (rehearsal.seats()?, short_enough(rehearsal.feature())?);
            let settings = self.settings(&stage, seats, feature, true)?;
            let course = self.course.with_recorded(rehearsal.replies());
            return begin(&Workspace::open(app, None)?, &stage, settings, &course, output);
        }
        let feature = match self.feature.join(" ").trim() {
            "" if !self.auto && input::has_person() => match asked_for(output) {
                Typed::Line(line) => line.trim().to_owned(),
                Typed::Stopped => return Ok(Exit::Interrupted),
                Typed::TooLate | Typed::End => String::new(),
            },
            said => said.to_owned(),
        };
        if feature.is_empty() {
            let failure = Failure::new(ErrorClass::Usage, DesignError::NoFeature);
            return Err(failure.hint("convoke design \"Keep drafts when the connection is lost\""));
        }
        let feature = short_enough(feature)?;
        let seats = match &self.seats {
            Some(words) => Seats::parse(words)?,
            None => Seats::found(app).ok_or_else(nobody)?,
        };
        let settings = self.settings(app, seats, feature, false)?;
        begin(&Workspace::open(app, None)?, app, settings, &self.course, output)
    }

    /// An empty session file says that there is nobody else.
    fn is_nested(&self) -> bool {
        self.session_env.as_ref().is_some_and(|path| !path.is_empty())
    }

    fn settings(
        &self,
        app: &App,
        seats: Seats,
        feature: String,
        is_rehearsal: bool,
    ) -> Result<Settings, Failure> {
        Ok(Settings {
            feature,
            auto: self.auto,
            quick: self.quick,
            subagent: self.subagent,
            nested: self.is_nested(),
            session_env: self.session_env.as_ref().filter(|_| self.is_nested()).map(absolute),
            prefix: self.step_prefix.as_deref().map(Prefix::parse).unwrap_or_default(),
            panel: seats.panel,
            agents: seats.agents,
            policy: self.policy,
            rules: RulesVersion::PRESENT,
            brief: if self.brief { brief_block(app)? } else { None },
            documents: self.feature_dir.as_deref().map(documents).unwrap_or_default(),
            is_rehearsal,
            no_branch: self.no_branch,
            branch_info: self.branch_info.clone(),
            feature_dir: self.feature_dir.as_deref().map(absolute),
            budget: self.course.budget().cloned(),
        })
    }
}

/// Begins a run, and goes through with it. A rehearsal is kept with the project that it was asked for
/// in, and happens in another.
fn begin(
    workspace: &Workspace,
    app: &App,
    settings: Settings,
    course: &CourseArgs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let id = RunId::new(now(), u64::from(std::process::id()) ^ settings.feature.len() as u64);
    // What may not begin is no run.
    let lock = hold(app, &id)?;
    let mark = if settings.is_rehearsal { "(rehearsal) " } else { "" };
    let title = format!("{mark}{}", settings.feature.lines().next().unwrap_or_default());
    workspace.store.begin_run(&id, &workspace.scope, &title, now()).map_err(refused)?;
    let (mut journal, _) = opened(workspace, &id)?;
    let event = Event::Begun(Box::new(settings));
    journal.append(now().as_millisecond(), &event).map_err(refused)?;
    course.go(app, workspace, &id, lock, output)
}

/// A session file need not be there, but what is made is left in its folder.
fn has_folder(env: &Path) -> Result<(), Failure> {
    let env = std::path::absolute(env).unwrap_or_else(|_| env.to_owned());
    let folder = env.parent().unwrap_or(&env);
    if folder.is_dir() {
        return Ok(());
    }
    let path = folder.to_owned();
    let failure = Failure::new(ErrorClass::Usage, DesignError::NoParent { path });
    Err(failure.hint("make it, or leave out `--session-env`"))
}

fn short_enough(feature: String) -> Result<String, Failure> {
    let length = feature.len();
    if length <= MAX_FEATURE {
        return Ok(feature);
    }
    let failure = Failure::new(ErrorClass::Usage, DesignError::LongFeature { length });
    Err(failure.hint("say it in a sentence, and put the rest in a document: `--feature DIR`"))
}

/// Asks the person at the terminal what is to be designed.
fn asked_for(output: &Output) -> Typed {
    loop {
        let ask = || output.say("What is to be designed? One line will do.");
        let typed = input::line(ask, None, &interrupt::cancel());
        let Typed::Line(line) = &typed else { return typed };
        if !has_keys(line) {
            return typed;
        }
        output.say(&format!("{}; once more", NoAnswer::Keys));
    }
}

fn nobody() -> Failure {
    let looked_for = Agent::ALL.map(|client| adapter(client).programs).concat().join(", ");
    Failure::new(ErrorClass::Prerequisite, DesignError::Nobody { looked_for })
        .hint("install one of them and log in")
        .hint("or name an API of your configuration: `--seats http:a,http:b,http:c`")
        .hint("or see how it goes without any: `convoke design --rehearse`")
}

fn absolute(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

fn policy(word: &str) -> Result<Policy, String> {
    Policy::parse(word).ok_or_else(|| "it must be `safe` or `seed`".to_owned())
}

/// Lists a feature's documents, by path.
fn documents(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "md") && path.is_file());
    paths.sort();
    paths.iter().map(|path| path.display().to_string()).collect()
}
