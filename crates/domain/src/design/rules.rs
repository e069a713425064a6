//! The version of the rules that parse answers and count votes.
//!
//! A journal keeps the answers, and Convoke derives everything else from them again. After a change
//! of the rules the result may change although no event did; so a run records the rules that it
//! began under.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::matter::MatterId;
use super::panel_verdict::{PanelResult, PanelVerdict};

/// A version of the rules of a design.
///
/// | version | what it changed |
/// |---|---|
/// | 1 | every run that began before versions were written down |
/// | 2 | blocks of votes count where they agree, and not where their writer disowns them; short reviews in the wanted form count; a concern beside `NO_ISSUES_FOUND` leads to a second request; more findings are withheld; a later decision replaces one that waits |
/// | 3 | a vote that its writer contradicts outside of the block, or withdraws in its reason, does not count; more words withdraw votes, and a sentence about an example elsewhere does not disown them; a revision that changes nothing is requested again |
/// | 4 | each voter and judge reads the ballot in an order of its own, drawn from the marker word |
/// | 5 | `NO_ISSUES_FOUND` beside any other words leads to a second request |
/// | 6 | no two voters or judges begin at one item of the ballot, unless there are more of them than items |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RulesVersion(u32);

impl RulesVersion {
    /// The rules of runs that do not name theirs.
    pub const UNNUMBERED: Self = Self(1);

    /// The rules of this program. Raise it with every change that makes another count of the same
    /// answers, and say above what changed.
    pub const PRESENT: Self = Self(6);

    /// The oldest rules that this program can count by. How earlier ones read answers is gone.
    pub const OLDEST_KEPT: Self = Self(3);

    /// The first rules under which Convoke requests a revision again if it changes nothing.
    pub const UNCHANGED_PLANS: Self = Self(3);

    /// The first rules under which each seat reads a ballot in an order of its own.
    pub const READING_ORDERS: Self = Self(4);

    /// The first rules under which a review without findings is the word for that alone.
    pub const NO_ISSUES_ALONE: Self = Self(5);

    /// The first rules under which seats begin to read a ballot at even distances.
    pub const EVEN_READING_ORDERS: Self = Self(6);

    /// Returns the version with this number; the journal of a later program may hold any.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number that journals hold.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the rules that this program counts a run of these rules by: these rules where it
    /// still has them, else the nearest that it has.
    #[must_use]
    pub fn counted_by(self) -> Self {
        self.clamp(Self::OLDEST_KEPT, Self::PRESENT)
    }

    /// Returns the note that a run which began under these rules is counted by others now.
    pub fn difference(self) -> Option<String> {
        let counted_by = self.counted_by();
        (self != counted_by).then(|| {
            format!("recounted by rules {counted_by}; the run was written under rules {self}")
        })
    }
}

/// A verdict that other rules count otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictChange {
    /// The finding or decision that the verdict is about.
    pub matter: MatterId,
    /// The result that the journal keeps; `None` if there was no such matter.
    pub recorded: Option<PanelResult>,
    /// The result by the present rules; `None` if the matter no longer exists.
    pub recounted: Option<PanelResult>,
}

impl fmt::Display for VerdictChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |result: &Option<PanelResult>| {
            result.as_ref().map_or("absent", PanelResult::word).to_owned()
        };
        write!(f, "{} ({}, now {})", self.matter, word(&self.recorded), word(&self.recounted))
    }
}

/// Compares a journal's recorded verdicts with those by the present rules.
pub fn verdict_changes(
    recorded: &[PanelVerdict],
    recounted: &[PanelVerdict],
) -> Vec<VerdictChange> {
    let by_matter = |verdicts: &[PanelVerdict]| -> BTreeMap<MatterId, PanelResult> {
        verdicts.iter().map(|verdict| (verdict.matter, verdict.result.clone())).collect()
    };
    let (recorded, recounted) = (by_matter(recorded), by_matter(recounted));
    let matters: BTreeSet<_> = recorded.keys().chain(recounted.keys()).copied().collect();
    let change = |matter| {
        let result = |verdicts: &BTreeMap<MatterId, PanelResult>| verdicts.get(&matter).cloned();
        VerdictChange { matter, recorded: result(&recorded), recounted: result(&recounted) }
    };
    let changes = matters.into_iter().map(change);
    changes.filter(|change| change.recorded != change.recounted).collect()
}

/// Renders how many verdicts of a run that began under these rules differ now, and which.
pub fn changes_line(changes: &[VerdictChange], rules: RulesVersion) -> String {
    let counted = match rules.counted_by().cmp(&rules) {
        Ordering::Greater => "recounted by newer rules",
        Ordering::Equal => "counted again",
        Ordering::Less => "recounted by older rules",
    };
    let listed: Vec<_> = changes.iter().map(ToString::to_string).collect();
    match listed.as_slice() {
        [] => format!("{counted}: no verdict differs"),
        [only] => format!("{counted}: this 1 verdict differs: {only}"),
        many => format!("{counted}: these {} verdicts differ: {}", many.len(), many.join(", ")),
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
    fn verdicts_that_differ_are_named() {
        let verdicts = |listed: &[(&str, &str)]| -> Vec<PanelVerdict> {
            let verdict = |(id, word): &(&str, &str)| {
                let matter = MatterId::parse(id).unwrap();
                PanelVerdict { matter, result: PanelResult::parse(matter, word) }
            };
            listed.iter().map(verdict).collect()
        };
        let recorded = [("FINDING_1", "accepted"), ("FINDING_2", "tied"), ("OOS_1", "rejected")];
        let recounted =
            [("FINDING_1", "rejected"), ("FINDING_2", "tied"), ("DECISION_1", "thesis")];
        let said = |recorded: &[(&str, &str)], recounted: &[(&str, &str)]| {
            let changes = verdict_changes(&verdicts(recorded), &verdicts(recounted));
            changes_line(&changes, RulesVersion::UNNUMBERED)
        };
        assert_eq!(
            said(&recorded, &recounted),
            "recounted by newer rules: these 3 verdicts differ: DECISION_1 (absent, now thesis), \
             FINDING_1 (accepted, now rejected), OOS_1 (rejected, now absent)"
        );
        let one =
            "recounted by newer rules: this 1 verdict differs: FINDING_1 (accepted, now rejected)";
        assert_eq!(said(&recorded[..1], &recounted[..1]), one);
        let same = "recounted by newer rules: no verdict differs";
        assert_eq!(said(&recorded, &recorded), same);
        let line = |rules| changes_line(&[], RulesVersion::new(rules));
        assert_eq!(line(4), "counted again: no verdict differs");
        assert_eq!(line(99), "recounted by older rules: no verdict differs");
    }

    #[test]
    fn only_other_rules_are_reported() {
        for kept in 3..=6 {
            let kept = RulesVersion::new(kept);
            assert_eq!((kept.difference(), kept.counted_by()), (None, kept));
        }
        let said = RulesVersion::UNNUMBERED.difference().unwrap();
        assert_eq!(said, "recounted by rules 3; the run was written under rules 1");
        let said = RulesVersion::new(99).difference().unwrap();
        assert_eq!(said, "recounted by rules 6; the run was written under rules 99");
    }
}
