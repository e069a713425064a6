//! The one door to standard input.

use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Reads at most `most` bytes of text; `None` if there is more, or if it is no text.
pub fn read(most: u64) -> Option<String> {
    let mut bytes = Vec::new();
    io::stdin().take(most + 1).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= most)
}

/// What a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A line.
    Line(String),
    /// Nothing in time.
    TooLate,
    /// There is nobody.
    End,
}

/// Reads one line, within a time if there is a limit.
pub fn line(limit: Option<Duration>) -> Typed {
    let Some(limit) = limit else { return typed() };
    let (sender, receiver) = channel();
    // Whoever types too late types into the next question.
    thread::spawn(move || sender.send(typed()));
    receiver.recv_timeout(limit).unwrap_or(Typed::TooLate)
}

fn typed() -> Typed {
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(1..) => Typed::Line(line.trim_end_matches(['\r', '\n']).to_owned()),
        Ok(0) | Err(_) => Typed::End,
    }
}

/// Tells whether somebody sits at a keyboard.
pub fn has_person() -> bool {
    io::stdin().is_terminal()
}
