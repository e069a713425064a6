//! `convoke agents`: which clients are there, and whether they answer.

use std::path::PathBuf;

use convoke_service::agents::{AgentReport, AgentsRequest, HealthSource, agents};
use convoke_service::failure::{ErrorClass, Failure};

use super::table::grid;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::grid::Grid;

/// List the clients that agents can work in and the models' APIs of your configuration, and tell
/// whether they answer
///
/// Without a flag nobody is asked, because that costs tokens; what was found out lately is told.
/// Exits 0 if somebody could be given work, and 1 if nobody could.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ask everybody who is there to answer `OK`, three times at most
    #[arg(long, conflicts_with = "no_probe")]
    probe: bool,

    /// Only tell who is there
    #[arg(long)]
    no_probe: bool,

    /// What a caller knows, in lines such as `CODEX_HEALTHY=false`; whoever is in it is not asked
    #[arg(long, value_name = "FILE")]
    caller_env: Option<PathBuf>,

    /// Bring a file with lines such as `CODEX_HEALTHY=false` up to date; no `false` in it becomes
    /// `true` again, and `/dev/null` is none
    #[arg(long, value_name = "FILE")]
    write_health: Option<PathBuf>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = match agents(app, &self.request()) {
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
