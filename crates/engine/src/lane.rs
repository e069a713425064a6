//! Running agents: one supervised run of one client on one prompt.
//!
//! [`crate::client`] says how a client is started and what its lines mean, [`supervisor`] runs it under
//! limits through its [guardian](convoke_guard), and [`drive`] puts them together. Without a program,
//! [`http`] asks
//! a model's API, and [`replay`] plays what was recorded.

pub mod agent_ref;
pub mod cancel;
pub mod cassette;
pub mod command_check;
pub mod drive;
mod flow;
pub mod health;
pub mod http;
pub mod many;
pub mod replay;
mod stopwatch;
pub mod supervisor;
pub mod version;
