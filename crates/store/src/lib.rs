//! Keeping what agents must not forget: tasks, messages, deeds, agents, and the skills they had.
//!
//! One trait for each kind of thing says what a store guarantees; `sqlite` is the store of one
//! user. Every row belongs to one project and branch, and every question is asked within one.
//! Many processes use a store at the same time; each write is one short transaction.

pub mod agent;
pub mod deed;
pub mod delivery;
pub mod dispatch;
pub mod error;
pub mod foreign;
pub mod install;
pub mod journal;
pub mod lane;
pub mod message;
pub mod pin;
pub mod project;
pub mod review_loop;
pub mod skill;
pub mod sqlite;
pub mod task;
pub mod task_edit;
pub mod task_history;
pub mod transfer;
pub mod wake_up;

use crate::agent::AgentStore;
use crate::deed::DeedStore;
use crate::delivery::DeliveryStore;
use crate::dispatch::DispatchStore;
use crate::install::InstallStore;
use crate::journal::JournalStore;
use crate::lane::LaneStore;
use crate::message::MessageStore;
use crate::pin::PinStore;
use crate::project::ProjectStore;
use crate::review_loop::LoopStore;
use crate::skill::SkillStore;
use crate::task::TaskStore;
use crate::task_edit::TaskEditStore;
use crate::task_history::TaskHistoryStore;
use crate::transfer::TransferStore;
use crate::wake_up::WakeUpStore;

/// Everything that is kept. A backend passes every rule of `tests/conformance/main.rs`.
pub trait Store:
    ProjectStore
    + TaskStore
    + TaskEditStore
    + TaskHistoryStore
    + MessageStore
    + AgentStore
    + SkillStore
    + DeedStore
    + PinStore
    + DeliveryStore
    + DispatchStore
    + InstallStore
    + WakeUpStore
    + LaneStore
    + JournalStore
    + LoopStore
    + TransferStore
{
}

impl<T> Store for T where
    T: ProjectStore
        + TaskStore
        + TaskEditStore
        + TaskHistoryStore
        + MessageStore
        + AgentStore
        + SkillStore
        + DeedStore
        + PinStore
        + DeliveryStore
        + DispatchStore
        + InstallStore
        + WakeUpStore
        + LaneStore
        + JournalStore
        + LoopStore
        + TransferStore
{
}
