//! The one door to the environment: what the process was started with, captured once.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use convoke_engine::owner::keep_machine_id_in;
use convoke_service::environment::Environment;

/// Returns what this process was started with.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn captured() -> Environment {
    let program = env::current_exe().unwrap_or_else(|_| PathBuf::from("convoke"));
    let environment = Environment::new(env::vars_os(), env::current_dir().ok(), program);
    if let Some(state) = environment.state() {
        keep_machine_id_in(state);
    }
    environment
}

/// Tells whether the terminal can only append: no line can be drawn over there.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn is_dumb_terminal() -> bool {
    env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Returns how many columns a caller has for one line, if it says.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn columns() -> Option<usize> {
    env::var("COLUMNS").ok()?.trim().parse().ok().filter(|columns| *columns > 0)
}

/// Tells whether the user wants no colours, wherever they would be shown.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn is_without_colours() -> bool {
    env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Returns the program that the user reads long texts with.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn pager() -> Option<OsString> {
    env::var_os("PAGER")
}

/// Returns stdout as a file of its own, for a server that writes on threads of its own.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn raw_stdout() -> io::Result<File> {
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}
