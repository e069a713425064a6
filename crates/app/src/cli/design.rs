//! `convoke design`: from a feature sentence to a reviewed plan.

mod course_args;
mod estimate;
mod heavy_worker;
mod live;
mod screen;
mod tell;

use std::ffi::OsString;
use std::path::PathBuf;

use convoke_domain::design::policy::Policy;
use convoke_domain::design::reading_order::JudgeOrders;
use convoke_domain::design::settled::PollRule;
use convoke_domain::design::setup::ground::DirtyTree;
use convoke_domain::design::walk::{NoAnswer, has_keys};
use convoke_domain::run::RunId;
use convoke_service::design::{DesignRequest, RehearsalSource, design};

pub(super) use self::course_args::CourseArgs;
pub(super) use self::heavy_worker::WorkerArgs;
pub(super) use self::screen::Screen;
pub(super) use self::tell::tell;
use crate::app::App;
use crate::cli::sarif::SarifArgs;
use crate::exit::Exit;
use crate::input::{self, Typed};
use crate::output::Output;
use convoke_service::failure::Failure;
use convoke_service::sarif::ReviewLog;

/// Plan a feature with several agents: sketch, debate, review and vote
///
/// Two agents and a host each write sketches without seeing the others'. They debate contested
/// decisions, and judges decide them. The host then writes a plan, reviewers look for faults in it,
/// and voters decide on every finding. All agents run read-only. Convoke records every event in a
/// journal, so that `convoke resume` continues a run that was stopped or killed.
///
/// Flags can come before or after the feature. A word of the feature that begins with a dash comes
/// after `--`, or inside quotes together with other words.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Args {
    /// Never prompt; accept the recommended answers
    #[arg(long)]
    auto: bool,

    /// Write two sketches without personalities instead of four
    #[arg(long)]
    quick: bool,

    /// Run the phases from sketches to review in a separate process, and show the results at its
    /// end; has no effect with `--quick`
    #[arg(long)]
    subagent: bool,

    /// Ask only as many judges and voters as settle the result, and debate no decision on which all
    /// sketches agree
    #[arg(long)]
    adaptive: bool,

    /// Ask each judge twice, the second time with decisions and sides in reverse order; a vote that
    /// changes with the order does not count
    #[arg(long)]
    both_orders: bool,

    /// Say what earlier designs of this project suggest, a panel or a single pass, with cost and time;
    /// ask no agent and begin nothing
    #[arg(long, conflicts_with_all = ["rehearse", "sarif"])]
    estimate: bool,

    /// Use another workflow's session file: trust its agent health lines, and write the results to
    /// its folder for that workflow to show
    #[arg(long, value_name = "PATH")]
    session_env: Option<OsString>,

    /// A prefix for step numbers and names: `NUMBER::PATH`
    #[arg(long, value_name = "PREFIX", hide = true)]
    step_prefix: Option<String>,

    /// Facts that the calling workflow knows about the branch
    #[arg(long, value_name = "FACTS", hide = true)]
    branch_info: Option<String>,

    /// Make a branch for this design at the commit that is checked out, and switch to it [default:
    /// stay on the branch that is checked out]
    #[arg(long, conflicts_with = "no_branch")]
    branch: bool,

    /// Stay on the current branch instead of creating one, also with `--policy seed`
    #[arg(long)]
    no_branch: bool,

    /// Plan on uncommitted changes; Convoke still notices when an agent changes a file
    #[arg(long)]
    allow_dirty: bool,

    /// The two competing agents and the host, each with an optional model, such as
    /// `cursor,codex=gpt-5.5,claude` [default: cursor, codex and claude; installed clients replace
    /// missing ones]
    #[arg(long, value_name = "FIRST,SECOND,HOST")]
    seats: Option<String>,

    /// Rule set: `safe`, or `seed` for the original workflow's
    #[arg(long, value_name = "NAME", default_value = "safe", value_parser = policy)]
    policy: Policy,

    /// Add the output of `convoke brief` to the prompts of the agents, from the sketches to the votes
    #[arg(long)]
    brief: bool,

    /// A feature's folder: agents read its documents, and Convoke writes `plan.md` and `tasks.md`
    /// to it
    #[arg(long = "feature", alias = "feature-dir", value_name = "DIR")]
    feature_dir: Option<PathBuf>,

    /// The id of the run, as another process chose it
    #[arg(long, value_name = "ID", hide = true, value_parser = RunId::parse)]
    run_id: Option<RunId>,

    #[command(flatten)]
    course: CourseArgs,

    /// Run the whole workflow with recorded answers in a temporary copy of an example project, or
    /// of the given folder
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "a flag that may have a value")]
    rehearse: Option<Option<PathBuf>>,

    #[command(flatten)]
    sarif: SarifArgs,

    /// What to design, in your words
    #[arg(value_name = "FEATURE")]
    feature: Vec<String>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let app = &self.course.context(app);
        let sarif = self.sarif.prepare(&app.session)?;
        let mut request = self.request();
        if self.estimate {
            return estimate::show(app, &request, output);
        }
        let is_asked_for = self.rehearse.is_none() && request.feature.is_empty() && !self.auto;
        if is_asked_for && input::has_person() {
            request.check()?;
            match asked_for(app, output) {
                Typed::Line(line) => line.trim().clone_into(&mut request.feature),
                Typed::Stopped => return Ok(Exit::Interrupted),
                Typed::TooLate | Typed::End => {}
            }
        }
        let mut screen = Screen::new(app, output);
        let ended = design(&app.session, &request, &mut screen);
        screen.close()?;
        let report = ended.as_ref().map(|ended| &ended.report);
        let logged = sarif.write(|| ReviewLog::of_design(&app.session, report));
        let exit = tell(app, &ended?.report, output)?;
        logged.map(|()| exit)
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
            poll_rule: if self.adaptive { PollRule::UntilSettled } else { PollRule::All },
            judge_orders: if self.both_orders { JudgeOrders::Both } else { JudgeOrders::One },
            session_env: self.session_env.clone(),
            step_prefix: self.step_prefix.clone(),
            branch_info: self.branch_info.clone(),
            no_branch: self.no_branch,
            new_branch: self.branch,
            dirty_tree: if self.allow_dirty { DirtyTree::Allowed } else { DirtyTree::Refused },
            seats: self.seats.clone(),
            policy: self.policy,
            brief: self.brief,
            feature_dir: self.feature_dir.clone(),
            rehearsal: self.rehearse.as_ref().map(source),
            run_id: self.run_id.clone(),
            course: self.course.request(),
        }
    }
}

/// Asks the person at the terminal which feature to design.
fn asked_for(app: &App, output: &Output) -> Typed {
    loop {
        let ask = || output.say("What do you want to design? One line is enough.");
        let typed = input::line(ask, None, &app.session.cancel());
        let Typed::Line(line) = &typed else { return typed };
        if !has_keys(line) {
            return typed;
        }
        output.say(&format!("{}; try again", NoAnswer::Keys));
    }
}

fn policy(word: &str) -> Result<Policy, String> {
    Policy::parse(word).ok_or_else(|| "it must be `safe` or `seed`".to_owned())
}
