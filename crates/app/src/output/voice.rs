//! Lines on stderr of several that work at the same time.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use convoke_domain::text::{folded, for_terminal};

use super::{BACK, Output, converse_after, drawable, width};

/// How far the rest of a folded message is indented.
const HANG: usize = 2;

/// Messages on stderr of one of several parallel workers, under its name.
#[derive(Debug, Clone, Default)]
pub struct Voice {
    name: Option<String>,
    last: Arc<Mutex<LineKind>>,
}

/// Whether the next line replaces this one.
#[derive(Debug, Clone, Copy, Default)]
enum LineKind {
    #[default]
    Said,
    /// The next line takes its place.
    Drawn,
}

impl Voice {
    /// Returns a voice whose every line begins with a name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// Writes one line to stderr.
    pub fn say(&self, line: &str) {
        self.put(self.name.as_deref(), line, LineKind::Said);
    }

    /// Writes one line to stderr that begins with a name.
    pub fn say_as(&self, name: Option<&str>, line: &str) {
        self.put(name.or(self.name.as_deref()), line, LineKind::Said);
    }

    /// Draws a line on the terminal that the next one takes the place of.
    pub fn draw(&self, line: &str) {
        self.put(self.name.as_deref(), line, LineKind::Drawn);
    }

    /// Draws a line that begins with a name.
    pub fn draw_as(&self, name: Option<&str>, line: &str) {
        self.put(name.or(self.name.as_deref()), line, LineKind::Drawn);
    }

    fn put(&self, name: Option<&str>, line: &str, kind: LineKind) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let back = match std::mem::replace(&mut *last, kind) {
            LineKind::Said => "",
            LineKind::Drawn => BACK,
        };
        let line = for_terminal(line);
        let line = name.map_or(line.clone(), |name| format!("{name}: {line}").into());
        let line = match kind {
            LineKind::Said => folded_for_stderr(&line),
            LineKind::Drawn => drawable(&line),
        };
        converse_after(back, |stderr| writeln!(stderr, "{line}"));
    }
}

impl Output {
    /// Writes a command to stderr on a line of its own, which is never folded: its reader copies it.
    pub fn command(&self, command: &str) {
        let command = for_terminal(command);
        converse_after("", |stderr| writeln!(stderr, "  {command}"));
    }
}

/// Breaks the lines of a message at blanks where the terminal on stderr is narrower; without one they
/// stay as they are.
pub(super) fn folded_for_stderr(text: &str) -> String {
    let Some(columns) = width() else { return text.to_owned() };
    let lines: Vec<_> = text.split('\n').map(|line| folded(line, columns, HANG)).collect();
    lines.join("\n")
}
