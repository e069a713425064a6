//! Removing the folders of background runs that ended long ago. A design's own record stays.

use std::fs;
use std::path::Path;
use std::time::Duration;

use convoke_domain::run::RunId;
use convoke_engine::lock::Lock;
use jiff::Timestamp;

use super::folder::{Folders, KEYS, KeptRun, kept_run};

/// How long Convoke keeps what a run printed, and its key.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);

/// How many runs Convoke keeps that have ended.
const MOST: usize = 200;

/// A run that ended later than this is kept however many there are.
const RECENT: Duration = Duration::from_hours(1);

/// The beginning of the name of a folder that is being removed. No run can be called so.
const GONE: &str = ".gone-";

impl Folders {
    /// Removes runs that ended long ago, and the oldest of too many. A run whose process works or is
    /// about to is never removed. What cannot be removed stays: no run fails because of it.
    pub(super) fn remove_expired(&self, now: Timestamp) {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        let name = |path: &Path| path.file_name().and_then(|name| name.to_str().map(str::to_owned));
        for left in
            paths.iter().filter(|path| name(path).is_some_and(|name| name.starts_with(GONE)))
        {
            fs::remove_dir_all(left).ok();
        }
        let is_run = |path: &Path| name(path).is_some_and(|name| RunId::parse(&name).is_ok());
        let runs = paths.into_iter().filter(|path| is_run(path)).filter_map(kept_run);
        let mut ended: Vec<_> =
            runs.filter(|run| !run.goes_on(now)).map(|run| (run.age(now), run)).collect();
        ended.sort_by_key(|(age, _)| *age);
        for (place, (age, run)) in ended.into_iter().enumerate() {
            if age > KEPT_FOR || (place >= MOST && age > RECENT) {
                self.remove(&run, now);
            }
        }
    }

    /// Takes a run's folder away before its content is removed, so that no process can begin in it. A
    /// start that is under way goes first: the run stays until the next time.
    fn remove(&self, run: &KeptRun, now: Timestamp) {
        let Ok(lock) = Lock::take(&self.start_lock(), "the removal of an old run") else { return };
        let gone = self.root.join(format!("{GONE}{}", run.request.run));
        if fs::rename(&run.path, &gone).is_err() {
            return;
        }
        let moved = kept_run(gone.clone());
        if moved.is_some_and(|moved| moved.goes_on(now)) {
            fs::rename(&gone, &run.path).ok();
            return;
        }
        if let Some(key) = &run.request.key {
            fs::remove_file(self.root.join(KEYS).join(key)).ok();
        }
        drop(lock);
        fs::remove_dir_all(&gone).ok();
    }
}

impl KeptRun {
    fn goes_on(&self, now: Timestamp) -> bool {
        self.last_attempt().is_some_and(|attempt| attempt.goes_on(now))
    }

    /// Returns how long ago something happened in its folder.
    fn age(&self, now: Timestamp) -> Duration {
        let attempt = self.last_attempt().map(|attempt| attempt.path);
        let changed = [Some(self.path.clone()), attempt].into_iter().flatten().filter_map(|path| {
            let changed = fs::metadata(path).and_then(|found| found.modified()).ok()?;
            Timestamp::try_from(changed).ok()
        });
        let changed = changed.max().unwrap_or(now);
        Duration::try_from(now.duration_since(changed)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::super::BackgroundKind;
    use super::*;

    fn folders(top: &Path) -> Folders {
        Folders::at(top.join("runs"), "project".to_owned())
    }

    fn created(top: &Path) -> Timestamp {
        fs::metadata(top).unwrap().modified().unwrap().try_into().unwrap()
    }

    fn add(folders: &Folders, number: u64, exit: &str) -> RunId {
        let run = RunId::new(Timestamp::UNIX_EPOCH, number);
        let kept = folders.adopt(&run, BackgroundKind::Lane).unwrap();
        let attempt = kept.next_attempt(&["lane".to_owned()], Timestamp::UNIX_EPOCH).unwrap();
        if !exit.is_empty() {
            attempt.end(exit.parse().unwrap()).unwrap();
        }
        run
    }

    #[test]
    fn a_run_is_removed_a_month_after_it_ended_and_never_while_it_works() {
        let top = tempfile::tempdir().unwrap();
        let folders = folders(top.path());
        let now = created(top.path());
        let (ended, killed, works) =
            (add(&folders, 1, "0"), add(&folders, 2, ""), add(&folders, 3, ""));
        let process = folders.find(&works).unwrap().last_attempt().unwrap().path.join("process");
        let lock = Lock::take(&process, "this attempt").unwrap();
        let all = || [&ended, &killed, &works].map(|run| folders.find(run).is_some());
        folders.remove_expired(now + (24 * 29).hours());
        assert_eq!(all(), [true, true, true]);
        folders.remove_expired(now + (24 * 31).hours());
        assert_eq!(all(), [false, false, true]);
        assert_eq!(fs::read_dir(&folders.root).unwrap().count(), 1, "nothing else is left");
        drop(lock);
        folders.remove_expired(now + (24 * 31).hours());
        assert_eq!(all(), [false; 3]);
    }

    #[test]
    fn of_too_many_runs_the_oldest_go() {
        let top = tempfile::tempdir().unwrap();
        let folders = folders(top.path());
        for number in 0..MOST as u64 + 5 {
            add(&folders, number, "0");
        }
        let count = || fs::read_dir(&folders.root).unwrap().count();
        let now = created(top.path());
        folders.remove_expired(now);
        assert_eq!(count(), MOST + 5, "recent ones stay");
        let start = folders.lock_starts().unwrap();
        folders.remove_expired(now + 2.hours());
        assert_eq!(count(), MOST + 5, "a start that is under way goes first");
        drop(start);
        folders.remove_expired(now + 2.hours());
        assert_eq!(count(), MOST);
    }
}
