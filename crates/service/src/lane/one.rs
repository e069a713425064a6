//! Runs one lane from beginning to end: its required reading, its kept files, its report.

use std::path::PathBuf;

use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::lane::substance::{Measure, substance};
use convoke_engine::scratch;

use super::keep::{keep, make_ready};
use super::reading::Reading;
use super::report::LaneReport;
use super::{LaneError, LaneRequest, LaneRun, OnProgress, lane_failed};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::telemetry::{TracedWork, traced};

/// What [`run_one`] checks of a lane, and what it keeps.
#[derive(Debug, Clone, Default)]
pub struct LaneChecks<'a> {
    /// Files that the agent has to read before it answers; the prompt names them.
    pub reads: &'a [PathBuf],
    /// The folder that keeps the client's output.
    pub keep: Option<PathBuf>,
    /// Whether the answer is checked for substance.
    pub checks_substance: bool,
}

/// Refuses a prompt without words.
pub fn must_be_filled(prompt: &str) -> Result<(), Failure> {
    if prompt.trim().is_empty() {
        return Err(Failure::new(ErrorClass::Usage, LaneError::Blank));
    }
    Ok(())
}

/// Runs one lane, passes on its progress, and returns its report.
pub fn run_one(
    session: &Session,
    request: &LaneRequest<'_>,
    checks: &LaneChecks<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<LaneReport, Failure> {
    let run = |session: &Session| run_checked(session, request, checks, on_progress);
    traced(session, TracedWork::lane(session), run, LaneReport::class)
}

fn run_checked(
    session: &Session,
    request: &LaneRequest<'_>,
    checks: &LaneChecks<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<LaneReport, Failure> {
    let LaneRequest { agent, prompt, .. } = *request;
    must_be_filled(prompt)?;
    let reading = Reading::find(checks.reads, agent)?;
    // An answer that was paid for must not be lost because it cannot be kept.
    checks.keep.as_deref().map_or(Ok(()), make_ready)?;
    let scratch = scratch::lane().map_err(lane_failed)?;
    let prompt = reading.prompt(prompt);
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let kept_in = checks.keep.as_ref().map(|path| absolute(path).display().to_string());
    let request = LaneRequest { prompt: &prompt, kept_in, ..request.clone() };
    let reporter = session.reporter();
    let run = request.run_with_progress(session, scratch.path(), &reporter, on_progress)?;
    let kept = checks.keep.as_deref().map_or(Ok(()), |folder| keep(scratch.path(), folder));
    let is_answered = run.transcript.outcome == LaneOutcome::Answered;
    let reading = is_answered.then(|| reading.proof(agent, scratch.path(), session)).flatten();
    let thin = thin(checks, &run);
    Ok(LaneReport::new(agent, run, thin, reading, kept.err()))
}

fn thin(checks: &LaneChecks<'_>, run: &LaneRun) -> Option<String> {
    let answer = run.transcript.output.answer().filter(|_| checks.checks_substance)?;
    substance(answer, Measure::Review).err().map(|thin| thin.to_string())
}
