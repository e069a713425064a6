//! The store of one call. While a part of the call has it open, the other parts share it; a password is
//! read once. Nothing here keeps a store open, so the next call notices a file that was replaced.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_store::error::StoreError;
use convoke_store::{Store, StoreHandle, StoreLocation};

use crate::failure::Failure;
use crate::session::Session;
use crate::settings::store::with_password;
use crate::workspace::refused;

/// The store of one call. Clones share it.
#[derive(Clone, Default)]
pub struct CallStore(Arc<Mutex<KnownStore>>);

#[derive(Default)]
struct KnownStore {
    /// The store that was opened last.
    last: Option<StoreHandle>,
    /// A server's address, without and with the password that it accepted.
    accepted: Option<(StoreLocation, StoreLocation)>,
}

impl CallStore {
    fn known(&self) -> MutexGuard<'_, KnownStore> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_use(&self, location: &StoreLocation) -> Option<Arc<dyn Store>> {
        self.known().last.as_ref()?.store_at(location)
    }

    fn accepted(&self, location: &StoreLocation) -> Option<StoreLocation> {
        let known = self.known();
        let (address, accepted) = known.accepted.as_ref()?;
        (address == location).then(|| accepted.clone())
    }
}

/// Opens the store, or shares it with the part of the call that has it open.
pub(crate) fn open(session: &Session, location: &StoreLocation) -> Result<Arc<dyn Store>, Failure> {
    if let Some(store) = session.store.in_use(location) {
        return Ok(store);
    }
    let store = with_accepted_password(session, location, &convoke_store::open)?;
    session.store.known().last = Some(store.handle_at(location));
    Ok(store)
}

/// Opens the store for a caller in a hurry, or shares it as [`open`] does. Other parts do not share what
/// is opened here, because they have more patience.
pub(crate) fn open_in_a_hurry(
    session: &Session,
    location: &StoreLocation,
    patience: Duration,
) -> Result<Arc<dyn Store>, Failure> {
    let open = |location: &_| convoke_store::open_in_a_hurry(location, patience);
    match session.store.in_use(location) {
        Some(store) => Ok(store),
        None => with_accepted_password(session, location, &open),
    }
}

/// Opens something at a location, with the password of its server. A password that was accepted before
/// is tried first: a command that reads it may ask its user. One that has expired is read again.
pub(crate) fn with_accepted_password<T>(
    session: &Session,
    location: &StoreLocation,
    open: &dyn Fn(&StoreLocation) -> Result<T, StoreError>,
) -> Result<T, Failure> {
    if !location.wants_password() {
        return open(location).map_err(refused);
    }
    let mut earlier = None;
    if let Some(accepted) = session.store.accepted(location) {
        match open(&accepted) {
            Ok(opened) => return Ok(opened),
            Err(error) => earlier = Some((accepted, error)),
        }
    }
    let complete = with_password(session, location.clone())?;
    if let Some((_, error)) = earlier.filter(|(accepted, _)| *accepted == complete) {
        return Err(refused(error));
    }
    let opened = open(&complete).map_err(refused)?;
    session.store.known().accepted = Some((location.clone(), complete));
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::ffi::OsString;
    use std::fs;
    use std::path::Path;

    use convoke_domain::scope::{AgentName, Scope};
    use convoke_store::Password;
    use jiff::Timestamp;

    use super::*;
    use crate::environment::Environment;
    use crate::workspace::open_store;

    fn session(project: &Path, variables: &[(&str, OsString)]) -> Session {
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), value.clone()));
        Session::new(project.to_owned(), Environment::new(variables, None, "convoke".into()))
    }

    fn scope() -> Scope {
        Scope { project: "app".to_owned(), branch: "main".to_owned() }
    }

    fn write(session: &Session) {
        let store = open_store(session).unwrap();
        store.record_event(&scope(), &AgentName::human(), "did it", Timestamp::UNIX_EPOCH).unwrap();
    }

    fn events(session: &Session) -> usize {
        open_store(session).unwrap().recent_events(&scope(), 10).unwrap().len()
    }

    // A connection notices what others write, and not what is written through it.
    #[test]
    fn a_call_shares_the_store_that_a_part_of_it_has_open_and_other_calls_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let session = session(
            folder.path(),
            &[("CONVOKE_STORE", folder.path().join("store.db").into_os_string())],
        );
        let store = open_store(&session).unwrap();
        let before = store.changes().unwrap();
        write(&session.clone());
        assert_eq!(store.changes().unwrap(), before, "the call opened the store twice");
        write(&session.for_call());
        assert_ne!(store.changes().unwrap(), before, "calls share a connection");
    }

    #[test]
    fn a_call_notices_that_the_file_of_its_store_was_replaced_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store.db");
        let session = session(folder.path(), &[("CONVOKE_STORE", file.clone().into_os_string())]);
        let held = open_store(&session).unwrap();
        write(&session);
        assert_eq!(events(&session), 1);
        for kind in ["", "-wal", "-shm"] {
            fs::remove_file(folder.path().join(format!("store.db{kind}"))).unwrap();
        }
        assert_eq!(events(&session), 0);
        assert_eq!(held.recent_events(&scope(), 10).unwrap().len(), 1);
    }

    #[test]
    fn a_call_reads_a_password_once_and_again_when_the_server_refuses_it() {
        let folder = tempfile::tempdir().unwrap();
        let (word, count) = (folder.path().join("word"), folder.path().join("count"));
        let command = format!("echo >> {}; cat {}", count.display(), word.display());
        let session = session(folder.path(), &[("CONVOKE_STORE_PASSWORD_COMMAND", command.into())]);
        let location = StoreLocation::parse("postgres://ana@db.example/team");
        let accepted = RefCell::new("first");
        let open = |tried: &StoreLocation| {
            let right = location.clone().with_password(Password::new(*accepted.borrow()));
            if *tried == right { Ok(()) } else { Err(StoreError::NoServers) }
        };
        let calls = || fs::read_to_string(&count).unwrap().lines().count();
        fs::write(&word, "first\n").unwrap();
        for _ in 0..3 {
            with_accepted_password(&session, &location, &open).unwrap();
        }
        assert_eq!(calls(), 1);
        accepted.replace("second");
        assert!(with_accepted_password(&session, &location, &open).is_err());
        fs::write(&word, "second\n").unwrap();
        with_accepted_password(&session, &location, &open).unwrap();
        assert_eq!(calls(), 3);
        with_accepted_password(&session.for_call(), &location, &open).unwrap();
        assert_eq!(calls(), 4);
    }
}
