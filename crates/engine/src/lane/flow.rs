//! How fast a client is listened to.
//!
//! Every look at a pipe wakes two threads, so whoever says a little a hundred times a second is looked
//! at ten times; and whoever says much is given a larger pipe, and is not kept waiting.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use convoke_guard::timespec;
use rustix::event::{PollFd, PollFlags, poll};

use super::supervisor::Stream;

/// How long whoever says little may go on before it is looked at again.
const PAUSE: Duration = Duration::from_millis(100);

/// What a pipe holds at first.
const NARROW: usize = 64 * 1024;

/// Half of that: whoever has said this much meanwhile says much.
const MUCH: usize = NARROW / 2;

/// How often somebody is looked at without a pause who said much.
const PATIENCE: u32 = 64;

/// What a pipe holds for whoever says much. Not for everybody: what all pipes of a user may hold
/// together is limited.
const WIDE: usize = 1024 * 1024;

/// How much a client says at a time.
#[derive(Debug)]
pub(super) struct Flow {
    is_wide: bool,
    /// Answers are long. Complaints are many short lines, each takes its time to be heard, and what
    /// waits is heard after a limit, too.
    may_be_wide: bool,
    /// How often there is no pause yet.
    in_hurry: u32,
}

impl Flow {
    /// Makes that of a client that has said nothing yet.
    pub(super) const fn of(stream: Stream) -> Self {
        Self { is_wide: false, may_be_wide: matches!(stream, Stream::Stdout), in_hurry: 0 }
    }

    /// Returns how much is worth being read at once.
    pub(super) const fn room(&self) -> usize {
        if self.is_wide { WIDE } else { NARROW }
    }

    /// Takes in how much was read, and returns when it is time to read on; at once, if nothing will
    /// follow.
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

/// Waits for a moment, or until everybody who could write has gone.
fn until_closed(stream: BorrowedFd<'_>) {
    // What is not asked for is still told: that nobody is there any more.
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

    // The end of a client is noticed at once: a pause of an hour would not delay it.
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
    fn who_says_much_is_given_a_larger_pipe_and_no_pause() {
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
        // More fits than did before, although nobody reads.
        let much = vec![b'x'; small * 2];
        thread::spawn(move || writer.write_all(&much)).join().unwrap().unwrap();
    }
}
