//! The one door to standard input.

use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use convoke_engine::lane::cancel::Cancel;
use rustix::termios::{QueueSelector, tcflush};

/// Reads at most `most` bytes of text; `None` if there is more, or if it is no text.
pub fn read(most: u64) -> Option<String> {
    let mut bytes = Vec::new();
    io::stdin().take(most + 1).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= most)
}

/// Reads at most `most` bytes of any kind; `None` if there is more.
pub fn read_bytes(most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().take(most + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes).filter(|bytes| bytes.len() as u64 <= most)
}

/// Reads as [`read`] does; what is not UTF-8 becomes `U+FFFD`.
pub fn read_any(most: u64) -> Option<String> {
    let mut bytes = Vec::new();
    io::stdin().take(most + 1).read_to_end(&mut bytes).ok()?;
    let is_whole = bytes.len() as u64 <= most;
    is_whole.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads as [`read`] does, but waits no longer than `limit` for the end; `None` if it does not come.
pub fn read_soon(most: u64, limit: Duration) -> Option<String> {
    let (sender, text) = channel();
    // A blocked read cannot be stopped; the thread ends with the process.
    thread::spawn(move || sender.send(read(most)).unwrap_or_default());
    text.recv_timeout(limit).ok().flatten()
}

/// Returns standard input, to be read line by line.
pub fn reader() -> impl BufRead {
    io::stdin().lock()
}

/// A person's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A typed line.
    Line(String),
    /// Nothing in time.
    TooLate,
    /// There is no person.
    End,
    /// Nothing: the user stopped Convoke.
    Stopped,
}

/// Asks, and reads one line, until the limit if there is one, or until the user stops Convoke.
///
/// Input that was typed at a terminal before the question does not answer it. Lines from a pipe
/// wait for their questions, unless one of them came too late for its own.
pub fn line(ask: impl FnOnce(), limit: Option<Duration>, cancel: &Cancel) -> Typed {
    static KEYBOARD: OnceLock<Mutex<Keyboard>> = OnceLock::new();
    let keyboard = KEYBOARD.get_or_init(|| {
        let keyboard = Keyboard::default();
        let lines = keyboard.sender.clone();
        // A blocked read cannot be stopped, so one thread reads for the whole life of the process.
        thread::spawn(move || read_lines(&lines));
        Mutex::new(keyboard)
    });
    let mut keyboard = keyboard.lock().unwrap_or_else(PoisonError::into_inner);
    if has_person() {
        // Half a line that was begun for the last question.
        tcflush(io::stdin(), QueueSelector::IFlush).ok();
        keyboard.forget();
    } else {
        keyboard.forget_late();
    }
    ask();
    keyboard.line(limit, cancel)
}

fn read_lines(lines: &Sender<Typed>) {
    loop {
        let mut line = String::new();
        let typed = match io::stdin().lock().read_line(&mut line) {
            Ok(1..) => Typed::Line(line.trim_end_matches(['\r', '\n']).to_owned()),
            Ok(0) | Err(_) => Typed::End,
        };
        let is_over = typed == Typed::End;
        if lines.send(typed).is_err() || is_over {
            return;
        }
    }
}

/// Lines that were typed and not taken yet.
struct Keyboard {
    sender: Sender<Typed>,
    lines: Receiver<Typed>,
    /// Whether the last question ran into its limit.
    was_late: bool,
    is_over: bool,
}

impl Default for Keyboard {
    fn default() -> Self {
        let (sender, lines) = channel();
        Self { sender, lines, was_late: false, is_over: false }
    }
}

impl Keyboard {
    /// Forgets input from before the question.
    fn forget(&mut self) {
        // All of it is gone through, because the end comes last.
        let ends = self.lines.try_iter().filter(|typed| *typed == Typed::End);
        self.is_over |= ends.count() > 0;
    }

    /// Forgets input that came too late for the last question. Lines of a file wait for theirs.
    fn forget_late(&mut self) {
        if self.was_late {
            self.forget();
        }
    }

    fn line(&mut self, limit: Option<Duration>, cancel: &Cancel) -> Typed {
        if self.is_over {
            return Typed::End;
        }
        let wake = self.sender.clone();
        let _watch = cancel.watch(move || wake.send(Typed::Stopped).unwrap_or_default());
        let typed = match limit {
            Some(limit) => self.lines.recv_timeout(limit).unwrap_or(Typed::TooLate),
            None => self.lines.recv().unwrap_or(Typed::End),
        };
        self.is_over = typed == Typed::End;
        self.was_late = typed == Typed::TooLate;
        if cancel.is_cancelled() { Typed::Stopped } else { typed }
    }
}

/// Tells whether a person is at a keyboard.
pub fn has_person() -> bool {
    io::stdin().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Option<Duration> = Some(Duration::from_millis(1));

    /// Asks where input comes from a file or a pipe.
    fn asked(keyboard: &mut Keyboard, limit: Option<Duration>) -> Typed {
        keyboard.forget_late();
        keyboard.line(limit, &Cancel::default())
    }

    /// Asks a person at a terminal.
    fn asked_person(keyboard: &mut Keyboard, limit: Option<Duration>) -> Typed {
        keyboard.forget();
        keyboard.line(limit, &Cancel::default())
    }

    fn typed(keyboard: &Keyboard, line: &str) {
        keyboard.sender.send(Typed::Line(line.to_owned())).unwrap_or_default();
    }

    fn line(text: &str) -> Typed {
        Typed::Line(text.to_owned())
    }

    #[test]
    fn lines_of_a_pipe_wait_for_their_questions() {
        let mut keyboard = Keyboard::default();
        typed(&keyboard, "one");
        typed(&keyboard, "two");
        assert_eq!(asked(&mut keyboard, None), line("one"));
        assert_eq!(asked(&mut keyboard, SOON), line("two"));
    }

    #[test]
    fn an_answer_that_comes_too_late_is_not_the_next_ones() {
        let mut keyboard = Keyboard::default();
        assert_eq!(asked(&mut keyboard, SOON), Typed::TooLate);
        typed(&keyboard, "late");
        assert_eq!(asked(&mut keyboard, SOON), Typed::TooLate);
        // At a terminal, input from before the question does not count.
        let mut keyboard = Keyboard::default();
        typed(&keyboard, "early");
        assert_eq!(asked_person(&mut keyboard, SOON), Typed::TooLate);
    }

    #[test]
    fn a_stop_ends_the_waiting() {
        let (mut keyboard, cancel) = (Keyboard::default(), Cancel::default());
        typed(&keyboard, "an answer");
        cancel.cancel();
        assert_eq!(keyboard.line(None, &cancel), Typed::Stopped);
        let (mut keyboard, cancel) = (Keyboard::default(), Cancel::default());
        let asked = cancel.clone();
        let asking = thread::spawn(move || asked.cancel());
        assert_eq!(keyboard.line(None, &cancel), Typed::Stopped);
        assert!(asking.join().is_ok());
    }

    #[test]
    fn the_end_is_the_end() {
        let mut keyboard = Keyboard::default();
        typed(&keyboard, "early");
        keyboard.sender.send(Typed::End).unwrap_or_default();
        typed(&keyboard, "never");
        assert_eq!(asked_person(&mut keyboard, None), Typed::End);
        assert_eq!(asked_person(&mut keyboard, None), Typed::End);
    }
}
