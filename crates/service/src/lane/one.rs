//! Runs one lane from beginning to end: its required reading, its kept files, its report.

use std::path::PathBuf;

use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::lane::substance::{Measure, substance};
use convoke_engine::lane::drive::LaneResult;
use convoke_engine::scratch;

use super::keep::{keep, make_ready};
use super::reading::Reading;
use super::report::LaneReport;
use super::tree::is_dirty;
use super::{
    LaneError, LaneRequest, LaneRun, OnProgress, ReadingReport, TreeWatching, lane_failed,
};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

/// One lane, with its reading and kept files.
pub struct OneLane<'a> {
    /// The lane; the required reading is added to its prompt.
    pub request: LaneRequest<'a>,
    /// Files that the agent has to read before it answers.
    pub reads: &'a [PathBuf],
    /// The folder that keeps the client's output.
    pub keep: Option<PathBuf>,
    /// Whether the answer is checked for substance.
    pub checks_substance: bool,
    /// Whether the working tree is watched.
    pub watch: TreeWatching,
}

/// One lane that is over.
pub struct FinishedLane {
    /// The run of the lane.
    pub run: LaneRun,
    /// The full report.
    pub report: LaneReport,
    /// The evidence of required reading.
    pub reading: Option<ReadingReport>,
    /// Why the client's output could not be kept.
    pub not_kept: Option<Failure>,
}

impl FinishedLane {
    /// Returns why the lane failed; `None` if it succeeded.
    pub fn class(&self) -> Option<ErrorClass> {
        let outcome = self.run.driven.outcome;
        let is_unread = self.reading.as_ref().is_some_and(|reading| !reading.unproven.is_empty());
        if is_dirty(self.run.tree.as_ref()) && outcome != LaneOutcome::Cancelled {
            Some(ErrorClass::TreeChanged)
        } else if self.report.substance.is_some() {
            Some(ErrorClass::NoAnswer)
        } else if is_unread {
            Some(ErrorClass::Refused)
        } else {
            ErrorClass::of_lane(outcome)
        }
    }
}

/// Runs one lane, passes on its progress, and returns its report.
pub fn run_one(
    session: &Session,
    lane: &OneLane<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<FinishedLane, Failure> {
    let LaneRequest { agent, prompt, .. } = lane.request;
    if prompt.trim().is_empty() {
        return Err(Failure::new(ErrorClass::Usage, LaneError::Blank));
    }
    let reading = Reading::find(lane.reads, agent)?;
    // An answer that was paid for must not be lost because it cannot be kept.
    lane.keep.as_deref().map_or(Ok(()), make_ready)?;
    let scratch = scratch::lane().map_err(lane_failed)?;
    let prompt = reading.prompt(prompt);
    let request = LaneRequest { prompt: &prompt, ..lane.request.clone() };
    let reporter = session.reporter();
    let run = request.run_told(session, scratch.path(), &reporter, lane.watch, on_progress)?;
    let kept = lane.keep.as_deref().map_or(Ok(()), |folder| keep(scratch.path(), folder));
    let is_answered = run.driven.outcome == LaneOutcome::Answered;
    let reading = is_answered.then(|| reading.proof(agent, scratch.path(), session)).flatten();
    let thin = thin(lane, &run.driven);
    let report = LaneReport::new(agent, &run, thin, reading.as_ref());
    Ok(FinishedLane { run, report, reading, not_kept: kept.err() })
}

fn thin(lane: &OneLane<'_>, driven: &LaneResult) -> Option<String> {
    let answer = driven.heard.answer().filter(|_| lane.checks_substance)?;
    substance(answer, Measure::Review).err().map(|thin| thin.to_string())
}
