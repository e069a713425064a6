//! Read receipts: whether an agent had a file before its eyes before it answered.
//!
//! A receipt is proof, so it keeps three results apart: the client's record shows that the agent
//! read the file, shows that it did not, or leaves it unknown. A command that Convoke does not know
//! gives the third result, no matter which files it mentions.

mod coverage;
pub mod demand;
pub mod path;
pub mod quotation;
pub mod shell;
mod showing;
pub mod sought;

use std::sync::Arc;

pub use coverage::Span;
pub use showing::ShowingCall;

use self::coverage::Coverage;
use self::shell::Reach;
use self::showing::showing_calls;

/// A read of files, in the order of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Its place among everything that happened in the session.
    pub step: usize,
    /// The reader.
    pub by: FileReader,
    /// The result.
    pub seen: Seen,
    /// The step at which the client took it out of the conversation again, if it did.
    pub forgotten: Option<usize>,
    /// The call that led to it, in a few words; `None` without one.
    pub call: Option<Arc<str>>,
}

/// The agent that a file was shown to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileReader {
    /// The agent that gave the answer.
    Answerer,
    /// A subagent; only its report reached the answer.
    Subagent,
}

/// The result of a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// These lines of the file were shown.
    Lines {
        /// The file, in full and without `.` and `..`; relative only if its base is unknown.
        path: String,
        /// The shown lines.
        lines: Lines,
        /// What the agent saw of them.
        text: ShownText,
    },
    /// The agent requested the file, and the client showed nothing of it.
    Nothing {
        /// The file, as above.
        path: String,
    },
    /// A command should have shown these lines. Only its output can prove it.
    Maybe {
        /// The file, as above.
        path: String,
        /// The expected lines.
        lines: Lines,
        /// The output; unknown if the agent may have been shown less.
        text: ShownText,
        /// The command, or the part of it in doubt.
        command: String,
    },
    /// A command ran that may have shown files.
    Perhaps {
        /// The command, or the part of it in doubt.
        command: String,
        /// Which files it could mean.
        reach: Reach,
    },
}

/// Which lines of a file were shown; lines count from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// All of them.
    Whole,
    /// From the first to the last, or to the end of the file if that comes before.
    Range {
        /// First line that was shown, from one.
        first: usize,
        /// The last line; [`Lines::END`] for "to the end".
        last: usize,
    },
    /// So many at the end.
    Last(usize),
    /// Some lines, and it is unknown which: search results, or truncated output.
    Some,
}

impl Lines {
    /// The last line of a range that goes to the end of its file.
    pub const END: usize = usize::MAX;
}

/// The text of shown lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownText {
    /// Exactly so.
    Exactly(Arc<str>),
    /// Among other lines of this output.
    Among(Arc<str>),
    /// The client cut some of these lines.
    Cut(Arc<str>),
    /// The file was shown as a picture.
    Image,
    /// The client's record does not hold it.
    Unknown,
}

impl ShownText {
    /// Tells whether nothing was shown of a file that is not empty.
    fn is_nothing_of(&self, now: &Contents<'_>) -> bool {
        let is_blank = match self {
            Self::Exactly(shown) | Self::Among(shown) | Self::Cut(shown) => shown.trim().is_empty(),
            // No words can be read off a picture of another file.
            Self::Image => return now.text().is_some(),
            Self::Unknown => false,
        };
        is_blank && now.readings().iter().any(|now| !now.trim().is_empty())
    }
}

/// The present content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents<'a> {
    /// A file that is UTF-8.
    Text(&'a str),
    /// Bytes that are not UTF-8, in the ways in which clients make a text of them.
    Other(&'a [String]),
    /// Unknown: the file is gone, or too large.
    Unknown,
}

impl<'a> Contents<'a> {
    const fn text(&self) -> Option<&'a str> {
        match *self {
            Self::Text(text) => Some(text),
            Self::Other(_) | Self::Unknown => None,
        }
    }

    /// Returns every text that it may be shown as.
    fn readings(&self) -> Vec<&'a str> {
        match *self {
            Self::Text(text) => vec![text],
            Self::Other(readings) => readings.iter().map(String::as_str).collect(),
            Self::Unknown => Vec::new(),
        }
    }
}

/// A file that the agent had to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demanded<'a> {
    /// The file's name in the demand.
    pub name: &'a str,
    /// The file, in full.
    pub path: &'a str,
    /// The file's present content.
    pub now: Contents<'a>,
}

/// The evidence for the reading of one demanded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The file's name in the demand.
    pub name: String,
    /// Whether it was read.
    pub standing: ReadState,
    /// A command before the answer that may have shown it, or more of it, or another version.
    pub doubt: Option<String>,
    /// The file as the agent saw it, if one output showed all of it and its text is known.
    pub shown_whole: Option<String>,
    /// The calls that its state follows from, in order.
    pub shown_by: Vec<ShowingCall>,
}

/// Whether a demanded file was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadState {
    /// Every line, in its present form as far as Convoke can tell.
    Whole,
    /// Only some of its lines.
    Part {
        /// The lines that are known, in order; empty if only matches of a search were shown.
        lines: Vec<Span>,
        /// How many lines it has, if known.
        of: Option<usize>,
    },
    /// The agent saw another text than the file's present one.
    Older {
        /// The lines that differ; empty if unknown.
        lines: Vec<Span>,
    },
    /// Nothing but commands that may have shown it, or text that cannot be compared with it.
    Unsure,
    /// It was read, and then the client took that out of the conversation, as a compaction does.
    Forgotten,
    /// Only an agent that the answering one had sent read it.
    OnlySubagent,
    /// It was read, but only after the answer.
    OnlyAfterAnswer,
    /// Only another file of the same name was read.
    OnlyNamesake {
        /// That file.
        path: String,
    },
    /// It was not read.
    NotRead {
        /// How many requests for the file failed.
        attempts: usize,
    },
}

/// The value of a state as proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The agent had every line of the file before it when it answered.
    Proven,
    /// It may have, or it had some of it.
    InDoubt,
    /// It is known not to have had any of it.
    Refuted,
}

impl ReadState {
    /// Tells what this proves.
    pub const fn weight(&self) -> Weight {
        match self {
            Self::Whole => Weight::Proven,
            Self::Part { .. } | Self::Older { .. } | Self::Unsure | Self::Forgotten => {
                Weight::InDoubt
            }
            Self::OnlySubagent
            | Self::OnlyAfterAnswer
            | Self::OnlyNamesake { .. }
            | Self::NotRead { .. } => Weight::Refuted,
        }
    }
}

/// Judges every demanded file by the reads of one session. `answered` is the step of the final
/// answer; without one, every read counts.
pub fn receipts(
    demanded: &[Demanded<'_>],
    reads: &[Read],
    answered: Option<usize>,
) -> Vec<Receipt> {
    demanded.iter().map(|file| receipt(file, reads, answered)).collect()
}

fn receipt(file: &Demanded<'_>, reads: &[Read], answered: Option<usize>) -> Receipt {
    let path = path::normal(file.path);
    let is_early = |read: &&Read| answered.is_none_or(|answer| read.step < answer);
    let (early, late): (Vec<&Read>, Vec<&Read>) = reads.iter().partition(is_early);
    let (own, sent): (Vec<&Read>, Vec<&Read>) =
        early.into_iter().partition(|read| read.by == FileReader::Answerer);
    let is_kept =
        |read: &&Read| read.forgotten.is_none_or(|at| answered.is_some_and(|answer| answer < at));
    let (kept, lost): (Vec<&Read>, Vec<&Read>) = own.iter().copied().partition(is_kept);
    let of = |reads: &[&Read]| Coverage::of(&path, &file.now, reads);
    let shows_any = |reads: &[&Read]| of(reads).standing().is_some();
    let coverage = of(&kept);
    let was_whole = !lost.is_empty() && of(&own).standing() == Some(ReadState::Whole);
    let doubt = doubt(&path, &file.now, &kept);
    let standing = match coverage.standing() {
        Some(ReadState::Whole) => Some(ReadState::Whole),
        _ if was_whole => Some(ReadState::Forgotten),
        standing => standing,
    };
    let standing = standing
        .or_else(|| doubt.as_ref().map(|_| ReadState::Unsure))
        .or_else(|| shows_any(&lost).then_some(ReadState::Forgotten))
        .or_else(|| shows_any(&sent).then_some(ReadState::OnlySubagent))
        .or_else(|| shows_any(&late).then_some(ReadState::OnlyAfterAnswer))
        .or_else(|| namesake(&path, &own))
        .unwrap_or_else(|| ReadState::NotRead { attempts: attempts(&path, &file.now, &own) });
    let basis = match &standing {
        ReadState::Forgotten => &own,
        ReadState::OnlySubagent => &sent,
        ReadState::OnlyAfterAnswer => &late,
        ReadState::Whole
        | ReadState::Part { .. }
        | ReadState::Older { .. }
        | ReadState::Unsure
        | ReadState::OnlyNamesake { .. }
        | ReadState::NotRead { .. } => &kept,
    };
    // Without a command, a remark of the record says why.
    let doubt = doubt.filter(|command| !command.is_empty());
    let shown_by = showing_calls(&path, &file.now, basis);
    let (name, shown_whole) = (file.name.to_owned(), coverage.shown_whole());
    Receipt { name, standing, doubt, shown_whole, shown_by }
}

/// Returns the first command that may have shown the file. A relative path with an unknown base
/// counts the same way. A command that showed the whole file is not in doubt.
fn doubt(path: &str, now: &Contents<'_>, reads: &[&Read]) -> Option<String> {
    let is_whole = |read: &&&Read| {
        matches!(&read.seen, Seen::Lines { path: shown, lines: Lines::Whole, text: ShownText::Exactly(text) }
            if shown == path && now.readings().contains(&text.as_ref()))
    };
    let proven: Vec<usize> = reads.iter().filter(is_whole).map(|read| read.step).collect();
    let in_doubt = reads.iter().filter(|read| !proven.contains(&read.step));
    in_doubt.into_iter().find_map(|read| doubt_of(path, now, &read.seen))
}

fn doubt_of(path: &str, now: &Contents<'_>, seen: &Seen) -> Option<String> {
    match seen {
        Seen::Perhaps { command, reach } => {
            shell::could_mean(command, *reach, path).then(|| shell::short(command))
        }
        Seen::Maybe { path: shown, lines, text, command } => {
            let is_meant = shown == path || shell::could_mean(command, Reach::Words, path);
            let is_proven = shown == path && coverage::is_shown(*lines, text, now);
            (is_meant && !is_proven).then(|| shell::short(command))
        }
        Seen::Lines { path: shown, .. } => path::could_be(shown, path).then(|| shown.clone()),
        Seen::Nothing { .. } => None,
    }
}

fn namesake(path: &str, reads: &[&Read]) -> Option<ReadState> {
    let name = path::base_name(path);
    let is_one = |shown: &str| shown != path && path::base_name(shown).eq_ignore_ascii_case(name);
    reads.iter().find_map(|read| match &read.seen {
        Seen::Lines { path: shown, .. } if is_one(shown) => {
            Some(ReadState::OnlyNamesake { path: shown.clone() })
        }
        Seen::Lines { .. } | Seen::Maybe { .. } | Seen::Nothing { .. } | Seen::Perhaps { .. } => {
            None
        }
    })
}

fn attempts(path: &str, now: &Contents<'_>, reads: &[&Read]) -> usize {
    let in_vain = |read: &&&Read| match &read.seen {
        Seen::Nothing { path: it } => it == path,
        Seen::Lines { path: it, text, .. } => it == path && text.is_nothing_of(now),
        Seen::Maybe { .. } | Seen::Perhaps { .. } => false,
    };
    reads.iter().filter(in_vain).count()
}

#[cfg(test)]
mod tests;
