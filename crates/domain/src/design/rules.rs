//! The version of the rules that read answers and count.
//!
//! A journal keeps what was answered, and everything else is counted from that again. Where the rules
//! have changed, the count may change with them although no event did; so a run remembers the rules
//! that it began under.

use std::fmt;

/// A version of the rules of a design.
///
/// | version | what it changed |
/// |---|---|
/// | 1 | every run that began before versions were written down |
/// | 2 | blocks of votes count where they agree, and not where their writer disowns them; short reviews in the wanted form count; a concern beside `NO_ISSUES_FOUND` is asked about; more findings are withheld; a later decision replaces one that waits |
/// | 3 | a vote that its writer contradicts outside of the block, or withdraws in its reason, does not count; more words withdraw votes, and a sentence about an example elsewhere does not disown them; a revision that changes nothing is asked for again |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RulesVersion(u32);

impl RulesVersion {
    /// The rules of runs that do not name theirs.
    pub const UNNUMBERED: Self = Self(1);

    /// The rules of this program. Raise it with every change that makes another count of the same
    /// answers, and say above what changed.
    pub const PRESENT: Self = Self(3);

    /// The first rules under which the chair is asked again for a revision that changes nothing.
    pub const UNCHANGED_PLANS: Self = Self(3);

    /// Returns the version with this number; the journal of a later program may hold any.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns its number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Says that a run which began under these rules is counted by others now.
    pub fn difference(self) -> Option<String> {
        let present = Self::PRESENT;
        (self != present).then(|| {
            format!("recounted by rules {present}; the run was written under rules {self}")
        })
    }
}

impl fmt::Display for RulesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_other_rules_are_told_of() {
        assert_eq!(RulesVersion::PRESENT.difference(), None);
        let said = RulesVersion::UNNUMBERED.difference().unwrap();
        assert_eq!(said, "recounted by rules 3; the run was written under rules 1");
        assert!(RulesVersion::new(99).difference().unwrap().ends_with("under rules 99"));
    }
}
