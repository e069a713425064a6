//! The words and the rules of Convoke.
//!
//! Everything here is a pure function over values: no input or output, no clock, no threads, no
//! environment. Whoever wants to know what Convoke *decides* reads this crate; whoever wants to know
//! what it *does* reads `engine`.

pub mod agent;
pub mod brief;
pub mod client;
pub mod cut;
pub mod design;
pub mod dispatch;
pub mod execution_log;
pub mod finding;
pub mod hook;
pub mod lane;
pub mod ledger;
pub mod manifest;
pub mod markdown;
pub mod mention;
pub mod message;
pub mod owner;
pub mod pack;
pub mod pin;
pub mod plan;
pub mod receipt;
pub mod repository;
pub mod run;
pub mod scaffold;
pub mod scope;
pub mod setup;
pub mod skill;
pub mod subagent;
pub mod task;
pub mod text;
pub mod token;
pub mod tree;
pub mod wake;
