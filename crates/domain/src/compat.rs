//! What exists only for scripts of the original workflows: their ledgers, logs and session files, and
//! the words and replies of their single steps. Nothing else in this crate depends on it.

pub mod cleanup;
pub mod diagram;
pub mod execution_log;
pub mod ledger;
pub mod new_branch;
pub mod session_env;
pub mod session_setup;
