//! `convoke plan`: cancelling a plan so that no agent executes it, and taking it up again.

use std::path::PathBuf;

use clap::Subcommand;
use convoke_service::failure::Failure;
use convoke_service::plan::{cancel_plan, resume_plan};
use convoke_service::task::filled_line;

use super::pin::print;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Cancel a plan for every agent of this branch, or reinstate it
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Cancel a plan: pin a rule, and offer its open tasks to no agent
    Cancel(CancelArgs),
    /// Reinstate a cancelled plan by removing that rule
    #[command(visible_alias = "reinstate")]
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

    /// The reason, on one line
    #[arg(long, value_name = "TEXT", value_parser = filled_line)]
    because: Option<String>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Cancel(args) => {
                let because = args.because.as_deref();
                print(&cancel_plan(&app.session, &args.plan.plan, because)?, app, output)
            }
            Command::Resume(args) => {
                let report = resume_plan(&app.session, &args.plan)?;
                match app.format {
                    Format::Json => output.json(&report)?,
                    Format::Text => output.data(&format!("resumed {}\n", report.resumed))?,
                }
                Ok(Exit::Done)
            }
        }
    }
}
