//! Step 3, first half: reviewers attack the plan, and what they find is put together.

use std::collections::BTreeMap;

use super::chair::{Flawed, Said, Task};
use super::docket::Review;
use super::interview::Scope;
use super::plan::Plan;
use super::seated::{Phase, Taken};
use super::sketches::{personality, reader};
use super::{Halt, Need, Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::ballot;
use crate::design::board::Table;
use crate::design::citation;
use crate::design::event::Boundary;
use crate::design::finding::Finding;
use crate::design::merge::{self, Raised};
use crate::design::outcome;
use crate::design::policy::Policy;
use crate::design::progress::{Saved, Shown, Step, unnumbered_warning};
use crate::design::prompt::{self, Reader};
use crate::design::review::{self, SecondThoughts, remarks, second_thoughts};
use crate::design::seat::Seat;
use crate::design::tally::{self, Voter};
use crate::lane::collected::CollectedStatus;

const MERGE: Task =
    Task { word: "merge", noun: "grouping of findings", form: prompt::GROUPS_SKELETON };

/// What the tally says when nobody reviewed.
const NOBODY_REVIEWED: &str = "No reviewer answered — the plan was not reviewed.\n";

/// A plan after its review.
pub(super) struct Reviewed {
    /// The plan, revised where findings were accepted.
    pub(super) plan: Plan,
    /// The findings that were accepted, as they are kept.
    pub(super) accepted: String,
    /// Their numbers.
    pub(super) accepted_numbers: Vec<usize>,
}

impl Walk<'_> {
    pub(super) fn review(&mut self, scope: &Scope, plan: Plan) -> Walked<Reviewed> {
        self.begin(Step::Review);
        let seats = self.settings.panel.reviewers(self.available);
        let feature = scope.with_answers();
        let policy = self.settings.policy;
        let phase = Phase {
            word: "review",
            noun: "review",
            table: Table::Reviewers,
            prompt: &|seat| asked(seat, &feature, &plan.text),
            flaw: &|answer| flaw(answer, policy),
            again: &|seat, answer, flaw| {
                prompt::review_again(&asked(seat, &feature, &plan.text), answer, flaw)
            },
            takes_beginnings: false,
        };
        let reviews = self.seated(&seats, &phase)?;
        self.tree(Boundary::Reviews)?;
        let mut findings = self.findings(&reviews)?;
        if findings.is_empty() {
            let nobody = reviews.is_empty();
            self.nothing_found(nobody);
            return Ok(Reviewed { plan, accepted: String::new(), accepted_numbers: Vec::new() });
        }
        self.mark_citations(&mut findings)?;
        let ballot = ballot::render(&findings, self.settings.policy.layout());
        self.file("ballot.txt", ballot.clone());
        self.file("proposer-map.tsv", ballot::proposer_map(&findings));
        let voters = self.votes(scope, &plan, &findings, &ballot)?;
        let reviewers: Vec<_> =
            reviews.iter().map(|it| self.settings.panel.attribution(&it.seat)).collect();
        self.decided(scope, plan, &findings, &voters, &reviewers)
    }

    /// Marks what findings cite and what does not exist. A run of an earlier version, in which voters
    /// were asked without, is told as it was.
    fn mark_citations(&mut self, findings: &mut [Finding]) -> Walked<()> {
        if let Some((at, missing)) = self.facts.citations() {
            self.at(at);
            citation::mark(findings, missing);
            return Ok(());
        }
        let cited = citation::of_findings(findings);
        let is_told = self.facts.is_step_asked("vote/") || self.facts.budget().is_some();
        if cited.is_empty() || is_told {
            return Ok(());
        }
        Err(Halt::Need(Need::Citations(cited)))
    }

    fn nothing_found(&mut self, nobody: bool) {
        let tally = if nobody { NOBODY_REVIEWED } else { tally::NO_FINDINGS };
        self.file("voting-tally.md", tally.to_owned());
        for name in ["accepted-plan-findings.md", "rejected-findings.md", "oos.md"] {
            self.file(name, String::new());
        }
        if nobody {
            self.warn(unnumbered_warning("Nobody reviewed the plan."));
        } else if self.settings.nested {
            let line = self.crumbs.saved(Saved::Tally, self.elapsed());
            self.say(line);
        } else {
            self.say(tally.trim_end());
        }
    }

    /// Puts what reviewers found together, and gives it ids. What only means the same is for the
    /// chair to see; if its groups are not used, everything stands by itself.
    fn findings(&mut self, reviews: &[Taken<'_>]) -> Walked<Vec<Finding>> {
        for review in reviews {
            let Some(found) = second_thoughts(review.answer) else { continue };
            let SecondThoughts { counted, passed_over } = found;
            let text = format!(
                "{} said NO_ISSUES_FOUND and went on: {counted} findings are taken, {passed_over} \
                 untagged entries are not.",
                review.seat.label
            );
            self.warn(unnumbered_warning(&text));
        }
        let panel = &self.settings.panel;
        let raised = reviews.iter().flat_map(|review| {
            let proposer = panel.attribution(&review.seat);
            let found = remarks(review.answer).unwrap_or_default();
            found.into_iter().map(move |remark| Raised { proposer: proposer.clone(), remark })
        });
        let groups = merge::distinct(raised.collect());
        if groups.len() < 2 {
            return Ok(merge::findings(groups));
        }
        let prompt = || prompt::merge(&merge::listing(&groups));
        let said = self.chair(MERGE, &prompt, &|answer| {
            let (spoken, _) = without_asides(answer);
            let flawed = |error: merge::BadProposal| Flawed::useless(vec![error.to_string()]);
            merge::merged(&groups, &spoken).map_err(flawed)
        })?;
        let groups = match said {
            Said::Well(merged) => {
                // Two may well be the same; that all of many are is more likely a slip.
                if merged.len() == 1 && groups.len() > 2 {
                    let text = format!(
                        "The chair put all {} findings together: there is one vote on all of them.",
                        groups.len()
                    );
                    self.warn(unnumbered_warning(&text));
                }
                merged
            }
            Said::Badly(Flawed { defects, .. }) => {
                self.chair_was_poor(MERGE, &defects);
                groups
            }
            Said::Nothing => groups,
        };
        Ok(merge::findings(groups))
    }

    /// Counts, says what came of it, and has the plan revised.
    fn decided(
        &mut self,
        scope: &Scope,
        plan: Plan,
        findings: &[Finding],
        voters: &[Voter],
        reviewers: &[String],
    ) -> Walked<Reviewed> {
        let policy = self.settings.policy;
        let tally = tally::tally(findings, voters, policy);
        if let Some(warning) = tally::too_few_voters(tally.eligible, policy) {
            self.warn(warning);
        }
        let review = Review {
            findings: findings.to_vec(),
            voters: voters.to_vec(),
            reviewers: reviewers.to_vec(),
            voted: tally.clone(),
            tally: tally.clone(),
            notes: BTreeMap::new(),
        };
        let report = review.report();
        self.docket.review = Some(review);
        self.review_files();
        if self.settings.nested {
            let line = self.crumbs.saved(Saved::Tally, self.elapsed());
            self.say(line);
        } else {
            self.say(report.trim_end());
        }
        let declined = outcome::out_of_scope_declined(findings, &tally);
        if !declined.is_empty() {
            self.publish(Shown::OutOfScope, None, &declined);
        }
        if outcome::all_rejected(findings, &tally) {
            self.say(outcome::ALL_REJECTED);
        }
        let to_revise = outcome::to_revise(findings, &tally);
        let before = plan.text.clone();
        let (plan, resolutions) = self.revised(scope, plan, &to_revise)?;
        let accepted = outcome::accepted(findings, &tally, &resolutions);
        if let Some(review) = &mut self.docket.review {
            review.notes = resolutions;
        }
        self.review_files();
        if !accepted.is_empty() {
            self.publish(Shown::Accepted, Some(Saved::Accepted), &accepted);
            if plan.text != before {
                self.publish(Shown::RevisedPlan, Some(Saved::RevisedPlan), &plan.text);
            }
        }
        let accepted_numbers = to_revise.iter().map(|it| it.id.number as usize).collect();
        Ok(Reviewed { plan, accepted, accepted_numbers })
    }
}

/// Says why a review is none.
fn flaw(answer: &str, policy: Policy) -> Option<(CollectedStatus, String)> {
    review::flaw(answer, policy).map(|flaw| (CollectedStatus::NotSubstantive, flaw))
}

/// What a reviewer is asked. The host has a form of its own when it sits in.
fn asked(seat: &Seat, feature: &str, plan: &str) -> String {
    match reader(seat) {
        Reader::Host => prompt::host_review(personality(seat), feature, plan),
        Reader::Vendor => prompt::review(personality(seat), feature, plan),
    }
}
