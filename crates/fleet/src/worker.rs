//! `convoke-fleet worker`: runs lanes of this machine's agents.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use convoke::exit::Exit;
use convoke::output::Output;
use convoke_engine::lane::fleet_offer::FleetOffer;
use convoke_service::failure::Failure;
use convoke_service::fleet::{WorkerIdentity, WorkerOrders};
use convoke_service::session::Session;
use convoke_service::workspace::open_store;
use jiff::SignedDuration;
use temporalio_client::Client;
use temporalio_sdk::runtime::RuntimeOptions;
use temporalio_sdk::runtime::worker_tuner::{FixedSizeSlotSupplier, TunerHolder};
use temporalio_sdk::{Runtime, Worker, WorkerOptions};
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio::time::sleep;

use crate::activity::FleetLanes;
use crate::temporal::{TemporalError, connect, prepare};

/// How often a worker says that it is there.
const BEAT: Duration = Duration::from_secs(2);

/// How often it removes what ended long ago.
const PRUNING: SignedDuration = SignedDuration::from_hours(24);

/// How often it looks for a signal.
const STEP: Duration = Duration::from_millis(100);

/// How often a heartbeat is sent on, at most; a request to cancel comes back with it.
const THROTTLE: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct WorkerArgs {
    /// Agents to offer, such as `claude,codex@app`; a repository after `@` is one of
    /// `fleet.repositories` in your configuration
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true, value_parser = offer)]
    offers: Vec<FleetOffer>,

    /// Run this many lanes of each offer in parallel
    #[arg(long, value_name = "N", default_value = "1")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    slots: u32,

    /// The worker's name [default: the machine's]
    #[arg(long, value_name = "NAME", value_parser = convoke_service::lane::model_name)]
    name: Option<String>,

    /// Give lanes that have not ended this many seconds after the worker began to drain to other
    /// workers [default: wait for all]
    #[arg(long, value_name = "SECONDS")]
    drain_limit: Option<u64>,
}

fn offer(words: &str) -> Result<FleetOffer, &'static str> {
    FleetOffer::parse(words.trim())
        .ok_or("it must be a client, `acp:NAME` or `http:NAME`, and a repository after `@` if any")
}

fn unusable(source: impl std::error::Error + Send + Sync + 'static) -> Failure {
    TemporalError::Client { source: Box::new(source) }.failure()
}

impl WorkerArgs {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<Exit, Failure> {
        let (settings, threads) = prepare(session)?;
        // Held, so that all lanes share one connection, which outlives an absence of the server.
        let store = open_store(session)?;
        let identity =
            WorkerIdentity::new(session, self.name.as_deref(), &self.offers, self.slots)?;
        identity.prune(session)?;
        let lanes = FleetLanes {
            session: session.clone(),
            worker: identity.process().to_owned(),
            ledger: WorkerIdentity::ledger(session)?,
            gives_back: Arc::default(),
            is_full: Arc::default(),
            returned: Arc::default(),
        };
        let (orders, is_over) = (HeardOrders::default(), AtomicBool::new(false));
        let served = thread::scope(|helpers| {
            helpers.spawn(|| beat(session, &identity, &orders, &is_over));
            let served = LocalSet::new().block_on(&threads, async {
                let client = connect(session, &settings).await?;
                self.serve(&lanes, &client, &orders, output).await
            });
            is_over.store(true, Ordering::SeqCst);
            served
        });
        identity.end(session).ok();
        drop(store);
        // A thread that does not end must not keep the process: guardians end clients.
        threads.shutdown_background();
        served.map(|()| Exit::Done)
    }

    async fn serve(
        &self,
        lanes: &FleetLanes,
        client: &Client,
        orders: &HeardOrders,
        output: &Output,
    ) -> Result<(), Failure> {
        let runtime = Runtime::from_current_tokio(RuntimeOptions::default()).map_err(unusable)?;
        let (mut stops, mut running) = (Vec::new(), Vec::new());
        for offer in &self.offers {
            let mut worker = Worker::new(&runtime, client.clone(), self.options(offer, lanes))
                .map_err(unusable)?;
            stops.push(worker.shutdown_handle());
            running.push(spawn_local(async move { worker.run().await }));
        }
        let offers: Vec<_> = self.offers.iter().map(ToString::to_string).collect();
        output.say(&format!("worker {} offers {}", lanes.worker, offers.join(", ")));
        let mut is_draining = false;
        while !running.iter().all(JoinHandle::is_finished) {
            sleep(STEP).await;
            let mut returned = lanes.returned.lock().unwrap_or_else(PoisonError::into_inner);
            let unsaid = mem::take(&mut returned.unsaid);
            drop(returned);
            for words in unsaid {
                output.say(&words);
            }
            if orders.ends.load(Ordering::SeqCst) {
                output.say("evicted: other workers begin its lanes again");
                // The guardians of its clients end those with the process.
                return Ok(());
            }
            let is_full = lanes.is_full.load(Ordering::SeqCst);
            if is_full {
                orders.drains.store(true, Ordering::SeqCst);
            }
            let is_asked = lanes.session.is_stopped() || orders.drains.load(Ordering::SeqCst);
            if is_asked && !is_draining {
                if is_full {
                    output.say("this machine has no room for a lane's working tree");
                }
                is_draining = true;
                lanes.gives_back.store(true, Ordering::SeqCst);
                output.say("draining: the worker ends with its last lane");
                for stop in &stops {
                    stop();
                }
            }
        }
        for worker in running {
            worker.await.map_err(unusable)?.map_err(unusable)?;
        }
        Ok(())
    }

    fn options(&self, offer: &FleetOffer, lanes: &FleetLanes) -> WorkerOptions {
        let slots = FixedSizeSlotSupplier::new(self.slots as usize);
        // Temporal asks for slots of every kind; there is nothing but lanes here.
        let other = FixedSizeSlotSupplier::new(1);
        let tuner = TunerHolder::builder()
            .workflow_task_slot_supplier(other)
            .activity_task_slot_supplier(slots)
            .local_activity_task_slot_supplier(other)
            .nexus_task_slot_supplier(other)
            .build();
        WorkerOptions::new(offer.queue())
            .register_activities(lanes.clone())
            .tuner(tuner)
            .client_identity_override(lanes.worker.clone())
            .max_heartbeat_throttle_interval(THROTTLE)
            .default_heartbeat_throttle_interval(THROTTLE)
            .maybe_graceful_shutdown_period(self.drain_limit.map(Duration::from_secs))
            .build()
    }
}

/// What a person or a signal wants of the worker.
#[derive(Default)]
struct HeardOrders {
    drains: AtomicBool,
    ends: AtomicBool,
}

/// Tells the store that the worker is there, and takes its orders, until the worker is over. A store that
/// is away is no reason to stop lanes that run.
fn beat(session: &Session, identity: &WorkerIdentity, orders: &HeardOrders, is_over: &AtomicBool) {
    // The worker did so when it started, and may work for months.
    let mut pruned = session.now();
    while !is_over.load(Ordering::SeqCst) {
        // With the clock of this machine: a day more or less is no matter. One that fails comes again.
        if session.now().duration_since(pruned) >= PRUNING && identity.prune(session).is_ok() {
            pruned = session.now();
        }
        let drains = orders.drains.load(Ordering::SeqCst) || session.is_stopped();
        let plan = if drains { WorkerOrders::Drain } else { WorkerOrders::Work };
        match identity.beat(session, plan) {
            Ok(WorkerOrders::End) => orders.ends.store(true, Ordering::SeqCst),
            Ok(WorkerOrders::Drain) => orders.drains.store(true, Ordering::SeqCst),
            Ok(WorkerOrders::Work) | Err(_) => {}
        }
        let mut waited = Duration::ZERO;
        while waited < BEAT && !is_over.load(Ordering::SeqCst) {
            thread::sleep(STEP);
            waited += STEP;
        }
    }
}
