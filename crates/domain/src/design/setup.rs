//! How a design begins: whether it may, and on which branch.
//!
//! The caller collects git's facts and passes them as plain values; the result is the output, and
//! whether the design begins ([`SetUp`]). Programs read these lines, so each is exact. Where the
//! original's lines say `main`, Convoke names the repository's default branch.

pub mod branch;
pub mod branch_name;
pub mod entry_gate;
pub mod ground;
pub mod note;
pub mod preflight;

use self::branch::{BranchNotCreated, kept};
use self::entry_gate::GateError;
use self::note::SetUpNote;
use self::preflight::PreflightError;

/// The result of the setup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetUp {
    /// The design begins.
    Ready(Ready),
    /// The checked-out branch seems to belong to another feature, and a person must decide whether
    /// the design goes on there. Nothing was changed.
    Undecided {
        /// The name of the checked-out branch.
        branch: String,
    },
    /// The design may not begin.
    Refused(Refusal),
}

/// The starting point of a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// The branch that is checked out now; empty when a commit is.
    pub branch: String,
    /// Whether the branch was made for this design.
    pub is_new: bool,
    /// The commit that is checked out; empty before the first.
    pub base: String,
    /// What step 0 tells.
    pub setup_notes: Vec<SetUpNote>,
    /// The form of step 1's first line.
    pub begins: Begins,
    /// What step 1 tells.
    pub branch_notes: Vec<SetUpNote>,
    /// The branch that was checked out before a new one was made; empty for a commit.
    pub left: Option<String>,
    /// A digest of the working tree where uncommitted changes are allowed: the state that agents must
    /// leave it in.
    pub tree_before: Option<String>,
}

impl Ready {
    /// Returns the remark that step 1's first line has.
    pub fn remark(&self) -> Option<String> {
        match &self.begins {
            Begins::Plain => None,
            Begins::Kept => Some(kept(&self.branch)),
            Begins::Made => {
                let left = self.left.as_deref().filter(|left| !left.is_empty());
                let from = left.unwrap_or("a commit without a branch");
                Some(format!("made '{}' from '{from}' and checked it out", self.branch))
            }
            Begins::With(remark) => Some(remark.clone()),
        }
    }
}

/// The form of a step's first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begins {
    /// As every step's does.
    Plain,
    /// With the remark that the branch is kept.
    Kept,
    /// With the remark that the branch was made at the commit that was checked out.
    Made,
    /// With the remark of a journal from before journals held the two facts above.
    With(String),
}

/// Why a design may not begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The output: first the check's own line, then possible remedies. The journal keeps these lines
    /// as text, because other programs read them byte by byte and no decision depends on them.
    pub lines: Vec<String>,
    /// The exit code.
    pub code: u8,
}

impl Refusal {
    /// Returns the refusal for invalid arguments of the gate.
    pub fn by_gate(error: &GateError) -> Self {
        let breach = "⚠ /design: internal Step 0 contract violation in session-entry-gate.sh. \
                      Aborting.";
        Self { lines: vec![error.to_string(), breach.to_owned()], code: GateError::CODE }
    }

    /// The checkout is not one to begin from.
    pub fn by_preflight(error: &PreflightError, main: &str, user_prefix: &str) -> Self {
        let advice = format!(
            "⚠ /design requires clean {main} to start. To continue, choose one of: (a) git checkout \
             {main} && git status clean → re-run; (b) check out or create a {user_prefix}/* feature \
             branch and re-run (the branch naming convention is the explicit opt-in to continue from \
             current state); (c) commit or stash uncommitted changes on {main} first."
        );
        Self { lines: vec![format!("PREFLIGHT_ERROR={error}"), advice], code: error.code() }
    }

    /// Returns the refusal if git did not make the branch, with git's message.
    pub fn by_git(error: &BranchNotCreated, said: &str) -> Self {
        Self { lines: vec![error.to_string(), said.to_owned()], code: BranchNotCreated::CODE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-53: the raw line first, and nothing about a clean main.
    #[test]
    fn a_wrong_question_to_the_gate_is_our_own_fault() {
        let refusal = Refusal::by_gate(&GateError::InvalidMode("x".to_owned()));
        assert_eq!(refusal.code, 4);
        assert_eq!(
            refusal.lines,
            [
                "GATE_ERROR=invalid mode: x",
                "⚠ /design: internal Step 0 contract violation in session-entry-gate.sh. Aborting.",
            ]
        );
    }

    // P-60
    #[test]
    fn a_checkout_that_is_not_clean_main_is_refused_with_advice() {
        let refusal = Refusal::by_preflight(&PreflightError::NotClean, "main", "ann");
        assert_eq!(refusal.code, 2);
        assert_eq!(
            refusal.lines,
            [
                "PREFLIGHT_ERROR=Working tree is not clean. Commit or stash changes first.",
                "⚠ /design requires clean main to start. To continue, choose one of: (a) git checkout main && git status clean → re-run; (b) check out or create a ann/* feature branch and re-run (the branch naming convention is the explicit opt-in to continue from current state); (c) commit or stash uncommitted changes on main first.",
            ]
        );
    }
}
