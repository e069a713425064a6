//! `convoke fleet`: the workers that run lanes on other machines, and their lanes.

use clap::Subcommand;
use convoke_service::failure::Failure;
use convoke_service::fleet::{
    FleetLaneReport, FleetStatus, FleetWorkerReport, drain_worker, evict_worker, fleet_status,
    stop_lane,
};

use super::table;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::grid::Grid;

/// Show the workers on other machines and their lanes
#[derive(Debug, clap::Args)]
pub struct FleetArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show workers, lanes and limits
    Status,
    /// Ask every worker of a name to take no more lanes
    ///
    /// Such a worker ends when the last lane that it runs has ended. It hears of the request within
    /// two seconds.
    Drain {
        /// The worker's name
        name: String,
    },
    /// End every worker of a name immediately
    ///
    /// Such a worker ends its clients within two seconds, and other workers begin its lanes again. One
    /// that is silent ends when it comes back.
    Evict {
        /// The worker's name
        name: String,
    },
    /// End a lane
    ///
    /// The store refuses everything that its worker adds from now on, and the worker stops the
    /// client within about a second.
    Stop {
        /// The lane's id, as `convoke fleet status` shows it
        #[arg(value_name = "LANE")]
        lane: String,
    },
}

impl FleetArgs {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Status => {
                let status = fleet_status(&app.session)?;
                match app.format {
                    Format::Json => output.json(&status)?,
                    Format::Text => show(&status, output)?,
                }
            }
            Command::Drain { name } => {
                let drained = drain_worker(&app.session, name)?;
                match app.format {
                    Format::Json => output.json(&drained)?,
                    Format::Text => {
                        output.data(&format!("draining {} worker(s)\n", drained.workers))?;
                    }
                }
            }
            Command::Evict { name } => {
                let evicted = evict_worker(&app.session, name)?;
                match app.format {
                    Format::Json => output.json(&evicted)?,
                    Format::Text => {
                        output.data(&format!("evicting {} worker(s)\n", evicted.workers))?;
                    }
                }
            }
            Command::Stop { lane } => {
                let stopped = stop_lane(&app.session, lane)?;
                match app.format {
                    Format::Json => output.json(&stopped)?,
                    Format::Text if stopped.stopped => {
                        output.data(&format!("stopped {lane}\n"))?;
                    }
                    Format::Text => output.data(&format!("{lane} had ended before\n"))?,
                }
            }
        }
        Ok(Exit::Done)
    }
}

fn show(status: &FleetStatus, output: &mut Output) -> Result<(), Failure> {
    if status.workers.is_empty() {
        output.data("No workers.\n")?;
    } else {
        output.table(&workers(&status.workers))?;
    }
    for permit in &status.permits {
        let (agent, open, most) = (&permit.agent, permit.open, permit.most);
        output.data(&format!("{agent}: {open} of {most} lanes\n"))?;
    }
    if status.lanes.is_empty() {
        return output.data("No lanes.\n");
    }
    output.table(&lanes(&status.lanes))
}

fn workers(workers: &[FleetWorkerReport]) -> Grid {
    let row = |worker: &FleetWorkerReport| {
        let other = if worker.other_version { " (another version)" } else { "" };
        [
            worker.name.clone(),
            worker.state.to_owned(),
            worker.offers.join(", "),
            format!("{} of {}", worker.running, worker.slots as usize * worker.offers.len()),
            format!("{}{other}", worker.version),
            worker.beat_at.clone(),
            worker.machine.clone(),
        ]
    };
    let header = ["worker", "state", "offers", "lanes", "version", "last beat", "machine"];
    table::grid(header, workers.iter().map(row), &[3]).dispensable(&[6, 5])
}

fn lanes(lanes: &[FleetLaneReport]) -> Grid {
    let row = |lane: &FleetLaneReport| {
        let place = lane.waits_for.as_ref().map(|reason| format!("waits for {reason}"));
        let place = place.or_else(|| lane.worker.clone()).unwrap_or_else(|| "-".to_owned());
        [
            lane.id.clone(),
            lane.outcome.clone().unwrap_or_else(|| lane.state.to_owned()),
            lane.offer.clone(),
            place,
            format!("{}.{}", lane.generation, lane.attempt),
            lane.project.clone(),
        ]
    };
    let header = ["lane", "state", "agent", "place", "attempt", "project"];
    table::grid(header, lanes.iter().map(row), &[4]).dispensable(&[5])
}
