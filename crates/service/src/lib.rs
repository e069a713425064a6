//! Convoke's use cases as function calls: a request in, typed progress while it runs, a report or a
//! typed error out.
//!
//! Front ends (the command line, and other programs that call Convoke) build a [`session::Session`] once,
//! call one function and render what it returns. Nothing here knows a terminal, parses a command
//! line or keeps `static` state.

pub mod acp_bridge;
pub mod agent;
pub mod agents;
pub mod attend;
pub mod background;
pub mod brief;
pub mod call_store;
pub mod clock;
pub mod compat;
pub mod config;
pub mod dashboard;
pub mod deliver;
pub mod design;
pub mod diagram;
pub mod dispatch;
pub mod doctor;
pub mod elsewhere;
pub mod environment;
pub mod failure;
pub mod fan;
pub mod fleet;
pub mod given_text;
pub mod hook;
pub mod hooks;
pub mod init;
pub mod interruption;
pub mod lane;
pub mod manifest;
pub mod mcp_entry;
pub mod mcp_listen;
pub mod message;
pub mod next_command;
pub mod now;
pub mod observer;
mod person;
pub mod pin;
pub mod plan;
pub mod project;
mod project_here;
pub mod prompt;
pub mod receipt;
pub mod rehearsal;
pub mod replica;
pub mod repository_pack;
pub mod run;
pub mod sarif;
#[cfg(feature = "schema")]
pub mod schema;
pub mod search;
pub mod session;
pub mod settings;
mod settings_file;
pub mod skill;
pub mod status;
pub mod statusline;
pub mod store_page;
pub mod store_transfer;
pub mod subagent;
pub mod task;
pub mod team;
pub mod telemetry;
pub mod tree;
pub mod upgrade;
pub mod usage;
mod user_only;
pub mod wake;
pub mod workspace;
