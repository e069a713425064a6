//! A dispatch's records about tasks: the dispatched role, and its verdict.

use convoke_domain::dispatch::role::{DispatchRole, Noun, RoleName};
use convoke_domain::task::deed::{DeedKind, DeedRole};
use convoke_domain::task::id::TaskId;
use convoke_store::deed::NewDeed;
use convoke_store::error::StoreError;

use super::judge::Judged;
use super::report::AnswerCheckReport;
use super::run::Judgement;
use crate::failure::{Failure, with_causes};
use crate::observer::Reporter;
use crate::session::Session;
use crate::workspace::{Workspace, refused, speaker};

/// One dispatch of a role, and the stored task that it is about.
pub(super) struct Dispatched<'a> {
    pub(super) session: &'a Session,
    pub(super) workspace: &'a Workspace,
    pub(super) role: &'a RoleName,
    pub(super) task: Option<&'a TaskId>,
}

impl Dispatched<'_> {
    /// Refuses a missing task, before any cost.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let Some(task) = self.task else { return Ok(()) };
        let Workspace { store, scope } = self.workspace;
        let found = store.task(scope, task).map_err(refused)?;
        found.map(drop).ok_or_else(|| refused(StoreError::NoTask { id: task.clone() }))
    }

    /// Records that the role was sent, to work or to judge. A dispatch is not worth less because it
    /// cannot be recorded.
    pub(super) fn record_start(&self, kind: DeedKind, reporter: &Reporter) {
        let recorded = match self.task {
            Some(task) => self.record(task, kind, None, None),
            None => self.record_event(),
        };
        warn(recorded, reporter);
    }

    /// Records what a reviewer found, or that it reached no verdict.
    pub(super) fn record_end(
        &self,
        kind: DeedKind,
        judgement: &Judgement,
        run: &str,
        reporter: &Reporter,
    ) {
        let outcome = || judgement.ran.transcript.outcome.name().to_owned();
        let none = || Some((DeedKind::NoVerdict, Some(outcome())));
        let found = match &judgement.judged {
            Some(judged) => verdict(judged),
            None if kind == DeedKind::Dispatched => none(),
            None => None,
        };
        if let Some((task, (kind, reason))) = self.task.zip(found) {
            warn(self.record(task, kind, reason.as_deref(), Some(run)), reporter);
        }
    }

    fn record(
        &self,
        task: &TaskId,
        kind: DeedKind,
        reason: Option<&str>,
        run: Option<&str>,
    ) -> Result<(), Failure> {
        let Workspace { store, scope } = self.workspace;
        let Ok(role) = DeedRole::parse(&self.role.to_string()) else {
            return self.record_event();
        };
        let actor = speaker(None, self.session)?;
        let deed =
            NewDeed { task, kind, role: &role, actor: &actor, reason, message_id: None, run };
        store.record_deed(scope, &deed, self.session.now()).map(drop).map_err(refused)
    }

    fn record_event(&self) -> Result<(), Failure> {
        let Workspace { store, scope } = self.workspace;
        let actor = speaker(None, self.session)?;
        let deed = format!("dispatched {} subagent", self.role);
        store.record_event(scope, &actor, &deed, self.session.now()).map_err(refused)
    }
}

/// Records that a role was sent whose prompt needs no store. Without a store, it warns the user.
pub(super) fn record_prompt(session: &Session, role: &RoleName, kind: DeedKind) {
    let reporter = session.reporter();
    match Workspace::open(session, None) {
        Ok(workspace) => Dispatched { session, workspace: &workspace, role, task: None }
            .record_start(kind, &reporter),
        Err(failure) => warn(Err(failure), &reporter),
    }
}

/// Tells whether a role is sent to judge or to work.
pub(super) fn kind_of(role: &DispatchRole) -> DeedKind {
    match role.noun {
        Noun::Review => DeedKind::Dispatched,
        Noun::Work => DeedKind::Work,
    }
}

/// Returns the verdict of an answer; `None` where the role gives none. Only a clear one is a
/// verdict.
fn verdict(judged: &Judged) -> Option<(DeedKind, Option<String>)> {
    match judged.report.verdict? {
        "PASS" => Some((DeedKind::Pass, unproven_reads(&judged.report))),
        "FAIL" => Some((DeedKind::Fail, None)),
        other => Some((DeedKind::NoVerdict, Some(other.to_owned()))),
    }
}

/// Says with a pass which files the reviewer is not known to have read, so that those who act on it
/// can tell it from one with proof.
fn unproven_reads(report: &AnswerCheckReport) -> Option<String> {
    let files = &report.not_proven;
    (!files.is_empty())
        .then(|| format!("unproven: no record shows that it read {}", files.join(", ")))
}

fn warn(recorded: Result<(), Failure>, reporter: &Reporter) {
    if let Err(failure) = recorded {
        let why = with_causes(failure.error.as_ref());
        reporter.warn(format!("the dispatch is not recorded: {why}"));
    }
}
