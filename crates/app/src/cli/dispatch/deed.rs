//! What a dispatch records about tasks: that a role was sent, and what verdict came back.

use convoke_domain::dispatch::role::{DispatchRole, Noun, RoleName};
use convoke_domain::task::deed::{DeedKind, DeedRole};
use convoke_domain::task::id::TaskId;
use convoke_store::deed::{DeedStore, NewDeed};
use convoke_store::message::MessageStore;

use super::judge::Judged;
use super::run::Judgement;
use crate::app::App;
use crate::cli::task::verdict::known;
use crate::clock::now;
use crate::failure::Failure;
use crate::output::{Voice, with_causes};
use crate::workspace::{Workspace, refused, speaker};

/// One dispatch of a role, and the stored task that it is about.
pub(super) struct Dispatched<'a> {
    pub(super) app: &'a App,
    pub(super) role: &'a RoleName,
    pub(super) task: Option<&'a TaskId>,
}

impl Dispatched<'_> {
    /// Refuses a task that is not there, before anything is paid for.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let Some(task) = self.task else { return Ok(()) };
        known(&Workspace::open(self.app, None)?, task).map(drop)
    }

    /// Records that the role was sent, to work or to judge. A dispatch is not worth less because it cannot be recorded.
    pub(super) fn record_start(&self, kind: DeedKind, voice: &Voice) {
        let recorded = match self.task {
            Some(task) => self.record(task, kind, None, None),
            None => self.record_event(),
        };
        warn(recorded, voice);
    }

    /// Records what a reviewer found, or that it reached no verdict.
    pub(super) fn record_end(
        &self,
        kind: DeedKind,
        judgement: &Judgement,
        run: &str,
        voice: &Voice,
    ) {
        let none = || Some((DeedKind::NoVerdict, Some(judgement.ran.driven.outcome.name())));
        let found = match &judgement.judged {
            Some(judged) => verdict(judged),
            None if kind == DeedKind::Dispatched => none(),
            None => None,
        };
        if let Some((task, (kind, reason))) = self.task.zip(found) {
            warn(self.record(task, kind, reason, Some(run)), voice);
        }
    }

    fn record(
        &self,
        task: &TaskId,
        kind: DeedKind,
        reason: Option<&str>,
        run: Option<&str>,
    ) -> Result<(), Failure> {
        let Workspace { store, scope } = Workspace::open(self.app, None)?;
        let Ok(role) = DeedRole::parse(&self.role.to_string()) else {
            return self.record_event();
        };
        let actor = speaker(None, self.app)?;
        let deed =
            NewDeed { task, kind, role: &role, actor: &actor, reason, message_id: None, run };
        store.record_deed(&scope, &deed, now()).map(drop).map_err(refused)
    }

    fn record_event(&self) -> Result<(), Failure> {
        let Workspace { store, scope } = Workspace::open(self.app, None)?;
        let actor = speaker(None, self.app)?;
        let deed = format!("dispatched {} subagent", self.role);
        store.record_event(&scope, &actor, &deed, now()).map_err(refused)
    }
}

/// Tells whether a role is sent to judge or to work.
pub(super) fn kind_of(role: &DispatchRole) -> DeedKind {
    match role.noun {
        Noun::Review => DeedKind::Dispatched,
        Noun::Work => DeedKind::Work,
    }
}

/// Returns the verdict of an answer; nothing where none was asked for. Only a clear one is a verdict.
fn verdict(judged: &Judged) -> Option<(DeedKind, Option<&'static str>)> {
    match judged.report.verdict? {
        "PASS" => Some((DeedKind::Pass, None)),
        "FAIL" => Some((DeedKind::Fail, None)),
        other => Some((DeedKind::NoVerdict, Some(other))),
    }
}

fn warn(recorded: Result<(), Failure>, voice: &Voice) {
    if let Err(failure) = recorded {
        let why = with_causes(failure.error.as_ref());
        voice.say(&format!("warning: the dispatch is not recorded: {why}"));
    }
}
