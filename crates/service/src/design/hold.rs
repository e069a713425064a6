//! Holding a run: only one process works on it, on this machine by a lock, and on all machines that share a
//! store by a lease.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use convoke_domain::owner::Owner;
use convoke_domain::run::RunId;
use convoke_engine::lock::Lock;
use convoke_engine::owner::{is_gone, machine_name, myself};
use convoke_store::Store;
use convoke_store::lease::{LeaseAnswer, LeaseClaim, RunLease};
use jiff::SignedDuration;

use super::DesignError;
use super::course::{folders, held, project_tree};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::workspace::{refused, store_location};

/// How long a run belongs to a process that no longer renews its lease: its machine lost power, or its way
/// to the server.
const LASTS: SignedDuration = SignedDuration::from_secs(90);

/// How often a lease is renewed.
const RENEWAL: Duration = Duration::from_secs(20);

/// A run that no other process works on, as long as this is kept.
pub(crate) struct RunHold {
    // Given back in this order: who gets the lock must get the lease, too.
    _lease: Option<KeptLease>,
    _lock: Lock,
}

/// Locks the working tree for a run, and takes the run where a server keeps it.
pub(crate) fn hold_run(
    session: &Session,
    store: &Arc<dyn Store>,
    run: &RunId,
) -> Result<RunHold, Failure> {
    let lock = folders(session)?.hold(&project_tree(session), run).map_err(held)?;
    // A file is of one machine, where the lock suffices.
    let is_shared = store_location(session)?.as_file().is_none();
    let lease = is_shared.then(|| KeptLease::take(session, store, run, RENEWAL)).transpose()?;
    Ok(RunHold { _lease: lease, _lock: lock })
}

/// Takes a run without its working tree: several runs that only read can share one.
pub(crate) fn hold_only_run(
    session: &Session,
    store: &Arc<dyn Store>,
    run: &RunId,
) -> Result<RunHold, Failure> {
    let lock = folders(session)?.hold_run(run).map_err(held)?;
    let is_shared = store_location(session)?.as_file().is_none();
    let lease = is_shared.then(|| KeptLease::take(session, store, run, RENEWAL)).transpose()?;
    Ok(RunHold { _lease: lease, _lock: lock })
}

/// A lease that a thread renews.
struct KeptLease {
    store: Arc<dyn Store>,
    run: RunId,
    owner: Owner,
    /// Ends the thread when it is dropped.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl KeptLease {
    fn take(
        session: &Session,
        store: &Arc<dyn Store>,
        run: &RunId,
        renewal: Duration,
    ) -> Result<Self, Failure> {
        let (owner, machine) = (myself(), machine_name());
        if let LeaseAnswer::HeldBy(lease) =
            renew(session, &**store, run, &owner, &machine).map_err(refused)?
        {
            return Err(elsewhere(lease));
        }
        let (stop, stopped) = channel::<()>();
        let (session, kept) = (session.clone(), Arc::clone(store));
        let (its_run, its_owner) = (run.clone(), owner.clone());
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(renewal) == Err(RecvTimeoutError::Timeout) {
                // A server that is away may be back before the lease ends. If it is not, and another
                // machine goes on with the run, the journal refuses what this process appends.
                let renewed = renew(&session, &*kept, &its_run, &its_owner, &machine);
                if let Ok(LeaseAnswer::HeldBy(lease)) = renewed {
                    let RunLease { run, owner, machine, .. } = lease;
                    let pid = owner.pid;
                    let said =
                        format!("process {pid} on `{machine}` took over run {run}; stopping");
                    session.reporter().warn(said);
                    session.cancel().cancel();
                    return;
                }
            }
        });
        let (stop, thread) = (Some(stop), Some(thread));
        Ok(Self { store: Arc::clone(store), run: run.clone(), owner, stop, thread })
    }
}

impl Drop for KeptLease {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().map(JoinHandle::join);
        self.store.end_lease(&self.run, &self.owner).ok();
    }
}

fn renew(
    session: &Session,
    store: &dyn Store,
    run: &RunId,
    owner: &Owner,
    machine: &str,
) -> Result<LeaseAnswer, convoke_store::error::StoreError> {
    let claim = LeaseClaim { owner, machine, lasts: LASTS, is_gone: &is_gone };
    store.take_lease(run, claim, session.now())
}

fn elsewhere(lease: RunLease) -> Failure {
    let RunLease { run, owner, machine, .. } = lease;
    let error = DesignError::WorkedOn { run, pid: owner.pid, machine };
    Failure::new(ErrorClass::Prerequisite, error)
        .hint("wait until it ends: `convoke runs`")
        .hint(format!("if that machine is gone, repeat this in {} s", LASTS.as_secs()))
}

#[cfg(test)]
mod tests {
    use convoke_store::StoreLocation;

    use super::*;
    use crate::environment::Environment;
    use crate::run::worked_on;

    fn session(project: &std::path::Path) -> Session {
        let environment = Environment::new([], None, "convoke".into());
        Session::new(project.to_owned(), environment)
    }

    fn foreign_claim(owner: &Owner) -> LeaseClaim<'_> {
        LeaseClaim { owner, machine: "build-1", lasts: LASTS, is_gone: &|_| true }
    }

    fn foreign_owner() -> Owner {
        Owner { pid: 7, mark: "another-boot pid:[1] 1 on 0123456789ab".to_owned() }
    }

    #[test]
    fn a_run_that_another_machine_works_on_is_running_and_cannot_be_taken() {
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path());
        let store =
            convoke_store::open(&StoreLocation::file(folder.path().join("store.db"))).unwrap();
        let run = RunId::parse("20261117-200000-abcde").unwrap();
        let theirs = foreign_owner();
        store.take_lease(&run, foreign_claim(&theirs), session.now()).unwrap();
        assert!(worked_on(&session, &*store).contains(&run));
        let refused = KeptLease::take(&session, &store, &run, RENEWAL).err().unwrap();
        assert_eq!(
            refused.error.to_string(),
            format!("cannot work on run {run}: process 7 on `build-1` works on it")
        );
        store.end_lease(&run, &theirs).unwrap();
        assert!(!worked_on(&session, &*store).contains(&run));
        let lease = KeptLease::take(&session, &store, &run, RENEWAL).unwrap();
        assert!(worked_on(&session, &*store).contains(&run));
        drop(lease);
        assert!(!worked_on(&session, &*store).contains(&run), "it is given back");
    }

    #[test]
    fn a_process_whose_run_was_taken_over_stops() {
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path());
        let store =
            convoke_store::open(&StoreLocation::file(folder.path().join("store.db"))).unwrap();
        let run = RunId::parse("20261117-200000-abcde").unwrap();
        let lease = KeptLease::take(&session, &store, &run, Duration::from_millis(1)).unwrap();
        let (sender, stopped) = channel();
        let _watch = session.cancel().watch(move || sender.send(()).unwrap_or_default());
        store.take_lease(&run, foreign_claim(&foreign_owner()), session.now()).unwrap();
        stopped.recv().unwrap();
        drop(lease);
        assert!(worked_on(&session, &*store).contains(&run), "the other's lease stays");
    }
}
