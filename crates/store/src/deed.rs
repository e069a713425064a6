//! Stores records about tasks: dispatches and verdicts.

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::deed::{DeedKind, DeedRole, TaskDeed};
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;

use crate::error::StoreError;
use crate::task_history::Undoer;

/// The values of a new deed.
#[derive(Debug, Clone, Copy)]
pub struct NewDeed<'a> {
    /// The task that the deed is about.
    pub task: &'a TaskId,
    /// The deed's kind.
    pub kind: DeedKind,
    /// The role of the deed.
    pub role: &'a DeedRole,
    /// The agent that records it.
    pub actor: &'a AgentName,
    /// Why, in the words of the agent that records it.
    pub reason: Option<&'a str>,
    /// The message that came with it.
    pub message_id: Option<i64>,
    /// The dispatch that it comes from.
    pub run: Option<&'a str>,
}

/// Keeps deeds of tasks. None is ever removed. When a task's status changes to one that is open,
/// its verdicts no longer count: they were about earlier work.
pub trait DeedStore {
    /// Records a deed, and an event in words that follow the actor's name. `NoTask` if the task is
    /// missing.
    fn record_deed(
        &self,
        scope: &Scope,
        deed: &NewDeed<'_>,
        now: Timestamp,
    ) -> Result<TaskDeed, StoreError>;

    /// Takes the last verdict of the scope out of account, if it came after the last step that can be
    /// undone, and returns it. One that a dispatch or a message recorded stays:
    /// `JudgedSince` if that step changed the judged task, else nothing is done. `OfUser` if the user
    /// recorded it and an agent undoes it.
    fn undo_verdict(
        &self,
        scope: &Scope,
        undoer: Undoer,
        now: Timestamp,
    ) -> Result<Option<TaskDeed>, StoreError>;

    /// Returns the deeds of a task that count, oldest first.
    fn deeds_of_task(&self, scope: &Scope, task: &TaskId) -> Result<Vec<TaskDeed>, StoreError>;

    /// Returns the verdicts that came with a message, oldest first.
    fn deeds_of_message(&self, scope: &Scope, message: i64) -> Result<Vec<TaskDeed>, StoreError>;
}
