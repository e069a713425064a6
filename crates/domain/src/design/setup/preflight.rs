//! The conditions on a checkout before a design begins on it.

use super::entry_gate::Gate;

/// Whether there are uncommitted changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cleanliness {
    /// No changes.
    Clean,
    /// There are some, or files that git does not know.
    Dirty,
    /// Git could not tell.
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
        /// The checked-out branch.
        branch: String,
    },
    /// There are changes.
    #[error("Working tree is not clean. Commit or stash changes first.")]
    NotClean,
    /// Git could not tell whether there are changes.
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
    /// Returns the exit code.
    pub const fn code(&self) -> u8 {
        match self {
            Self::NotOnMain { .. } => 1,
            Self::NotClean | Self::CleanUnknown => 2,
            Self::FetchFailed { .. } | Self::RebaseFailed { .. } => 3,
        }
    }
}

/// Checks to leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Skips {
    /// The check of the checked-out branch.
    pub branch: bool,
    /// Whether it is clean. Only scripts may ask for this.
    pub clean: bool,
}

/// An unknown word of a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Unknown option: {0}")]
pub struct UnknownOption(pub String);

impl UnknownOption {
    /// The exit code.
    pub const CODE: u8 = 3;
}

impl Skips {
    /// Reads a script's words.
    pub fn parse(words: &[String]) -> Result<Self, UnknownOption> {
        let mut skips = Self::default();
        for word in words {
            match word.as_str() {
                "--skip-branch-check" => skips.branch = true,
                "--skip-clean-check" => skips.clean = true,
                _ => return Err(UnknownOption(word.clone())),
            }
        }
        Ok(skips)
    }

    /// Tells whether to update the checked-out branch: only if no check was left out.
    pub const fn updates(self) -> bool {
        !self.branch && !self.clean
    }
}

impl From<Gate> for Skips {
    fn from(gate: Gate) -> Self {
        Self { branch: gate.skips_branch_check(), clean: false }
    }
}

/// Judges a checkout: its branch, and then whether it is clean, unless that is skipped.
pub fn check(
    skips: Skips,
    branch: Option<&str>,
    main: &str,
    cleanliness: Cleanliness,
) -> Result<(), PreflightError> {
    if !skips.branch && branch != Some(main) {
        // Git calls a commit that is checked out so.
        let branch = branch.unwrap_or("HEAD").to_owned();
        return Err(PreflightError::NotOnMain { main: main.to_owned(), branch });
    }
    match cleanliness {
        _ if skips.clean => Ok(()),
        Cleanliness::Clean => Ok(()),
        Cleanliness::Dirty => Err(PreflightError::NotClean),
        Cleanliness::Unknown => Err(PreflightError::CleanUnknown),
    }
}

/// The most that is shown of what git lists.
const MOST_SHOWN: usize = 256;

/// Git's answer about a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// Git listed changed or new files.
    Listed(String),
    /// Git ended with a code and some words.
    Failed(i32, String),
    /// Git did not run, or not to its end.
    NotRun(String),
}

/// The result that a script expects where git fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitFailure {
    /// That nothing is known of the tree.
    Unknown,
    /// That the tree is clean where `git status` fails, and unknown where git does not run.
    Passed,
}

/// Returns the output about a tree, and the exit code.
pub fn clean_lines(found: &Probe, failure: GitFailure) -> (Vec<String>, u8) {
    let brief = |text: &str| {
        let line: String = text.trim_end().chars().take(MOST_SHOWN).collect();
        line.replace(|c: char| c.is_control(), " ")
    };
    let unknown =
        |error: String| (vec!["CLEAN=unknown".to_owned(), format!("PROBE_ERROR={error}")], 1);
    match found {
        Probe::Listed(listed) if listed.is_empty() => (vec!["CLEAN=true".to_owned()], 0),
        Probe::Listed(listed) => {
            (vec!["CLEAN=false".to_owned(), format!("DIRTY_OUT={}", brief(listed))], 0)
        }
        Probe::Failed(code, words) if failure == GitFailure::Unknown => {
            unknown(format!("git exited {code} ({})", brief(words)))
        }
        Probe::NotRun(words) if failure == GitFailure::Unknown => {
            unknown(format!("git did not run ({})", brief(words)))
        }
        Probe::Failed(..) => (vec!["CLEAN=true".to_owned()], 0),
        Probe::NotRun(_) => (Vec::new(), 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-54, P-55
    #[test]
    fn a_script_skips_what_it_names() {
        let parsed = |words: &[&str]| {
            Skips::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert!(parsed(&[]).unwrap().updates());
        let (branch, clean) = ("--skip-branch-check", "--skip-clean-check");
        assert_eq!(parsed(&[clean, branch]), Ok(Skips { branch: true, clean: true }));
        assert!(!parsed(&[branch]).unwrap().updates() && !parsed(&[clean]).unwrap().updates());
        assert_eq!(parsed(&["--fix"]).unwrap_err().to_string(), "Unknown option: --fix");
        let skips = Skips { branch: false, clean: true };
        assert_eq!(check(skips, Some("main"), "main", Cleanliness::Dirty), Ok(()));
        assert!(check(skips, Some("x"), "main", Cleanliness::Dirty).is_err());
    }

    // P-58
    #[test]
    fn a_script_learns_whether_a_tree_is_clean() {
        let told = |found, failure| {
            let (lines, code) = clean_lines(&found, failure);
            (lines.join("|"), code)
        };
        let listed = |text: &str| Probe::Listed(text.to_owned());
        assert_eq!(told(listed(""), GitFailure::Unknown), ("CLEAN=true".to_owned(), 0));
        let dirty = "CLEAN=false|DIRTY_OUT= M a ?? b".to_owned();
        assert_eq!(told(listed(" M a\n?? b\n"), GitFailure::Passed), (dirty, 0));
        let long = "é".repeat(400);
        let (lines, _) = clean_lines(&listed(&long), GitFailure::Passed);
        assert_eq!(lines[1].chars().count(), "DIRTY_OUT=".len() + 256);
        let failed = || Probe::Failed(128, "fatal: no\n".to_owned());
        assert_eq!(told(failed(), GitFailure::Passed), ("CLEAN=true".to_owned(), 0));
        let unknown = "CLEAN=unknown|PROBE_ERROR=git exited 128 (fatal: no)".to_owned();
        assert_eq!(told(failed(), GitFailure::Unknown), (unknown, 1));
        let not_run = || Probe::NotRun("not found".to_owned());
        assert_eq!(told(not_run(), GitFailure::Passed), (String::new(), 3));
        let unknown = "CLEAN=unknown|PROBE_ERROR=git did not run (not found)".to_owned();
        assert_eq!(told(not_run(), GitFailure::Unknown), (unknown, 1));
    }

    fn said(gate: Gate, branch: Option<&str>, cleanliness: Cleanliness) -> Option<(String, u8)> {
        let error = check(gate.into(), branch, "main", cleanliness).err()?;
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
        assert_eq!(strict(None, Clean).map(|refusal| refusal.1), Some(1));
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
        let code = said(Gate::Continue, Some("ann/x"), Cleanliness::Dirty).map(|refusal| refusal.1);
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
