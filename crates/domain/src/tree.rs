//! Whether a working tree has changed, and the evidence.
//!
//! An agent with read-only rights should leave no trace, and a note that is missing, empty or
//! garbled never proves that it left none. [`sidecar`] is that note as other programs read it, and
//! [`paths`] the list of files that goes with it.

pub mod kept;
pub mod paths;
pub mod sidecar;

use std::fmt;

/// The state of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeStatus {
    /// Nothing changed.
    Clean,
    /// Something did.
    Dirty,
    /// Unknown, which is not the same as clean.
    Unknown,
}

impl TreeStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Clean, Self::Dirty, Self::Unknown];

    /// Returns the word that is written and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Dirty => "dirty",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the status written as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// Why a tree is not clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirtyReason {
    /// There are uncommitted changes.
    CheckpointDirty,
    /// Files changed.
    WorkingTreeDirty,
    /// The list of files that were new before is missing, so the new ones are unknown.
    BaselineMissing,
    /// `git status` failed.
    StatusFailed,
    /// The comparison with the staged files failed.
    DiffFailed,
    /// The comparison with the committed files failed.
    DiffCachedFailed,
    /// The list of files that git does not know failed.
    LsFilesFailed,
    /// The list of changed files could not be written.
    TrackedWriteFailed,
    /// The list of new files could not be written.
    UntrackedWriteFailed,
    /// A request has no `--mode`.
    ModeMissing,
    /// A request names `--mode` without a value.
    ModeMissingValue,
    /// A request names `--baseline` without a value.
    BaselineMissingValue,
    /// A request names `--sidecar` without a value.
    SidecarMissingValue,
    /// A comparison needs a baseline.
    BaselineRequired,
    /// An unknown mode.
    BadMode,
    /// The note cannot be written there.
    BadSidecarPath,
    /// No list can be read there.
    BadBaselinePath,
    /// The script was called with a flag that it does not have.
    UnknownFlag,
    /// Another commit is checked out.
    CommitChanged,
    /// Another branch is checked out.
    BranchChanged,
    /// Something was staged, or is not any more.
    IndexChanged,
    /// Git's own settings or hooks changed.
    SettingsChanged,
    /// The folder belongs to no repository.
    NotARepository,
    /// The snapshot failed.
    LookFailed,
    /// A person or a program stopped the snapshot.
    LookStopped,
    /// Looking took longer than it may.
    LookTimedOut,
}

impl DirtyReason {
    /// Every reason.
    pub const ALL: [Self; 26] = [
        Self::CheckpointDirty,
        Self::WorkingTreeDirty,
        Self::BaselineMissing,
        Self::StatusFailed,
        Self::DiffFailed,
        Self::DiffCachedFailed,
        Self::LsFilesFailed,
        Self::TrackedWriteFailed,
        Self::UntrackedWriteFailed,
        Self::ModeMissing,
        Self::ModeMissingValue,
        Self::BaselineMissingValue,
        Self::SidecarMissingValue,
        Self::BaselineRequired,
        Self::BadMode,
        Self::BadSidecarPath,
        Self::BadBaselinePath,
        Self::UnknownFlag,
        Self::CommitChanged,
        Self::BranchChanged,
        Self::IndexChanged,
        Self::SettingsChanged,
        Self::NotARepository,
        Self::LookFailed,
        Self::LookStopped,
        Self::LookTimedOut,
    ];

    /// Returns the token that is written and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CheckpointDirty => "checkpoint-dirty",
            Self::WorkingTreeDirty => "working-tree-dirty",
            Self::BaselineMissing => "baseline-missing-untracked-ambiguous",
            Self::StatusFailed => "git-status-failed",
            Self::DiffFailed => "git-diff-failed",
            Self::DiffCachedFailed => "git-diff-cached-failed",
            Self::LsFilesFailed => "git-ls-files-failed",
            Self::TrackedWriteFailed => "tracked-paths-write-failed",
            Self::UntrackedWriteFailed => "new-untracked-paths-write-failed",
            Self::ModeMissing => "mode-missing",
            Self::ModeMissingValue => "mode-missing-value",
            Self::BaselineMissingValue => "baseline-missing-value",
            Self::SidecarMissingValue => "sidecar-missing-value",
            Self::BaselineRequired => "baseline-required",
            Self::BadMode => "bad-mode",
            Self::BadSidecarPath => "bad-sidecar-path",
            Self::BadBaselinePath => "bad-baseline-path",
            Self::UnknownFlag => "unknown-flag",
            Self::CommitChanged => "commit-changed",
            Self::BranchChanged => "branch-changed",
            Self::IndexChanged => "index-changed",
            Self::SettingsChanged => "git-settings-changed",
            Self::NotARepository => "not-a-repository",
            Self::LookFailed => "look-failed",
            Self::LookStopped => "look-stopped",
            Self::LookTimedOut => "look-timed-out",
        }
    }

    /// Returns it as a part of a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::CheckpointDirty => "there are uncommitted changes",
            Self::WorkingTreeDirty => "files changed",
            Self::BaselineMissing => "the baseline file is missing",
            Self::StatusFailed => "`git status` failed",
            Self::DiffFailed => "`git diff` failed",
            Self::DiffCachedFailed => "`git diff --cached` failed",
            Self::LsFilesFailed => "`git ls-files` failed",
            Self::TrackedWriteFailed => "the list of changed files could not be written",
            Self::UntrackedWriteFailed => "the list of new files could not be written",
            Self::ModeMissing | Self::ModeMissingValue => "`--mode` is missing",
            Self::BaselineMissingValue | Self::SidecarMissingValue => "a flag has no value",
            Self::BaselineRequired => "`--baseline` is missing",
            Self::BadMode => "the mode is unknown",
            Self::BadSidecarPath => "the path of `--sidecar` is not allowed",
            Self::BadBaselinePath => "the path of `--baseline` is not allowed",
            Self::UnknownFlag => "a flag is unknown",
            Self::CommitChanged => "another commit is checked out",
            Self::BranchChanged => "another branch is checked out",
            Self::IndexChanged => "the staged changes differ",
            Self::SettingsChanged => "git's settings or hooks changed",
            Self::NotARepository => "not a git repository",
            Self::LookFailed => "the snapshot failed",
            Self::LookStopped => "the snapshot was interrupted",
            Self::LookTimedOut => "the snapshot took too long",
        }
    }

    /// Returns the reason written as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// The change of a tree between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeVerdict {
    /// The tree's state.
    pub status: TreeStatus,
    /// Why it is not clean.
    pub reason: Option<DirtyReason>,
    /// The changed paths, in printable form.
    pub paths: Vec<String>,
}

/// How many paths a sentence names.
const NAMED: usize = 10;

impl TreeVerdict {
    /// Nothing changed.
    pub const CLEAN: Self = Self { status: TreeStatus::Clean, reason: None, paths: Vec::new() };

    /// Returns the verdict for an unknown state.
    pub const fn unknown(reason: DirtyReason) -> Self {
        Self { status: TreeStatus::Unknown, reason: Some(reason), paths: Vec::new() }
    }

    /// Something changed.
    pub const fn dirty(reason: DirtyReason, paths: Vec<String>) -> Self {
        Self { status: TreeStatus::Dirty, reason: Some(reason), paths }
    }

    /// Returns the warning about a tree after a read-only agent; `None` if the tree is clean, or if
    /// nothing could be watched.
    pub fn warning(&self, reader: &str) -> Option<String> {
        let reason = self.reason?;
        match self.status {
            TreeStatus::Clean => None,
            TreeStatus::Unknown if reason == DirtyReason::NotARepository => None,
            TreeStatus::Unknown => Some(format!(
                "Convoke cannot tell whether the working tree changed: {}",
                reason.words()
            )),
            TreeStatus::Dirty => {
                let what =
                    if self.paths.is_empty() { reason.words().to_owned() } else { self.named() };
                Some(format!("the working tree changed while {reader} ran read-only: {what}"))
            }
        }
    }

    /// Returns why a tree is suspect after read-only agents: its status, and the reason with the
    /// changes. `None` if the tree is clean, or if nothing could be watched.
    pub fn suspicion(&self) -> Option<(TreeStatus, TreeEvidence)> {
        let reason = self.reason.filter(|reason| *reason != DirtyReason::NotARepository)?;
        let paths = self.paths.iter().take(NAMED).cloned().collect();
        let more = self.paths.len().saturating_sub(NAMED);
        Some((self.status, TreeEvidence::Found { reason: Some(reason), paths, more }))
    }

    fn named(&self) -> String {
        let some = &self.paths[..self.paths.len().min(NAMED)];
        listed(some, self.paths.len() - some.len())
    }
}

fn listed(paths: &[String], more: usize) -> String {
    let named = paths.join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

/// What a check found about a tree that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEvidence {
    /// The result of the check.
    Found {
        /// The reason, if the check gave one.
        reason: Option<DirtyReason>,
        /// The first changed files.
        paths: Vec<String>,
        /// How many other files changed.
        more: usize,
    },
    /// The words of a journal from before journals held facts.
    Sentence(String),
}

impl TreeEvidence {
    /// Returns the changed files, as far as they are known.
    pub fn files(&self) -> Option<String> {
        match self {
            Self::Found { paths, more, .. } if !paths.is_empty() => Some(listed(paths, *more)),
            Self::Found { .. } | Self::Sentence(_) => None,
        }
    }

    /// A reason without names of files.
    pub const fn of_reason(reason: Option<DirtyReason>) -> Self {
        Self::Found { reason, paths: Vec::new(), more: 0 }
    }
}

impl fmt::Display for TreeEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentence(words) => f.write_str(words),
            Self::Found { reason, paths, more } => {
                f.write_str(reason.map_or("", DirtyReason::name))?;
                if paths.is_empty() { Ok(()) } else { write!(f, " ({})", listed(paths, *more)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-352
    #[test]
    fn every_word_is_read_back() {
        for status in TreeStatus::ALL {
            assert_eq!(TreeStatus::parse(status.name()), Some(status));
        }
        for reason in DirtyReason::ALL {
            assert_eq!(DirtyReason::parse(reason.name()), Some(reason));
        }
        assert_eq!((TreeStatus::parse("Clean"), DirtyReason::parse("")), (None, None));
    }

    #[test]
    fn a_warning_names_what_changed() {
        let paths = |count: usize| (0..count).map(|number| number.to_string()).collect();
        let said = |verdict: TreeVerdict| verdict.warning("codex");
        assert_eq!(said(TreeVerdict::CLEAN), None);
        assert_eq!(said(TreeVerdict::unknown(DirtyReason::NotARepository)), None);
        assert_eq!(
            said(TreeVerdict::unknown(DirtyReason::LookFailed)).as_deref(),
            Some("Convoke cannot tell whether the working tree changed: the snapshot failed")
        );
        let changed = "the working tree changed while codex ran read-only: ";
        assert_eq!(
            said(TreeVerdict::dirty(DirtyReason::WorkingTreeDirty, paths(12))).unwrap(),
            format!("{changed}0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more")
        );
        assert_eq!(
            said(TreeVerdict::dirty(DirtyReason::IndexChanged, Vec::new())).unwrap(),
            format!("{changed}the staged changes differ")
        );
    }

    #[test]
    fn a_suspicion_has_a_status_and_a_reason() {
        let said = |verdict: TreeVerdict| {
            verdict.suspicion().map(|(status, evidence)| (status, evidence.to_string()))
        };
        assert_eq!(said(TreeVerdict::CLEAN), None);
        assert_eq!(said(TreeVerdict::unknown(DirtyReason::NotARepository)), None);
        let unknown = (TreeStatus::Unknown, "look-failed".to_owned());
        assert_eq!(said(TreeVerdict::unknown(DirtyReason::LookFailed)), Some(unknown));
        let hook = vec![".git/hooks/pre-commit".to_owned()];
        let dirty = "git-settings-changed (.git/hooks/pre-commit)".to_owned();
        assert_eq!(
            said(TreeVerdict::dirty(DirtyReason::SettingsChanged, hook)),
            Some((TreeStatus::Dirty, dirty))
        );
    }
}
