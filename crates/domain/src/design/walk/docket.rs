//! What the panel decided and left undecided, with what people have decided since.

use std::collections::BTreeMap;

use crate::design::decision::Decision;
use crate::design::facts::Ruled;
use crate::design::finding::{Finding, FindingId, Scope};
use crate::design::matter::{Choice, Matter, MatterId, Ruling};
use crate::design::outcome;
use crate::design::quote;
use crate::design::resolution::Resolution;
use crate::design::tally::{self, Counted, Tally, Verdict, Voter};

/// What a published file says instead of a reason that may be about security.
const WITHHELD: &str = "the reason is withheld";

/// Everything that can be decided in a design.
#[derive(Default)]
pub(super) struct Docket {
    pub(super) decisions: Vec<Decision>,
    pub(super) resolutions: Vec<Resolution>,
    pub(super) review: Option<Review>,
    /// The last decision of a person on each matter, as far as the run has acted on it.
    ruled: BTreeMap<MatterId, Ruling>,
    /// How many decisions of people the run has acted on.
    done: usize,
}

/// What holds of a matter before a decision on it.
pub(super) struct Standing {
    ruling: Option<Ruling>,
    /// How the plan was revised for it.
    note: Option<String>,
}

/// A review that came to votes.
pub(super) struct Review {
    pub(super) findings: Vec<Finding>,
    pub(super) voters: Vec<Voter>,
    pub(super) reviewers: Vec<String>,
    /// The panel's own tally.
    pub(super) voted: Tally,
    /// The same with what people decided.
    pub(super) tally: Tally,
    /// How the plan was revised for accepted findings.
    pub(super) notes: BTreeMap<FindingId, String>,
}

impl Review {
    /// Renders `voting-tally.md`. Points are for the panel's votes alone.
    pub(super) fn report(&self) -> String {
        let scores = tally::scores(&self.findings, &self.voted, &self.reviewers);
        let mut tally = self.tally.clone();
        for (finding, counted) in self.findings.iter().zip(&mut tally.items) {
            if outcome::is_held_back(finding) && counted.person.is_some() {
                counted.person = Some(WITHHELD.to_owned());
            }
        }
        tally::report(&tally, &scores)
    }

    /// Renders `accepted-plan-findings.md`.
    pub(super) fn accepted(&self) -> String {
        outcome::accepted(&self.findings, &self.tally, &self.notes)
    }

    fn rule(&mut self, id: FindingId, ruling: &Ruling) {
        let counted = self.tally.items.iter_mut().find(|counted| counted.id == id);
        let Some(counted) = counted else { return };
        counted.verdict = match ruling.choice {
            Choice::Accept => Verdict::Accepted,
            Choice::Reject => Verdict::Rejected,
        };
        counted.person = Some(ruling.because.clone());
    }
}

impl Docket {
    /// Takes in a person's decision, and returns the one before it.
    pub(super) fn rule(&mut self, ruling: &Ruling) -> Option<Ruling> {
        match ruling.matter {
            MatterId::Finding(id) => {
                if let Some(review) = &mut self.review {
                    review.rule(id, ruling);
                }
            }
            MatterId::Decision(number) => {
                let decision = number.checked_sub(1).and_then(|place| self.decisions.get(place));
                let entry = self.resolutions.iter_mut().find(|entry| entry.number == number);
                if let (Some(decision), Some(entry)) = (decision, entry) {
                    entry.rule(decision, ruling);
                }
            }
        }
        self.ruled.insert(ruling.matter, ruling.clone())
    }

    /// Returns what holds of a matter now.
    pub(super) fn standing(&self, id: MatterId) -> Standing {
        let note = match (id, &self.review) {
            (MatterId::Finding(id), Some(review)) => review.notes.get(&id).cloned(),
            _ => None,
        };
        Standing { ruling: self.ruled.get(&id).cloned(), note }
    }

    /// Forgets a decision that the run could not act on. The decision that changes it says what
    /// counts instead.
    pub(super) fn reinstate(&mut self, id: MatterId, before: Standing) {
        match before.ruling {
            Some(ruling) => self.ruled.insert(id, ruling),
            None => self.ruled.remove(&id),
        };
        if let (MatterId::Finding(id), Some(review)) = (id, &mut self.review) {
            match before.note {
                Some(note) => review.notes.insert(id, note),
                None => review.notes.remove(&id),
            };
        }
    }

    /// Keeps how the plan is revised for a finding.
    pub(super) fn note(&mut self, id: MatterId, note: &str) {
        if let (MatterId::Finding(id), Some(review)) = (id, &mut self.review) {
            review.notes.insert(id, note.to_owned());
        }
    }

    /// Says that the run has acted on one more decision.
    pub(super) const fn close(&mut self) {
        self.done += 1;
    }

    /// Says what the plan has to be revised for, unless a decision changes nothing in it.
    pub(super) fn task(&self, ruling: &Ruling, before: Option<&Ruling>) -> Option<String> {
        let before = before.map(|ruling| ruling.choice);
        let because = quote::line(&ruling.because);
        match ruling.matter {
            MatterId::Finding(id) if id.scope == Scope::In => {
                let findings = self.review.iter().flat_map(|review| &review.findings);
                let finding = findings.into_iter().find(|finding| finding.id == id)?;
                let listed = outcome::listing(&[finding]);
                match (before, ruling.choice) {
                    (Some(Choice::Reject) | None, Choice::Accept) => {
                        Some(format!("{listed}\nA person accepted it: {because}"))
                    }
                    (Some(Choice::Accept), Choice::Reject) => Some(format!(
                        "{listed}\nThe plan was revised for it. A person rejects it now: {because} \
                         Take back what the plan says because of it."
                    )),
                    (Some(Choice::Accept), Choice::Accept) | (_, Choice::Reject) => None,
                }
            }
            MatterId::Finding(_) => None,
            MatterId::Decision(number) => {
                let decision = self.decisions.get(number.checked_sub(1)?)?;
                let (chosen, other) = (&decision.chosen, &decision.alternative);
                let (taken, left) = match (before, ruling.choice) {
                    (Some(Choice::Accept) | None, Choice::Reject) => (other, chosen),
                    (Some(Choice::Reject), Choice::Accept) => (chosen, other),
                    (Some(Choice::Reject), Choice::Reject) | (_, Choice::Accept) => return None,
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
        let findings = self.review.iter().flat_map(|review| &review.findings);
        let mut withheld = findings.filter(|finding| outcome::is_held_back(finding));
        withheld.any(|finding| MatterId::Finding(finding.id) == id)
    }

    /// Lists what can be decided, with all decisions of people, also those not acted on yet.
    pub(super) fn matters(&self, rulings: &[Ruled]) -> Vec<Matter> {
        let decisions = self.resolutions.iter().filter(|entry| entry.is_open());
        let decisions = decisions.map(|entry| self.decision(entry));
        let review = self.review.iter();
        let findings = review.flat_map(|review| review.findings.iter().zip(&review.voted.items));
        let findings = findings.map(|(finding, counted)| of_finding(finding, counted));
        let mut matters: Vec<_> = decisions.chain(findings).collect();
        for (place, Ruled { ruling, .. }) in rulings.iter().enumerate() {
            let matter = matters.iter_mut().find(|matter| matter.id == ruling.matter);
            if let Some(matter) = matter {
                matter.ruling = Some(ruling.clone());
                matter.is_pending = place >= self.done;
            }
        }
        matters
    }

    fn decision(&self, entry: &Resolution) -> Matter {
        let decision = entry.number.checked_sub(1).and_then(|place| self.decisions.get(place));
        let text = decision.map(|decision| {
            let (chosen, other) =
                (quote::line(&decision.chosen), quote::line(&decision.alternative));
            format!("accept keeps \"{chosen}\", reject takes \"{other}\"")
        });
        Matter {
            id: MatterId::Decision(entry.number),
            title: entry.title.clone(),
            text: text.unwrap_or_default(),
            panel: entry.disposition().word().to_owned(),
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
        panel: counted.verdict.word().to_owned(),
        votes: counted.counts.to_string(),
        is_decided: counted.verdict.is_decided(),
        is_withheld: outcome::is_held_back(finding),
        ruling: None,
        is_pending: false,
    }
}
