//! What a run came to: the artifacts of a design, or the report of a dispatch or lane.

use convoke_domain::run::RunId;
use serde::Serialize;
use serde_json::Value;

use super::BackgroundKind;
use super::answer::only_begun;
use super::attempt::Attempt;
use super::folder::{Folders, KeptRun};
use super::progress::no_run;
use crate::failure::{ErrorClass, Failure};
use crate::run::{design_progress, show_artifact};
use crate::session::Session;

/// The artifact of a lane that its user asked for.
const ANSWER: &str = "answer";

/// The whole report, as JSON.
const REPORT: &str = "report";

/// What the process said.
const MESSAGES: &str = "messages";

/// A text of a run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunOutputReport {
    /// The id of the run that made the artifact.
    pub run: String,
    /// The artifact's name.
    pub artifact: String,
    /// All of the artifact's content.
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
#[error("run {run} has no `{artifact}`")]
struct NoOutput {
    run: RunId,
    artifact: String,
}

/// Names what can be read of a dispatch or lane.
pub(super) fn names(kind: BackgroundKind, attempt: Option<&Attempt>) -> Vec<String> {
    let report = attempt.and_then(report);
    let answer =
        report.as_ref().filter(|_| kind == BackgroundKind::Lane).and_then(answer).map(|_| ANSWER);
    let report = report.as_ref().map(|_| REPORT);
    [answer, report, Some(MESSAGES)].into_iter().flatten().map(str::to_owned).collect()
}

fn report(attempt: &Attempt) -> Option<Value> {
    serde_json::from_str(&attempt.output()?).ok()
}

fn answer(report: &Value) -> Option<String> {
    report.get(ANSWER)?.as_str().map(str::to_owned)
}

/// Returns a text of a run: of a design the plan, of a lane its answer, of a dispatch its report,
/// unless another artifact is named.
pub fn run_output(
    session: &Session,
    run: &RunId,
    artifact: Option<&str>,
) -> Result<RunOutputReport, Failure> {
    let kept = Folders::of(session)?.find(run);
    let kind = kept.as_ref().map_or(BackgroundKind::Design, |kept| kept.request.kind);
    let attempt = kept.as_ref().and_then(KeptRun::last_attempt);
    let usual = match kind {
        BackgroundKind::Design => "plan",
        BackgroundKind::Lane => ANSWER,
        BackgroundKind::Dispatch => REPORT,
    };
    let name = artifact.unwrap_or(usual);
    if kind == BackgroundKind::Design && name != MESSAGES {
        let begins = attempt.as_ref().is_some_and(|attempt| attempt.goes_on(session.now()))
            && design_progress(session, run).is_err();
        if begins {
            return Err(only_begun(run));
        }
        let found = show_artifact(session, Some(run), name)?;
        let (run, artifact, text) = (found.run, found.artifact, found.text);
        return Ok(RunOutputReport { run, artifact, text });
    }
    let Some(attempt) = attempt else { return Err(no_run(run)) };
    let report = report(&attempt);
    let text = match name {
        ANSWER => report.as_ref().and_then(answer),
        REPORT => report.and_then(|report| serde_json::to_string_pretty(&report).ok()),
        MESSAGES => Some(attempt.messages()),
        _ => None,
    };
    let missing = || {
        let known = names(kind, Some(&attempt)).join(", ");
        let error = NoOutput { run: run.clone(), artifact: name.to_owned() };
        Failure::new(ErrorClass::Refused, error).hint(format!("there is: {known}"))
    };
    let text = text.ok_or_else(missing)?;
    Ok(RunOutputReport { run: run.to_string(), artifact: name.to_owned(), text })
}
