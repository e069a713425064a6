//! Reports on a run: its results, and its shown lines.

use convoke_domain::design::render;
use convoke_domain::run::RunId;

use super::artifact::artifact;
use super::known::KnownRun;
use super::list::{last_run, worked_on};
use super::matters::MattersReport;
use super::report::{
    ArtifactReport, ReplayReport, RulesReport, RunLaneReport, RunLineReport, RunShowReport,
};
use super::results::ResultsReport;
use crate::design::texts;
use crate::failure::Failure;
use crate::session::Session;

/// Opens the named run, or the last one.
pub(super) fn opened_run(session: &Session, run: Option<&RunId>) -> Result<KnownRun, Failure> {
    match run {
        Some(run) => KnownRun::open(session, run),
        None => KnownRun::open(session, &last_run(session)?),
    }
}

/// Opens the named run, or the last one, and warns if its journal was changed.
pub(super) fn named_run(session: &Session, run: Option<&RunId>) -> Result<KnownRun, Failure> {
    let known = opened_run(session, run)?;
    known.warn_if_changed(&session.reporter());
    Ok(known)
}

/// Shows the report on the named run, or the last one.
pub fn show_run(session: &Session, run: Option<&RunId>) -> Result<RunShowReport, Failure> {
    let known = named_run(session, run)?;
    let lanes = known.facts.ended();
    let settings = known.facts.settings().map(|(_, settings)| settings);
    let state = known.run.state.seen(&known.run.id, &worked_on(session));
    let voices = &known.progress.results.voices;
    let independence =
        settings.and_then(|settings| render::independence_in_short(voices, settings));
    Ok(RunShowReport {
        run: known.run.id.to_string(),
        state: state.name(),
        feature: known.run.feature.clone(),
        ending: known.ending(state),
        rules: RulesReport::new(&known.facts),
        degraded: known.degraded(),
        independence,
        matters: MattersReport::new(&known.progress),
        results: ResultsReport::new(&known.progress.results, settings),
        artifacts: texts(&known.artifacts()),
        lanes: lanes.iter().map(|(id, end)| RunLaneReport::new(id, end, settings)).collect(),
        cost: known.spending()?,
        is_rehearsal: known.is_rehearsal(),
        panel: settings.map(|settings| settings.panel.clone()),
    })
}

/// Returns one artifact of the named run, or of the last one, by its file's name or a shorter one.
pub fn show_artifact(
    session: &Session,
    run: Option<&RunId>,
    name: &str,
) -> Result<ArtifactReport, Failure> {
    artifact(&named_run(session, run)?, name)
}

/// Returns what the named run, or the last one, showed: from its journal, with no agent.
pub fn replay_run(session: &Session, run: Option<&RunId>) -> Result<ReplayReport, Failure> {
    let known = named_run(session, run)?;
    Ok(ReplayReport {
        run: known.run.id.to_string(),
        rules: RulesReport::new(&known.facts),
        lines: render::lines(&known.progress).iter().map(RunLineReport::new).collect(),
    })
}
