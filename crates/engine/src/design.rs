//! Designs: their setup, their course, and their files.

pub mod citations;
pub mod codec;
pub mod fault;
pub mod journal;
pub mod kept;
pub mod run_folder;
pub mod setup;
pub mod word;
