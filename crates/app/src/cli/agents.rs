//! `convoke agents`: which clients are there, and whether they answer.

use std::path::PathBuf;

use convoke_domain::lane::health::AgentHealth;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_service::agents::{AgentReport, AgentsRequest, HealthSource, agents};
use convoke_service::failure::{ErrorClass, Failure};

use super::lane::AgentWord;
use super::table::grid;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::grid::Grid;

/// The health of an agent that did not pass its probe.
const SILENT: &str = AgentHealth::Sick(None).words();

/// List agents and model APIs, and whether they answer
///
/// Shows cached results; `--probe` contacts every agent, or the named ones, and costs a few tokens. It
/// asks no agent that answered in the last ten minutes.
/// Exits 0 if at least one agent can take work, and 1 if none can.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List and probe only these: a client such as `claude`, `acp:NAME` or `http:NAME`
    #[arg(value_name = "AGENT", value_parser = AgentWord)]
    only: Vec<AgentRef>,

    /// Ask each installed client and configured agent or API to answer `OK`, again if that may help
    #[arg(long, conflicts_with = "no_probe")]
    probe: bool,

    /// Show only which clients are installed and which agents and APIs are configured
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
                let problems = report.agents.iter().filter_map(problem);
                output.data(&problems.collect::<String>())?;
            }
        }
        Ok(if report.is_usable { Exit::Done } else { Exit::No })
    }

    fn request(&self) -> AgentsRequest {
        AgentsRequest {
            only: self.only.clone(),
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

/// Returns the sentence about an agent that cannot take work.
fn problem(agent: &AgentReport) -> Option<String> {
    let (name, problem) = (&agent.agent, agent.problem.as_deref()?);
    Some(if agent.health == SILENT {
        format!("{name} did not pass the probe: it {problem}\n")
    } else {
        format!("{name}: {problem}\n")
    })
}

fn table(agents: &[AgentReport]) -> Grid {
    let header = ["agent", "health", "version", "read-only", "resume", "hooks", "path"];
    let rows = agents.iter().map(|agent| {
        let version = agent.version.as_deref().or(agent.model.as_deref()).unwrap_or("-");
        let key = agent.key.map_or(String::new(), |key| format!(" (key: {key})"));
        let path = agent.path.as_deref().unwrap_or("-").to_owned() + &key;
        let AgentReport { health, read_only, resume, hooks, .. } = agent;
        // The agent may have answered, but with other words.
        let health = if *health == SILENT { "probe failed" } else { *health };
        [&agent.agent, health, version, *read_only, *resume, *hooks, &path].map(str::to_owned)
    });
    grid(header, rows, &[]).dispensable(&[6, 4, 3])
}
