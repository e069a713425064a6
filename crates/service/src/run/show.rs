//! Reports on a run: its results, and its shown lines.

use convoke_domain::design::render;
use convoke_domain::design::timeline::Timeline;
use convoke_domain::design::walk::{DesignEnding, Next};
use convoke_domain::run::{RunId, RunState};
use convoke_store::journal::Entry;

use super::artifact::artifact;
use super::evidence::RunEvidenceReport;
use super::known::KnownRun;
use super::list::{last_run, worked_on};
use super::matters::{MattersReport, RunKind};
use super::report::{
    ArtifactReport, ReplayReport, RulesReport, RunJournalReport, RunLaneReport, RunLineReport,
    RunShowReport,
};
use super::results::ResultsReport;
use super::spending::SpendingReport;
use super::state::RunStateReport;
use super::timeline::RunTimelineReport;
use crate::design::texts;
use crate::failure::Failure;
use crate::session::Session;
use crate::workspace::refused;

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
    let state = known.run.state.seen(&known.run.id, &worked_on(session, &*known.workspace.store));
    let cost = known.spending()?;
    let ending = known.ending(state);
    known.report(state.into(), ending, cost)
}

/// Shows the report on the named run, or the last one, as it was after an event, or now. All of it
/// follows from the journal: it has no cost of the ledger, and names no state of a process.
pub fn show_run_at(
    session: &Session,
    run: Option<&RunId>,
    at: Option<u64>,
) -> Result<RunShowReport, Failure> {
    let known = match run {
        Some(run) => KnownRun::open_at(session, run, at)?,
        None => KnownRun::open_at(session, &last_run(session)?, at)?,
    };
    let (state, ending) = match &known.progress.next {
        Next::Need(_) => {
            let ending = format!("unfinished at event {}", known.events.len());
            (RunStateReport::Unfinished, ending)
        }
        Next::End(DesignEnding::Refused(_)) => {
            (RunStateReport::Refused, known.ending(RunState::Refused))
        }
        Next::End(_) => (RunStateReport::Ended, known.ending(RunState::Ended)),
    };
    let cost = known.journal_spending();
    known.report(state, ending, cost)
}

impl KnownRun {
    /// Adds up what the journal has of its cost.
    fn journal_spending(&self) -> SpendingReport {
        let accepted = self.progress.results.accepted_findings() as u64;
        let kind = RunKind::of_facts(&self.facts);
        SpendingReport::journaled(&Timeline::of(&self.events), accepted, kind)
    }

    fn report(
        &self,
        state: RunStateReport,
        ending: String,
        cost: SpendingReport,
    ) -> Result<RunShowReport, Failure> {
        let lanes = self.facts.ended();
        let settings = self.facts.settings().map(|(_, settings)| settings);
        let voices = &self.progress.results.voices;
        Ok(RunShowReport {
            run: self.run.id.to_string(),
            state,
            feature: self.run.feature.clone(),
            request: settings.map(|settings| settings.feature.clone()),
            journal: self.journal_report()?,
            ending,
            rules: RulesReport::new(&self.facts),
            degraded: self.degraded(),
            warnings: render::warnings(&self.progress.warnings, settings),
            independence: settings
                .and_then(|settings| render::independence_in_short(voices, settings)),
            matters: MattersReport::new(&self.progress),
            results: ResultsReport::new(&self.progress.results, settings),
            evidence: RunEvidenceReport::new(&self.progress),
            artifacts: texts(&self.artifacts()),
            lanes: lanes.iter().map(|(id, end)| RunLaneReport::new(id, end, settings)).collect(),
            timeline: RunTimelineReport::new(&self.events),
            cost,
            journal_cost: self.journal_spending(),
            is_rehearsal: self.is_rehearsal(),
            panel: settings.map(|settings| settings.panel.clone()),
        })
    }

    fn journal_report(&self) -> Result<RunJournalReport, Failure> {
        let at = self.events.len() as u64;
        let mut hash = None;
        let mut hear = |entry: Entry| {
            if entry.seq == at {
                hash = Some(entry.chain);
            }
        };
        self.workspace.store.replay(&self.run.id, at, &mut hear).map_err(refused)?;
        Ok(RunJournalReport {
            events: self.event_count,
            at,
            hash: hash.unwrap_or_default(),
            state: self.integrity.into(),
            begun_ms: self.events.first().map(|stamped| stamped.at),
            at_ms: self.events.last().map(|stamped| stamped.at),
        })
    }
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
