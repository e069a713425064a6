//! `convoke agent use`: whose the present session is.

use convoke_domain::scope::AgentName;
use convoke_service::agent::{BoundSessionReport, bind_session};
use convoke_service::failure::Failure;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Bind the current session to an agent
///
/// Until the session ends, Convoke delivers this agent's wake-ups to it. Claude Code and Codex tell
/// the commands that they run which session it is. Elsewhere, Convoke takes the session that you
/// name, or the only one of this project that began or was compacted lately.
#[derive(Debug, clap::Args)]
pub(super) struct UseArgs {
    /// The agent; Convoke adds it if it does not exist
    #[arg(value_parser = AgentName::parse)]
    name: AgentName,

    /// The client's id of the session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl UseArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = bind_session(&app.session, &self.name, self.session.as_deref())?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                let BoundSessionReport { client, session_id, agent, .. } = &report;
                output.data(&format!("{client} session {session_id} belongs to @{agent}\n"))?;
            }
        }
        Ok(Exit::Done)
    }
}
