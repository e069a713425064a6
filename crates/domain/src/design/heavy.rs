//! The heavy part of a design in a worker process: its result, and whether that is accepted.
//!
//! The worker continues the same journal. The process that started it accepts its result only if
//! the worker's files exist. The result as a line is for other programs, and in early journals.

use std::fmt;

use super::design_file::DesignFile;

/// How a worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerResult {
    /// All requested files exist.
    Complete,
    /// It is not, for this reason.
    Failed(GiveUpReason),
}

/// Why a worker gave up, in a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GiveUpReason(String);

impl GiveUpReason {
    /// It ended without a line that can be believed, or without what it should have made.
    pub const NOTHING_MADE: &str = "worker-yielded-without-artifacts";
    /// The working tree was changed, so a person must decide.
    pub const DIRTY_TREE: &str = "dirty-tree";

    /// An agent's limit is reached.
    pub const PARKED: &str = "parked";

    /// Convoke itself failed.
    pub const INTERNAL_ERROR: &str = "internal-error";

    /// No word is longer.
    const LONGEST: usize = 40;

    /// Takes a word of small letters, digits and hyphens.
    pub fn parse(word: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_word = (1..=Self::LONGEST).contains(&word.len()) && word.chars().all(plain);
        is_word.then(|| Self(word.to_owned()))
    }

    /// Returns the word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GiveUpReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl WorkerResult {
    /// A worker that ended without its work.
    pub fn nothing_made() -> Self {
        Self::Failed(GiveUpReason(GiveUpReason::NOTHING_MADE.to_owned()))
    }

    /// Returns the result of a worker that gave up for one of Convoke's own reasons.
    pub fn gave_up(word: &str) -> Self {
        GiveUpReason::parse(word).map_or_else(Self::nothing_made, Self::Failed)
    }

    /// Tells whether a person must check the tree.
    pub fn is_dirty_tree(&self) -> bool {
        matches!(self, Self::Failed(reason) if reason.as_str() == GiveUpReason::DIRTY_TREE)
    }

    /// Tells whether it ended because an agent's limit is reached.
    pub fn is_parked(&self) -> bool {
        matches!(self, Self::Failed(reason) if reason.as_str() == GiveUpReason::PARKED)
    }

    /// Returns the line that other programs read.
    pub fn line(&self) -> String {
        match self {
            Self::Complete => "DESIGN_HEAVY=complete".to_owned(),
            Self::Failed(GiveUpReason(word)) => format!("DESIGN_HEAVY=failed REASON={word}"),
        }
    }

    /// Parses such a line. Later versions may add text behind the first line; any other
    /// output is invalid.
    pub fn parse(said: &str) -> Option<Self> {
        match said.lines().next()?.trim_end() {
            "DESIGN_HEAVY=complete" => Some(Self::Complete),
            line => {
                let word = line.strip_prefix("DESIGN_HEAVY=failed REASON=")?;
                GiveUpReason::parse(word).map(Self::Failed)
            }
        }
    }

    /// Accepts what a worker said of itself only if its files have the implied length.
    pub fn judged(said: Option<Self>, length: impl Fn(&str) -> Option<u64>) -> Self {
        let is_written = |name: &&str| length(name).is_some_and(|length| length > 0);
        let is_there = |name: &&str| length(name).is_some();
        match said {
            Some(Self::Complete)
                if MUST_SAY_SOMETHING.iter().all(is_written)
                    && MUST_BE_THERE.iter().all(is_there) =>
            {
                Self::Complete
            }
            Some(Self::Complete) | None => Self::nothing_made(),
            Some(failed) => failed,
        }
    }
}

/// Files that a worker must have written.
const MUST_SAY_SOMETHING: [&str; 3] =
    [DesignFile::Plan.name(), DesignFile::Synthesis.name(), DesignFile::Tally.name()];

/// Files that must exist, even if empty. Resolutions and the diagram may be missing for good
/// reasons.
const MUST_BE_THERE: [&str; 4] = [
    DesignFile::Decisions.name(),
    DesignFile::OutOfScope.name(),
    DesignFile::Rejected.name(),
    DesignFile::Accepted.name(),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // P-316
    #[test]
    fn a_worker_says_one_line() {
        for (said, worked) in [
            ("DESIGN_HEAVY=complete\n", Some(WorkerResult::Complete)),
            ("DESIGN_HEAVY=complete\nDESIGN_SUMMARY_FILE=/x\n", Some(WorkerResult::Complete)),
            ("DESIGN_HEAVY=failed REASON=dirty-tree\n", Some(WorkerResult::gave_up("dirty-tree"))),
            ("", None),
            ("The plan is done.\nDESIGN_HEAVY=complete\n", None),
            ("DESIGN_HEAVY=complete, I think", None),
            ("DESIGN_HEAVY=failed", None),
            ("DESIGN_HEAVY=failed REASON=", None),
            ("DESIGN_HEAVY=failed REASON=Two words", None),
        ] {
            assert_eq!(WorkerResult::parse(said), worked, "{said:?}");
        }
        assert!(WorkerResult::gave_up("dirty-tree").is_dirty_tree());
    }

    // P-317, P-318
    #[test]
    fn a_worker_is_believed_only_with_its_artifacts() {
        let all: Vec<_> = MUST_SAY_SOMETHING.iter().chain(&MUST_BE_THERE).copied().collect();
        let judged = |said: &str, missing: &str, empty: &str| {
            let length = |name: &str| {
                let is_there = all.contains(&name) && name != missing;
                is_there.then_some(if name == empty { 0 } else { 9 })
            };
            WorkerResult::judged(WorkerResult::parse(said), length)
        };
        let complete = "DESIGN_HEAVY=complete\n";
        assert_eq!(judged(complete, "", ""), WorkerResult::Complete);
        for name in &all {
            assert_eq!(judged(complete, name, ""), WorkerResult::nothing_made(), "{name}");
            let empty = if MUST_SAY_SOMETHING.contains(name) {
                WorkerResult::nothing_made()
            } else {
                WorkerResult::Complete
            };
            assert_eq!(judged(complete, "", name), empty, "{name}");
        }
        assert_eq!(judged("", "", ""), WorkerResult::nothing_made());
        let line = WorkerResult::nothing_made().line();
        assert_eq!(line, "DESIGN_HEAVY=failed REASON=worker-yielded-without-artifacts");
        let failed = judged("DESIGN_HEAVY=failed REASON=plan-missing", "plan.txt", "");
        assert_eq!(failed, WorkerResult::gave_up("plan-missing"));
    }

    // P-319
    #[test]
    fn a_reason_is_one_short_word() {
        for wrong in ["", "two words", "Upper", "a\nb", &"x".repeat(41)] {
            assert_eq!(GiveUpReason::parse(wrong), None, "{wrong:?}");
        }
        assert!(GiveUpReason::parse(&"x".repeat(40)).is_some());
    }

    proptest! {
        #[test]
        fn every_result_is_read_back(said in "(DESIGN_HEAVY=(complete|failed REASON=[a-z-]{0,9})\n?)?(?s).*") {
            if let Some(worked) = WorkerResult::parse(&said) {
                prop_assert_eq!(WorkerResult::parse(&worked.line()), Some(worked.clone()));
                prop_assert!(!worked.line().contains('\n'));
            }
        }
    }
}
