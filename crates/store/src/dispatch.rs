//! Stores dispatches: the ledger of checks, and the state after each round.

use convoke_domain::dispatch::gate::TriedClient;
use convoke_domain::dispatch::rate::{DispatchMode, LedgerEntry};
use convoke_domain::dispatch::resume::ResumeState;
use convoke_domain::scope::Scope;

use crate::error::StoreError;

/// A role on a feature.
#[derive(Debug, Clone, Copy)]
pub struct DispatchPost<'a> {
    /// The feature's folder name.
    pub feature: &'a str,
    /// The role, with its command: phase reviewers of two commands are two posts.
    pub role: &'a str,
}

/// One round that a role was dispatched in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// How the round was dispatched.
    pub mode: DispatchMode,
    /// How long its prompt was.
    pub prompt_chars: u64,
    /// The role's state after the round.
    pub state: ResumeState,
    /// The files that it was shown: a tree in git's own store, if there is one.
    pub seen: Option<String>,
    /// Why its session was resumed or not, as a code; unknown for rounds of earlier versions.
    pub reason: Option<String>,
    /// How long a whole prompt would have been; unknown for rounds of earlier versions.
    pub fresh_chars: Option<u64>,
}

/// Keeps dispatches.
pub trait DispatchStore {
    /// Adds an entry to the ledger. None is ever changed.
    fn record_dispatch(&self, scope: &Scope, entry: &LedgerEntry) -> Result<(), StoreError>;

    /// Returns a project's ledger, over all its branches, in order.
    fn ledger(&self, project: &str) -> Result<Vec<LedgerEntry>, StoreError>;

    /// Keeps a round, and forgets later ones: it begins again from there.
    fn keep_round(
        &self,
        scope: &Scope,
        post: DispatchPost<'_>,
        round: &Round,
    ) -> Result<(), StoreError>;

    /// Returns the last round before an iteration.
    fn round_before(
        &self,
        scope: &Scope,
        post: DispatchPost<'_>,
        iteration: u32,
    ) -> Result<Option<Round>, StoreError>;

    /// Names the session of the last round before an iteration; `false` without such a round.
    fn name_session(
        &self,
        scope: &Scope,
        post: DispatchPost<'_>,
        iteration: u32,
        agent_id: &str,
    ) -> Result<bool, StoreError>;

    /// Returns the last round of every role of a feature, by role.
    fn rounds(&self, scope: &Scope, feature: &str) -> Result<Vec<(String, Round)>, StoreError>;

    /// Stores the result of testing a client's gate, and replaces the earlier one.
    fn record_gate(&self, tried: &TriedClient) -> Result<(), StoreError>;

    /// Returns the last result of testing a client's gate.
    fn gate(&self, client: &str) -> Result<Option<TriedClient>, StoreError>;

    /// Forgets every round of a feature, and returns how many roles that were.
    fn forget_rounds(&self, scope: &Scope, feature: &str) -> Result<usize, StoreError>;
}
