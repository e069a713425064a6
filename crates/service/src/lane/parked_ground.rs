//! The project during a wait for the end of a limit: Convoke goes on only with the project
//! that the earlier answers are about.

use convoke_domain::tree::{DirtyReason, TreeStatus, TreeVerdict};
use convoke_engine::client::Rights;
use convoke_engine::git::branch::WorkTree;
use convoke_engine::git::diff::head;
use jiff::Timestamp;

use super::TreeWatching;
use super::park::{ParkEnd, announce, wait_until};
use super::tree::{TreeLook, TreeWatch, changes_by_others};
use crate::failure::{ErrorClass, Failure};

/// The commit and the branch when a wait began or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ParkedGround {
    commit: Option<String>,
    branch: Option<String>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot go on after the wait: {0}")]
struct OtherGround(String);

/// A difference between two moments, and its remedy.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    found: String,
    remedy: String,
}

/// Waits until a time, and refuses to go on if the project is not as it was when the wait began. `again`
/// names the next step then.
pub(crate) fn wait_on_ground(
    look: &TreeLook<'_>,
    watching: TreeWatching,
    until: Timestamp,
    again: &str,
) -> Result<ParkEnd, Failure> {
    announce(until, look.reporter);
    let ground = ParkedGround::of(look);
    let watch = match watching {
        TreeWatching::Tree => TreeWatch::begin(Rights::ReadOnly, look),
        TreeWatching::Nothing => TreeWatch::Off,
    };
    if wait_until(look.session, until, &mut |text| look.reporter.waiting(text)) == ParkEnd::Stopped
    {
        return Ok(ParkEnd::Stopped);
    }
    let verdict = watch.end(look).and_then(changes_by_others);
    let other = ground.difference(&ParkedGround::of(look));
    if let Some(Difference { found, remedy }) = other.or_else(|| change(verdict.as_ref()?)) {
        let failure = Failure::new(ErrorClass::TreeChanged, OtherGround(found));
        return Err(failure.hint(remedy).hint(again));
    }
    if let Some(doubt) = verdict.and_then(|verdict| doubt(&verdict)) {
        look.reporter.warn(doubt);
    }
    Ok(ParkEnd::Over)
}

/// Returns what changed in the working tree.
fn change(verdict: &TreeVerdict) -> Option<Difference> {
    let (TreeStatus::Dirty, evidence) = verdict.suspicion()? else { return None };
    let found = match evidence.files() {
        Some(files) => format!("the working tree changed: {files}"),
        None => format!("the working tree changed: {}", verdict.reason?.words()),
    };
    let remedy = "run `git status`, and bring the files back to their earlier state";
    Some(Difference { found, remedy: remedy.to_owned() })
}

/// Returns why Convoke cannot compare the working tree. Without a repository there is nothing to compare.
fn doubt(verdict: &TreeVerdict) -> Option<String> {
    let (TreeStatus::Unknown, _) = verdict.suspicion()? else { return None };
    let reason = verdict.reason?.words();
    Some(format!("Convoke cannot tell whether the working tree changed during the wait: {reason}"))
}

impl ParkedGround {
    fn of(look: &TreeLook<'_>) -> Self {
        let project = &look.session.project;
        let branch = WorkTree::at(project).ok().and_then(|tree| tree.branch());
        Self { commit: head(project), branch }
    }

    /// Returns the difference that matters most: a commit is another one on another branch, too.
    fn difference(&self, now: &Self) -> Option<Difference> {
        if self.branch != now.branch {
            let shown = |branch: &Option<String>| match branch {
                Some(branch) => format!("the branch `{branch}`"),
                None => "no branch".to_owned(),
            };
            let (began, here) = (shown(&self.branch), shown(&now.branch));
            let remedy = match (&self.branch, &self.commit) {
                (Some(branch), _) => format!("git switch {branch}"),
                (None, Some(commit)) => format!("git switch --detach {commit}"),
                (None, None) => "bring the repository back to where it was".to_owned(),
            };
            let found = format!("it began on {began}, but {here} is checked out");
            return Some(Difference { found, remedy });
        }
        if self.commit != now.commit {
            let remedy = match &self.commit {
                Some(commit) => format!("git switch --detach {commit}"),
                None => "bring the repository back to where it was".to_owned(),
            };
            let found = DirtyReason::CommitChanged.words().to_owned();
            return Some(Difference { found, remedy });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground(branch: &str, commit: &str) -> ParkedGround {
        let named = |word: &str| Some(word.to_owned()).filter(|word| !word.is_empty());
        ParkedGround { commit: named(commit), branch: named(branch) }
    }

    // P-405
    #[test]
    fn another_branch_and_another_commit_are_named_with_their_remedy() {
        for (before, after, expected) in [
            (("main", "c1"), ("main", "c1"), None),
            (
                ("main", "c1"),
                ("else", "c2"),
                Some((
                    "it began on the branch `main`, but the branch `else` is checked out",
                    "git switch main",
                )),
            ),
            (
                ("main", "c1"),
                ("", "c1"),
                Some((
                    "it began on the branch `main`, but no branch is checked out",
                    "git switch main",
                )),
            ),
            (
                ("", "c1"),
                ("main", "c1"),
                Some((
                    "it began on no branch, but the branch `main` is checked out",
                    "git switch --detach c1",
                )),
            ),
            (
                ("main", "c1"),
                ("main", "c2"),
                Some(("another commit is checked out", "git switch --detach c1")),
            ),
        ] {
            let other = ground(before.0, before.1).difference(&ground(after.0, after.1));
            let other = other.map(|other| (other.found, other.remedy));
            let expected = expected.map(|(found, how): (&str, &str)| (found.into(), how.into()));
            assert_eq!(other, expected, "{before:?} {after:?}");
        }
    }

    // P-405: a tree that cannot be compared is neither the same nor another, and Convoke says so.
    #[test]
    fn a_tree_is_changed_unknown_or_the_same() {
        let dirty = |paths: &[&str]| {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            TreeVerdict::dirty(DirtyReason::WorkingTreeDirty, paths)
        };
        let found = |verdict: &TreeVerdict| change(verdict).map(|change| change.found);
        let named = found(&dirty(&["a.rs", "b.rs"])).unwrap();
        assert_eq!(named, "the working tree changed: a.rs, b.rs");
        let staged = TreeVerdict::dirty(DirtyReason::IndexChanged, Vec::new());
        assert_eq!(found(&staged).unwrap(), "the working tree changed: the staged changes differ");
        for (verdict, is_doubtful) in [
            (TreeVerdict::CLEAN, false),
            (TreeVerdict::unknown(DirtyReason::NotARepository), false),
            (TreeVerdict::unknown(DirtyReason::LookTimedOut), true),
            (dirty(&["a.rs"]), false),
        ] {
            assert_eq!(doubt(&verdict).is_some(), is_doubtful, "{verdict:?}");
        }
        assert_eq!(found(&TreeVerdict::unknown(DirtyReason::LookTimedOut)), None);
    }
}
