//! Stores the user's rules, and when each last reached which session.

use convoke_domain::pin::{Pin, PinText};
use convoke_domain::scope::Scope;
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;

use crate::error::StoreError;

/// The scope of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// On every branch of the project.
    Project,
    /// On one branch.
    Branch,
}

/// The values of a new rule.
#[derive(Debug, Clone, Copy)]
pub struct NewPin<'a> {
    /// The rule's text.
    pub text: &'a PinText,
    /// The rule's scope.
    pub reach: Reach,
    /// The task of this branch while which is open it holds.
    pub task: Option<&'a TaskId>,
    /// The plan that it cancels.
    pub plan: Option<&'a str>,
    /// When it ends.
    pub until: Option<Timestamp>,
}

/// When a rule last reached an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinReceipt {
    /// The client, or the agent of a lane.
    pub client: String,
    /// The client's session, or the lane.
    pub session: String,
    /// When it was delivered.
    pub at: Timestamp,
    /// When the client's own record showed the text that it was in.
    pub arrived_at: Option<Timestamp>,
}

/// Keeps the user's rules. One that was removed, or has ended, is never delivered again.
pub trait PinStore {
    /// Adds a rule. `NoTask` if its task is missing.
    fn add_pin(&self, scope: &Scope, pin: &NewPin<'_>, now: Timestamp) -> Result<Pin, StoreError>;

    /// Returns the rules that hold in a scope now, oldest first.
    fn pins(&self, scope: &Scope, now: Timestamp) -> Result<Vec<Pin>, StoreError>;

    /// Returns every rule of a project that was not removed, also those that have ended, oldest
    /// first.
    fn all_pins(&self, project: &str) -> Result<Vec<Pin>, StoreError>;

    /// Removes a rule of a project; `false` if no rule has this number.
    fn remove_pin(&self, project: &str, id: i64, now: Timestamp) -> Result<bool, StoreError>;

    /// Removes the rules that cancel a plan, and returns how many those were.
    fn resume_plan(&self, scope: &Scope, plan: &str, now: Timestamp) -> Result<usize, StoreError>;

    /// Records that rules were delivered to a session or a lane.
    fn pins_delivered(
        &self,
        pins: &[i64],
        client: &str,
        session: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns the last delivery of a rule.
    fn last_receipt(&self, pin: i64) -> Result<Option<PinReceipt>, StoreError>;
}
