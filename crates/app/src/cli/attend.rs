//! `convoke attend`: every agent that a message waits for is woken.

use std::num::NonZeroUsize;

use convoke_engine::client::Rights;
use convoke_service::attend::{AttendEvent, AttendRequest, AttendUntil, attend};
use convoke_service::failure::Failure;

use crate::app::{App, Format};
use crate::cli::at_least_one;
use crate::cli::lane::BudgetArgs;
use crate::exit::Exit;
use crate::output::Output;

/// Wake every agent of this branch that a message waits for, until you stop it
///
/// All that waits for an agent is one wake-up, and its session goes on in a supervised lane, as with
/// `convoke prompt`. Whoever is busy is not interrupted. Answers are kept as messages, and wake
/// those whom they mention, up to eight wake-ups in a row. An agent that gave no answer is tried
/// again when there is something new for it. When a `--budget` is used up, it ends with exit code 5.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// End when nothing is left that could be delivered
    #[arg(long)]
    once: bool,

    /// Let agents change files, as far as their clients' own settings allow
    #[arg(long)]
    write: bool,

    /// The most agents that work at the same time
    #[arg(long, value_name = "N", default_value = "2", value_parser = at_least_one)]
    max_parallel: NonZeroUsize,

    #[command(flatten)]
    allowance: BudgetArgs,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let request = AttendRequest {
            until: if self.once { AttendUntil::Idle } else { AttendUntil::Stopped },
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            max_parallel: self.max_parallel,
            budget: self.allowance.settle(app, "attend"),
        };
        let problem = attend(app, &request, &mut |event| show(event, app, output))?;
        Ok(problem.map_or(Exit::Done, Exit::from))
    }
}

fn show(event: &AttendEvent, app: &App, output: &mut Output) -> Result<(), Failure> {
    match (event, app.format) {
        (AttendEvent::Failed(failure), _) => {
            output.failure(failure);
            Ok(())
        }
        (AttendEvent::Woken(report), Format::Json) => output.json_line(report),
        (AttendEvent::Woken(report), Format::Text) => {
            if let Some(answer) = &report.answer {
                output.data(&format!("@{}: {}\n", report.agent, answer.trim_end()))?;
            }
            output.flush()
        }
    }
}
