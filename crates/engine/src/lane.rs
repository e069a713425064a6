//! Running agents: one supervised run of one client on one prompt.
//!
//! [`crate::client`] knows how to start a client and what its lines mean, [`supervisor`] runs it
//! under limits through its [guardian](convoke_guard), and [`drive`] combines them. Without a
//! program, [`http`] calls a model's API, and [`replay`] plays a recording.

pub mod agent_ref;
pub mod ancestry;
pub mod cancel;
pub mod cassette;
pub mod command_check;
pub mod drive;
pub mod fleet_offer;
mod flow;
pub mod health;
pub mod http;
pub mod many;
pub mod replay;
mod stopwatch;
pub mod supervisor;
pub mod version;
