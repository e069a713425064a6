//! Convoke's use cases as function calls: a request in, typed progress while it runs, a report or a
//! typed error out.
//!
//! Front ends (the command line, and whatever else calls Convoke) build a [`session::Session`] once,
//! call one function and render what it returns. Nothing here knows a terminal, parses a command
//! line or keeps `static` state.

pub mod agent;
pub mod attend;
pub mod clock;
pub mod deliver;
pub mod elsewhere;
pub mod environment;
pub mod failure;
pub mod hook;
pub mod hooks;
pub mod interruption;
pub mod lane;
pub mod message;
pub mod observer;
pub mod pin;
pub mod plan;
pub mod project;
pub mod prompt;
pub mod receipt;
pub mod session;
pub mod settings;
pub mod skill;
pub mod subagent;
pub mod task;
pub mod wake;
pub mod workspace;
