//! `convoke agents`: which clients are there, and whether they answer.

use std::path::PathBuf;

use convoke_service::agents::{AgentReport, AgentsRequest, HealthSource, agents};
use convoke_service::failure::{ErrorClass, Failure};

use super::table::grid;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::grid::Grid;

/// List clients and configured model APIs, and whether they answer
///
/// Shows cached results; `--probe` contacts every agent and costs a few tokens. Exits 0 if at least
/// one agent can take work, and 1 if none can.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ask every installed client and configured API to answer `OK`, at most three times each
    #[arg(long, conflicts_with = "no_probe")]
    probe: bool,

    /// Show only which clients are installed and which APIs are configured
    #[arg(long)]
    no_probe: bool,

    /// Take the health of agents from this file, in lines such as `CODEX_HEALTHY=false`; Convoke
    /// does not contact them
    #[arg(long, value_name = "FILE")]
    caller_env: Option<PathBuf>,

    /// Update this file with lines such as `CODEX_HEALTHY=false`; a `false` in it never becomes
    /// `true`, and `/dev/null` writes nothing
    #[arg(long, value_name = "FILE")]
    write_health: Option<PathBuf>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = match agents(&app.session, &self.request()) {
            Ok(report) => report,
            // The user who stopped it wants to read no more.
            Err(failure) if failure.class == ErrorClass::Interrupted => {
                return Ok(Exit::Interrupted);
            }
            Err(failure) => return Err(failure),
        };
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                output.table(&table(&report.agents))?;
                let errors = report.agents.iter().filter_map(|agent| {
                    Some(format!("{}: {}\n", agent.agent, agent.error.as_deref()?))
                });
                output.data(&errors.collect::<String>())?;
            }
        }
        Ok(if report.is_usable { Exit::Done } else { Exit::No })
    }

    fn request(&self) -> AgentsRequest {
        AgentsRequest {
            source: match (self.probe, self.no_probe) {
                (true, _) => HealthSource::Probe,
                (false, true) => HealthSource::Presence,
                (false, false) => HealthSource::Remembered,
            },
            caller_env: self.caller_env.clone(),
            write_health: self.write_health.clone(),
        }
    }
}

fn table(agents: &[AgentReport]) -> Grid {
    let header = ["agent", "health", "version", "read-only", "resume", "hooks", "path"];
    let rows = agents.iter().map(|agent| {
        let version = agent.version.as_deref().or(agent.model.as_deref()).unwrap_or("-");
        let key = agent.key.map_or(String::new(), |key| format!(" (key: {key})"));
        let path = agent.path.as_deref().unwrap_or("-").to_owned() + &key;
        let AgentReport { health, read_only, resume, hooks, .. } = agent;
        [&agent.agent, *health, version, *read_only, *resume, *hooks, &path].map(str::to_owned)
    });
    grid(header, rows, &[])
}
