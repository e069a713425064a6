//! Which version of a client is installed, as it says itself.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::cancel::Cancel;
use super::supervisor::{Errand, Limits, Stream, Talk, run};

/// How long a client may take to say it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Asks a program for its version: the first line that it prints. `None` if it does not say.
pub fn version(
    program: &Path,
    convoke: &Path,
    variables: &[(OsString, OsString)],
    cancel: &Cancel,
) -> io::Result<Option<String>> {
    let scratch = tempfile::tempdir()?;
    let errand = Errand {
        convoke,
        program,
        arguments: &["--version".to_owned()],
        variables,
        folder: scratch.path(),
        stdin: None,
        scratch: scratch.path(),
        limits: Limits {
            wall: PATIENCE,
            first_byte: PATIENCE,
            stall: PATIENCE,
            grace: Duration::from_secs(1),
        },
        cancel,
    };
    let mut first = None;
    run(&errand, &mut |stream, line| {
        let line = line.trim();
        if stream == Stream::Stdout && first.is_none() && !line.is_empty() {
            first = Some(line.to_owned());
        }
        Talk::GoesOn
    })?;
    Ok(first)
}
