//! Records lanes, and plays recordings.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use convoke_domain::lane::event::{FailureKind, LaneEvent};
use convoke_domain::lane::outcome::ProcessEnd;

use super::cancel::Cancel;
use super::cassette::{
    Cassette, CassetteEntry, CassetteError, CassetteRequest, LaneIdentity, end_line, event_line,
    request_line,
};
use super::drive::LaneTranscript;
use super::stopwatch::Stopwatch;
use super::supervisor::{ExitReport, Limits, Supervision, TurnState};
use crate::client::failure::failure;

/// No cassette is longer.
const LONGEST: u64 = 256 * 1024 * 1024;

/// Plays the lane that was recorded for a request.
pub(super) fn play(
    cassette: &Cassette,
    asked: &LaneIdentity,
    supervision: Supervision<'_>,
    take: &mut dyn FnMut(Vec<LaneEvent>) -> TurnState,
) -> ExitReport {
    let Some(entry) = cassette.find(asked) else {
        let count = cassette.entries.len();
        let words = format!("no recorded answer for this prompt; {count} recorded");
        take(vec![LaneEvent::Trouble(failure(FailureKind::Other, &words))]);
        return ExitReport {
            end: ProcessEnd::NotStarted,
            took: Duration::ZERO,
            bytes: 0,
            stderr: String::new(),
        };
    };
    let end = played(entry, cassette.pace, supervision, take).unwrap_or(entry.end);
    let said = entry
        .events
        .iter()
        .map(|(_, event)| if let LaneEvent::Text(text) = event { text.len() as u64 } else { 0 });
    ExitReport { end, took: entry.took, bytes: said.sum(), stderr: String::new() }
}

/// Plays all events in their time; returns what stopped it, if it was stopped.
fn played(
    entry: &CassetteEntry,
    pace: f64,
    supervision: Supervision<'_>,
    take: &mut dyn FnMut(Vec<LaneEvent>) -> TurnState,
) -> Option<ProcessEnd> {
    let watch = Stopwatch::start();
    let Supervision { limits: Limits { wall, first_byte, stall, .. }, cancel } = supervision;
    let mut last = None;
    for (at, event) in &entry.events {
        let due = at.mul_f64(pace);
        let (silence, end) = match last {
            None => (first_byte, ProcessEnd::FirstByteLimit),
            Some(last) => (stall.saturating_add(last), ProcessEnd::StallLimit),
        };
        let (limit, end) =
            if wall <= silence { (wall, ProcessEnd::WallLimit) } else { (silence, end) };
        if !wait(due.min(limit), watch, cancel) {
            return Some(ProcessEnd::Cancelled);
        }
        if due > limit {
            return Some(end);
        }
        take(vec![event.clone()]);
        // As in a lane that runs, trouble is not output.
        if !matches!(event, LaneEvent::Trouble(_)) {
            last = Some(due);
        }
    }
    (!wait(entry.took.mul_f64(pace).min(wall), watch, cancel)).then_some(ProcessEnd::Cancelled)
}

/// Waits; `false` if cancelled meanwhile.
fn wait(until: Duration, watch: Stopwatch, cancel: &Cancel) -> bool {
    let (sender, woken) = sync_channel(1);
    let watching = cancel.watch(move || sender.try_send(()).unwrap_or_default());
    while !cancel.is_cancelled() {
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
    home: Option<PathBuf>,
    /// The events so far: not in memory, which they could fill, and not in the cassette, where
    /// lanes follow each other.
    spool: File,
    /// The number of those bytes; or why some are missing.
    spooled: Result<u64, ReplayError>,
}

/// Why a cassette cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Its file cannot be read or written.
    #[error("cannot use its file")]
    Io(#[from] io::Error),
    /// It is another kind of file.
    #[error("not a cassette")]
    NotACassette(#[from] CassetteError),
    /// It is a folder, a pipe or a device: one of these may never end.
    #[error("not a regular file")]
    NotAFile,
    /// It holds more than a cassette may, or would.
    #[error("a cassette has at most {} MB", LONGEST / 1024 / 1024)]
    TooLong,
}

impl Recorder {
    /// Begins a recording, for a cassette that is created, private to its user, if it is missing. A
    /// cassette that cannot be appended to is refused now: later an answer that was paid for would
    /// be lost.
    pub fn start(path: &Path, home: Option<PathBuf>) -> Result<Self, ReplayError> {
        match fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            found => judge(&found?)?,
        }
        let mut options = File::options();
        options.read(true).append(true).create(true).mode(0o600);
        let mut file = options.open(path)?;
        begun(&mut file)?;
        let spool = tempfile::tempfile()?;
        Ok(Self { file, watch: Stopwatch::start(), home, spool, spooled: Ok(0) })
    }

    /// Records an event. Errors are reported on saving.
    pub fn notice(&mut self, event: &LaneEvent) {
        let Ok(before) = self.spooled else { return };
        let line = event_line(self.watch.elapsed(), event, self.home.as_deref());
        let after = before + line.len() as u64;
        self.spooled = match self.spool.write_all(line.as_bytes()) {
            _ if after > LONGEST => Err(ReplayError::TooLong),
            written => written.map(|()| after).map_err(ReplayError::Io),
        };
    }

    /// Adds the lane to the cassette: all of it, or nothing. Lanes that end at the same time wait for
    /// each other.
    pub fn save(
        self,
        request: &CassetteRequest,
        transcript: &LaneTranscript,
    ) -> Result<(), ReplayError> {
        let Self { mut file, home, mut spool, spooled, .. } = self;
        let spooled = spooled?;
        file.lock()?;
        let begun = begun(&mut file)?;
        let length = file.metadata()?.len();
        if length + spooled > LONGEST {
            return Err(ReplayError::TooLong);
        }
        let mut add = || {
            file.write_all(
                format!("{begun}{}", request_line(request, home.as_deref())).as_bytes(),
            )?;
            spool.rewind()?;
            io::copy(&mut spool, &mut file)?;
            file.write_all(end_line(transcript.exit.end, transcript.exit.took).as_bytes())?;
            file.sync_all()
        };
        add().or_else(|error| {
            file.set_len(length)?;
            Err(error.into())
        })
    }
}

/// Returns what must be written before the next lane: the first line, or the end of the last.
fn begun(file: &mut File) -> Result<String, ReplayError> {
    let text = text(file)?;
    if text.trim().is_empty() {
        return Ok(format!("{}\n", Cassette::head()));
    }
    Cassette::parse(&text)?;
    Ok(if text.ends_with('\n') { String::new() } else { "\n".to_owned() })
}

/// Reads a cassette from its file. It is judged before it is opened, because a pipe would be waited
/// for.
pub fn load(path: &Path) -> Result<Cassette, ReplayError> {
    judge(&fs::metadata(path)?)?;
    Ok(Cassette::parse(&text(&mut File::open(path)?)?)?)
}

fn judge(found: &Metadata) -> Result<(), ReplayError> {
    if !found.is_file() {
        return Err(ReplayError::NotAFile);
    }
    if found.len() > LONGEST { Err(ReplayError::TooLong) } else { Ok(()) }
}

/// Reads an open file from its beginning, if it is one that ends.
fn text(file: &mut File) -> Result<String, ReplayError> {
    judge(&file.metadata()?)?;
    let mut text = String::new();
    file.rewind()?;
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use convoke_domain::lane::outcome::{ClientOutput, LaneOutcome};

    use super::super::cassette::CassetteMatching;
    use super::*;
    use crate::client::UsageScope;

    fn request() -> CassetteRequest {
        let text = || "x".to_owned();
        CassetteRequest {
            hash: text(),
            label: None,
            matching: CassetteMatching::Exact,
            agent: text(),
            model: None,
            prompt: text(),
            recorded_at: text(),
        }
    }

    fn transcript() -> LaneTranscript {
        LaneTranscript {
            outcome: LaneOutcome::Answered,
            output: ClientOutput::default(),
            exit: ExitReport {
                end: ProcessEnd::Exited(0),
                took: Duration::from_secs(7),
                bytes: 0,
                stderr: String::new(),
            },
            excess: Vec::new(),
            asked_model: None,
            difference: None,
            counts: UsageScope::RUN,
            is_recorded: false,
            doubts: Vec::new(),
        }
    }

    fn spoken(number: usize) -> LaneEvent {
        LaneEvent::Text(format!("/home/june/{number}"))
    }

    #[test]
    fn lanes_recorded_in_parallel_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape");
        let home = || Some(PathBuf::from("/home/june"));
        let mut recorders = [(); 2].map(|()| Recorder::start(&path, home()).unwrap());
        for number in 0..100 {
            for recorder in &mut recorders {
                recorder.notice(&spoken(number));
            }
        }
        for recorder in recorders {
            recorder.save(&request(), &transcript()).unwrap();
        }
        let entries = load(&path).unwrap().entries;
        assert_eq!(entries.len(), 2);
        for entry in entries {
            assert_eq!((entry.end, entry.took), (ProcessEnd::Exited(0), Duration::from_secs(7)));
            let said: Vec<_> = entry.events.into_iter().map(|(_, event)| event).collect();
            let expected: Vec<_> =
                (0..100).map(|number| LaneEvent::Text(format!("~/{number}"))).collect();
            assert_eq!(said, expected);
        }
    }

    // A cassette that would be too long to play is not written.
    #[test]
    fn a_cassette_is_never_longer_than_what_can_be_played() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape");
        let begin = || Recorder::start(&path, None).unwrap();
        begin().save(&request(), &transcript()).unwrap();
        let before = fs::read(&path).unwrap();
        let mut full = begin();
        full.spooled = Ok(LONGEST - 10);
        full.notice(&spoken(1));
        full.notice(&spoken(2));
        assert!(matches!(full.save(&request(), &transcript()), Err(ReplayError::TooLong)));
        let mut nearly = begin();
        nearly.spooled = Ok(LONGEST - 10);
        assert!(matches!(nearly.save(&request(), &transcript()), Err(ReplayError::TooLong)));
        assert_eq!(fs::read(&path).unwrap(), before);
        File::options().write(true).open(&path).unwrap().set_len(LONGEST + 1).unwrap();
        assert!(matches!(Recorder::start(&path, None), Err(ReplayError::TooLong)));
        assert!(matches!(load(&path), Err(ReplayError::TooLong)));
    }

    // A device never ends, and would fill the memory.
    #[test]
    fn only_a_regular_file_is_a_cassette() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = crate::process::command("mkfifo", folder.path()).arg("pipe").status();
        assert!(made.unwrap().success());
        for path in [Path::new("/dev/full"), Path::new("/dev/zero"), folder.path(), &pipe] {
            assert!(matches!(Recorder::start(path, None), Err(ReplayError::NotAFile)), "{path:?}");
            assert!(matches!(load(path), Err(ReplayError::NotAFile)), "{path:?}");
        }
    }

    // It holds prompt and answer. An existing shared file keeps its permissions.
    #[test]
    fn a_new_cassette_is_its_users_alone() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (new, shared) = (folder.path().join("new"), folder.path().join("shared"));
        fs::write(&shared, "").unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o644)).unwrap();
        for path in [&new, &shared] {
            Recorder::start(path, None).unwrap().save(&request(), &transcript()).unwrap();
        }
        assert_eq!([mode(&new), mode(&shared)], [0o600, 0o644]);
    }
}
