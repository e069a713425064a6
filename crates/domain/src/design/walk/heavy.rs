//! The heavy part of a design, run by a worker process: nothing is shown until the worker ends,
//! then its results.

use super::phases::Passage;
use super::{DesignEnding, Halt, Walk, Walked};
use crate::design::facts::FinishedWorker;
use crate::design::heavy::WorkerResult;
use crate::design::notice::{DesignNote, Notice, ToldArtifact};
use crate::design::outline::{DiagramResult, ReviewResult, VotedReview};
use crate::design::progress::Step;

/// From here on a worker process continues, if the request says so. Failures of earlier workers
/// stay visible.
pub(super) fn begin(walk: &mut Walk<'_>) {
    if !walk.settings.is_heavy() {
        return;
    }
    let facts = walk.facts;
    for FinishedWorker { at, worked, folder, warnings } in facts.workers() {
        walk.state.at(*at);
        let WorkerResult::Failed(reason) = worked else { continue };
        let (why, folder) = (reason.as_str().to_owned(), folder.clone());
        walk.note(DesignNote::WorkerFailed { why, folder });
        walk.tell(Notice::StepBegins { step: Step::Cleanup, with: None });
        for warning in warnings {
            walk.tell(Notice::Reminder(warning.clone()));
        }
    }
    walk.state.is_heavy = true;
}

/// Ends the heavy part before the interview about the plan.
pub(super) fn end_before_interview(walk: &mut Walk<'_>) -> Walked<Passage> {
    if walk.settings.auto { Ok(Passage::On) } else { end(walk) }
}

/// Ends the heavy part: all its results are there, if a worker had it.
pub(super) fn end(walk: &mut Walk<'_>) -> Walked<Passage> {
    if !std::mem::take(&mut walk.state.is_heavy) {
        return Ok(Passage::On);
    }
    if let Some(why) = walk.facts.worker_failure() {
        return Err(Halt::End(DesignEnding::HeavyFailed(why.clone())));
    }
    if !walk.settings.nested {
        show_artifacts(walk);
    }
    Ok(Passage::On)
}

fn show_artifacts(walk: &mut Walk<'_>) {
    let results = walk.state.results.clone();
    let review = results.voted_review();
    let plan = results.plan.filter(|plan| !plan.text.trim().is_empty());
    let tally = results.review.filter(|review| !matches!(review, ReviewResult::OnBallot(_)));
    let with = |has: fn(&VotedReview) -> bool| review.clone().filter(|review| has(review));
    let artifacts = [
        plan.map(ToldArtifact::Plan),
        tally.map(ToldArtifact::Tally),
        with(|review| !review.accepted().is_empty()).map(ToldArtifact::Accepted),
        with(VotedReview::has_observations).map(ToldArtifact::OutOfScope),
    ];
    for artifact in artifacts.into_iter().flatten() {
        walk.show(artifact);
    }
    if !walk.settings.auto {
        return;
    }
    match results.diagram {
        Some(DiagramResult::Drawn(fence)) => walk.show(ToldArtifact::Diagram(fence)),
        Some(DiagramResult::Rejected) => {
            walk.note(DesignNote::DiagramRejected);
        }
        Some(DiagramResult::Missing) | None => walk.note(DesignNote::DiagramMissing),
    }
    match with(VotedReview::has_rejected) {
        Some(review) => walk.show(ToldArtifact::Rejected(review)),
        None => walk.note(DesignNote::NothingRejected),
    }
}
