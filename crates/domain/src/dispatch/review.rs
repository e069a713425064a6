//! What a reviewer answered, whether that is a pass, and who is asked again.

/// How much an issue weighs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Severity {
    /// Nothing may go on.
    Blocker,
    /// It must be looked at.
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

    /// Tells whether an issue of this weight stands against a pass.
    pub const fn counts(&self) -> bool {
        !matches!(self, Self::Light(_))
    }
}

/// One thing that a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// How much it weighs.
    pub severity: Severity,
    /// What kind it is.
    pub category: Option<String>,
    /// What is wrong.
    pub description: String,
    /// Where.
    pub location: Option<String>,
    /// What would be better.
    pub suggestion: Option<String>,
}

/// A reviewer's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// Who reviewed, if the answer says so.
    pub reviewer: Option<String>,
    /// What the reviewer says of the whole.
    pub approved: bool,
    /// What it found.
    pub issues: Vec<Issue>,
}

impl Review {
    /// A review passes if it approves and nothing in it stands against that.
    pub fn passes(&self) -> bool {
        self.approved && !self.issues.iter().any(|issue| issue.severity.counts())
    }
}

/// Which reviewers of a loop are asked in its next round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextRound {
    /// Those that failed last.
    Failed,
    /// All of them, once more, because each has passed by itself.
    Final,
    /// None; all passed in the final round.
    Done,
}

/// Decides the round after one with these outcomes. `was_final` tells whether it was the final one.
pub fn next_round(passed: &[bool], was_final: bool) -> NextRound {
    match (passed.iter().all(|it| *it), was_final) {
        (false, _) => NextRound::Failed,
        (true, false) => NextRound::Final,
        (true, true) => NextRound::Done,
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
    fn a_review_passes_if_nothing_stands_against_it() {
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

    // D-26: who failed is asked again; when all have passed, all are asked once more.
    #[test]
    fn a_loop_ends_with_a_round_that_all_pass() {
        for (passed, was_final, expected) in [
            (&[true, false, true][..], false, NextRound::Failed),
            (&[true, true], false, NextRound::Final),
            (&[true, true], true, NextRound::Done),
            (&[true, false], true, NextRound::Failed),
        ] {
            assert_eq!(next_round(passed, was_final), expected, "{passed:?} {was_final}");
        }
    }
}
