//! How often a client's output is read.
//!
//! Every read of a pipe wakes two threads, so a client that prints a little a hundred times a
//! second is read ten times; and a client that prints much gets a larger pipe, and does not wait.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use convoke_guard::timespec;
use rustix::event::{PollFd, PollFlags, poll};

use super::supervisor::Stream;

/// The pause before a client with little output is read again.
const PAUSE: Duration = Duration::from_millis(100);

/// The initial size of a pipe.
const NARROW: usize = 64 * 1024;

/// Half of that: a client that printed this much meanwhile prints much.
const MUCH: usize = NARROW / 2;

/// How many reads of a client with much output follow without a pause.
const PATIENCE: u32 = 64;

/// The size of the pipe of a client with much output. Not of every client: the system limits the
/// size of all pipes of a user together.
const WIDE: usize = 1024 * 1024;

/// The rate of a client's output.
#[derive(Debug)]
pub(super) struct Flow {
    is_wide: bool,
    /// Whether the pipe may grow: for stdout, whose answers are long. On stderr, complaints are
    /// many short lines that take time to process, and waiting ones are still processed after a
    /// limit.
    may_be_wide: bool,
    /// How often there is no pause yet.
    in_hurry: u32,
}

impl Flow {
    /// Returns the initial state.
    pub(super) const fn of(stream: Stream) -> Self {
        Self { is_wide: false, may_be_wide: matches!(stream, Stream::Stdout), in_hurry: 0 }
    }

    /// Returns how much to read in one call.
    pub(super) const fn room(&self) -> usize {
        if self.is_wide { WIDE } else { NARROW }
    }

    /// Takes in how much was read, and waits until it is time to read on; it returns immediately if
    /// nothing will follow.
    pub(super) fn goes_on(&mut self, count: usize, stream: BorrowedFd<'_>) {
        if count >= MUCH {
            if self.may_be_wide && !std::mem::replace(&mut self.is_wide, true) {
                widen(stream);
            }
            self.in_hurry = PATIENCE;
        }
        match self.in_hurry.checked_sub(1) {
            Some(left) => self.in_hurry = left,
            None => until_closed(stream),
        }
    }
}

/// Waits for a moment, or until all writers are gone.
fn until_closed(stream: BorrowedFd<'_>) {
    // Without requested events, poll still reports that the writer is gone.
    let mut watched = [PollFd::from_borrowed_fd(stream, PollFlags::empty())];
    poll(&mut watched, Some(&timespec(PAUSE))).ok();
}

/// A pipe that cannot be larger stays as it is.
#[cfg(target_os = "linux")]
fn widen(stream: BorrowedFd<'_>) {
    rustix::pipe::fcntl_setpipe_size(stream, WIDE).ok();
}

#[cfg(not(target_os = "linux"))]
fn widen(_stream: BorrowedFd<'_>) {}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};
    use std::os::fd::AsFd;
    use std::thread;

    use super::*;

    // The end of a client is noticed immediately: a pause of an hour would not delay it.
    #[test]
    fn a_closed_pipe_is_not_waited_for() {
        let (reader, writer) = pipe().unwrap();
        drop(writer);
        let mut watched = [PollFd::new(&reader, PollFlags::empty())];
        let hour = timespec(Duration::from_hours(1));
        assert_eq!(poll(&mut watched, Some(&hour)).unwrap(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn complaints_stay_in_a_small_pipe_and_are_read_without_a_pause() {
        let (reader, _writer) = pipe().unwrap();
        let mut flow = Flow::of(Stream::Stderr);
        let size = |flow: &Flow| (rustix::pipe::fcntl_getpipe_size(&reader).unwrap(), flow.room());
        let small = size(&flow);
        flow.goes_on(MUCH, reader.as_fd());
        assert_eq!((size(&flow), flow.in_hurry), (small, PATIENCE - 1));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn much_output_gets_a_larger_pipe_and_no_pause() {
        let (reader, mut writer) = pipe().unwrap();
        let mut flow = Flow::of(Stream::Stdout);
        let size = || rustix::pipe::fcntl_getpipe_size(&reader).unwrap();
        let small = size();
        flow.goes_on(10, reader.as_fd());
        assert_eq!((size(), flow.in_hurry), (small, 0));
        flow.goes_on(MUCH, reader.as_fd());
        assert!(size() > small);
        assert_eq!(flow.in_hurry, PATIENCE - 1);
        flow.goes_on(10, reader.as_fd());
        assert_eq!(flow.in_hurry, PATIENCE - 2);
        // More fits than before, although no thread reads.
        let much = vec![b'x'; small * 2];
        thread::spawn(move || writer.write_all(&much)).join().unwrap().unwrap();
    }
}
