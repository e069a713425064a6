//! A worker as the store knows it.

use std::path::PathBuf;

use convoke_domain::text::one_line;
use convoke_engine::chance::random_number;
use convoke_engine::lane::fleet_offer::FleetOffer;
use convoke_engine::owner::machine_name;
use convoke_store::fleet::{FleetWorker, FleetWorkerState};
use jiff::SignedDuration;

use crate::failure::{ErrorClass, Failure};
use crate::lane::check_agent;
use crate::session::Session;
use crate::settings::fleet;
use crate::workspace::{open_store, refused};
use convoke_engine::client::Rights;

/// How long lanes are kept after their end.
const KEPT: SignedDuration = SignedDuration::from_hours(14 * 24);

/// What a worker should do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerOrders {
    /// Take lanes.
    Work,
    /// End what it runs, and take no more.
    Drain,
    /// End without waiting for its lanes.
    End,
}

/// One process that runs lanes.
#[derive(Debug, Clone)]
pub struct WorkerIdentity {
    worker: FleetWorker,
}

#[derive(Debug, thiserror::Error)]
enum WorkerError {
    #[error("cannot offer `{offer}`: `[fleet]` names no repository `{name}`")]
    NoRepository { offer: String, name: String },
    #[error("cannot find a folder for the worker's own record: HOME is not set")]
    NoHome,
}

impl WorkerIdentity {
    /// Returns this process as a worker, after it made sure that it can keep its offers.
    pub fn new(
        session: &Session,
        name: Option<&str>,
        offers: &[FleetOffer],
        slots: u32,
    ) -> Result<Self, Failure> {
        let settings = fleet::settings(session)?;
        for offer in offers {
            check_agent(&offer.agent, Rights::ReadOnly, session)?;
            let missing =
                offer.repository.as_ref().filter(|name| !settings.repositories.contains_key(*name));
            if let Some(name) = missing {
                let (offer, name) = (offer.to_string(), name.clone());
                return Err(Failure::new(
                    ErrorClass::Usage,
                    WorkerError::NoRepository { offer, name },
                )
                .hint("name its folder in `fleet.repositories` of your config.toml"));
            }
        }
        let machine = machine_name();
        let name = name.map_or_else(|| machine.clone(), one_line);
        let offers: Vec<_> = offers.iter().map(ToString::to_string).collect();
        let now = session.now();
        let worker = FleetWorker {
            process: format!("{name}#{:016x}", random_number()),
            name,
            machine,
            pid: std::process::id(),
            offers: offers.join(","),
            slots,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            state: FleetWorkerState::Working,
            started_at: now,
            beat_at: now,
        };
        Ok(Self { worker })
    }

    /// Returns the name of this process, which no other process has.
    pub fn process(&self) -> &str {
        &self.worker.process
    }

    /// Returns the file of the worker's own record of its lanes.
    pub fn ledger(session: &Session) -> Result<PathBuf, Failure> {
        let state = session.environment.state();
        let state =
            state.ok_or_else(|| Failure::new(ErrorClass::Prerequisite, WorkerError::NoHome))?;
        Ok(state.join("fleet").join("worker.db"))
    }

    /// Says that the worker is there and what it does, and asks what to do next. A worker that drains
    /// does not begin to work again.
    pub fn beat(&self, session: &Session, plan: WorkerOrders) -> Result<WorkerOrders, Failure> {
        let store = open_store(session)?;
        let state = match plan {
            WorkerOrders::Work => FleetWorkerState::Working,
            WorkerOrders::Drain => FleetWorkerState::Draining,
            WorkerOrders::End => FleetWorkerState::Evicted,
        };
        let worker = FleetWorker { state, ..self.worker.clone() };
        let state = store.beat_worker(&worker, session.now()).map_err(refused)?;
        Ok(match state {
            FleetWorkerState::Working => WorkerOrders::Work,
            FleetWorkerState::Draining => WorkerOrders::Drain,
            FleetWorkerState::Evicted => WorkerOrders::End,
        })
    }

    /// Says that the worker ends.
    pub fn end(&self, session: &Session) -> Result<(), Failure> {
        open_store(session)?.end_worker(&self.worker.process).map_err(refused)
    }

    /// Removes what ended long ago.
    pub fn prune(&self, session: &Session) -> Result<(), Failure> {
        open_store(session)?.prune_fleet(KEPT, session.now()).map_err(refused)
    }
}
