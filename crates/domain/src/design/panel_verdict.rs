//! What a panel decided, as a run records it at its end.

use std::fmt;

use super::matter::MatterId;
use super::resolution::Disposition;
use super::seat::Side;
use super::tally::FindingVerdict;

/// A panel's verdict on a finding or a contested decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelVerdict {
    /// The finding or decision that the verdict is about.
    pub matter: MatterId,
    /// What the panel decided about it.
    pub result: PanelResult,
}

/// What a panel decided about a matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelResult {
    /// The voters counted a finding so.
    Finding(FindingVerdict),
    /// The judges chose this side of a decision.
    Side(Side),
    /// The judges did not vote on a decision.
    Unvoted(Disposition),
    /// The word of a journal whose program knew other results.
    Word(String),
}

impl PanelResult {
    /// Reads the word for a result on a matter. Only a result of another program has a word that this one
    /// does not know.
    pub fn parse(matter: MatterId, word: &str) -> Self {
        let known = match matter {
            MatterId::Finding(_) => FindingVerdict::parse(word).map(Self::Finding),
            MatterId::Decision(_) => {
                let side = Side::BOTH.into_iter().find(|side| side.word() == word);
                let unvoted = Disposition::ALL.into_iter().find(|ending| ending.word() == word);
                side.map(Self::Side).or(unvoted.map(Self::Unvoted))
            }
        };
        known.unwrap_or_else(|| Self::Word(word.to_owned()))
    }

    /// Returns the word: `accepted`, `tied`, `thesis`…
    pub fn word(&self) -> &str {
        match self {
            Self::Finding(verdict) => verdict.word(),
            Self::Side(side) => side.word(),
            Self::Unvoted(disposition) => disposition.word(),
            Self::Word(word) => word,
        }
    }
}

impl fmt::Display for PanelResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_read_from_its_word_by_the_kind_of_matter() {
        let (finding, decision) = ("FINDING_1", "DECISION_1");
        let parsed = |id: &str, word: &str| PanelResult::parse(MatterId::parse(id).unwrap(), word);
        for verdict in FindingVerdict::ALL {
            assert_eq!(parsed(finding, verdict.word()), PanelResult::Finding(verdict));
        }
        for side in Side::BOTH {
            assert_eq!(parsed(decision, side.word()), PanelResult::Side(side));
        }
        for ending in Disposition::ALL {
            assert_eq!(parsed(decision, ending.word()), PanelResult::Unvoted(ending));
        }
        for (id, word) in
            [(finding, "thesis"), (decision, "accepted"), (decision, ""), (finding, "x y")]
        {
            assert_eq!(parsed(id, word), PanelResult::Word(word.to_owned()));
            assert_eq!(parsed(id, word).word(), word);
        }
    }
}
