//! The one door to the environment: what the process was started with, captured once.

use std::env;
use std::path::PathBuf;

use convoke_service::environment::Environment;

/// Returns what this process was started with.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn captured() -> Environment {
    let program = env::current_exe().unwrap_or_else(|_| PathBuf::from("convoke"));
    Environment::new(env::vars_os(), env::current_dir().ok(), program)
}
