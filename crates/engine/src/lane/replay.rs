//! Recording lanes, and playing what was recorded.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use convoke_domain::lane::event::{Event, FailureKind};
use convoke_domain::lane::outcome::End;

use super::adapter::failure::failure;
use super::cancel::Cancel;
use super::cassette::{Cassette, CassetteError, Entry, Identity, Request};
use super::drive::{Driven, Lane, Ran};
use super::stopwatch::Stopwatch;
use super::supervisor::{Limits, Talk};

/// No cassette is longer.
const LONGEST: u64 = 256 * 1024 * 1024;

/// Plays the lane that was recorded for what is asked.
pub(super) fn play(
    cassette: &Cassette,
    asked: &Identity,
    lane: &Lane<'_>,
    take: &mut dyn FnMut(Vec<Event>) -> Talk,
) -> Ran {
    let Some(entry) = cassette.find(asked) else {
        let count = cassette.entries.len();
        let words = format!("no recorded answer for this prompt; {count} recorded");
        take(vec![Event::Trouble(failure(FailureKind::Other, &words))]);
        return Ran { end: End::NotStarted, took: Duration::ZERO, bytes: 0, stderr: String::new() };
    };
    let end = played(entry, cassette.pace, lane, take).unwrap_or(entry.end);
    let said = entry
        .events
        .iter()
        .map(|(_, event)| if let Event::Text(text) = event { text.len() as u64 } else { 0 });
    Ran { end, took: entry.took, bytes: said.sum(), stderr: String::new() }
}

/// Says everything in its time; returns what stopped it, if anything did.
fn played(
    entry: &Entry,
    pace: f64,
    lane: &Lane<'_>,
    take: &mut dyn FnMut(Vec<Event>) -> Talk,
) -> Option<End> {
    let watch = Stopwatch::start();
    let Limits { wall, first_byte, stall, .. } = lane.limits;
    let mut last = None;
    for (at, event) in &entry.events {
        let due = at.mul_f64(pace);
        let (silence, end) = match last {
            None => (first_byte, End::FirstByteLimit),
            Some(last) => (stall.saturating_add(last), End::StallLimit),
        };
        let (limit, end) = if wall <= silence { (wall, End::WallLimit) } else { (silence, end) };
        if !wait(due.min(limit), watch, lane.cancel) {
            return Some(End::Cancelled);
        }
        if due > limit {
            return Some(end);
        }
        take(vec![event.clone()]);
        last = Some(due);
    }
    (!wait(entry.took.mul_f64(pace).min(wall), watch, lane.cancel)).then_some(End::Cancelled)
}

/// Waits; tells whether nobody asked to stop meanwhile.
fn wait(until: Duration, watch: Stopwatch, cancel: &Cancel) -> bool {
    let (sender, woken) = sync_channel(1);
    let watching = cancel.watch(move || sender.try_send(()).unwrap_or_default());
    while !cancel.is_asked() {
        let left = until.saturating_sub(watch.elapsed());
        if left.is_zero() {
            return true;
        }
        woken.recv_timeout(left).ok();
    }
    drop(watching);
    false
}

/// Takes down a lane while it runs.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    watch: Stopwatch,
    events: Vec<(Duration, Event)>,
}

/// Why a cassette cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TapeError {
    /// Its file cannot be read or written.
    #[error("its file cannot be used")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no cassette")]
    NotACassette(#[from] CassetteError),
}

impl Recorder {
    /// Begins to listen, for a cassette that is made if it is not there. What cannot be added to is
    /// refused now: afterwards an answer would be lost that somebody paid for.
    pub fn start(path: &Path) -> Result<Self, TapeError> {
        let mut file = File::options().read(true).append(true).create(true).open(path)?;
        begun(&mut file)?;
        Ok(Self { file, watch: Stopwatch::start(), events: Vec::new() })
    }

    /// Takes down something that was said.
    pub fn notice(&mut self, event: &Event) {
        self.events.push((self.watch.elapsed(), event.clone()));
    }

    /// Adds the lane to the cassette. Lanes that end at the same time wait for each other.
    pub fn save(
        mut self,
        request: Request,
        driven: &Driven,
        home: Option<&Path>,
    ) -> Result<(), TapeError> {
        let entry = Entry { request, events: self.events, end: driven.end, took: driven.took };
        self.file.lock()?;
        let begun = begun(&mut self.file)?;
        self.file.write_all(format!("{begun}{}", entry.lines(home)).as_bytes())?;
        Ok(self.file.sync_all()?)
    }
}

/// Returns what must be written before the next lane: the first line, or the end of the last.
fn begun(file: &mut File) -> Result<String, TapeError> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    if text.trim().is_empty() {
        return Ok(format!("{}\n", Cassette::head()));
    }
    Cassette::parse(&text)?;
    Ok(if text.ends_with('\n') { String::new() } else { "\n".to_owned() })
}

/// Reads a cassette from its file.
pub fn load(path: &Path) -> Result<Cassette, TapeError> {
    let kind = fs::metadata(path)?;
    // A pipe would be waited for, and a device never ends.
    if !kind.is_file() || kind.len() > LONGEST {
        return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
    }
    Ok(Cassette::parse(&fs::read_to_string(path)?)?)
}
