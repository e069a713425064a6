//! Convoke's reports as HTML.
//!
//! Every function takes reports of the service and returns markup. Nothing here reads a file, a clock
//! or the store, so a page says exactly what `--json` says. Text from agents reaches a page
//! through `maud`, which escapes it, or through the renderer in `markdown`.

pub mod chart;
pub mod compare;
pub mod components;
pub mod designs;
pub mod diff;
pub mod dispatch;
#[cfg(test)]
mod hostile;
pub mod layout;
pub mod limits;
pub mod markdown;
pub mod messages;
pub mod now;
pub mod report;
pub mod run;
pub mod search;
pub mod store;
pub mod tasks;
pub mod usage;
mod verdict_words;

/// The script of all pages: live updates, keys and local times. Pages work without it.
pub const SCRIPT: &str = include_str!("../assets/script.js");
