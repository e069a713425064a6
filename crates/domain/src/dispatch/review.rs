//! A reviewer's answer, whether it is a pass, and which reviewers answer again.

/// The weight of an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Severity {
    /// It blocks the next phase.
    Blocker,
    /// It needs attention.
    Warning,
    /// A suggestion or a remark: nothing has to be done about it.
    Light(String),
    /// A word that Convoke does not know. It may mean the worst, so it counts like a blocker.
    Unknown(String),
}

/// The words that weigh nothing against a pass.
const LIGHT: [&str; 5] = ["suggestion", "info", "note", "nit", "nitpick"];

impl Severity {
    /// Reads a reviewer's word.
    pub fn parse(word: &str) -> Self {
        let word = word.trim();
        match word.to_ascii_lowercase().as_str() {
            "blocker" => Self::Blocker,
            "warning" => Self::Warning,
            known if LIGHT.contains(&known) => Self::Light(word.to_owned()),
            _ => Self::Unknown(word.to_owned()),
        }
    }

    /// Returns the word that is shown.
    pub fn word(&self) -> &str {
        match self {
            Self::Blocker => "blocker",
            Self::Warning => "warning",
            Self::Light(word) | Self::Unknown(word) => word,
        }
    }

    /// Tells whether an issue of this weight prevents a pass.
    pub const fn counts(&self) -> bool {
        !matches!(self, Self::Light(_))
    }
}

/// One issue that a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The issue's weight.
    pub severity: Severity,
    /// The issue's kind.
    pub category: Option<String>,
    /// The defect, in the reviewer's words.
    pub description: String,
    /// The place in the artifact, in the reviewer's words.
    pub location: Option<String>,
    /// The suggested change.
    pub suggestion: Option<String>,
}

/// A reviewer's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The reviewer's name, if the answer gives one.
    pub reviewer: Option<String>,
    /// The reviewer's verdict.
    pub approved: bool,
    /// The issues it found.
    pub issues: Vec<Issue>,
}

impl Review {
    /// A review passes if it approves and holds no issue that prevents a pass.
    pub fn passes(&self) -> bool {
        self.approved && !self.issues.iter().any(|issue| issue.severity.counts())
    }
}

/// Which reviewers of a loop answer in its next round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextRound {
    /// Those that failed last.
    Failed,
    /// All of them, once more, because each has passed separately.
    Final,
    /// None; all passed in the final round.
    Done,
}

impl NextRound {
    /// Returns the round after one that was not the final one, by which reviewers have passed.
    pub fn after_round(passed: &[bool]) -> Self {
        if passed.contains(&false) { Self::Failed } else { Self::Final }
    }

    /// Returns the round after the final one, by which reviewers have passed.
    pub fn after_final(passed: &[bool]) -> Self {
        if passed.contains(&false) { Self::Failed } else { Self::Done }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(severity: &str) -> Issue {
        Issue {
            severity: Severity::parse(severity),
            category: None,
            description: "x".to_owned(),
            location: None,
            suggestion: None,
        }
    }

    // D-26
    #[test]
    fn a_review_passes_without_issues_that_prevent_it() {
        for (approved, severities, expected) in [
            (true, &[][..], true),
            (true, &["suggestion", "info"], true),
            (true, &["suggestion", "warning"], false),
            (true, &["Blocker"], false),
            (true, &["critical"], false),
            (true, &["low"], false),
            (false, &[], false),
        ] {
            let issues = severities.iter().copied().map(issue).collect();
            let review = Review { reviewer: None, approved, issues };
            assert_eq!(review.passes(), expected, "{approved} {severities:?}");
        }
    }

    // D-26: reviewers that failed answer again; when all have passed, all answer once more.
    #[test]
    fn a_loop_ends_with_a_round_that_all_pass() {
        assert_eq!(NextRound::after_round(&[true, false, true]), NextRound::Failed);
        assert_eq!(NextRound::after_round(&[true, true]), NextRound::Final);
        assert_eq!(NextRound::after_final(&[true, true]), NextRound::Done);
        assert_eq!(NextRound::after_final(&[true, false]), NextRound::Failed);
    }
}
