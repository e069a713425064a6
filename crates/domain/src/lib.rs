//! The words and the rules of Convoke.
//!
//! Everything here is a pure function over values: no input or output, no clock, no threads, no
//! environment. Read this crate to learn what Convoke *decides*; to learn
//! what it *does*, read `engine`.

pub mod agent;
pub mod brief;
pub mod client;
pub mod compat;
pub mod cut;
pub mod design;
pub mod dispatch;
pub mod fan;
pub mod finding;
pub mod hook;
pub mod lane;
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
pub mod repository_pack;
pub mod run;
pub mod scaffold;
pub mod scope;
pub mod session_usage;
pub mod setup;
pub mod skill;
pub mod subagent;
pub mod task;
pub mod team;
pub mod telemetry;
pub mod text;
pub mod token;
pub mod tree;
pub mod wake;
