//! Designs: where one begins and where it is kept while it goes on.

pub mod run_folder;
pub mod setup;
