//! The display at a terminal, as pure functions from facts and a width to lines.
//!
//! This module does not print: [`crate::output`] does, and decides whether lines are coloured.

pub mod activity;
pub mod fan_progress;
pub mod grid;
pub mod markdown;
pub mod outcome;
pub mod progress;
pub mod repeats;
pub mod run_page;
pub mod styled;
pub mod summary;
