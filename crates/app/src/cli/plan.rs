//! `convoke plan`: cancelling a plan so that no agent executes it, and taking it up again.

use std::path::PathBuf;

use clap::Subcommand;
use convoke_domain::pin::PinText;
use convoke_store::pin::{NewPin, Reach};

use super::pin::{add, refuse_agents};
use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};
use convoke_service::task::{filled_line as line, plan_file};

/// Cancel a plan for every agent of this branch, or take it up again
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Pin the rule that a plan is cancelled; its open tasks are no agent's next action any more
    Cancel(CancelArgs),
    /// Take up a cancelled plan again, by removing that rule
    Resume(OnePlan),
}

#[derive(Debug, clap::Args)]
struct OnePlan {
    /// The plan, relative to the project
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
}

#[derive(Debug, clap::Args)]
struct CancelArgs {
    #[command(flatten)]
    plan: OnePlan,

    /// Why, on one line
    #[arg(long, value_name = "TEXT", value_parser = line)]
    because: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum PlanError {
    #[error("cannot cancel `{plan}`: no task of this branch comes from it")]
    NoTasks { plan: String },
    #[error("cannot cancel `{plan}`: it is cancelled already")]
    Cancelled { plan: String },
    #[error("cannot resume `{plan}`: it is not cancelled")]
    NotCancelled { plan: String },
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        refuse_agents(app)?;
        let workspace = Workspace::open(app, None)?;
        match &self.command {
            Command::Cancel(args) => args.run(app, &workspace, output),
            Command::Resume(args) => args.resume(app, &workspace, output),
        }
    }
}

impl CancelArgs {
    fn run(&self, app: &App, workspace: &Workspace, output: &mut Output) -> Result<Exit, Failure> {
        let Workspace { store, scope } = workspace;
        let plan = plan_file(app, &self.plan.plan)?;
        if store.tasks_of_plan(scope, Some(&plan)).map_err(refused)?.is_empty() {
            let hint = "run `convoke task tree --json` to see the plans of this branch";
            return Err(Failure::new(ErrorClass::Refused, PlanError::NoTasks { plan }).hint(hint));
        }
        let pins = store.pins(scope, now()).map_err(refused)?;
        if pins.iter().any(|pin| pin.plan.as_ref() == Some(&plan)) {
            return Err(Failure::new(ErrorClass::Refused, PlanError::Cancelled { plan }));
        }
        let text = PinText::of_cancelled_plan(&plan, self.because.as_deref())
            .map_err(|error| Failure::new(ErrorClass::Usage, error))?;
        let new = NewPin {
            text: &text,
            reach: Reach::Branch,
            task: None,
            plan: Some(&plan),
            until: None,
        };
        add(app, workspace, &new, output)
    }
}

impl OnePlan {
    fn resume(
        &self,
        app: &App,
        workspace: &Workspace,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Workspace { store, scope } = workspace;
        let plan = plan_file(app, &self.plan)?;
        if store.resume_plan(scope, &plan, now()).map_err(refused)? == 0 {
            return Err(Failure::new(ErrorClass::Refused, PlanError::NotCancelled { plan })
                .hint("run `convoke pin list` to see what is"));
        }
        match app.format {
            Format::Json => output.json(&serde_json::json!({ "resumed": plan }))?,
            Format::Text => output.data(&format!("resumed {plan}\n"))?,
        }
        Ok(Exit::Done)
    }
}
