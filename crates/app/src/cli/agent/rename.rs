//! `convoke agent rename`: another name for an agent, wherever the old one is stored.

use convoke_domain::scope::AgentName;
use serde::Serialize;

use super::HumanAgent;
use crate::app::{App, Format};
use crate::cli::hooks::rebind;
use crate::config::wake::settings;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};

#[derive(Debug, clap::Args)]
pub(super) struct RenameArgs {
    /// The agent
    #[arg(value_name = "OLD", value_parser = AgentName::parse)]
    from: AgentName,

    /// Its name from now on
    #[arg(value_name = "NEW", value_parser = AgentName::parse)]
    to: AgentName,
}

#[derive(Serialize)]
struct Report<'a> {
    from: &'a str,
    to: &'a str,
    /// The configuration file that named it, and names it anew.
    bound_by: Option<String>,
}

impl RenameArgs {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        if self.from.is_human() || self.to.is_human() {
            return Err(Failure::new(ErrorClass::Usage, HumanAgent));
        }
        let Workspace { store, scope } = workspace;
        store.rename_agent(&scope.project, &self.from, &self.to).map_err(refused)?;
        let bound_by = rebind(app, &self.from, &self.to)?.map(|path| path.display().to_string());
        let (from, to) = (self.from.as_str(), self.to.as_str());
        match app.format {
            Format::Json => output.json(&Report { from, to, bound_by: bound_by.clone() })?,
            Format::Text => output.data(&format!("@{from} is @{to} from now on\n"))?,
        }
        if let Some(path) = bound_by {
            output.say(&format!("note: `{path}` names @{to} too"));
        }
        let settings = settings(app)?;
        if settings.orchestrator == self.from {
            output.say(&format!("warning: `wake.orchestrator` still names @{from}"));
        }
        if let Some((_, place)) = settings.agent.filter(|(agent, _)| *agent == self.from) {
            output.say(&format!("warning: `wake.agent` in {} still names @{from}", place.words()));
        }
        Ok(Exit::Done)
    }
}
