//! `convoke design`: from a feature sentence to a reviewed plan.

mod course_args;
mod heavy_worker;
mod live;
mod screen;
mod tell;

use std::ffi::OsString;
use std::path::PathBuf;

use convoke_domain::design::policy::Policy;
use convoke_domain::design::walk::{NoAnswer, has_keys};
use convoke_service::design::{DesignRequest, RehearsalSource, design};

pub(super) use self::course_args::CourseArgs;
pub(super) use self::heavy_worker::WorkerArgs;
pub(super) use self::screen::Screen;
pub(super) use self::tell::tell;
use crate::app::App;
use crate::exit::Exit;
use crate::input::{self, Typed};
use crate::output::Output;
use convoke_service::failure::Failure;

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
        let mut request = self.request();
        request.check()?;
        let is_asked_for = self.rehearse.is_none() && request.feature.is_empty() && !self.auto;
        if is_asked_for && input::has_person() {
            match asked_for(app, output) {
                Typed::Line(line) => line.trim().clone_into(&mut request.feature),
                Typed::Stopped => return Ok(Exit::Interrupted),
                Typed::TooLate | Typed::End => {}
            }
        }
        let mut screen = Screen::new(app, output);
        let ended = design(app, &request, &mut screen);
        screen.close()?;
        tell(app, &ended?.report, output)
    }

    fn request(&self) -> DesignRequest {
        let source = |folder: &Option<PathBuf>| {
            folder.clone().map_or(RehearsalSource::Example, RehearsalSource::Folder)
        };
        DesignRequest {
            feature: self.feature.join(" ").trim().to_owned(),
            auto: self.auto,
            quick: self.quick,
            subagent: self.subagent,
            session_env: self.session_env.clone(),
            step_prefix: self.step_prefix.clone(),
            branch_info: self.branch_info.clone(),
            no_branch: self.no_branch,
            seats: self.seats.clone(),
            policy: self.policy,
            brief: self.brief,
            feature_dir: self.feature_dir.clone(),
            rehearsal: self.rehearse.as_ref().map(source),
            course: self.course.request(),
        }
    }
}

/// Asks the person at the terminal what is to be designed.
fn asked_for(app: &App, output: &Output) -> Typed {
    loop {
        let ask = || output.say("What is to be designed? One line will do.");
        let typed = input::line(ask, None, &app.cancel());
        let Typed::Line(line) = &typed else { return typed };
        if !has_keys(line) {
            return typed;
        }
        output.say(&format!("{}; once more", NoAnswer::Keys));
    }
}

fn policy(word: &str) -> Result<Policy, String> {
    Policy::parse(word).ok_or_else(|| "it must be `safe` or `seed`".to_owned())
}
