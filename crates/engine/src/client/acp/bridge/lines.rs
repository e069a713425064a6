//! The lines of an agent, within bounds.

use std::io::{BufRead, BufReader, Read};

use crate::lane::supervisor::LONGEST_LINE;

/// Room for what the bridge writes around a line, so that the supervisor can read the whole.
const ROOM: usize = 64 * 1024;

/// The longest line that is read.
const LONGEST: usize = LONGEST_LINE - ROOM;

/// An agent whose line is longer than this sends no messages any more.
const ENDLESS: u64 = 8 * LONGEST_LINE as u64;

/// A line of an agent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AgentLine {
    /// A whole line, without its end. Invalid UTF-8 is replaced.
    Whole(String),
    /// A line of so many bytes that it is not read.
    TooLong(u64),
    /// So many bytes without the end of a line that none is to be expected.
    Endless(u64),
}

/// Passes lines on until the stream ends, a line does not end, or `take` wants no more.
pub(super) fn read_lines(stream: impl Read, take: &mut dyn FnMut(AgentLine) -> bool) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    let mut length: u64 = 0;
    while let Ok(chunk) = stream.fill_buf() {
        if chunk.is_empty() {
            // The rest of a message that was not sent to its end means nothing.
            return;
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let piece = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        length += piece.len() as u64;
        if length <= LONGEST as u64 {
            line.extend_from_slice(piece);
        } else {
            line = Vec::new();
        }
        let used = piece.len() + usize::from(end.is_some());
        stream.consume(used);
        let wants_more = match end {
            Some(_) if length <= LONGEST as u64 => {
                let whole = AgentLine::Whole(String::from_utf8_lossy(&line).into_owned());
                take(whole)
            }
            Some(_) => take(AgentLine::TooLong(length)),
            None if length > ENDLESS => {
                take(AgentLine::Endless(length));
                false
            }
            None => continue,
        };
        if !wants_more {
            return;
        }
        line.clear();
        length = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: impl Read) -> Vec<AgentLine> {
        let mut lines = Vec::new();
        read_lines(bytes, &mut |line| {
            lines.push(line);
            true
        });
        lines
    }

    fn whole(text: &str) -> AgentLine {
        AgentLine::Whole(text.to_owned())
    }

    #[test]
    fn a_message_that_was_not_sent_to_its_end_is_no_message() {
        assert_eq!(read(&b"one\n\ntwo\nthr"[..]), [whole("one"), whole(""), whole("two")]);
        assert_eq!(read(&b"a\xffb\n"[..]), [whole("a\u{fffd}b")]);
    }

    #[test]
    fn a_long_line_is_passed_over_and_an_endless_one_ends_the_reading() {
        let long = LONGEST + 1;
        let mut bytes = vec![b'x'; long];
        bytes.extend_from_slice(b"\nafter\n");
        assert_eq!(read(&bytes[..]), [AgentLine::TooLong(long as u64), whole("after")]);
        let endless = read(std::io::repeat(b'x'));
        assert!(matches!(endless[..], [AgentLine::Endless(bytes)] if bytes > ENDLESS));
    }
}
