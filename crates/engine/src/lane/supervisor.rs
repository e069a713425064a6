//! The supervisor: runs one client under limits, through its guardian, and passes on its output.
//!
//! Output goes to disk as it comes; the supervisor passes on only complete lines, and holds little
//! in memory. A limit stops the client; its output until then still counts.

mod lines;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use convoke_domain::lane::outcome::ProcessEnd;
use convoke_guard::{GuardCommand, end_strays, read_report, wait_for};
use rustix::process::Pid;

use self::lines::{Lines, Whole};
use super::cancel::Cancel;
use super::flow::Flow;
use super::stopwatch::Stopwatch;
use crate::file::create_private;
use crate::process::guardian;

/// A longer line is kept on disk, and not read.
pub(crate) const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// How many chunks may wait to be processed.
const WAITING: usize = 4;

/// How much of what a client printed on stderr is kept for people, in bytes.
const TAIL: u64 = 2000;

/// How long a client may take to end after its answer.
const FAREWELL: Duration = Duration::from_secs(5);

/// How much longer than its grace a guardian may take.
const MARGIN: Duration = Duration::from_secs(5);

/// How long a client may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// In all.
    pub wall: Duration,
    /// Until its first output.
    pub first_byte: Duration,
    /// Between two pieces of output.
    pub stall: Duration,
    /// Between the request to stop and the end.
    pub grace: Duration,
}

/// A client's process, ready to run.
#[derive(Debug, Clone)]
pub struct ChildProcess<'a> {
    /// Convoke's program; the guardian is beside it, or it is the guardian itself.
    pub convoke: &'a Path,
    /// The client's program.
    pub program: &'a Path,
    /// The client's arguments.
    pub arguments: &'a [String],
    /// The client's complete environment.
    pub variables: &'a [(OsString, OsString)],
    /// The client's working folder.
    pub folder: &'a Path,
    /// The client's stdin.
    pub stdin: Option<&'a str>,
    /// The lane's own folder, for its kept files.
    pub scratch: &'a Path,
    /// How long it may take, and what stops it before.
    pub supervision: Supervision<'a>,
}

/// How long an agent may take, and what stops it before.
#[derive(Debug, Clone, Copy)]
pub struct Supervision<'a> {
    /// The time limits.
    pub limits: Limits,
    /// A request to stop.
    pub cancel: &'a Cancel,
}

/// The variable that marks everything that a lane starts, by the number of the process that
/// supervises it. Hooks that find it deliver nothing: a lane's agent receives only its prompt. A
/// caller that puts it among a client's variables has its value follow that number.
pub const LANE_MARK: &str = "CONVOKE_LANE";

/// One of a client's two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A line of a client's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputLine<'a> {
    /// A whole line, or the last one without its end.
    Line(&'a str),
    /// A line of so many bytes that it is not read.
    TooLong(u64),
}

/// Whether a client has completed its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnState {
    /// There may be more.
    GoesOn,
    /// The client reports only that it tries again; that is not output of its agent.
    TriesAgain,
    /// The turn has ended.
    IsOver,
}

/// How a client's process ended, or the connection to a model's API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExitReport {
    /// How it ended.
    pub end: ProcessEnd,
    /// How long it took.
    pub took: Duration,
    /// How many bytes it printed on both streams.
    pub bytes: u64,
    /// The end of what it printed on stderr.
    pub stderr: String,
}

/// The files in a lane's own folder that keep what the client printed.
pub const KEPT_STREAMS: [&str; 2] = ["stdout", "stderr"];

/// A message of a reading thread.
enum News {
    /// The client printed this many bytes, which completed these lines.
    Said(Stream, usize, Whole),
    /// A stream is closed.
    Closed,
    /// The user stopped it.
    Cancelled,
}

/// Receives every line, and returns whether the turn is over or goes on.
type Hear<'a> = dyn FnMut(Stream, OutputLine<'_>) -> TurnState + 'a;

/// Runs a client to its end.
pub fn run(child_process: &ChildProcess<'_>, hear: &mut Hear<'_>) -> io::Result<ExitReport> {
    let Supervision { limits, cancel } = child_process.supervision;
    let [stdout, stderr] = KEPT_STREAMS.map(|name| child_process.scratch.join(name));
    let watch = Stopwatch::start();
    // All files are open before a client runs that could put others in their place.
    let (kept_stdout, kept_stderr) = (create_private(&stdout)?, create_private(&stderr)?);
    let path = child_process.scratch.join("end");
    let report = create_private(&path)?;
    let mut guardian = started(child_process, &path)?;
    // Never its arguments or its input: they hold the prompt.
    let program = child_process.program.display();
    tracing::debug!(guardian = guardian.id(), %program, "started the client under its guardian");
    let (sender, receiver) = sync_channel(WAITING);
    listen(guardian.stdout.take(), Stream::Stdout, kept_stdout, sender.clone());
    listen(guardian.stderr.take(), Stream::Stderr, kept_stderr, sender.clone());
    // Without room in the channel the loop is busy reading, and checks the cancellation itself.
    let asked = cancel.watch(move || sender.try_send(News::Cancelled).unwrap_or_default());
    let mut attention = Attention { limits, watch, last: None, over: None, bytes: 0 };
    let stopped = attention.listen(&receiver, cancel, hear);
    drop(asked);
    // Closing its stdin tells the guardian to stop everything; after the end it changes nothing.
    drop(guardian.stdin.take());
    // A killed guardian guards no process.
    if guardian.try_wait()?.is_some_and(|status| !status.success()) {
        end_strays(child_process.scratch);
    }
    attention.drain(&receiver, hear, limits.grace + MARGIN);
    if !finish(&mut guardian)?.success() {
        end_strays(child_process.scratch);
    }
    let end = stopped.or_else(|| read_report(report)).unwrap_or(ProcessEnd::Lost);
    let stderr = tail(&stderr);
    let report = ExitReport { end, took: watch.elapsed(), bytes: attention.bytes, stderr };
    tracing::debug!(%end, took = ?report.took, bytes = report.bytes, "the client ended");
    Ok(report)
}

/// Reads the end of a file, however long it is.
fn tail(path: &Path) -> String {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        io::Result::Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    read().unwrap_or_default()
}

/// Returns the mark of a lane: the number of this process, and what its caller says about the lane.
fn mark(variables: &[(OsString, OsString)]) -> OsString {
    let mut mark = OsString::from(std::process::id().to_string());
    if let Some((_, about)) = variables.iter().rev().find(|(name, _)| name == LANE_MARK) {
        mark.push(" ");
        mark.push(about);
    }
    mark
}

fn started(child_process: &ChildProcess<'_>, report: &Path) -> io::Result<Child> {
    let mut guarded = GuardCommand {
        program: child_process.program.to_owned(),
        arguments: child_process.arguments.iter().map(OsString::from).collect(),
        stdin: None,
        grace: child_process.supervision.limits.grace,
        report: report.to_owned(),
        owner: std::process::id(),
    };
    if let Some(text) = child_process.stdin {
        let path = child_process.scratch.join("stdin");
        create_private(&path)?.write_all(text.as_bytes())?;
        guarded.stdin = Some(path);
    }
    let mut guardian = guardian(child_process.convoke, &guarded, child_process.folder);
    guardian.env_clear().envs(child_process.variables.iter().map(|(name, value)| (name, value)));
    // Last, so that no variable of the user's can take its place.
    guardian.env(LANE_MARK, mark(child_process.variables));
    guardian.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Waits for the guardian, which has nothing left to do but to go. One that does not is ended.
fn finish(guardian: &mut Child) -> io::Result<ExitStatus> {
    let watch = Stopwatch::start();
    loop {
        if let Some(status) = guardian.try_wait()? {
            return Ok(status);
        }
        let left = MARGIN.saturating_sub(watch.elapsed());
        if left.is_zero() {
            guardian.kill()?;
            return guardian.wait();
        }
        wait_for(Pid::from_child(guardian), left);
    }
}

/// The state of a running client.
struct Attention {
    limits: Limits,
    watch: Stopwatch,
    /// The time of the last output.
    last: Option<Duration>,
    /// When its turn was over.
    over: Option<Duration>,
    bytes: u64,
}

impl Attention {
    /// Reads until both streams are closed, a limit is reached, or the lane is cancelled.
    fn listen(
        &mut self,
        news: &Receiver<News>,
        cancel: &Cancel,
        hear: &mut Hear<'_>,
    ) -> Option<ProcessEnd> {
        let mut open = 2;
        while open > 0 {
            if cancel.is_cancelled() {
                return Some(ProcessEnd::Cancelled);
            }
            let (deadline, end) = self.deadline();
            let left = deadline.saturating_sub(self.watch.elapsed());
            if left.is_zero() {
                return Some(end);
            }
            match news.recv_timeout(left) {
                Ok(News::Closed) => open -= 1,
                Ok(news) => self.take(news, hear),
                Err(RecvTimeoutError::Timeout) => return Some(end),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }

    /// Takes in the output from before the end.
    fn drain(&mut self, news: &Receiver<News>, hear: &mut Hear<'_>, most: Duration) {
        let until = self.watch.elapsed() + most;
        while let Ok(news) = news.recv_timeout(until.saturating_sub(self.watch.elapsed())) {
            self.take(news, hear);
        }
    }

    fn take(&mut self, news: News, hear: &mut Hear<'_>) {
        let News::Said(stream, bytes, whole) = news else { return };
        self.bytes += bytes as u64;
        let now = self.watch.elapsed();
        let text = text(whole.lines);
        let lines = text.lines().map(OutputLine::Line);
        let mut only_tries = None;
        for words in whole.too_long.map(OutputLine::TooLong).into_iter().chain(lines) {
            let state = hear(stream, words);
            only_tries = Some(only_tries != Some(false) && state == TurnState::TriesAgain);
            if state == TurnState::IsOver && self.over.is_none() {
                self.over = Some(self.watch.elapsed());
            }
        }
        // A client that tries again for ever is stopped like one that prints nothing. The beginning
        // of a line is output.
        if only_tries != Some(true) {
            self.last = Some(now);
        }
    }

    /// Returns the next limit, and what it means to reach it.
    fn deadline(&self) -> (Duration, ProcessEnd) {
        let Limits { wall, first_byte, stall, .. } = self.limits;
        let silence = match self.last {
            None => (first_byte, ProcessEnd::FirstByteLimit),
            Some(last) => (last + stall, ProcessEnd::StallLimit),
        };
        let farewell = self.over.map(|over| (over + FAREWELL, ProcessEnd::StallLimit));
        let all = [Some((wall, ProcessEnd::WallLimit)), Some(silence), farewell];
        all.into_iter().flatten().min_by_key(|(at, _)| *at).unwrap_or((wall, ProcessEnd::WallLimit))
    }
}

/// Reads a stream in a thread of its own: everything to disk, complete lines to the supervisor.
fn listen(
    stream: Option<impl AsFd + Send + 'static>,
    which: Stream,
    mut file: File,
    news: SyncSender<News>,
) {
    let Some(stream) = stream else { return };
    thread::spawn(move || {
        let mut lines = Lines::default();
        let mut flow = Flow::of(which);
        while let Some(new @ [_, ..]) = lines.read(stream.as_fd(), flow.room()) {
            let count = new.len();
            // A full disk must not stop the reading of the client's output.
            file.write_all(new).ok();
            if news.send(News::Said(which, count, lines.cut(count))).is_err() {
                return;
            }
            flow.goes_on(count, stream.as_fd());
        }
        news.send(News::Said(which, 0, lines.rest())).ok();
        news.send(News::Closed).ok();
    });
}

/// Converts bytes to text, without a copy if they are valid UTF-8.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
