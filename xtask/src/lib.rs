//! The chores, as a library for tests.

pub mod audit;
pub mod bench;
pub mod book;
pub mod browser;
pub mod clients;
pub mod dashboard;
pub mod demo;
pub mod dependencies;
pub mod dist;
pub mod docs;
pub mod model_server;
pub(crate) mod newcomer;
pub mod pack_recall;
pub mod packages;
pub mod process;
pub mod second_try;
pub mod test;
pub mod tools;

use std::path::PathBuf;

/// Any reason why a chore was not done.
pub type Error = Box<dyn std::error::Error>;

/// Returns the repository's root.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// Prints one line for the person who runs the chore.
#[expect(clippy::print_stderr, reason = "the chores' door to the terminal")]
pub fn say(line: &str) {
    eprintln!("{line}");
}
