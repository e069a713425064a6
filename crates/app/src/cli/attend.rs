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

/// Wake this branch's agents as messages arrive, until you stop it
///
/// Delivers all messages that wait for an agent in one wake-up, and resumes its session in a
/// supervised lane, as `convoke prompt` does. Convoke does not interrupt a busy agent. It stores
/// each answer as a message and wakes the agents that the answer mentions, up to eight wake-ups in
/// a row. After a failed wake-up, it tries the agent again when a new message arrives. When the
/// `--budget` is spent, it ends with exit code 5.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// End when no message is left to deliver
    #[arg(long)]
    once: bool,

    /// Let agents change files, as far as their clients' settings allow
    #[arg(long)]
    write: bool,

    /// Run at most this many agents in parallel
    #[arg(long, value_name = "N", default_value = "2", value_parser = at_least_one)]
    max_parallel: NonZeroUsize,

    #[command(flatten)]
    call_budget: BudgetArgs,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let request = AttendRequest {
            until: if self.once { AttendUntil::Idle } else { AttendUntil::Stopped },
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            max_parallel: self.max_parallel,
            budget: self.call_budget.settle(&app.session, "attend"),
        };
        let problem = attend(&app.session, &request, &mut |event| show(event, app, output))?;
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
