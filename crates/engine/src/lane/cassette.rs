//! Recorded lanes: a text of JSON lines that a person can read and change.
//!
//! The first line names the format. Every recorded lane begins with a line `request`, continues
//! with a line for each event, and ends with a line `end`.

mod line;

use std::path::Path;
use std::time::Duration;

use convoke_domain::lane::event::{LaneEvent, TurnEnd};
use convoke_domain::lane::outcome::ProcessEnd;

use self::line::Line;
use crate::skill::hash;

/// The format that is written, and the only one that is read.
const VERSION: u32 = 1;

/// The fastest and the slowest way to play.
const PACES: std::ops::RangeInclusive<f64> = 0.0..=100.0;

/// How many characters of a prompt are shown, for a person to know it by.
const SHOWN: usize = 80;

/// Recorded lanes.
#[derive(Debug, Clone, PartialEq)]
pub struct Cassette {
    /// The speed of playback: 0 is without delay, 1 as recorded.
    pub pace: f64,
    /// The lanes, in the order of the file.
    pub entries: Vec<CassetteEntry>,
}

/// One recorded lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CassetteEntry {
    /// The recorded request.
    pub request: CassetteRequest,
    /// The events and their times.
    pub events: Vec<(Duration, LaneEvent)>,
    /// How it ended.
    pub end: ProcessEnd,
    /// How long it took.
    pub took: Duration,
}

/// A recorded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CassetteRequest {
    /// Identifies prompt, model and session.
    pub hash: String,
    /// The lane's label, in the caller's words.
    pub label: Option<String>,
    /// The properties that a later lane must share with it.
    pub matching: CassetteMatching,
    /// The agent that answered.
    pub agent: String,
    /// The requested model.
    pub model: Option<String>,
    /// The start of the prompt, for people.
    pub prompt: String,
    /// When it was recorded, for people.
    pub recorded_at: String,
}

/// The properties that a lane must share with a recording to receive its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CassetteMatching {
    /// The same prompt, model and session.
    #[default]
    Exact,
    /// The same label, or all of that.
    Label,
}

/// A present request, for finding its recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneIdentity {
    /// Identifies prompt, model and session.
    pub hash: String,
    /// The lane's label.
    pub label: Option<String>,
}

impl LaneIdentity {
    /// Identifies a request. Line ends and the user's home make no difference.
    pub fn new(
        prompt: &str,
        model: Option<&str>,
        resume: Option<&str>,
        label: Option<&str>,
        home: Option<&Path>,
    ) -> Self {
        let prompt = scrubbed(&prompt.replace("\r\n", "\n"), home);
        let parts = [prompt.trim_end(), model.unwrap_or_default(), resume.unwrap_or_default()];
        Self { hash: hash(parts.join("\0")), label: label.map(str::to_owned) }
    }
}

/// Why a text is no cassette. Lines are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// A line is not what it should be.
    #[error("line {line} is not a known event")]
    Line {
        /// The line's number.
        line: usize,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// A line is at the wrong place, or has a value that cannot be.
    #[error("line {line}: {problem}")]
    Misplaced {
        /// The line's number.
        line: usize,
        /// The defect.
        problem: &'static str,
    },
}

impl Cassette {
    /// Reads a cassette. Empty lines mean nothing.
    pub fn parse(text: &str) -> Result<Self, CassetteError> {
        let mut cassette: Option<Self> = None;
        let mut open: Option<CassetteEntry> = None;
        let mut last = 0;
        for (at, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            last = at + 1;
            let read = serde_json::from_str(text);
            let line = read.map_err(|source| CassetteError::Line { line: last, source })?;
            let wrong = |problem| CassetteError::Misplaced { line: last, problem };
            let Some(cassette) = &mut cassette else {
                cassette = Some(begun(&line).map_err(wrong)?);
                continue;
            };
            if let Some(entry) = added(line, &mut open).map_err(wrong)? {
                cassette.entries.push(entry);
            }
        }
        let problem = match (&cassette, open) {
            (None, _) => "it must begin with a line `cassette`",
            (_, Some(_)) => "the last lane has no line `end`",
            (Some(_), None) => "",
        };
        cassette
            .filter(|_| problem.is_empty())
            .ok_or(CassetteError::Misplaced { line: last.max(1), problem })
    }

    /// Returns the recording of a request: by prompt, model and session, else by label where the
    /// entry allows it. Never just the next one.
    pub fn find(&self, asked: &LaneIdentity) -> Option<&CassetteEntry> {
        let is_exact = |entry: &&CassetteEntry| entry.request.hash == asked.hash;
        let is_labelled = |entry: &&CassetteEntry| {
            let request = &entry.request;
            request.matching == CassetteMatching::Label
                && request.label.is_some()
                && request.label == asked.label
        };
        self.entries.iter().find(is_exact).or_else(|| self.entries.iter().find(is_labelled))
    }

    /// Returns the first line of a new cassette.
    pub fn head() -> String {
        Line::Cassette { version: VERSION, pace: 0.0 }.to_string()
    }
}

fn begun(line: &Line) -> Result<Cassette, &'static str> {
    let Line::Cassette { version, pace } = line else {
        return Err("it must begin with a line `cassette`");
    };
    if *version != VERSION {
        return Err("it has another version");
    }
    let pace = Some(*pace).filter(|pace| PACES.contains(pace));
    let pace = pace.ok_or("`pace` must be from 0 to 100")?;
    Ok(Cassette { pace, entries: Vec::new() })
}

/// Adds a line to the lane that is open, and returns it when it is whole.
fn added(
    line: Line,
    open: &mut Option<CassetteEntry>,
) -> Result<Option<CassetteEntry>, &'static str> {
    match (line, open.take()) {
        (Line::Cassette { .. }, _) => Err("a file has only one line `cassette`"),
        (Line::Request(request), None) => {
            let (events, end, took) = (Vec::new(), ProcessEnd::Lost, Duration::ZERO);
            *open = Some(CassetteEntry { request: request.into(), events, end, took });
            Ok(None)
        }
        (Line::Request(_), Some(_)) => Err("the lane before has no line `end`"),
        (_, None) => Err("it belongs to no lane; a line `request` must come first"),
        (Line::End { how, took_ms }, Some(mut entry)) => {
            entry.end = ProcessEnd::parse(&how).ok_or("`how` is not a known end of a lane")?;
            entry.took = Duration::from_millis(took_ms);
            Ok(Some(entry))
        }
        (said, Some(mut entry)) => {
            let (at, event) = said.event().ok_or("its `kind` is not a known failure")?;
            if entry.events.last().is_some_and(|(before, _)| *before > at) {
                return Err("its time is earlier than that of the line above");
            }
            entry.events.push((at, event));
            *open = Some(entry);
            Ok(None)
        }
    }
}

impl CassetteEntry {
    /// Returns a lane that was written instead of recorded: it is found by its label, and gives an
    /// answer after a while.
    pub fn answered(label: &str, answer: &str, took: Duration) -> Self {
        let ended = TurnEnd { answer: Some(answer.to_owned()), failure: None };
        Self {
            request: CassetteRequest {
                hash: String::new(),
                label: Some(label.to_owned()),
                matching: CassetteMatching::Label,
                agent: String::new(),
                model: None,
                prompt: String::new(),
                recorded_at: String::new(),
            },
            events: vec![(took, LaneEvent::Ended(ended))],
            end: ProcessEnd::Exited(0),
            took,
        }
    }

    /// Returns its lines, with `~` in place of the user's home.
    pub fn lines(&self, home: Option<&Path>) -> String {
        let events = self.events.iter().map(|(at, event)| event_line(*at, event, home));
        let first = std::iter::once(request_line(&self.request, home));
        first.chain(events).chain([end_line(self.end, self.took)]).collect()
    }
}

/// Returns the line that begins a lane.
pub(super) fn request_line(request: &CassetteRequest, home: Option<&Path>) -> String {
    format!("{}\n", Line::request(request, &|text| scrubbed(text, home)))
}

/// Returns the line of an event.
pub(super) fn event_line(at: Duration, event: &LaneEvent, home: Option<&Path>) -> String {
    format!("{}\n", Line::of(at, event, &|text| scrubbed(text, home)))
}

/// Returns the line that ends a lane.
pub(super) fn end_line(end: ProcessEnd, took: Duration) -> String {
    format!("{}\n", Line::ended(end, took))
}

/// Returns the start of a prompt, by which a person knows it.
pub fn shown(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(SHOWN).collect()
}

/// A recording must not reveal the user's home.
fn scrubbed(text: &str, home: Option<&Path>) -> String {
    let home = home.and_then(Path::to_str).map(|home| home.trim_end_matches('/'));
    match home.filter(|home| !home.is_empty()) {
        Some(home) => text.replace(home, "~"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
