//! How many votes decide, for any number of seats.
//!
//! One rule: more than half of the votes that count decide, and where a side must win against
//! another, at least two votes have to count. For three seats this is the table of the original:
//! two of three, two of two, and a tie at one to one. Which votes count is the policy's matter:
//! those of everyone who voted on anything, or of those who voted on the item.

/// The fewest votes that can decide between two sides.
const FEWEST: usize = 2;

/// Tells whether so many votes can decide between two sides.
pub(super) const fn is_enough(votes: usize) -> bool {
    votes >= FEWEST
}

/// Returns the fewest votes that are more than half of those that count.
pub(super) const fn majority(count: usize) -> usize {
    count / 2 + 1
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::policy::Policy;
    use super::super::seat::Side;
    use super::super::tally::{self, Counts, FindingVerdict};

    /// The rule of findings, said once more without the code of the program.
    fn plainly(counts: Counts, voters: usize, policy: Policy) -> FindingVerdict {
        let Counts { yes, no, exonerate } = counts;
        let cast = yes + no + exonerate;
        let (of, is_seed) = match policy {
            Policy::Safe => (voters, false),
            Policy::Seed => (cast, true),
        };
        if is_seed && cast <= 1 {
            return FindingVerdict::Accepted;
        }
        if cast == 0 {
            return FindingVerdict::Undecided;
        }
        // More than half, without a division.
        if yes + yes > of {
            return FindingVerdict::Accepted;
        }
        if !is_seed && yes > 0 && yes == no + exonerate {
            return FindingVerdict::Tied;
        }
        match (yes, exonerate) {
            (0, 0) => FindingVerdict::Rejected,
            (0, _) => FindingVerdict::Exonerated,
            (_, _) => FindingVerdict::Neutral,
        }
    }

    // P-232, P-273, P-274: every panel of 2 to 9 seats, with every number of answers and every vote.
    #[test]
    fn every_panel_counts_by_one_rule() {
        let mut tables = 0;
        for seats in 2..=9_usize {
            for voters in 0..=seats {
                for yes in 0..=voters {
                    for no in 0..=voters - yes {
                        for exonerate in 0..=voters - yes - no {
                            let counts = Counts { yes, no, exonerate };
                            for policy in [Policy::Safe, Policy::Seed] {
                                let verdict = tally::verdict(counts, voters, policy);
                                let plain = plainly(counts, voters, policy);
                                let table = format!("{counts:?} of {voters} of {seats}");
                                assert_eq!(verdict, plain, "{table}, {policy:?}");
                                tables += 1;
                            }
                        }
                    }
                }
                for thesis in 0..=voters {
                    let antithesis = voters - thesis;
                    let plain = match thesis.cmp(&antithesis) {
                        _ if voters < 2 => None,
                        std::cmp::Ordering::Greater => Some(Side::Thesis),
                        std::cmp::Ordering::Less => Some(Side::Antithesis),
                        std::cmp::Ordering::Equal => None,
                    };
                    assert_eq!(judge::winner(thesis, antithesis), plain, "{thesis}-{antithesis}");
                }
            }
        }
        assert_eq!(tables, 3992, "each once");
    }

    // The table of the original.
    #[test]
    fn three_seats_decide_as_in_the_original() {
        assert_eq!([1, 2, 3].map(super::majority), [1, 2, 2]);
        assert_eq!([0, 1, 2, 3].map(super::is_enough), [false, false, true, true]);
    }
}
