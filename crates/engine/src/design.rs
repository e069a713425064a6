//! Designs: their setup, their course, and their files.

pub mod citations;
pub mod codec;
pub mod fault;
pub mod run;
pub mod run_folder;
pub mod session_folder;
pub mod setup;
mod word;
