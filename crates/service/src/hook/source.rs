//! Where a hook's answer comes from: the store, or the copy of its server's on this machine.

use std::time::Duration;

use convoke_domain::scope::{Address, Scope};
use convoke_engine::hook::HookAnswer;
use convoke_store::StoreLocation;
use convoke_store::delivery::{Claimant, Session as ClientSession};
use convoke_store::replica::Replica;
use jiff::{SignedDuration, Timestamp};

use super::PATIENCE;
use crate::failure::Failure;
use crate::replica::{COPY_PATIENCE, age, copy_file, refresh};
use crate::session::Session;
use crate::settings::store;
use crate::workspace::{Workspace, refused};

/// How long hooks answer from the copy after the server did not answer, without asking it again. The
/// hook entries of one event agree in this way, and each prompt does not wait anew.
const AWAY_FOR: SignedDuration = SignedDuration::from_secs(10);

/// An open store for one hook.
pub(super) struct HookSource<'a> {
    pub(super) workspace: Workspace,
    /// What the session must know about the project's folder.
    pub(super) note: Option<String>,
    /// The copy that belongs to the store.
    pub(super) copy: HookCopyUse<'a>,
}

/// What a hook does with the copy.
#[derive(Clone, Copy)]
pub(super) enum HookCopyUse<'a> {
    /// The store has no copy.
    Nothing,
    /// The server answers, and the copy follows.
    Follow(&'a Replica),
    /// The copy answers.
    Answer(&'a Replica),
}

/// The copy that a hook has beside its server.
pub(super) struct HookCopy {
    replica: Replica,
    location: StoreLocation,
    limit: Duration,
}

impl HookCopy {
    /// Returns the copy, if the store is on a server and hooks can use a copy of it. One that is
    /// damaged counts as none; the doctor tells of it.
    pub(super) fn of(session: &Session, location: &StoreLocation) -> Option<Self> {
        let file = copy_file(session, location)?;
        let replica = match Replica::open_present(&file, COPY_PATIENCE) {
            Ok(replica) => replica?,
            Err(error) => {
                tracing::debug!(%error, "cannot use the copy of the store");
                return None;
            }
        };
        Some(Self { replica, location: location.clone(), limit: store::hook_limit(session) })
    }

    /// Tells whether the server did not answer a moment ago.
    pub(super) fn is_away(&self, session: &Session) -> bool {
        let away_at = self.replica.state(&Scope::new("", "")).ok().and_then(|state| state.away_at);
        away_at.is_some_and(|at| session.now().duration_since(at).abs() < AWAY_FOR)
    }

    /// Remembers that the server did not answer.
    pub(super) fn keep_away(&self, session: &Session) {
        if let Err(error) = self.replica.keep_away(Some(session.now())) {
            tracing::debug!(%error, "cannot remember that the server does not answer");
        }
    }

    /// Opens the server within the limit, and hands it what waits.
    pub(super) fn open_server(&self, session: &Session) -> Result<HookSource<'_>, Failure> {
        let location = &self.location;
        let opened = Workspace::open_for_hook_within(session, location, self.limit, PATIENCE);
        let (workspace, note) = opened?;
        workspace.store.take_records(&self.replica, self.limit).map_err(refused)?;
        Ok(HookSource { workspace, note, copy: HookCopyUse::Follow(&self.replica) })
    }

    /// Opens the copy; `None` if it does not know the folder.
    pub(super) fn open(&self, session: &Session) -> Result<Option<HookSource<'_>>, Failure> {
        let workspace = Workspace::in_copy(session, &self.replica)?;
        let copy = HookCopyUse::Answer(&self.replica);
        Ok(workspace.map(|workspace| HookSource { workspace, note: None, copy }))
    }
}

impl HookSource<'_> {
    /// A store without a copy.
    pub(super) fn open(session: &Session, location: &StoreLocation) -> Result<Self, Failure> {
        let (workspace, note) = Workspace::open_for_hook_at(session, location, PATIENCE)?;
        Ok(Self { workspace, note, copy: HookCopyUse::Nothing })
    }

    /// Tells whether it holds what an agent needs.
    pub(super) fn holds(&self, agent: &Address) -> Result<bool, Failure> {
        let HookCopyUse::Answer(replica) = self.copy else { return Ok(true) };
        Ok(replica.state(&agent.scope).map_err(refused)?.refreshed_at.is_some())
    }

    /// Returns what the agent must know about the age of its wake-up.
    pub(super) fn age(&self, session: &Session, agent: &Address) -> Option<String> {
        let HookCopyUse::Answer(replica) = self.copy else { return None };
        let at = replica.state(&agent.scope).ok()?.refreshed_at?;
        let age = age(at, session.now());
        Some(format!("from a copy of {age} ago; the store's server does not answer"))
    }

    /// Claims messages in the copy, whether the text comes from there or from the server, and returns
    /// those that another session of this machine is being given.
    pub(super) fn claim(
        &self,
        agent: &Address,
        of: ClientSession<'_>,
        messages: &[i64],
        claimant: Claimant<'_>,
        now: Timestamp,
    ) -> Vec<i64> {
        let claimed = self.replica().map_or(Ok(Vec::new()), |replica| {
            replica.claim_messages(agent, of, messages, claimant, now)
        });
        claimed.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot claim messages in the copy of the store");
            Vec::new()
        })
    }

    /// Notes in the copy that a session was given the messages that it claimed.
    pub(super) fn keep_claims(&self, of: ClientSession<'_>, answer: &HookAnswer) {
        let Some(replica) = self.replica().filter(|_| !answer.messages().is_empty()) else {
            return;
        };
        if let Err(error) = replica.keep_claims(of) {
            tracing::debug!(%error, "cannot keep claims in the copy of the store");
        }
    }

    const fn replica(&self) -> Option<&Replica> {
        match self.copy {
            HookCopyUse::Nothing => None,
            HookCopyUse::Follow(replica) | HookCopyUse::Answer(replica) => Some(replica),
        }
    }

    /// Prepares the copy for an answer that the server has given: the copy must never deliver its
    /// messages again. From now on the server has the usual time.
    pub(super) fn before_delivery(&self, agent: &Address, answer: &HookAnswer) {
        let HookCopyUse::Follow(replica) = self.copy else { return };
        self.workspace.store.limit_answers(None);
        if let Err(error) = replica.forget_unread(agent, answer.messages()) {
            tracing::debug!(%error, "cannot remove messages from the copy of the store");
        }
    }

    /// Refreshes the copy after an answer that changed what it must hold.
    pub(super) fn after_delivery(
        &self,
        session: &Session,
        agent: &Address,
        of: ClientSession<'_>,
        answer: &HookAnswer,
    ) {
        let HookCopyUse::Follow(replica) = self.copy else { return };
        if answer.is_nothing() {
            return;
        }
        if let Err(error) =
            refresh(session, &*self.workspace.store, replica, &agent.scope, Some(of))
        {
            tracing::debug!(%error, "cannot refresh the copy of the store");
        }
    }
}
