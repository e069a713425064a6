//! The one door to the terminal: stdout is data, stderr is conversation.

mod area;
mod document;
mod manual;
mod observer;
mod single_line;
mod voice;

use std::borrow::Cow;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::sync::{Mutex, PoisonError};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use convoke_domain::text::{fitting, folded, for_terminal};
use convoke_engine::pager;
use serde::Serialize;

use convoke_service::failure::{ErrorClass, Failure};

use self::area::LiveArea;
use self::document::unbroken;
pub use self::observer::TerminalObserver;
pub use self::single_line::LineReader;
pub use self::voice::Voice;
use self::voice::folded_for_stderr;
use crate::env;
use crate::exit::Exit;
use crate::terminal::grid::Grid;
use crate::terminal::styled::StyledLine;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();
const QUIET: Style = Style::new().bold();

/// Writes for one command.
pub struct Output {
    out: BufWriter<StdoutLock<'static>>,
    /// Whether a terminal shows the output; control characters in it are then escaped.
    is_shown: bool,
    /// Whether the output goes to the null device. That is also so if stdout was closed when the
    /// process began: the runtime opens the null device in its place.
    is_discarded: bool,
    /// Whether lines may be drawn over. A log beside them would be wiped.
    is_drawn_on: bool,
}

/// The lines drawn below all messages. There is one area, because there is one terminal.
static AREA: Mutex<LiveArea> = Mutex::new(LiveArea::empty());

/// The width of a line if no terminal reports one.
const COLUMNS: usize = 80;

/// The pager, if the user names no other.
const PAGER: &str = "command -v less > /dev/null || exit 127; \
                     export LESSCHARSET=\"${LESSCHARSET-utf-8}\"; exec less -R";

/// Whether a long text may be shown in a pager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paging {
    /// It may.
    Allowed,
    /// It is printed, however long it is.
    Refused,
}

/// The height of a terminal that does not report one.
const ROWS: usize = 24;

/// Takes the cursor back to the line before, and wipes that.
const BACK: &str = "\x1b[1A\x1b[2K";

/// Output could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write output")]
pub struct OutputError(#[source] pub io::Error);

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::new(ErrorClass::Prerequisite, error)
    }
}

/// Tells whether the reader of the output went away.
pub fn is_closed_pipe(failure: &Failure) -> bool {
    let io_error = failure.error.downcast_ref::<OutputError>().map(|OutputError(error)| error);
    io_error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Tells whether a stream leads to the null device.
#[cfg(unix)]
fn is_null_device(stream: &io::Stdout) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let device = |metadata: std::fs::Metadata| metadata.rdev();
    let own = stream.as_fd().try_clone_to_owned().map(std::fs::File::from);
    let own = own.and_then(|file| file.metadata()).map(device).ok();
    own.is_some_and(|own| own != 0 && std::fs::metadata("/dev/null").map(device).ok() == Some(own))
}

#[cfg(not(unix))]
fn is_null_device(_: &io::Stdout) -> bool {
    false
}

impl Output {
    /// Takes stdout for the life of the process.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn open() -> Self {
        let is_shown = io::stdout().is_terminal();
        let is_discarded = is_null_device(&io::stdout());
        let out = BufWriter::with_capacity(16 * 1024, io::stdout().lock());
        Self { out, is_shown, is_discarded, is_drawn_on: true }
    }

    /// Tells whether no reader can get the output, so that it counts as not delivered.
    pub fn is_discarded(&self) -> bool {
        self.is_discarded
    }

    /// Writes data: byte for byte, but for what a terminal would obey.
    pub fn data(&mut self, text: &str) -> Result<(), Failure> {
        let text = if self.is_shown { for_terminal(text) } else { Cow::Borrowed(text) };
        Ok(self.out.write_all(text.as_bytes()).map_err(OutputError)?)
    }

    /// Writes lines for people: at a terminal folded to its width, with what follows indented;
    /// elsewhere as they are.
    pub fn lines(&mut self, text: &str, indent: usize) -> Result<(), Failure> {
        match self.is_shown.then(stdout_width).flatten() {
            None => self.data(text),
            Some(columns) => {
                text.lines().try_for_each(|line| self.data(&(folded(line, columns, indent) + "\n")))
            }
        }
    }

    /// Writes one JSON document.
    pub fn json(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        let failed = |error: serde_json::Error| OutputError(error.into());
        if self.is_shown {
            self.data(&serde_json::to_string_pretty(document).map_err(failed)?)?;
        } else {
            serde_json::to_writer_pretty(&mut self.out, document).map_err(failed)?;
        }
        self.data("\n")
    }

    /// Writes one JSON document on a line of its own, and flushes it.
    pub fn json_line(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        let line = serde_json::to_string(document).map_err(|error| OutputError(error.into()))?;
        self.data(&(unbroken(&line) + "\n"))?;
        self.flush()
    }

    /// Flushes the output.
    pub fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush().map_err(OutputError)?)
    }

    /// Tells whether a person watches, on a terminal where lines can be drawn again.
    pub fn is_terminal(&self) -> bool {
        self.is_watched() && self.is_shown
    }

    /// Tells whether lines on stderr can be drawn again. Without colours they can be, too.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn is_watched(&self) -> bool {
        self.is_drawn_on && !env::is_dumb_terminal() && io::stderr().is_terminal()
    }

    /// Tells whether a terminal shows standard output.
    pub const fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Returns how many columns and rows a page has: those of the terminal, or the usual ones.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn page_size(&self) -> (usize, usize) {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok().filter(|_| self.is_shown);
        let or =
            |said: Option<u16>, usual| said.filter(|count| *count > 0).map_or(usual, usize::from);
        (or(size.map(|size| size.ws_col), COLUMNS), or(size.map(|size| size.ws_row), ROWS))
    }

    /// Writes lines for people, coloured if the terminal supports it, above the drawn area.
    pub fn page(&mut self, lines: &[StyledLine]) -> Result<(), Failure> {
        let area = AREA.lock().unwrap_or_else(PoisonError::into_inner);
        write_bytes(area.wipe(self.columns()).as_bytes());
        let text: String = lines.iter().map(|line| dressed(line) + "\n").collect();
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        write_bytes(area.draw().as_bytes());
        Ok(written.map_err(OutputError)?)
    }

    /// Returns how wide lines may be: as wide as the terminal, and of any width elsewhere.
    pub fn room(&self) -> usize {
        if self.is_shown { self.page_size().0 } else { usize::MAX }
    }

    /// Writes a table: as wide as the terminal, and as wide as its cells elsewhere.
    pub fn table(&mut self, grid: &Grid) -> Result<(), Failure> {
        self.page(&grid.lines(self.room()))
    }

    /// Writes lines for people, coloured where that is wanted: at a terminal folded to its width,
    /// with what follows indented; elsewhere as they are.
    pub fn sheet(&mut self, lines: &[StyledLine], indent: usize) -> Result<(), Failure> {
        let columns = self.room();
        let folded: Vec<_> = lines.iter().flat_map(|line| line.folded(columns, indent)).collect();
        self.page(&folded)
    }

    /// Writes a text for people to read: in their pager if it is longer than the terminal.
    pub fn long(&mut self, lines: &[StyledLine], paging: Paging) -> Result<(), Failure> {
        let (_, rows) = self.page_size();
        if paging == Paging::Allowed && self.is_terminal() && lines.len() >= rows {
            let text: String = lines.iter().map(|line| dressed(line) + "\n").collect();
            let pager = env::pager().unwrap_or_else(|| PAGER.into());
            // Without a working pager the text is printed.
            if !pager.is_empty() && pager::page(&pager, &text).unwrap_or(false) {
                return Ok(());
            }
        }
        self.page(lines)
    }

    /// Has every line on stderr stay where it is, because a log is written between them.
    pub const fn draw_nothing(&mut self) {
        self.is_drawn_on = false;
    }

    /// Returns how many columns a line may have that is drawn.
    pub fn columns(&self) -> usize {
        width().unwrap_or(usize::MAX)
    }

    /// Draws a line on the terminal that [`Self::redraw`] can replace.
    pub fn draw(&self, line: &str) {
        converse_after("", |stderr| writeln!(stderr, "{}", drawable(&for_terminal(line))));
    }

    /// Draws a line on the terminal in place of the last one, which must have been drawn, too.
    pub fn redraw(&self, line: &str) {
        converse_after(BACK, |stderr| writeln!(stderr, "{}", drawable(&for_terminal(line))));
    }

    /// Writes one line to stderr, exactly as given.
    pub fn say(&self, line: &str) {
        Voice::default().say(line);
    }

    /// Prints what clap has to say: help and version are answers, the rest is wrong usage.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn usage(&mut self, error: &clap::Error) -> Exit {
        if error.use_stderr() {
            // It repeats arguments, which may hold anything.
            let text = error.render().to_string();
            let text = for_terminal(&text);
            converse(|stderr| match text.strip_prefix("error:") {
                Some(rest) => write!(stderr, "{ERROR}error:{ERROR:#}{rest}"),
                None => write!(stderr, "{text}"),
            });
            return Exit::Usage;
        }
        let help = error.render();
        let mut out = AutoStream::auto(io::stdout());
        let written = write!(out, "{}", help.ansi()).and_then(|()| out.flush());
        match written.map_err(|error| Failure::from(OutputError(error))) {
            Ok(()) => Exit::Done,
            Err(failure) => self.failure(&failure),
        }
    }

    /// Prints an error with its causes and hints, and returns what to exit with.
    pub fn failure(&self, failure: &Failure) -> Exit {
        if is_closed_pipe(failure) {
            return Exit::Done;
        }
        converse(|stderr| {
            let mut line = |style: Style, word: &str, text: &str| {
                let told = folded_for_stderr(&format!("{word}: {}", for_terminal(text)));
                let rest = told.strip_prefix(word).unwrap_or(&told);
                writeln!(stderr, "{style}{word}:{style:#}{}", rest.trim_start_matches(':'))
            };
            line(ERROR, "error", &failure.error.to_string())?;
            let mut cause = failure.error.source();
            while let Some(error) = cause {
                line(QUIET, "cause", &error.to_string())?;
                cause = Error::source(error);
            }
            failure.hints.iter().try_for_each(|hint| line(HINT, "hint", hint))
        });
        failure.class.into()
    }

    /// Apologises for a panic, whose message the runtime has already printed.
    pub fn bug(&self) -> Exit {
        self.say("error: this is a bug in convoke; please report it with the lines above");
        Exit::Bug
    }
}

/// Returns a line as stdout shows it.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn dressed(line: &StyledLine) -> String {
    let is_coloured = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
    if is_coloured { line.ansi() } else { line.text() }
}

/// Writes one line of the log on stderr.
pub fn log_line(line: &str) {
    let line = format!("{}\n", for_terminal(line));
    converse(|stderr| stderr.write_all(line.as_bytes()));
}

/// Tells whether a file is the target of stdout.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn is_stdout(file: &File) -> bool {
    let (ours, theirs) = (rustix::fs::fstat(io::stdout()), rustix::fs::fstat(file));
    let place = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
    ours.ok().map(place).is_some_and(|ours| theirs.ok().map(place) == Some(ours))
}

/// Cuts a line so that it is one where it is drawn: of two, only the last could be drawn over.
fn drawable(line: &str) -> String {
    fitting(line, width().unwrap_or(usize::MAX))
}

/// Returns the width of help: the terminal's, or the usual one.
pub fn help_width() -> usize {
    stdout_width().unwrap_or(COLUMNS)
}

/// Returns the width of the terminal on stdout.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn stdout_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Returns the width of the terminal on stderr.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn width() -> Option<usize> {
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

/// Draws lines below all messages, in place of those drawn before.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn draw_below(lines: &[StyledLine]) {
    let mut area = AREA.lock().unwrap_or_else(PoisonError::into_inner);
    let is_coloured = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let columns = width().unwrap_or(COLUMNS);
    let fitting = lines.iter().map(|line| line.clone().fitted(columns.saturating_sub(1)));
    let drawn: Vec<_> = fitting
        .map(|line| (line.text(), if is_coloured { line.ansi() } else { line.text() }))
        .collect();
    let lines = drawn.iter().map(|(text, drawn)| (text.as_str(), drawn.as_str()));
    write_bytes(area.replace(lines, columns).as_bytes());
}

/// Writes a message to stderr, above the drawn area.
fn converse(write: impl FnOnce(&mut AutoStream<Vec<u8>>) -> io::Result<()>) {
    converse_after("", write);
}

/// Writes a message after a control sequence.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn converse_after(order: &str, write: impl FnOnce(&mut AutoStream<Vec<u8>>) -> io::Result<()>) {
    let area = AREA.lock().unwrap_or_else(PoisonError::into_inner);
    let mut said = AutoStream::new(Vec::new(), AutoStream::choice(&io::stderr()));
    write(&mut said).ok();
    let said = said.into_inner();
    let whole =
        [order.as_bytes(), area.wipe(width().unwrap_or(COLUMNS)).as_bytes(), &said].concat();
    write_bytes(&[&whole[..], area.draw().as_bytes()].concat());
}

/// A failure to write to stderr is ignored, because there is no other place to report it.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn write_bytes(bytes: &[u8]) {
    if !bytes.is_empty() {
        io::stderr().write_all(bytes).ok();
    }
}
