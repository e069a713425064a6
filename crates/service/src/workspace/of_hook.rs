//! The store as a hook opens it: from its server or file, or from the copy on this machine.

use std::time::Duration;

use convoke_domain::scope::Scope;
use convoke_engine::git::checkout;
use convoke_store::StoreLocation;
use convoke_store::replica::Replica;

use super::{OpenedWorkspace, Workspace, branch_of, no_home, store_span};
use crate::call_store;
use crate::failure::Failure;
use crate::project_here::known_here;
use crate::session::Session;
use crate::settings::store;

impl Workspace {
    /// Opens the store for a hook, even if a mistake in the user's file hides its settings of the
    /// store. Returns what the session must know about the project's folder, too.
    pub fn open_for_hook(
        session: &Session,
        patience: Duration,
    ) -> Result<(Self, Option<String>), Failure> {
        Self::open_for_hook_at(session, &hook_location(session)?, patience)
    }

    /// Opens the store in its place for a hook.
    pub(crate) fn open_for_hook_at(
        session: &Session,
        location: &StoreLocation,
        patience: Duration,
    ) -> Result<(Self, Option<String>), Failure> {
        let span = store_span(location);
        let _entered = span.enter();
        let store = call_store::open_in_a_hurry(session, location, patience)?;
        let OpenedWorkspace { workspace, note } = Self::with_store(&*store, session, None)?;
        Ok((workspace, note))
    }

    /// Opens a server's store as [`Workspace::open_for_hook`] does, with a limit for connecting and all
    /// answers together.
    pub(crate) fn open_for_hook_within(
        session: &Session,
        location: &StoreLocation,
        limit: Duration,
        patience: Duration,
    ) -> Result<(Self, Option<String>), Failure> {
        let open = |location: &_| convoke_store::open_within(location, limit, patience);
        let store = call_store::with_accepted_password(session, location, &open)?;
        let OpenedWorkspace { workspace, note } = Self::with_store(&*store, session, None)?;
        Ok((workspace, note))
    }

    /// Returns the place of this folder in a copy of the store; `None` if the copy does not know it.
    pub(crate) fn in_copy(session: &Session, replica: &Replica) -> Result<Option<Self>, Failure> {
        let (store, checkout) = (replica.store(), checkout(&session.project));
        let project = known_here(&*store, session, checkout.as_ref())?;
        let scope = project.map(|project| Scope { project, branch: branch_of(checkout) });
        Ok(scope.map(|scope| Self { store, scope }))
    }
}

/// Returns where the user's store is for a hook, which a mistake in the user's file does not stop.
pub(crate) fn hook_location(session: &Session) -> Result<StoreLocation, Failure> {
    store::usable_location(session).ok_or_else(no_home)
}
