//! Stores what agents must not forget: tasks, messages, deeds, agents, and their skills.
//!
//! One trait for each kind of record specifies what a store guarantees, and [`Store`] is all of
//! them. [`open`] returns one for a [`StoreLocation`]; no caller depends on the backend. Every row
//! belongs to one project and branch, and every query is limited to one. Many processes and threads
//! use a store at the same time; each write is one short transaction.

mod address;
pub mod agent;
mod backend;
pub mod deed;
pub mod delivery;
pub mod dispatch;
pub mod error;
pub mod fleet;
pub mod foreign;
mod handle;
pub mod install;
pub mod journal;
pub mod lane;
pub mod lease;
mod location;
pub mod message;
pub mod pin;
#[cfg(feature = "postgres")]
mod postgres;
pub mod project;
pub mod replica;
pub mod review_loop;
pub mod search;
pub mod setup;
pub mod skill;
mod sql;
mod sqlite;
pub mod task;
pub mod task_edit;
pub mod task_history;
pub mod task_page;
pub mod team;
pub mod transfer;
pub mod wake_up;

use std::sync::Arc;

use convoke_domain::scope::AgentName;

pub use crate::address::{AddressError, Password};
pub use crate::backend::{
    SchemaVersions, open, open_in_a_hurry, open_to_look, open_within, schema_versions,
};
pub use crate::handle::StoreHandle;
pub use crate::location::StoreLocation;

use crate::agent::AgentStore;
use crate::deed::DeedStore;
use crate::delivery::DeliveryStore;
use crate::dispatch::DispatchStore;
use crate::fleet::FleetStore;
use crate::install::InstallStore;
use crate::journal::JournalStore;
use crate::lane::LaneStore;
use crate::lease::LeaseStore;
use crate::message::MessageStore;
use crate::pin::PinStore;
use crate::project::ProjectStore;
use crate::replica::ReplicaStore;
use crate::review_loop::LoopStore;
use crate::search::SearchStore;
use crate::setup::SetupStore;
use crate::skill::SkillStore;
use crate::task::TaskStore;
use crate::task_edit::TaskEditStore;
use crate::task_history::TaskHistoryStore;
use crate::task_page::TaskPageStore;
use crate::team::TeamStore;
use crate::transfer::TransferStore;
use crate::wake_up::WakeUpStore;

/// Everything that is kept. A backend passes every rule of `tests/conformance/main.rs`.
pub trait Store:
    ProjectStore
    + TaskStore
    + TaskEditStore
    + TaskHistoryStore
    + TaskPageStore
    + MessageStore
    + AgentStore
    + SkillStore
    + DeedStore
    + PinStore
    + DeliveryStore
    + DispatchStore
    + InstallStore
    + SetupStore
    + WakeUpStore
    + LaneStore
    + JournalStore
    + LeaseStore
    + FleetStore
    + LoopStore
    + SearchStore
    + TransferStore
    + ReplicaStore
    + TeamStore
    + Send
    + Sync
{
    /// Returns the same store for another actor: changes to tasks through it are recorded under
    /// that actor's name. Both stay usable.
    fn acting_for(&self, actor: AgentName) -> Arc<dyn Store>;

    /// Returns a way back to this store, which was opened at `location`, for as long as it is open.
    fn handle_at(&self, location: &StoreLocation) -> StoreHandle;
}
