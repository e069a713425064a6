//! Files and git for scripts of the original workflows: their ledgers and logs, the folders of their
//! sessions, and the single steps of setting up a design.

pub mod execution_log;
pub mod ledger;
pub mod session_folder;
pub mod setup_steps;
