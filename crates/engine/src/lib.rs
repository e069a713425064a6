//! Convoke's effects: it reads files, loads vocabularies, calls git and runs agents.
//!
//! This crate performs what `domain` decides. It never prints and never parses a command line, so
//! every job is also a library call.

pub mod ancestry;
pub mod batch;
pub mod brief;
pub mod chance;
pub mod client;
pub mod compat;
pub mod design;
pub mod detach;
pub mod dispatch;
pub mod editor;
pub mod fan;
pub mod file;
pub mod git;
pub mod hook;
pub mod hooks;
mod json;
pub mod lane;
pub mod lock;
pub mod manifest;
pub mod mermaid;
pub mod owner;
pub mod pager;
mod process;
pub mod program;
pub mod project;
pub mod repository_pack;
pub mod scratch;
pub mod secret;
pub mod server_program;
pub mod skill;
pub mod subagent;
pub mod surroundings;
pub mod telemetry;
pub mod time_zone;
pub mod toml_text;
pub mod transcript;
pub mod vocabulary;
pub mod wake;
pub mod web_browser;
