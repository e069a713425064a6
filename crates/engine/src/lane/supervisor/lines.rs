//! Cutting what a client prints into lines.

use std::os::fd::BorrowedFd;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use super::LONGEST_LINE;

/// Cuts bytes into lines. The read buffer itself is passed on: only the beginning of an incomplete
/// line is ever copied.
#[derive(Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
    /// How much of a line that is too long was skipped.
    passed: u64,
}

/// The completed part: optionally the length of a line that was too long, and then lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) too_long: Option<u64>,
    pub(super) lines: Vec<u8>,
}

impl Lines {
    /// Reads what there is, up to some bytes, and returns it; nothing at the end.
    pub(super) fn read(&mut self, stream: BorrowedFd<'_>, room: usize) -> Option<&[u8]> {
        self.begun.reserve(room);
        let before = self.begun.len();
        while let Err(error) = rustix::io::read(stream, spare_capacity(&mut self.begun)) {
            if error != Errno::INTR {
                return None;
            }
        }
        self.begun.get(before..)
    }

    /// Returns the lines that are whole now, with so many bytes that are new.
    pub(super) fn cut(&mut self, new: usize) -> Whole {
        let is_end = |byte: &u8| *byte == b'\n';
        let before = self.begun.len() - new;
        let Some(end) = self.begun[before..].iter().rposition(is_end) else {
            self.pass_over();
            return Whole::default();
        };
        let begun = self.begun.split_off(before + end + 1);
        let mut lines = std::mem::replace(&mut self.begun, begun);
        let too_long = (self.passed > 0).then(|| {
            // The end of a line whose beginning is gone.
            let rest = lines.iter().position(is_end).unwrap_or_default();
            lines.drain(..=rest);
            std::mem::take(&mut self.passed) + rest as u64
        });
        self.pass_over();
        Whole { too_long, lines }
    }

    /// Drops a line that is too long.
    fn pass_over(&mut self) {
        if self.passed > 0 || self.begun.len() > LONGEST_LINE {
            self.passed += self.begun.len() as u64;
            self.begun = Vec::new();
        }
    }

    /// Returns a last line without an end.
    pub(super) fn rest(self) -> Whole {
        Whole { too_long: Some(self.passed).filter(|passed| *passed > 0), lines: self.begun }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::text;
    use super::*;

    fn add(lines: &mut Lines, bytes: &[u8]) -> Whole {
        lines.begun.extend_from_slice(bytes);
        lines.cut(bytes.len())
    }

    proptest! {
        // Split into any pieces, the lines are the same.
        #[test]
        fn pieces_make_the_same_lines(pieces in prop::collection::vec("[a-c\n]{0,6}", 0..12)) {
            let mut lines = Lines::default();
            let mut heard: Vec<_> = pieces.iter().map(|piece| add(&mut lines, piece.as_bytes()).lines).collect();
            prop_assert!(heard.iter().all(|lines| lines.is_empty() || lines.ends_with(b"\n")));
            heard.push(lines.rest().lines);
            prop_assert_eq!(text(heard.concat()), pieces.concat());
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_reported_and_not_read() {
        let mut lines = Lines::default();
        let long = vec![b'x'; LONGEST_LINE];
        let whole = |too_long, lines: &str| Whole { too_long, lines: lines.into() };
        let length = LONGEST_LINE as u64 + 3;
        assert_eq!(add(&mut lines, b"one\n"), whole(None, "one\n"));
        assert_eq!(add(&mut lines, &long), whole(None, ""));
        assert_eq!(add(&mut lines, b"yy"), whole(None, ""));
        assert_eq!(add(&mut lines, b"z\ntwo\nthr"), whole(Some(length), "two\n"));
        assert_eq!(lines.rest(), whole(None, "thr"));
        let mut endless = Lines::default();
        add(&mut endless, &long);
        add(&mut endless, b"xyz");
        assert_eq!(endless.rest(), whole(Some(length), ""));
    }
}
