//! Leases of runs: which process works on a run, on any machine that shares the store.

use std::fmt;

use convoke_domain::owner::Owner;
use convoke_domain::run::RunId;
use jiff::{SignedDuration, Timestamp};

use crate::error::StoreError;

/// A process that works on a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLease {
    /// The run that only this process may write to.
    pub run: RunId,
    /// The process.
    pub owner: Owner,
    /// The name of its machine.
    pub machine: String,
    /// When the lease ends, unless the process renews it, by the clock of the store.
    pub until: Timestamp,
}

/// A process that wants to work on a run.
#[derive(Clone, Copy)]
pub struct LeaseClaim<'a> {
    /// The process.
    pub owner: &'a Owner,
    /// The name of its machine.
    pub machine: &'a str,
    /// How long the lease holds from now on.
    pub lasts: SignedDuration,
    /// Tells whether another process has ended.
    pub is_gone: &'a dyn Fn(&Owner) -> bool,
}

impl fmt::Debug for LeaseClaim<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, machine, lasts, .. } = self;
        f.debug_struct("LeaseClaim")
            .field("owner", owner)
            .field("machine", machine)
            .field("lasts", lasts)
            .finish_non_exhaustive()
    }
}

/// The answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseAnswer {
    /// The process has the lease.
    Taken,
    /// Another process has it.
    HeldBy(RunLease),
}

/// Keeps leases. The clock is the server's where there is one, because those of machines differ;
/// `now` counts for a file.
pub trait LeaseStore {
    /// Takes a lease, or renews the process's own: unless another process has it that has not ended, as
    /// far as the claimant can tell, and whose time has not passed.
    fn take_lease(
        &self,
        run: &RunId,
        claim: LeaseClaim<'_>,
        now: Timestamp,
    ) -> Result<LeaseAnswer, StoreError>;

    /// Gives a process's lease back; another's stays.
    fn end_lease(&self, run: &RunId, owner: &Owner) -> Result<(), StoreError>;

    /// Returns the leases whose time has not passed.
    fn leases(&self, now: Timestamp) -> Result<Vec<RunLease>, StoreError>;
}
