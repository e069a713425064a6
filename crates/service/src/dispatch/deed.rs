//! A dispatch's records about tasks: the dispatched role, and its verdict.

use convoke_domain::dispatch::role::{DispatchRole, Noun, RoleName};
use convoke_domain::pin::before_prompt;
use convoke_domain::task::deed::{DeedKind, DeedRole};
use convoke_domain::task::id::TaskId;
use convoke_store::deed::NewDeed;
use convoke_store::error::StoreError;
use convoke_store::task::ActivePlan;

use super::judge::Judged;
use super::report::AnswerCheckReport;
use super::run::Judgement;
use crate::failure::{Failure, with_causes};
use crate::lane::{PinnedRules, pins_in_force};
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

/// A verdict, and the reason that is recorded with it.
type FoundVerdict = (DeedKind, Option<String>);

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
        match &judgement.judged {
            Some(judged) => self.record_verdict(judged, run, reporter),
            None if kind == DeedKind::Dispatched => {
                let outcome = judgement.ran.transcript.outcome.name().to_owned();
                self.record_found((DeedKind::NoVerdict, Some(outcome)), run, reporter);
            }
            None => {}
        }
    }

    /// Records the verdict of an answer, if the role gives one.
    pub(super) fn record_verdict(&self, judged: &Judged, run: &str, reporter: &Reporter) {
        if let Some(found) = verdict(judged) {
            self.record_found(found, run, reporter);
        }
    }

    fn record_found(&self, found: FoundVerdict, run: &str, reporter: &Reporter) {
        let (kind, reason) = found;
        if let Some(task) = self.task {
            warn(self.record(task, kind, reason.as_deref(), Some(run)), reporter);
        }
    }

    /// Says that no task has the verdict of this answer, which command records it, and which flag
    /// records the next one: wake-ups go by recorded verdicts alone. Without an open task there is
    /// nothing to record it with, and no task is guessed.
    pub(super) fn note_unrecorded(&self, judged: &Judged, flag: &str, reporter: &Reporter) {
        let command = match verdict(judged) {
            Some((DeedKind::Pass, _)) => "convoke task pass ID",
            Some((DeedKind::Fail, _)) => "convoke task fail ID",
            Some(_) | None => return,
        };
        if self.task.is_none() && has_open_tasks(self.workspace) {
            reporter.remark(format!(
                "no task records this verdict; `{command} --by {}` records it, and `{flag} ID` \
                 records the next one as it comes",
                self.role
            ));
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

/// What goes with a prompt that the user gives to an agent by hand.
#[derive(Debug, Clone)]
pub struct PromptHandover {
    /// Whether the user's rules go before the prompt.
    pub rules: PinnedRules,
    /// The stored task that the role is sent to.
    pub stored_task: Option<TaskId>,
}

/// A prompt that the user gives to an agent by hand.
pub(super) struct PrintedPrompt<'a> {
    pub(super) session: &'a Session,
    pub(super) role: &'a RoleName,
    pub(super) kind: DeedKind,
    pub(super) handover: &'a PromptHandover,
}

impl PrintedPrompt<'_> {
    /// Records that the role was sent, and returns the prompt as it is printed. The prompt itself
    /// needs no store; without one, it warns the user of what is missing. A task that is named and
    /// missing is refused.
    pub(super) fn finish(&self, prompt: &str) -> Result<String, Failure> {
        let PrintedPrompt { session, role, kind, handover } = *self;
        let PromptHandover { rules, stored_task } = handover;
        let (reporter, task) = (session.reporter(), stored_task.as_ref());
        let workspace = match Workspace::open(session, None) {
            Ok(workspace) => Some(workspace),
            Err(failure) if task.is_some() => return Err(failure),
            Err(failure) => {
                warn_of(&failure, &reporter);
                None
            }
        };
        if let Some(workspace) = &workspace {
            let dispatched = Dispatched { session, workspace, role, task };
            dispatched.check()?;
            dispatched.record_start(kind, &reporter);
        }
        Ok(with_rules(session, workspace.as_ref(), *rules, prompt))
    }
}

/// Puts the user's rules before a prompt that Convoke prints.
pub(super) fn with_rules(
    session: &Session,
    workspace: Option<&Workspace>,
    rules: PinnedRules,
    prompt: &str,
) -> String {
    match rules {
        PinnedRules::Before => {
            before_prompt(&pins_in_force(session, workspace, &session.reporter()), prompt)
        }
        PinnedRules::LeftOut => prompt.to_owned(),
    }
}

/// Tells whether a verdict could be recorded with a task of this branch.
pub(super) fn has_open_tasks(workspace: &Workspace) -> bool {
    let Workspace { store, scope } = workspace;
    store.active_plan(scope, None).is_ok_and(|plan| plan != ActivePlan::Nothing)
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
fn verdict(judged: &Judged) -> Option<FoundVerdict> {
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
        warn_of(&failure, reporter);
    }
}

fn warn_of(failure: &Failure, reporter: &Reporter) {
    let why = with_causes(failure.error.as_ref());
    reporter.warn(format!("the dispatch is not recorded: {why}"));
}
