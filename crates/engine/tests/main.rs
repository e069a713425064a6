//! What other programs wrote, read as Convoke reads it. One program holds all of these tests: each
//! links the whole crate.

#[path = "hostile/main.rs"]
mod hostile;
mod http_lanes;
mod journals;
mod server_files;
mod session_usage;
mod settings_files;
mod settings_layout;
mod transcripts;
