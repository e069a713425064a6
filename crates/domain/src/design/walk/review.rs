//! Step 3, first half: reviewers attack the plan, and what they find is put together.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::chair::{Flawed, Said, Task};
use super::phases::Passage;
use super::plan::revise;
use super::seated::{SeatedPhase, Taken};
use super::sketches::{personality, reader};
use super::votes::votes;
use super::{Halt, Need, Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::board::Table;
use crate::design::citation::{self, CitedIn};
use crate::design::event::Boundary;
use crate::design::finding::Finding;
use crate::design::lane_id::{ChairTask, LaneKind};
use crate::design::merge::{self, RaisedRemark};
use crate::design::notice::{DesignNote, Notice, ToldArtifact};
use crate::design::outcome;
use crate::design::outline::{DesignPlan, PhaseResults, ReviewResult, VotedReview};
use crate::design::policy::Policy;
use crate::design::progress::{Saved, Step};
use crate::design::prompt::{self, Reader};
use crate::design::review::{self, SecondThoughts, remarks, second_thoughts};
use crate::design::rules::RulesVersion;
use crate::design::seat::Seat;
use crate::design::tally::{self, Voter};
use crate::design::warning::ReviewWarning;
use crate::lane::collected::CollectedStatus;

const MERGE: Task =
    Task { word: ChairTask::Merge, noun: "grouping of findings", form: prompt::GROUPS_SKELETON };

pub(super) fn review(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Review);
    let PhaseResults { scope, plan, .. } = walk.state.results.clone();
    let plan = plan.unwrap_or_default();
    let seats = walk.settings.panel.reviewers(walk.state.roster.available);
    let feature = scope.with_answers();
    let (policy, rules) = (walk.settings.policy, walk.facts.rules());
    let phase = SeatedPhase {
        kind: LaneKind::Review,
        noun: "review",
        table: Table::Reviewers,
        prompt: &|seat| asked(seat, &feature, &plan.text),
        flaw: &|answer| flaw(answer, policy, rules),
        again: &|seat, answer, flaw| {
            prompt::review_again(&asked(seat, &feature, &plan.text), answer, flaw)
        },
        takes_beginnings: false,
    };
    let reviews = walk.seated(&seats, &phase)?;
    walk.check_tree(Boundary::Reviews)?;
    let mut findings = findings(walk, &reviews)?;
    if findings.is_empty() {
        nothing_found(walk, &reviews);
        return Ok(Passage::On);
    }
    mark_citations(walk, &mut findings)?;
    let findings: Arc<[Finding]> = findings.into();
    walk.results().review = Some(ReviewResult::OnBallot(Arc::clone(&findings)));
    let voters = votes(walk, &findings)?;
    let panel = &walk.settings.panel;
    let reviewers = reviews.iter().map(|review| panel.attribution(&review.seat)).collect();
    decide(walk, plan, findings, voters, reviewers)
}

/// Looks up what findings cite. Under the earlier rule it marks those that do not exist; a run of an
/// earlier version, whose voters saw no marks, is rendered without them.
fn mark_citations(walk: &mut Walk<'_>, findings: &mut [Finding]) -> Walked<()> {
    if walk.settings.citation_rule.shows_verdicts() {
        let texts: Vec<_> = findings.iter().map(citation::text_of).collect();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        return walk.look_up(CitedIn::Findings, &texts);
    }
    if let Some((at, missing)) = walk.facts.citations() {
        walk.state.at(at);
        citation::mark(findings, missing);
        return Ok(());
    }
    let cited = citation::of_findings(findings);
    let is_told = walk.facts.has_started(LaneKind::Vote) || walk.facts.budget().is_some();
    if cited.is_empty() || is_told {
        return Ok(());
    }
    Err(Halt::Need(Need::Citations(cited)))
}

fn nothing_found(walk: &mut Walk<'_>, reviews: &[Taken<'_>]) {
    let is_reviewed = !reviews.is_empty();
    let result = if is_reviewed { ReviewResult::NothingFound } else { ReviewResult::NotReviewed };
    if !is_reviewed {
        walk.warn(ReviewWarning::NotReviewed);
    } else if walk.settings.nested {
        walk.saved(Saved::Tally);
    } else {
        walk.tell(Notice::Tally(result.clone()));
    }
    walk.results().review = Some(result);
}

/// Puts what reviewers found together, and gives it ids. What only means the same is for the
/// chair to see; if its groups are not used, every finding is a group of its own.
fn findings(walk: &mut Walk<'_>, reviews: &[Taken<'_>]) -> Walked<Vec<Finding>> {
    for review in reviews {
        let Some(found) = second_thoughts(review.answer) else { continue };
        let SecondThoughts { counted, passed_over } = found;
        let seat = review.seat.label.clone();
        walk.warn(ReviewWarning::SecondThoughts { seat, counted, passed_over });
    }
    let panel = &walk.settings.panel;
    let raised = reviews.iter().flat_map(|review| {
        let proposer = panel.attribution(&review.seat);
        let found = remarks(review.answer).unwrap_or_default();
        found.into_iter().map(move |remark| RaisedRemark { proposer: proposer.clone(), remark })
    });
    let groups = merge::distinct(raised.collect());
    if groups.len() < 2 {
        return Ok(merge::findings(groups));
    }
    let prompt = || prompt::merge(&merge::listing(&groups));
    let said = walk.chair(MERGE, &prompt, &|answer| {
        let (spoken, _) = without_asides(answer);
        let flawed = |error: merge::BadProposal| Flawed::useless(vec![error.to_string()]);
        merge::merged(&groups, &spoken).map_err(flawed)
    })?;
    let groups = match said {
        Said::Well(merged) => {
            // Two may well be the same; that all of many are is more likely a slip.
            if merged.len() == 1 && groups.len() > 2 {
                walk.warn(ReviewWarning::OneGroup { findings: groups.len() });
            }
            merged
        }
        Said::Badly(Flawed { defects, .. }) => {
            walk.chair_was_poor(MERGE, &defects);
            groups
        }
        Said::Nothing => groups,
    };
    Ok(merge::findings(groups))
}

/// Counts the votes, reports the result, and has the plan revised.
fn decide(
    walk: &mut Walk<'_>,
    plan: DesignPlan,
    findings: Arc<[Finding]>,
    voters: Vec<Voter>,
    reviewers: Vec<String>,
) -> Walked<Passage> {
    let policy = walk.settings.policy;
    let tally = tally::tally(&findings, &voters, policy);
    if tally::has_too_few_voters(tally.eligible) {
        walk.warn(ReviewWarning::TooFewVoters { eligible: tally.eligible, policy });
    }
    let voted = tally.clone();
    let notes = BTreeMap::new();
    let mut review = Arc::new(VotedReview { findings, voters, reviewers, voted, tally, notes });
    let result = ReviewResult::Voted(Arc::clone(&review));
    walk.results().review = Some(result.clone());
    if walk.settings.nested {
        walk.saved(Saved::Tally);
    } else {
        walk.tell(Notice::Tally(result));
    }
    if review.has_declined() {
        walk.show(ToldArtifact::Declined(Arc::clone(&review)));
    }
    if outcome::all_rejected(&review.findings, &review.tally) {
        walk.note(DesignNote::AllRejected);
    }
    let before = plan.text.clone();
    let (plan, notes) = revise(walk, plan, &review.accepted())?;
    Arc::make_mut(&mut review).notes = notes;
    walk.results().review = Some(ReviewResult::Voted(Arc::clone(&review)));
    if !review.accepted().is_empty() {
        walk.publish(ToldArtifact::Accepted(review), Saved::Accepted);
        if plan.text != before {
            walk.publish(ToldArtifact::RevisedPlan(plan), Saved::RevisedPlan);
        }
    }
    Ok(Passage::On)
}

/// Returns why an answer is no review.
fn flaw(answer: &str, policy: Policy, rules: RulesVersion) -> Option<(CollectedStatus, String)> {
    review::flaw(answer, policy, rules).map(|flaw| (CollectedStatus::NotSubstantive, flaw))
}

/// Returns a reviewer's prompt. The host has its own form when it replaces a reviewer.
fn asked(seat: &Seat, feature: &str, plan: &str) -> String {
    match reader(seat) {
        Reader::Host => prompt::host_review(personality(seat), feature, plan),
        Reader::Vendor => prompt::review(personality(seat), feature, plan),
    }
}
