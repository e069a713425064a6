//! `convoke agent use`: whose the present session is.

use convoke_domain::scope::AgentName;
use convoke_service::agent::{BoundSessionReport, bind_session};
use convoke_service::failure::Failure;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Bind the present session to an agent
///
/// From now on the session's wake-ups are this agent's, until it ends. Claude Code and Codex tell
/// the commands that they run which session it is. From elsewhere, the session is the only one of
/// this project that began or was compacted lately, or the one that you name.
#[derive(Debug, clap::Args)]
pub(super) struct UseArgs {
    /// The agent, which is added if it is new
    #[arg(value_parser = AgentName::parse)]
    name: AgentName,

    /// The session, by its client's own name for it
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
