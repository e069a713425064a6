//! Matters that a person can decide: those that the panel left undecided, and those that are
//! withheld from published files because they may concern security.

use std::fmt;

use super::finding::FindingId;
use super::quote;
use super::resolution::Disposition;
use super::tally::FindingVerdict;

/// Names a finding or a contested decision: `FINDING_2`, `OOS_1`, `DECISION_3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatterId {
    /// A decision that the sketches differed on, by its number.
    Decision(usize),
    /// A finding of the review.
    Finding(FindingId),
}

impl MatterId {
    /// Reads an id in any case, with nothing around it.
    pub fn parse(text: &str) -> Option<Self> {
        const DECISION: &str = "DECISION_";
        if let Some((id, "")) = FindingId::split(text) {
            return Some(Self::Finding(id));
        }
        let (start, number) = text.split_at_checked(DECISION.len())?;
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| is_number)?;
        start.eq_ignore_ascii_case(DECISION).then_some(Self::Decision(number))
    }
}

impl fmt::Display for MatterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decision(number) => write!(f, "DECISION_{number}"),
            Self::Finding(id) => id.fmt(f),
        }
    }
}

/// What a person decides. For a contested decision `Accept` keeps the synthesis's choice, and
/// `Reject` takes the alternative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulingChoice {
    /// The finding will be acted on.
    Accept,
    /// The finding will not be acted on.
    Reject,
}

impl RulingChoice {
    /// Both choices.
    pub const BOTH: [Self; 2] = [Self::Accept, Self::Reject];

    /// Returns the word that a person types.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
        }
    }

    /// Returns the word that says it was done.
    pub const fn past(self) -> &'static str {
        match self {
            Self::Accept => "accepted",
            Self::Reject => "rejected",
        }
    }

    /// Reads the word in any case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::BOTH.into_iter().find(|choice| choice.word().eq_ignore_ascii_case(word))
    }
}

/// A person's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// What the person decides: a finding or a decision of the panel.
    pub matter: MatterId,
    /// The person's choice.
    pub choice: RulingChoice,
    /// Why, in the person's words.
    pub because: String,
}

impl Ruling {
    /// Renders it on one line: `accepted by a person: the reason`.
    pub fn line(&self) -> String {
        format!("{} by a person: {}", self.choice.past(), quote::line(&self.because))
    }

    /// Returns the line that a person changed this decision before a run acted on it.
    pub fn changed_to(&self, later: &Self) -> String {
        let (id, now) = (self.matter, later.choice.past());
        let how = if self.choice == later.choice {
            format!("{now} for another reason")
        } else {
            format!("{now} instead of {}", self.choice.past())
        };
        format!("decision changed: {id} {how}; no agent had acted on the earlier decision")
    }
}

/// A panel's verdict on a matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatterVerdict {
    /// Voters decided on a finding, or could not.
    Finding(FindingVerdict),
    /// A contested decision was debated and judged, or was not.
    Decision(Disposition),
}

impl MatterVerdict {
    /// Returns the word: `accepted`, `tied`, `undecided`, `fallback-to-synthesis`…
    pub const fn word(self) -> &'static str {
        match self {
            Self::Finding(verdict) => verdict.word(),
            Self::Decision(disposition) => disposition.word(),
        }
    }
}

impl fmt::Display for MatterVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Something that a person can decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matter {
    /// The matter's id.
    pub id: MatterId,
    /// A short title.
    pub title: String,
    /// The matter in one line.
    pub text: String,
    /// The panel's verdict.
    pub panel: MatterVerdict,
    /// Why: the votes, or what kept judges from deciding.
    pub votes: String,
    /// Whether the panel decided it.
    pub is_decided: bool,
    /// Whether it is kept out of published files.
    pub is_withheld: bool,
    /// A person's last decision.
    pub ruling: Option<Ruling>,
    /// Whether the run has still to act on that.
    pub is_pending: bool,
}

impl Matter {
    /// Tells whether neither the panel nor a person decided it.
    pub const fn is_open(&self) -> bool {
        !self.is_decided && self.ruling.is_none()
    }

    /// Tells whether it counts as accepted now.
    pub fn is_accepted(&self) -> bool {
        match &self.ruling {
            Some(ruling) => ruling.choice == RulingChoice::Accept,
            None => self.panel == MatterVerdict::Finding(FindingVerdict::Accepted),
        }
    }
}

/// Whether a person may change an earlier decision of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revisiting {
    /// No.
    Refused,
    /// Yes.
    Allowed,
}

/// Why a person cannot decide a matter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotDecidable {
    /// The run has nothing of this name.
    #[error("cannot find `{0}` among the open findings and decisions")]
    Unknown(MatterId),
    /// The panel decided it.
    #[error("cannot decide `{matter}`: the panel decided it ({verdict})")]
    ByPanel {
        /// The matter's id.
        matter: MatterId,
        /// The panel's verdict.
        verdict: MatterVerdict,
    },
    /// A person decided it.
    #[error("cannot decide `{matter}` again: it was {line}")]
    ByPerson {
        /// The matter's id.
        matter: MatterId,
        /// The line that reports the decision.
        line: String,
    },
}

/// Finds a matter that a person may decide: an open one, or one that is withheld. A person's own
/// decision is changed only on purpose.
pub fn decidable(
    matters: &[Matter],
    id: MatterId,
    revisiting: Revisiting,
) -> Result<&Matter, NotDecidable> {
    let matter = matters.iter().find(|matter| matter.id == id);
    let matter = matter.ok_or(NotDecidable::Unknown(id))?;
    match &matter.ruling {
        Some(ruling) if revisiting == Revisiting::Refused => {
            Err(NotDecidable::ByPerson { matter: id, line: ruling.line() })
        }
        None if matter.is_decided && !matter.is_withheld => {
            Err(NotDecidable::ByPanel { matter: id, verdict: matter.panel })
        }
        Some(_) | None => Ok(matter),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matter(id: &str) -> Matter {
        Matter {
            id: MatterId::parse(id).unwrap(),
            title: "t".to_owned(),
            text: "x".to_owned(),
            panel: MatterVerdict::Finding(FindingVerdict::Tied),
            votes: "YES=1, NO=1, EXONERATE=0".to_owned(),
            is_decided: false,
            is_withheld: false,
            ruling: None,
            is_pending: false,
        }
    }

    #[test]
    fn an_id_is_a_whole_word() {
        for (text, expected) in [
            ("finding_2", Some("FINDING_2")),
            ("OOS_1", Some("OOS_1")),
            ("Decision_10", Some("DECISION_10")),
            ("FINDING_2x", None),
            ("DECISION_", None),
            ("DECISION_+1", None),
            ("DECISION_1 ", None),
            ("20260304-050607-abcde", None),
            ("\u{e9}", None),
        ] {
            let found = MatterId::parse(text).map(|id| id.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn only_open_or_withheld_matters_can_be_decided_once() {
        let open = matter("FINDING_1");
        let mut voted = matter("FINDING_2");
        voted.is_decided = true;
        let mut withheld = matter("OOS_1");
        (withheld.is_decided, withheld.is_withheld) = (true, true);
        let mut ruled = matter("DECISION_1");
        let because = "cheap\nand safe".to_owned();
        ruled.ruling = Some(Ruling { matter: ruled.id, choice: RulingChoice::Reject, because });
        let all = [open, voted, withheld, ruled];
        let found = |id: &str, revisiting| {
            let id = MatterId::parse(id).unwrap();
            decidable(&all, id, revisiting).map(|_| ()).map_err(|error| error.to_string())
        };
        let once = |id| found(id, Revisiting::Refused);
        assert_eq!((once("FINDING_1"), once("OOS_1")), (Ok(()), Ok(())));
        assert!(once("FINDING_9").unwrap_err().starts_with("cannot find `FINDING_9`"));
        assert!(once("FINDING_2").unwrap_err().contains("the panel decided it (tied)"));
        assert!(found("FINDING_2", Revisiting::Allowed).is_err());
        let twice = "cannot decide `DECISION_1` again: it was rejected by a person: cheap and safe";
        assert_eq!(once("DECISION_1"), Err(twice.to_owned()));
        assert_eq!(found("DECISION_1", Revisiting::Allowed), Ok(()));
        assert_eq!(all.iter().filter(|matter| matter.is_open()).count(), 1);
    }

    proptest! {
        #[test]
        fn any_text_can_be_asked_for_a_matter(text in "(FINDING|OOS|decision)_[0-9]{1,5}|\\PC*") {
            if let Some(id) = MatterId::parse(&text) {
                prop_assert_eq!(MatterId::parse(&id.to_string()), Some(id));
            }
        }
    }
}
