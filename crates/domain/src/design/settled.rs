//! When a poll is settled: no voter or judge who was not asked yet could change a result.
//!
//! An agent that was not asked may vote in any way, abstain on an item, or fail altogether. A poll is
//! settled if each of these leaves the same findings accepted, the same matters to a person, and the
//! same side the winner. Words below that, such as `neutral` instead of `rejected`, may differ.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::judge::{self, Judgement};
use super::policy::Policy;
use super::quorum;
use super::tally::{self, Counts, FindingVerdict, Voter};

/// How many voters and judges a design asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PollRule {
    /// All of them, in parallel.
    #[default]
    All,
    /// As many as can decide, in parallel, and then one after another until the poll is settled.
    UntilSettled,
}

impl PollRule {
    /// Returns how many of some seats Convoke asks first: no fewer could settle anything.
    pub const fn first_asked(self, seats: usize) -> usize {
        match self {
            Self::All => seats,
            Self::UntilSettled => {
                let majority = quorum::majority(seats);
                if majority < seats { majority } else { seats }
            }
        }
    }
}

/// Voters or judges whom Convoke did not ask, because the poll was settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAsked {
    /// Their labels.
    pub seats: Vec<String>,
    /// What they would have used, if they had used as much as the others on average.
    /// `None` if an agent does not report its usage.
    pub saved_tokens: Option<u64>,
}

/// The part of a verdict that has an effect on the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The chair works the finding in.
    Accepted,
    /// A person can decide.
    LeftToPerson,
    /// Neither.
    Dropped,
}

impl Effect {
    const fn of(verdict: FindingVerdict) -> Self {
        match verdict {
            FindingVerdict::Accepted => Self::Accepted,
            FindingVerdict::Undecided | FindingVerdict::Tied => Self::LeftToPerson,
            FindingVerdict::Neutral | FindingVerdict::Exonerated | FindingVerdict::Rejected => {
                Self::Dropped
            }
        }
    }
}

/// Tells whether voters that were not asked could change the effect of no finding.
pub fn is_vote_settled(
    findings: &[Finding],
    voters: &[Voter],
    not_asked: usize,
    policy: Policy,
) -> bool {
    let tally = tally::tally(findings, voters, policy);
    let known = Known { eligible: tally.eligible, not_asked, policy };
    tally.items.iter().all(|item| known.is_settled(item.counts))
}

/// What is known of a poll beside the votes on one item.
#[derive(Clone, Copy)]
struct Known {
    eligible: usize,
    not_asked: usize,
    policy: Policy,
}

impl Known {
    /// Tells whether every way to complete the votes on an item has the same effect.
    fn is_settled(self, counts: Counts) -> bool {
        let Self { eligible, not_asked, policy } = self;
        let now = Effect::of(tally::verdict(counts, eligible, policy));
        splits(not_asked).all(|[yes, no, exonerate, abstain]| {
            let counts = Counts {
                yes: counts.yes + yes,
                no: counts.no + no,
                exonerate: counts.exonerate + exonerate,
            };
            let eligible = eligible + yes + no + exonerate + abstain;
            Effect::of(tally::verdict(counts, eligible, policy)) == now
        })
    }
}

/// Returns every way to put up to `count` things into four groups.
fn splits(count: usize) -> impl Iterator<Item = [usize; 4]> {
    (0..=count).flat_map(move |first| {
        (0..=count - first).flat_map(move |second| {
            (0..=count - first - second).flat_map(move |third| {
                let rest = count - first - second - third;
                (0..=rest).map(move |fourth| [first, second, third, fourth])
            })
        })
    })
}

/// Tells whether judges that were not asked could make no other side win.
pub fn is_judgement_settled(
    numbers: &BTreeSet<usize>,
    judgements: &[Judgement],
    not_asked: usize,
) -> bool {
    let votes = |number: &usize| judge::votes_for(*number, judgements);
    numbers.iter().all(|number| is_side_settled(votes(number), not_asked))
}

/// Tells whether every way to complete the votes on a decision has the same winner, or none.
fn is_side_settled([thesis, antithesis]: [usize; 2], not_asked: usize) -> bool {
    let now = judge::winner(thesis, antithesis);
    splits(not_asked)
        .all(|[more, other, ..]| judge::winner(thesis + more, antithesis + other) == now)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one voter does about an item: three votes, an abstention, a failure.
    const DEEDS: [char; 5] = ['y', 'n', 'e', '-', ' '];

    /// Returns every way in which some seats can act.
    fn tables(deeds: &[char], seats: usize) -> Vec<Vec<char>> {
        let mut all = vec![Vec::new()];
        for _ in 0..seats {
            let longer = |table: Vec<char>| {
                deeds.iter().map(move |deed| table.iter().copied().chain([*deed]).collect())
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        all
    }

    fn count(table: &[char], deed: char) -> usize {
        table.iter().filter(|done| **done == deed).count()
    }

    fn counts(table: &[char]) -> Counts {
        Counts { yes: count(table, 'y'), no: count(table, 'n'), exonerate: count(table, 'e') }
    }

    fn eligible(table: &[char]) -> usize {
        table.len() - count(table, ' ')
    }

    fn effect(table: &[char], policy: Policy) -> Effect {
        Effect::of(tally::verdict(counts(table), eligible(table), policy))
    }

    fn is_settled(asked: &[char], not_asked: usize, policy: Policy) -> bool {
        Known { eligible: eligible(asked), not_asked, policy }.is_settled(counts(asked))
    }

    // P-386: for 3, 5 and 7 voters, every table of votes has the effect of the whole panel's.
    #[test]
    fn an_adaptive_vote_has_the_effect_of_the_whole_panel() {
        for policy in [Policy::Safe, Policy::Seed] {
            for seats in [3, 5, 7] {
                let mut spared = 0;
                for table in tables(&DEEDS, seats) {
                    let first = PollRule::UntilSettled.first_asked(seats);
                    let asked = (first..=seats)
                        .find(|asked| is_settled(&table[..*asked], seats - asked, policy))
                        .unwrap();
                    spared += seats - asked;
                    let whole = effect(&table, policy);
                    assert_eq!(effect(&table[..asked], policy), whole, "{table:?} after {asked}");
                }
                assert!(spared > 0, "{seats} seats, {policy:?}");
            }
        }
    }

    // P-386: Convoke asks no agent whose vote cannot matter, and every one whose vote can.
    #[test]
    fn a_vote_is_settled_exactly_if_no_completion_changes_it() {
        for policy in [Policy::Safe, Policy::Seed] {
            for (seats, asked) in [(3, 1), (3, 2), (5, 3), (5, 4), (7, 4)] {
                let completions = tables(&DEEDS, seats - asked);
                for table in tables(&DEEDS, asked) {
                    let now = effect(&table, policy);
                    let keeps = |more: &Vec<char>| {
                        effect(&[table.as_slice(), more].concat(), policy) == now
                    };
                    let expected = completions.iter().all(keeps);
                    assert_eq!(is_settled(&table, seats - asked, policy), expected, "{table:?}");
                }
            }
        }
    }

    // P-386
    #[test]
    fn fewer_than_the_first_asked_settle_nothing() {
        for seats in 2..=9 {
            let first = PollRule::UntilSettled.first_asked(seats);
            assert!(first <= seats && PollRule::All.first_asked(seats) == seats);
            for table in tables(&['y', 'n'], first - 1) {
                assert!(!is_settled(&table, seats - table.len(), Policy::Safe), "{table:?}");
            }
        }
    }

    // P-386: the same for judges, who vote for a side or abstain.
    #[test]
    fn adaptive_judges_choose_the_side_of_the_whole_panel() {
        for seats in [3, 5, 7] {
            for table in tables(&['t', 'a', ' '], seats) {
                let sides =
                    |asked: usize| (count(&table[..asked], 't'), count(&table[..asked], 'a'));
                let winner = |asked: usize| judge::winner(sides(asked).0, sides(asked).1);
                let is_settled = |asked: &usize| {
                    let ((thesis, antithesis), left) = (sides(*asked), seats - asked);
                    is_side_settled([thesis, antithesis], left)
                };
                let first = PollRule::UntilSettled.first_asked(seats);
                let asked = (first..=seats).find(is_settled).unwrap();
                assert_eq!(winner(asked), winner(seats), "{table:?} after {asked}");
            }
        }
    }
}
