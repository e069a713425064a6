//! Designs: where one begins, how it goes on, and where it is kept meanwhile.

pub mod citations;
pub mod codec;
pub mod fault;
pub mod journal;
pub mod kept;
pub mod run_folder;
pub mod session_folder;
pub mod setup;
pub mod word;
