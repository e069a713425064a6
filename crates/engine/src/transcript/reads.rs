//! Which files a client's record shows to its agent.
//!
//! It reads both a client's transcript and its printed events. It reads a record one line at a
//! time, and of a line only the needed fields, so that its length does not matter.

pub(crate) mod recorder;
pub(crate) mod thread;
pub(crate) mod tool;

use std::borrow::Cow;
use std::io::{self, BufRead, Read as _};
use std::path::Path;

use convoke_domain::client::Client;
use convoke_domain::receipt::sought::Sought;
use convoke_domain::receipt::{FileReader, Read, Seen, ShownText};

use self::recorder::Recorder;
use crate::client::adapter;
use crate::json::is_json;

/// A longer line is passed over.
const MOST_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// The size of a buffer that is kept from one line to the next.
const USUAL_LINE_BYTES: usize = 1024 * 1024;

/// What to search for in a record.
#[derive(Debug, Clone, Copy, Default)]
pub struct WantedReads<'a> {
    /// The folder in which the client was started; for records that do not name it.
    pub folder: Option<&'a Path>,
    /// The base names of the files that matter. The texts of others are not kept, nor are commands
    /// that cannot mean these. With no names, all are kept, up to a limit.
    pub names: &'a [&'a str],
    /// Files whose text is searched in everything that the agent saw.
    pub texts: &'a [Sought],
    /// The answer that is judged, where the record may go on behind it: what comes later is later.
    pub answer: Option<&'a str>,
}

/// A session, as its record shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// Every read of files, in order.
    pub reads: Vec<Read>,
    /// The last answer, if one was given.
    pub answer: Option<FinalAnswer>,
    /// Whether the agent gave another answer after the one that is judged.
    pub has_later_answer: bool,
    /// The agent that the record belongs to.
    pub of: FileReader,
    /// The session's name, if this is what the client printed: its own record may tell more.
    pub printed: Option<String>,
    /// How much of the record was understood.
    pub lines: LineCount,
    /// Damages before the answer, in order.
    pub damages: Vec<Damage>,
    /// How the record ends.
    pub ending: RecordEnding,
}

/// An agent's last answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalAnswer {
    /// The answer's place among the reads.
    pub step: usize,
    /// The answer's text, up to a limit.
    pub text: String,
}

impl FinalAnswer {
    /// Tells whether it is the same answer, but for white space.
    pub fn is_same(&self, other: &str) -> bool {
        let other = other.trim_start_matches('\u{feff}');
        self.text.split_whitespace().eq(other.split_whitespace())
    }
}

/// A place where a record does not say what happened. The client may have removed any earlier text
/// from the conversation there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// The damaged line, or the line after the gap.
    pub at: LinePlace,
    /// What is wrong with it.
    pub kind: DamageKind,
}

/// A line of a record, and the step before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePlace {
    /// The line's number, from one.
    pub line: usize,
    /// The last step before the line.
    pub step: usize,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamageKind {
    /// It is not what a client writes: cut, or joined with another.
    UnreadableLine,
    /// It follows a message that the record does not have.
    BrokenLink,
}

/// How many lines of a record were understood; empty ones do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineCount {
    /// Lines of a kind that this client writes.
    pub understood: usize,
    /// All others.
    pub passed_over: usize,
}

/// How a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordEnding {
    /// With a whole line.
    Whole,
    /// In the middle of a line: it is still written, or its writer died.
    Cut,
}

impl SessionRecord {
    /// Tells whether the record is not one of this client's: it has lines, and none makes sense.
    pub const fn is_foreign(&self) -> bool {
        self.lines.understood == 0 && self.lines.passed_over > 0
    }

    /// Puts in doubt every read before the last damage.
    pub(crate) fn doubts_reads_before_damage(&mut self) {
        let Some(Damage { at, .. }) = self.damages.last().copied() else { return };
        let answered = self.answer.as_ref().map_or(usize::MAX, |answer| answer.step);
        let is_forgotten = |read: &Read| read.forgotten.is_some_and(|step| step <= answered);
        let is_meant = |read: &&mut Read| {
            read.by == FileReader::Answerer && read.step <= at.step && !is_forgotten(read)
        };
        for read in self.reads.iter_mut().filter(is_meant) {
            if let Seen::Lines { path, lines, .. } | Seen::Maybe { path, lines, .. } = &read.seen {
                let (path, lines, command) = (path.clone(), *lines, String::new());
                read.seen = Seen::Maybe { path, lines, text: ShownText::Unknown, command };
            }
        }
    }

    /// Adds what an agent read that this session had sent, where that has a record of its own.
    pub fn add_subagent(&mut self, other: Self) {
        let of_subagent = |read: Read| Read { step: 0, by: FileReader::Subagent, ..read };
        self.reads.extend(other.reads.into_iter().map(of_subagent));
    }
}

/// Reads a client's record of a session.
pub fn reads(
    client: Client,
    source: impl BufRead,
    wanted: &WantedReads<'_>,
) -> io::Result<SessionRecord> {
    // Of a client whose records Convoke cannot read, every line is passed over.
    let format = adapter(client).transcript;
    let mut recorder = Recorder::new(wanted);
    let mut count = LineCount::default();
    let ending = each_line(source, |number, line| {
        recorder.begins_line(number);
        if format.is_some_and(|format| (format.line)(line, &mut recorder).is_some()) {
            count.understood += 1;
        } else {
            count.passed_over += 1;
            if is_damaged(line) {
                recorder.loses_line();
            }
        }
    })?;
    Ok(recorder.finish(count, ending))
}

/// Tells whether a line that is no JSON object may be the rest of one: clients also print plain
/// words between their events. A line that is too long comes empty.
fn is_damaged(line: &str) -> bool {
    let is_of_json = |c: char| "{}\"\u{fffd}".contains(c) || c.is_control() && c != '\t';
    let is_object = || line.starts_with('{') && is_json(line);
    line.is_empty() || line.contains(is_of_json) && !is_object()
}

/// Passes every line to `take`, with its number and without its end. Invalid UTF-8 is replaced.
fn each_line(
    mut source: impl BufRead,
    mut take: impl FnMut(usize, &str),
) -> io::Result<RecordEnding> {
    let mut line = Vec::new();
    let mut number = 0;
    let mut ending = RecordEnding::Whole;
    loop {
        line.clear();
        line.shrink_to(USUAL_LINE_BYTES);
        let length = source.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(ending);
        }
        number += 1;
        let is_whole = line.last() == Some(&b'\n');
        if !is_whole && length as u64 == MOST_LINE_BYTES {
            line.clear();
            source.skip_until(b'\n')?;
            take(number, "");
            continue;
        }
        let bytes = line.trim_ascii();
        // Nearly every line is text, and telling so is faster than mending it.
        let text = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::from);
        if !text.is_empty() {
            take(number, &text);
        }
        let is_cut = !is_whole && !text.is_empty() && !is_json(&text);
        ending = if is_cut { RecordEnding::Cut } else { RecordEnding::Whole };
    }
}

#[cfg(test)]
mod tests;
