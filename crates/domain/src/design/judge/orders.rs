//! A judge that reads its ballot twice, the second time in the reverse order.

use std::collections::BTreeSet;

use super::Judgement;

/// How far a judge's votes hold in both orders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderCheck {
    /// The decisions with a vote in both orders.
    pub compared: BTreeSet<usize>,
    /// Those of them on which the vote changed with the order.
    pub flipped: BTreeSet<usize>,
}

impl Judgement {
    /// Compares the votes with those on the turned ballot, and takes away what changed with the order:
    /// an abstention. A decision without a vote in the other order cannot be compared, so that its vote
    /// counts.
    pub fn check_with(&mut self, turned: &Self) -> OrderCheck {
        let mut check = OrderCheck::default();
        let Self::Votes(votes) = self else { return check };
        for (number, vote) in &votes.votes {
            let Some(other) = turned.on(*number) else { continue };
            check.compared.insert(*number);
            if other.side != vote.side {
                check.flipped.insert(*number);
            }
        }
        for number in &check.flipped {
            votes.votes.remove(number);
            votes.repeated.remove(number);
        }
        votes.flipped.clone_from(&check.flipped);
        check
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Asked, read};
    use super::*;
    use crate::design::policy::Policy;
    use crate::design::voting_block::Reading;

    fn judged(answer: &str) -> Judgement {
        let on_ballot = BTreeSet::from([1, 2, 3]);
        let asked = Asked { on_ballot: &on_ballot, policy: Policy::Safe, reading: Reading::Plain };
        read(Some(answer), asked)
    }

    // P-388
    #[test]
    fn a_vote_that_changes_with_the_order_is_an_abstention() {
        let first = "DECISION_1: THESIS — a\nDECISION_2: THESIS — b\nDECISION_3: THESIS — c\n";
        let turned = "DECISION_2: ANTI_THESIS — b\nDECISION_1: THESIS — a\n";
        let mut judgement = judged(first);
        let check = judgement.check_with(&judged(turned));
        assert_eq!(check.compared, BTreeSet::from([1, 2]));
        assert_eq!(check.flipped, BTreeSet::from([2]));
        let counts = [1, 2, 3].map(|number| judgement.on(number).is_some());
        assert_eq!(counts, [true, false, true]);
        assert_eq!(judgement.warnings("Codex").len(), 1, "{:?}", judgement.warnings("Codex"));
    }

    #[test]
    fn an_unusable_answer_to_the_turned_ballot_changes_nothing() {
        for other in [Judgement::Ineligible, Judgement::Unparseable] {
            let mut judgement = judged("DECISION_1: THESIS — a\n");
            assert_eq!(judgement.check_with(&other), OrderCheck::default());
            assert!(judgement.on(1).is_some());
        }
        let mut failed = Judgement::Ineligible;
        failed.check_with(&judged("DECISION_1: THESIS — a\n"));
        assert_eq!(failed, Judgement::Ineligible, "only the first answer is a vote");
    }
}
