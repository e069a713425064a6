//! `convoke dispatch run`: a round from decision to verdict, with a real agent.

use convoke_domain::dispatch::role::Proof;
use convoke_engine::client::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_service::dispatch::{FinishedRound, RunRoundRequest, run_round};
use convoke_service::failure::Failure;
use convoke_service::sarif::ReviewLog;

use super::lanes::LaneArgs;
use super::next::NextArgs;
use super::show_check;
use crate::app::{App, Format};
use crate::cli::lane::{AgentWord, model_name};
use crate::exit::Exit;
use crate::output::Output;

/// Run the next round with an agent and judge its answer
///
/// If Convoke cannot resume the session, it starts a fresh one and says so. Reviewers run read-only;
/// an implementer or fixer may change files with `--write`. If an answer is neither an approval nor
/// a rejection, Convoke asks the same session once more for the verdict alone.
///
/// Exits 0 if the answer passes, 1 if it does not, and 4 without an answer or without a verdict.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    next: NextArgs,

    /// The agent that answers: a client, `acp:NAME` for an agent of the Agent Client Protocol,
    /// `http:NAME` for a configured model API, or `replay:FILE` for recorded lanes
    #[arg(long, value_parser = AgentWord)]
    client: AgentRef,

    /// The model to use [default: the client's choice]
    #[arg(long, value_parser = model_name)]
    model: Option<String>,

    /// Let the agent change files, as far as its client's settings allow
    #[arg(long)]
    write: bool,

    #[command(flatten)]
    lanes: LaneArgs,
}

impl RunArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let app = &self.lanes.otel.context(app);
        let sarif = self.lanes.sarif.prepare(&app.session)?;
        let ended = self.request(app).and_then(|request| run_round(&app.session, request));
        let logged = sarif.write(|| ReviewLog::of_round(&app.session, &ended));
        let FinishedRound { report, class, .. } = ended?;
        match (app.format, &report.judged) {
            (Format::Json, _) => output.json(&report)?,
            (Format::Text, Some(judged)) => show_check(judged, output)?,
            (Format::Text, None) => {}
        }
        logged?;
        Ok(class.map_or(Exit::Done, Exit::from))
    }

    fn request(&self, app: &App) -> Result<RunRoundRequest, Failure> {
        Ok(RunRoundRequest {
            next: self.next.request()?,
            client: self.client.clone(),
            model: self.model.clone(),
            rights: if self.write { Rights::Write } else { Rights::ReadOnly },
            budget: self.lanes.settle(&app.session, "dispatch run"),
            proof: Proof::of(self.lanes.require_proof),
            task: self.lanes.task.clone(),
            rules: self.lanes.rules.rules(),
        })
    }
}
