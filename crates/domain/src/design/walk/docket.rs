//! The panel's decisions and undecided matters, with people's later decisions.

use crate::design::decision::Decision;
use crate::design::facts::RecordedRuling;
use crate::design::finding::{Finding, FindingId, FindingScope};
use crate::design::matter::{Matter, MatterId, MatterVerdict, Ruling, RulingChoice};
use crate::design::outcome;
use crate::design::outline::{PhaseResults, VotedReview};
use crate::design::quote;
use crate::design::resolution::Resolution;
use crate::design::tally::{Counted, FindingVerdict};

/// The state of a matter before a decision on it.
pub(super) struct EarlierRuling {
    ruling: Option<Ruling>,
    /// What the revision did about it.
    note: Option<String>,
}

/// Changes the verdict on a finding.
fn rule_finding(review: &mut VotedReview, id: FindingId, ruling: &Ruling) {
    let counted = review.tally.items.iter_mut().find(|counted| counted.id == id);
    let Some(counted) = counted else { return };
    counted.verdict = match ruling.choice {
        RulingChoice::Accept => FindingVerdict::Accepted,
        RulingChoice::Reject => FindingVerdict::Rejected,
    };
    counted.person = Some(ruling.because.clone());
}

impl PhaseResults {
    /// Takes in a person's decision, and returns the one before it.
    pub(super) fn rule(&mut self, ruling: &Ruling) -> Option<Ruling> {
        match ruling.matter {
            MatterId::Finding(id) => {
                if let Some(review) = self.voted_mut() {
                    rule_finding(review, id, ruling);
                }
            }
            MatterId::Decision(number) => {
                let decision = self.decision_at(number).cloned();
                let mut entries = self.resolutions.iter_mut().flatten();
                let entry = entries.find(|entry| entry.number == number);
                if let (Some(decision), Some(entry)) = (decision, entry) {
                    entry.rule(&decision, ruling);
                }
            }
        }
        self.rulings.ruled.insert(ruling.matter, ruling.clone())
    }

    /// Returns what holds of a matter now.
    pub(super) fn earlier_ruling(&self, id: MatterId) -> EarlierRuling {
        let note = match (id, self.voted()) {
            (MatterId::Finding(id), Some(review)) => review.notes.get(&id).cloned(),
            _ => None,
        };
        EarlierRuling { ruling: self.rulings.ruled.get(&id).cloned(), note }
    }

    /// Forgets a decision that the run could not act on. The decision that changes it counts
    /// instead.
    pub(super) fn reinstate(&mut self, id: MatterId, before: EarlierRuling) {
        match before.ruling {
            Some(ruling) => self.rulings.ruled.insert(id, ruling),
            None => self.rulings.ruled.remove(&id),
        };
        if let (MatterId::Finding(id), Some(review)) = (id, self.voted_mut()) {
            match before.note {
                Some(note) => review.notes.insert(id, note),
                None => review.notes.remove(&id),
            };
        }
    }

    /// Keeps how the plan is revised for a finding.
    pub(super) fn note(&mut self, id: MatterId, note: &str) {
        if let (MatterId::Finding(id), Some(review)) = (id, self.voted_mut()) {
            review.notes.insert(id, note.to_owned());
        }
    }

    /// Returns a contested decision by its number.
    fn decision_at(&self, number: usize) -> Option<&Decision> {
        self.decisions().get(number.checked_sub(1)?)
    }

    /// Returns the reason for revising the plan, unless a decision changes nothing in it.
    pub(super) fn task(&self, ruling: &Ruling, before: Option<&Ruling>) -> Option<String> {
        let before = before.map(|ruling| ruling.choice);
        let because = quote::line(&ruling.because);
        match ruling.matter {
            MatterId::Finding(id) if id.scope == FindingScope::In => {
                let mut findings = self.voted()?.findings.iter();
                let finding = findings.find(|finding| finding.id == id)?;
                let listed = outcome::listing(&[finding]);
                match (before, ruling.choice) {
                    (Some(RulingChoice::Reject) | None, RulingChoice::Accept) => {
                        Some(format!("{listed}\nA person accepted it: {because}"))
                    }
                    (Some(RulingChoice::Accept), RulingChoice::Reject) => Some(format!(
                        "{listed}\nThe plan was revised for it. A person rejects it now: {because} \
                         Take back what the plan says because of it."
                    )),
                    (Some(RulingChoice::Accept), RulingChoice::Accept)
                    | (_, RulingChoice::Reject) => None,
                }
            }
            MatterId::Finding(_) => None,
            MatterId::Decision(number) => {
                let decision = self.decision_at(number)?;
                let (chosen, other) = (&decision.chosen, &decision.alternative);
                let (taken, left) = match (before, ruling.choice) {
                    (Some(RulingChoice::Accept) | None, RulingChoice::Reject) => (other, chosen),
                    (Some(RulingChoice::Reject), RulingChoice::Accept) => (chosen, other),
                    (Some(RulingChoice::Reject), RulingChoice::Reject)
                    | (_, RulingChoice::Accept) => return None,
                };
                let title = quote::line(&decision.title);
                Some(format!(
                    "DECISION_{number}: {title}\nThe plan goes by: {}\nIt must go by: {}\nA person \
                     decided so: {because}",
                    quote::line(left),
                    quote::line(taken)
                ))
            }
        }
    }

    /// Tells whether a matter is kept out of published files.
    pub(super) fn is_withheld(&self, id: MatterId) -> bool {
        let findings = self.voted().into_iter().flat_map(|review| review.findings.iter());
        let mut withheld = findings.filter(|finding| outcome::is_held_back(finding));
        withheld.any(|finding| MatterId::Finding(finding.id) == id)
    }

    /// Lists what can be decided, with all decisions of people, also those not acted on yet.
    pub(super) fn matters(&self, rulings: &[RecordedRuling]) -> Vec<Matter> {
        let decisions = self.resolutions.iter().flatten().filter(|entry| entry.is_open());
        let decisions = decisions.map(|entry| self.contested_matter(entry));
        let review = self.voted().into_iter();
        let findings = review.flat_map(|review| review.findings.iter().zip(&review.voted.items));
        let findings = findings.map(|(finding, counted)| of_finding(finding, counted));
        let mut matters: Vec<_> = decisions.chain(findings).collect();
        for (place, RecordedRuling { ruling, .. }) in rulings.iter().enumerate() {
            let matter = matters.iter_mut().find(|matter| matter.id == ruling.matter);
            if let Some(matter) = matter {
                matter.ruling = Some(ruling.clone());
                matter.is_pending = place >= self.rulings.done;
            }
        }
        matters
    }

    fn contested_matter(&self, entry: &Resolution) -> Matter {
        let text = self.decision_at(entry.number).map(|decision| {
            let (chosen, other) =
                (quote::line(&decision.chosen), quote::line(&decision.alternative));
            format!("accept keeps \"{chosen}\", reject takes \"{other}\"")
        });
        Matter {
            id: MatterId::Decision(entry.number),
            title: entry.title.clone(),
            text: text.unwrap_or_default(),
            panel: MatterVerdict::Decision(entry.disposition()),
            votes: entry.why().clone(),
            is_decided: false,
            is_withheld: false,
            ruling: None,
            is_pending: false,
        }
    }
}

fn of_finding(finding: &Finding, counted: &Counted) -> Matter {
    Matter {
        id: MatterId::Finding(finding.id),
        title: quote::line(&finding.remark.title),
        text: quote::line(&outcome::concern(finding)),
        panel: MatterVerdict::Finding(counted.verdict),
        votes: counted.counts.to_string(),
        is_decided: counted.verdict.is_decided(),
        is_withheld: outcome::is_held_back(finding),
        ruling: None,
        is_pending: false,
    }
}
