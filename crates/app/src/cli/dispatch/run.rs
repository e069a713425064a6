//! `convoke dispatch run`: a round from decision to verdict, with a real agent.

use convoke_domain::dispatch::role::Proof;
use convoke_domain::task::id::TaskId;
use convoke_engine::client::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_service::dispatch::{FinishedRound, RunRoundRequest, run_round};
use convoke_service::failure::Failure;

use super::next::NextArgs;
use super::show_check;
use crate::app::{App, Format};
use crate::cli::lane::{AgentWord, BudgetArgs, PinArgs, model_name};
use crate::exit::Exit;
use crate::output::Output;

/// A round that cannot be resumed begins afresh, with a note. Reviewers may only read; an agent
/// that works may write with `--write`. An answer that is neither an approval nor a rejection is
/// asked for once more, in the same session, as the verdict alone.
///
/// Exit 0 means that the answer passes, 1 that it does not, and 4 that there is no answer or none
/// with a verdict.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    next: NextArgs,

    /// Who answers: a client, `http:NAME` for a model's API of your configuration, or `replay:FILE`
    /// for recorded lanes
    #[arg(long, value_parser = AgentWord)]
    client: AgentRef,

    /// The model [default: the client's own choice]
    #[arg(long, value_parser = model_name)]
    model: Option<String>,

    /// Let the agent change files, as far as its client's own settings allow
    #[arg(long)]
    write: bool,

    /// Fail unless the client's record shows that every required file was read whole
    #[arg(long)]
    require_proof: bool,

    #[command(flatten)]
    rules: PinArgs,

    /// The stored task that the role judges or works on; Convoke records the verdict with it
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    task: Option<TaskId>,

    #[command(flatten)]
    allowance: BudgetArgs,
}

impl RunArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let request = RunRoundRequest {
            next: self.next.request()?,
            client: self.client.clone(),
            model: self.model.clone(),
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            budget: self.allowance.settle(&app.session, "dispatch run"),
            proof: Proof::of(self.require_proof),
            task: self.task.clone(),
            rules: self.rules.rules(),
        };
        let FinishedRound { report, class } = run_round(&app.session, request)?;
        match (app.format, &report.judged) {
            (Format::Json, _) => output.json(&report)?,
            (Format::Text, Some(judged)) => show_check(judged, output)?,
            (Format::Text, None) => {}
        }
        Ok(class.map_or(Exit::Done, Exit::from))
    }
}
