//! A single line for a reader that shows it beside other things.

use std::io::Write;

use convoke_service::failure::Failure;

use super::{Output, OutputError, dressed};
use crate::env;
use crate::terminal::styled::StyledLine;

/// The reader of a single line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineReader {
    /// A client, which shows colours.
    Client,
    /// A shell or a person.
    Shell,
}

impl Output {
    /// Writes one line. A client shows colours although it reads from a pipe.
    pub fn line(&mut self, line: &StyledLine, reader: LineReader) -> Result<(), Failure> {
        let text = match reader {
            LineReader::Client if !env::is_without_colours() => line.ansi(),
            LineReader::Client => line.text(),
            LineReader::Shell => dressed(line),
        };
        Ok(writeln!(self.out, "{text}").map_err(OutputError)?)
    }
}
