//! Excerpts of large plans, remembered from hook to hook: a hook after a compaction shows the same few
//! sections as the one before it, and to read all of a plan with 100,000 tasks for them takes as long as
//! everything else that it does.
//!
//! An excerpt holds for one state of the plan's file. The system changes a file's `ctime` with every change
//! of its content, its name or its times, so two equal states have the same text, provided that its clock
//! moved between a change and the next. So only a file that was left alone for some seconds counts.

use std::fs::{self, Metadata};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use convoke_domain::finding::FileFinding;
use convoke_domain::plan::PlanExcerpt;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::file::{self, DraftReaders, OpenedFile, draft};

/// The shortest plan whose excerpts are remembered, in bytes. A shorter one is read in less time than the
/// cache.
const SHORTEST_PLAN: u64 = 256 * 1024;

/// The longest excerpt that is remembered, in bytes. A hook reads all of the cache.
const LONGEST_EXCERPT: usize = 16 * 1024;

/// How many excerpts are remembered, of all plans of the user.
const MOST_EXCERPTS: usize = 8;

/// No cache that Convoke writes is larger: each byte of an excerpt may take six in JSON.
const MAX_CACHE_BYTES: u64 = 1024 * 1024;

/// For how many seconds a file must have been left alone. The clocks of some file systems tick every two
/// seconds.
const SETTLED: i64 = 3;

#[derive(Debug, Default, Serialize, Deserialize)]
struct PlanCache {
    /// [`PlanExcerpt::FORM`] of the program that wrote the excerpts.
    form: u32,
    /// The newest first.
    excerpts: Vec<KnownExcerpt>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KnownExcerpt {
    path: String,
    state: FileState,
    numbers: Vec<String>,
    text: String,
}

/// The state of a file, without a look at its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct FileState {
    device: u64,
    inode: u64,
    bytes: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileState {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            bytes: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    fn is_settled(&self, now: Timestamp) -> bool {
        self.changed.0.saturating_add(SETTLED) < now.as_second()
    }
}

impl PlanCache {
    /// Reads what is remembered: nothing if the cache is missing, damaged or of another form.
    fn read(path: &Path) -> Self {
        let text = file::text(path, MAX_CACHE_BYTES).unwrap_or_default();
        let found: Self = serde_json::from_str(&text).unwrap_or_default();
        if found.form == PlanExcerpt::FORM { found } else { Self::default() }
    }

    /// Remembers an excerpt as the newest, in place of those of earlier states of its plan.
    fn add(&mut self, newest: KnownExcerpt) {
        let is_current = |known: &KnownExcerpt| {
            known.path != newest.path
                || (known.state == newest.state && known.numbers != newest.numbers)
        };
        self.excerpts.retain(is_current);
        self.excerpts.insert(0, newest);
        self.excerpts.truncate(MOST_EXCERPTS);
        self.form = PlanExcerpt::FORM;
    }

    /// Replaces the file in one step. It is not forced to the disk: a cache that a crash damages is read as
    /// an empty one.
    fn write(&self, path: &Path) -> Option<()> {
        let folder = path.parent()?;
        fs::create_dir_all(folder).ok()?;
        let mut file = draft(folder, DraftReaders::User).ok()?;
        file.write_all(&serde_json::to_vec(self).ok()?).ok()?;
        file.persist(path).ok().map(drop)
    }
}

/// Returns what `excerpt` keeps of a plan: from the cache if the plan is large and has not changed, else
/// from its file. The error is what was found instead of a text.
pub(super) fn excerpt_of(
    plan: &OpenedFile,
    mut excerpt: PlanExcerpt,
    cache: Option<&Path>,
    now: Timestamp,
) -> Result<String, FileFinding> {
    let state = || plan.metadata().map(|found| FileState::of(&found));
    let before = state().filter(|state| state.bytes >= SHORTEST_PLAN && state.is_settled(now));
    let place = cache.zip(before).zip(plan.path.to_str());
    let mut known = place.map(|((cache, _), _)| PlanCache::read(cache)).unwrap_or_default();
    if let Some(((_, state), path)) = place {
        let is_same = |known: &&mut KnownExcerpt| {
            known.path == path && known.state == state && known.numbers == excerpt.numbers()
        };
        if let Some(found) = known.excerpts.iter_mut().find(is_same) {
            return Ok(std::mem::take(&mut found.text));
        }
    }
    plan.read_blocks(&mut |lines| excerpt.take_in(lines))?;
    let numbers = excerpt.numbers().to_vec();
    let text = excerpt.into_text();
    if let Some(((cache, before), path)) = place
        && text.len() <= LONGEST_EXCERPT
        && state() == Some(before)
    {
        let path = path.to_owned();
        known.add(KnownExcerpt { path, state: before, numbers, text: text.clone() });
        // Without a cache, the next hook reads the plan again.
        known.write(cache);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    /// A folder with a plan, and the cache beside it.
    struct Desk {
        folder: TempDir,
    }

    impl Desk {
        fn new(plan: &str) -> Self {
            let desk = Self { folder: tempfile::tempdir().unwrap() };
            desk.save(plan);
            desk
        }

        fn plan(&self) -> PathBuf {
            self.folder.path().join("plan.md")
        }

        fn cache(&self) -> PathBuf {
            self.folder.path().join("cache/plans.json")
        }

        /// Saves the plan as editors do: a new file takes the place of the old one.
        fn save(&self, plan: &str) {
            let draft = self.folder.path().join("draft");
            fs::write(&draft, plan).unwrap();
            fs::rename(draft, self.plan()).unwrap();
        }

        fn changed(&self) -> i64 {
            fs::metadata(self.plan()).unwrap().ctime()
        }

        /// Takes an excerpt some seconds after the last change.
        fn excerpt_after(&self, seconds: i64, title: &str) -> String {
            let now = Timestamp::from_second(self.changed() + seconds).unwrap();
            let plan = OpenedFile::below(self.folder.path(), &self.plan(), u64::MAX).unwrap();
            excerpt_of(&plan, PlanExcerpt::of([title]), Some(&self.cache()), now).unwrap()
        }

        fn excerpt(&self, title: &str) -> String {
            self.excerpt_after(60, title)
        }

        /// Puts other words into the cache, so that a test sees what comes from it.
        fn mark_cache(&self) {
            let text = fs::read_to_string(self.cache()).unwrap();
            fs::write(self.cache(), text.replace("step", "known")).unwrap();
        }
    }

    fn plan(tasks: usize) -> String {
        let sections = (1..=tasks).map(|task| format!("## Task {task}: do it\n\nstep {task}\n\n"));
        "# Plan\n\n".to_owned() + &sections.collect::<String>()
    }

    // W-39
    #[test]
    fn an_unchanged_plan_is_not_read_again_and_a_changed_one_is() {
        let desk = Desk::new(&plan(20_000));
        let first = desk.excerpt("Task 9000: do it");
        assert_eq!(first, "# Plan\n\n## Task 1: do it\n## Task 9000: do it\n\nstep 9000\n\n");
        assert_eq!(desk.excerpt("Task 9000: do it"), first);
        desk.mark_cache();
        assert_eq!(desk.excerpt("Task 9000: do it"), first.replace("step", "known"));
        // Another task has an excerpt of its own, and both are remembered.
        assert!(desk.excerpt("Task 8000: do it").contains("step 8000"));
        assert!(desk.excerpt("Task 9000: do it").contains("known 9000"));
        // The same length at the same path: only the file is another.
        desk.save(&plan(20_000).replace("step 9000", "rest 9000"));
        assert_eq!(desk.excerpt("Task 9000: do it"), first.replace("step", "rest"));
        let cached = fs::read_to_string(desk.cache()).unwrap();
        assert!(!cached.contains("8000"), "{cached}");
    }

    // A change may have the same time as the one before it, so neither vouches for the text.
    #[test]
    fn a_plan_that_was_just_changed_is_always_read() {
        let desk = Desk::new(&plan(20_000));
        for seconds in [-60, 0, SETTLED] {
            desk.excerpt_after(seconds, "Task 7: do it");
            assert!(!desk.cache().exists(), "{seconds}");
        }
        desk.excerpt_after(SETTLED + 1, "Task 7: do it");
        desk.mark_cache();
        assert!(desk.excerpt("Task 7: do it").contains("known 7\n"));
        assert!(desk.excerpt_after(SETTLED, "Task 7: do it").contains("step 7\n"));
    }

    #[test]
    fn a_small_plan_and_a_long_section_are_not_remembered() {
        let desk = Desk::new(&plan(100));
        desk.excerpt("Task 7: do it");
        desk.save(&(plan(20_000) + &"x\n".repeat(LONGEST_EXCERPT)));
        desk.excerpt("Task 20000: do it");
        assert!(!desk.cache().exists());
    }

    #[test]
    fn a_cache_that_cannot_be_used_changes_no_text() {
        let desk = Desk::new(&plan(20_000));
        let expected = desk.excerpt("Task 7: do it");
        let form = PlanExcerpt::FORM;
        let [own, next] = [form, form + 1].map(|form| format!("\"form\":{form}"));
        let other_form = fs::read_to_string(desk.cache()).unwrap().replace(&own, &next);
        assert!(other_form.contains(&next), "{other_form}");
        let own = format!("{{{own}}}");
        for text in ["", "{", "[]", &own, "\u{0}", &other_form.replace("step", "known")] {
            fs::write(desk.cache(), text).unwrap();
            assert_eq!(desk.excerpt("Task 7: do it"), expected, "{text:?}");
        }
        fs::remove_file(desk.cache()).unwrap();
        fs::create_dir(desk.cache()).unwrap();
        assert_eq!(desk.excerpt("Task 7: do it"), expected);
    }

    #[test]
    fn the_newest_excerpts_are_kept_for_the_user_alone() {
        let desk = Desk::new(&plan(20_000));
        for task in 1..=MOST_EXCERPTS + 1 {
            desk.excerpt(&format!("Task {task}: do it"));
        }
        let known = PlanCache::read(&desk.cache());
        let numbers: Vec<_> = known.excerpts.iter().map(|known| known.numbers.concat()).collect();
        assert_eq!(numbers, ["9", "8", "7", "6", "5", "4", "3", "2"]);
        assert_eq!(fs::metadata(desk.cache()).unwrap().mode() & 0o777, 0o600);
    }
}
