//! The artifacts of a design: the results of its phases, file by file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::independence::independence;
use crate::design::ballot;
use crate::design::citation::{CitationBook, cited_in_plan};
use crate::design::decision;
use crate::design::design_file::DesignFile;
use crate::design::discussion;
use crate::design::event::Settings;
use crate::design::finding::Finding;
use crate::design::outcome;
use crate::design::outline::{DiagramResult, PhaseResults, ReviewResult, SuspectTree, VotedReview};
use crate::design::progress::Shown;
use crate::design::reading_order::ReadingOrder;
use crate::design::resolution;
use crate::design::tally as votes;

/// The tally's text if no reviewer answered.
const NOT_REVIEWED: &str = "No reviewer answered — the plan was not reviewed.\n";

/// The text that replaces a reason that may concern security in a published file.
const WITHHELD: &str = "the reason is withheld";

/// Renders every artifact that there is so far, by file name.
pub fn files(results: &PhaseResults, settings: &Settings) -> BTreeMap<String, Arc<str>> {
    let mut files = results.answers.clone();
    let mut put = |file: DesignFile, text: Arc<str>| files.insert(file.name().to_owned(), text);
    let PhaseResults { scope, synthesis, plan, review, .. } = results;
    if scope.is_interviewed {
        put(DesignFile::ScopeInterview, discussion::render(&scope.settled).into());
    }
    if let Some(synthesis) = synthesis {
        put(DesignFile::Synthesis, format!("{}\n", synthesis.text.trim_end()).into());
        put(DesignFile::Decisions, decision::render(&synthesis.decisions).into());
    }
    if let Some(ballot) = &results.judges_ballot {
        put(DesignFile::JudgesBallot, Arc::clone(ballot));
    }
    if let Some(resolutions) = &results.resolutions {
        put(DesignFile::Resolutions, resolution::render(resolutions).into());
    }
    if let Some(plan) = plan {
        put(DesignFile::Plan, Arc::clone(&plan.text));
        if let Some(places) = cited_in_plan(&results.citations, &plan.text) {
            put(DesignFile::CitedPlaces, places.into());
        }
    }
    for (name, text) in
        review.iter().flat_map(|review| of_review(review, &results.citations, settings))
    {
        put(name, text.into());
    }
    if let Some(settled) = &results.design_interview {
        put(DesignFile::DesignInterview, discussion::render(settled).into());
    }
    if let Some(DiagramResult::Drawn(fence)) = &results.diagram {
        let text = format!("{}\n\n{}\n", Shown::Diagram.header(), fence.trim_end());
        put(DesignFile::Diagram, text.into());
    }
    if results.is_independence_stated {
        put(DesignFile::Independence, independence(&results.voices, settings).into());
    }
    if let Some(SuspectTree { status, boundary }) = &results.tree {
        let stage = boundary.name();
        let status = status.name();
        let text = format!("STATUS={status}\nSTAGE={stage}\nRECOVERY_REQUIRED=true\n");
        put(DesignFile::SuspectTree, text.into());
    }
    files
}

/// Renders the files about findings.
fn of_review(
    review: &ReviewResult,
    citations: &CitationBook,
    settings: &Settings,
) -> Vec<(DesignFile, String)> {
    let on_ballot = |findings: &[Finding]| {
        vec![
            (
                DesignFile::Ballot,
                ballot::render(
                    findings,
                    settings.policy.layout(),
                    ReadingOrder::WRITTEN,
                    citations,
                ),
            ),
            (DesignFile::Proposers, ballot::proposer_map(findings)),
        ]
    };
    let empty = [DesignFile::Accepted, DesignFile::Rejected, DesignFile::OutOfScope];
    let empty = empty.map(|file| (file, String::new()));
    match review {
        ReviewResult::NotReviewed | ReviewResult::NothingFound => {
            let tally = (DesignFile::Tally, tally(review).into_owned());
            [tally].into_iter().chain(empty).collect()
        }
        ReviewResult::OnBallot(findings) => on_ballot(findings),
        ReviewResult::Voted(voted) => {
            let review = &**voted;
            let (findings, counted) = (&review.findings, &review.tally);
            let mut files = on_ballot(findings);
            files.extend([
                (DesignFile::Tally, counted_votes(review)),
                (DesignFile::Rejected, rejected_findings(review)),
                (DesignFile::OutOfScope, outcome::out_of_scope(findings, counted)),
                (DesignFile::Accepted, accepted_findings(review)),
            ]);
            let accepted = outcome::out_of_scope_accepted(findings, counted);
            let accepted = if settings.nested { accepted } else { String::new() };
            let sometimes = [
                (DesignFile::FiledOutOfScope, accepted),
                (DesignFile::Withheld, outcome::held_back(findings, counted)),
            ];
            files.extend(sometimes.into_iter().filter(|(_, text)| !text.is_empty()));
            files
        }
    }
}

/// Renders `voting-tally.md`; empty while voters have not decided.
pub(super) fn tally(review: &ReviewResult) -> Cow<'static, str> {
    match review {
        ReviewResult::NotReviewed => NOT_REVIEWED.into(),
        ReviewResult::NothingFound => votes::NO_FINDINGS.into(),
        ReviewResult::OnBallot(_) => "".into(),
        ReviewResult::Voted(review) => counted_votes(review).into(),
    }
}

/// Renders votes and scores. Points are for the panel's votes alone.
fn counted_votes(review: &VotedReview) -> String {
    let mut tally = review.tally.clone();
    for (finding, counted) in review.findings.iter().zip(&mut tally.items) {
        if outcome::is_held_back(finding) && counted.person.is_some() {
            counted.person = Some(WITHHELD.to_owned());
        }
    }
    votes::report(&tally, &review.scores())
}

/// Renders `accepted-plan-findings.md`.
pub(in crate::design) fn accepted_findings(review: &VotedReview) -> String {
    outcome::accepted(&review.findings, &review.tally, &review.notes)
}

/// Renders `rejected-findings.md`.
pub(super) fn rejected_findings(review: &VotedReview) -> String {
    outcome::rejected(&review.findings, &review.tally, &review.voters)
}
