//! Running agents: one supervised run of one client on one prompt.
//!
//! [`adapter`] says how a client is started and what its lines mean, [`supervisor`] runs it under
//! limits through its [`guardian`], and [`drive`] puts them together.

pub mod adapter;
pub mod agent_ref;
pub mod cancel;
pub mod drive;
pub mod guardian;
pub mod health;
pub mod owner;
mod stopwatch;
pub mod supervisor;
pub mod version;
