//! The one door to the terminal: stdout is data, stderr is conversation.

use std::borrow::Cow;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use convoke_domain::text::{fitting, folded, for_terminal};
use serde::Serialize;

use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::observer::{Observer, Progress};

use crate::app::Format;
use crate::cli::lane::progress_line;
use crate::exit::Exit;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();
const QUIET: Style = Style::new().bold();

/// Writes for one command.
pub struct Output {
    out: BufWriter<StdoutLock<'static>>,
    /// Whether a terminal shows what is written, which must not obey what others wrote.
    is_shown: bool,
    /// Whether what is written goes to the null device. That is so, too, if stdout was closed when the
    /// process began: the runtime opens the null device in its place.
    is_discarded: bool,
    /// Whether lines may be drawn over. A log beside them would be wiped.
    is_drawn_on: bool,
}

/// Takes the cursor back to the line before, and wipes that.
const BACK: &str = "\x1b[1A\x1b[2K";

/// What is said on stderr by one of several that work at the same time, under its name.
#[derive(Debug, Clone, Default)]
pub struct Voice {
    name: Option<String>,
    /// Whether the last line was drawn, and gives way to whatever comes next.
    is_drawn: Arc<Mutex<bool>>,
}

impl Voice {
    /// Returns the voice of somebody whose every line begins with its name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// Says one line on stderr.
    pub fn say(&self, line: &str) {
        self.put(self.name.as_deref(), line, false);
    }

    /// Says one line on stderr that begins with a name.
    pub fn say_as(&self, name: Option<&str>, line: &str) {
        self.put(name.or(self.name.as_deref()), line, false);
    }

    /// Draws a line on the terminal that the next one takes the place of.
    pub fn draw(&self, line: &str) {
        self.put(self.name.as_deref(), line, true);
    }

    fn put(&self, name: Option<&str>, line: &str, is_drawn: bool) {
        let mut was_drawn = self.is_drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let back = if std::mem::replace(&mut *was_drawn, is_drawn) { BACK } else { "" };
        let line = for_terminal(line);
        let line = name.map_or(line.clone(), |name| format!("{name}: {line}").into());
        let line = if is_drawn { drawable(&line).into() } else { line };
        converse(|stderr| writeln!(stderr, "{back}{line}"));
    }
}

/// Shows what use cases tell while they run, on stderr.
pub struct TerminalObserver {
    voice: Voice,
    format: Format,
}

impl TerminalObserver {
    /// Shows it through a voice; what is only good to know is left out beside JSON.
    pub const fn new(voice: Voice, format: Format) -> Self {
        Self { voice, format }
    }
}

impl Observer for TerminalObserver {
    fn observe(&self, source: Option<&str>, progress: &Progress) {
        let is_text = self.format == Format::Text;
        let line = match progress {
            Progress::Message(text) => Some(text.clone()),
            Progress::Warning(text) => Some(format!("warning: {text}")),
            Progress::Hint(text) => Some(format!("hint: {text}")),
            Progress::Note(text) => is_text.then(|| text.clone()),
            Progress::Lane(event) => progress_line(event).filter(|_| is_text),
        };
        if let Some(line) = line {
            self.voice.say_as(source, &line);
        }
    }
}

/// Output could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write output")]
pub struct OutputError(#[source] pub io::Error);

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::new(ErrorClass::Prerequisite, error)
    }
}

/// Tells whether the reader of our output went away.
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

    /// Tells whether no reader can get what is written, so that it counts as not delivered.
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

    /// Writes one JSON document on a line of its own, and hands it to the reader.
    pub fn json_line(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        let line = serde_json::to_string(document).map_err(|error| OutputError(error.into()))?;
        self.data(&(unbroken(&line) + "\n"))?;
        self.flush()
    }

    /// Hands everything written to the reader.
    pub fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush().map_err(OutputError)?)
    }

    /// Tells whether a person watches, on a terminal where lines can be drawn again.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn is_terminal(&self) -> bool {
        let moves = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
        self.is_drawn_on && moves && io::stderr().is_terminal() && io::stdout().is_terminal()
    }

    /// Has every line on stderr stay where it is, because a log is written between them.
    pub const fn draw_nothing(&mut self) {
        self.is_drawn_on = false;
    }

    /// Returns how many columns a line may have that is drawn.
    pub fn columns(&self) -> usize {
        width().unwrap_or(usize::MAX)
    }

    /// Draws a line on the terminal, in place of the last one if that was drawn so, too.
    pub fn redraw(&self, line: &str, in_place: bool) {
        let back = if in_place { BACK } else { "" };
        converse(|stderr| writeln!(stderr, "{back}{}", drawable(&for_terminal(line))));
    }

    /// Says one line on stderr, exactly as given.
    pub fn say(&self, line: &str) {
        Voice::default().say(line);
    }

    /// Prints what clap has to say: help and version are answers, the rest is wrong usage.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn usage(&mut self, error: &clap::Error) -> Exit {
        if error.use_stderr() {
            converse(|stderr| write!(stderr, "{}", error.render().ansi()));
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
                writeln!(stderr, "{style}{word}:{style:#} {}", for_terminal(text))
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

/// Writes one line of the log on stderr.
pub fn log_line(line: &str) {
    let line = format!("{}\n", for_terminal(line));
    converse(|stderr| stderr.write_all(line.as_bytes()));
}

/// Tells whether a file is the one that stdout goes to.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn is_stdout(file: &File) -> bool {
    let (ours, theirs) = (rustix::fs::fstat(io::stdout()), rustix::fs::fstat(file));
    let place = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
    ours.ok().map(place).is_some_and(|ours| theirs.ok().map(place) == Some(ours))
}

/// Some take more characters for the end of a line than JSON does; in a document they can only stand
/// inside of a string.
fn unbroken(document: &str) -> String {
    document
        .replace('\u{85}', "\\u0085")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Cuts a line so that it is one where it is drawn: of two, only the last could be drawn over.
fn drawable(line: &str) -> String {
    fitting(line, width().unwrap_or(usize::MAX))
}

/// Returns how wide the terminal is that shows our data.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn stdout_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Returns how wide the terminal is on which we converse.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Nobody can be told that stderr is closed, so a failure to write there is ignored.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn converse(write: impl FnOnce(&mut AutoStream<io::Stderr>) -> io::Result<()>) {
    write(&mut AutoStream::auto(io::stderr())).ok();
}
