//! The size of the terminal.

use std::io;

use super::{COLUMNS, ROWS};

/// Returns the width of help: the terminal's, or the usual one.
pub fn help_width() -> usize {
    stdout_width().unwrap_or(COLUMNS)
}

/// Returns the width of the terminal on stdout.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(super) fn stdout_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Returns the width of the terminal on stderr.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(super) fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Returns the columns and rows of the terminal on stderr.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn terminal_size() -> (usize, usize) {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    let rows = size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0);
    (width().unwrap_or(COLUMNS), rows.unwrap_or(ROWS))
}
