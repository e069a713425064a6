//! What must be true of a checkout before a design begins on it.

use super::entry_gate::Gate;

/// Whether there are changes that nobody committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cleanliness {
    /// There are none.
    Clean,
    /// There are some, or files that git does not know.
    Dirty,
    /// It could not be told.
    Unknown,
}

/// A checkout that a design may not begin on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PreflightError {
    /// Another branch is checked out.
    #[error(
        "Not on {main} branch (on '{branch}'). Switch to {main} first, or pass --skip-branch-check."
    )]
    NotOnMain {
        /// The default branch.
        main: String,
        /// The one that is checked out.
        branch: String,
    },
    /// There are changes.
    #[error("Working tree is not clean. Commit or stash changes first.")]
    NotClean,
    /// Whether there are changes could not be told.
    #[error("Could not determine working-tree cleanliness (helper produced no CLEAN= line).")]
    CleanUnknown,
    /// The remote could not be reached.
    #[error("git fetch origin {main} failed.")]
    FetchFailed {
        /// The default branch.
        main: String,
    },
    /// The default branch could not be brought up to date.
    #[error("git rebase origin/{main} failed.")]
    RebaseFailed {
        /// The default branch.
        main: String,
    },
}

impl PreflightError {
    /// How the program ends.
    pub const fn code(&self) -> u8 {
        match self {
            Self::NotOnMain { .. } => 1,
            Self::NotClean | Self::CleanUnknown => 2,
            Self::FetchFailed { .. } | Self::RebaseFailed { .. } => 3,
        }
    }
}

/// Judges a checkout: its branch, unless the gate is open, and then whether it is clean, always.
pub fn check(
    gate: Gate,
    branch: Option<&str>,
    main: &str,
    cleanliness: Cleanliness,
) -> Result<(), PreflightError> {
    if !gate.skips_branch_check() && branch != Some(main) {
        // Git calls a commit that is checked out so.
        let branch = branch.unwrap_or("HEAD").to_owned();
        return Err(PreflightError::NotOnMain { main: main.to_owned(), branch });
    }
    match cleanliness {
        Cleanliness::Clean => Ok(()),
        Cleanliness::Dirty => Err(PreflightError::NotClean),
        Cleanliness::Unknown => Err(PreflightError::CleanUnknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(gate: Gate, branch: Option<&str>, cleanliness: Cleanliness) -> Option<(String, u8)> {
        let error = check(gate, branch, "main", cleanliness).err()?;
        Some((error.to_string(), error.code()))
    }

    // P-51, P-55, P-56
    #[test]
    fn a_strict_gate_wants_the_default_branch_and_then_a_clean_tree() {
        use Cleanliness::{Clean, Dirty, Unknown};
        let strict = |branch, cleanliness| said(Gate::Strict, branch, cleanliness);
        assert_eq!(strict(Some("main"), Clean), None);
        let elsewhere =
            "Not on main branch (on 'x'). Switch to main first, or pass --skip-branch-check.";
        assert_eq!(strict(Some("x"), Dirty), Some((elsewhere.to_owned(), 1)));
        assert_eq!(strict(None, Clean).map(|it| it.1), Some(1));
        let dirty = "Working tree is not clean. Commit or stash changes first.";
        assert_eq!(strict(Some("main"), Dirty), Some((dirty.to_owned(), 2)));
        let unknown =
            "Could not determine working-tree cleanliness (helper produced no CLEAN= line).";
        assert_eq!(strict(Some("main"), Unknown), Some((unknown.to_owned(), 2)));
    }

    // P-57
    #[test]
    fn an_open_gate_does_not_make_a_tree_clean() {
        assert_eq!(said(Gate::Continue, Some("ann/x"), Cleanliness::Clean), None);
        assert_eq!(said(Gate::Continue, None, Cleanliness::Clean), None);
        let code = said(Gate::Continue, Some("ann/x"), Cleanliness::Dirty).map(|it| it.1);
        assert_eq!(code, Some(2));
    }

    // P-56
    #[test]
    fn a_remote_that_fails_is_named() {
        let main = || "trunk".to_owned();
        let fetch = PreflightError::FetchFailed { main: main() };
        assert_eq!(
            (fetch.to_string().as_str(), fetch.code()),
            ("git fetch origin trunk failed.", 3)
        );
        let rebase = PreflightError::RebaseFailed { main: main() };
        assert_eq!(
            (rebase.to_string().as_str(), rebase.code()),
            ("git rebase origin/trunk failed.", 3)
        );
    }
}
