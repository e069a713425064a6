//! The store of one call: opened when a part of the call first needs it, shared by all others, and closed
//! with the call. A password is read once.

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
pub struct CallStore(Arc<CallConnections>);

#[derive(Default)]
struct CallConnections {
    /// The store for parts that wait for others. A part that opens it keeps the lock meanwhile: parts
    /// that run in parallel share one connection, too.
    patient: Mutex<Option<OpenedStore>>,
    /// The store for parts in a hurry, and how long they wait for others.
    hurried: Mutex<Option<(Duration, OpenedStore)>>,
    /// A server's address, without and with the password that it accepted.
    accepted: Mutex<Option<(StoreLocation, StoreLocation)>>,
}

/// An open store, which stays open with this value.
struct OpenedStore {
    handle: StoreHandle,
    _store: Arc<dyn Store>,
}

impl OpenedStore {
    fn new(location: &StoreLocation, store: &Arc<dyn Store>) -> Self {
        tracing::debug!("opened a connection to the store");
        Self { handle: store.handle_at(location), _store: Arc::clone(store) }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the store of the call, and opens it if no part of the call has done so or if its file was
/// replaced meanwhile.
pub(crate) fn open(session: &Session, location: &StoreLocation) -> Result<Arc<dyn Store>, Failure> {
    let mut known = locked(&session.store.0.patient);
    if let Some(store) = known.as_ref().and_then(|opened| opened.handle.store_at(location)) {
        return Ok(store);
    }
    let store = with_accepted_password(session, location, &convoke_store::open)?;
    *known = Some(OpenedStore::new(location, &store));
    Ok(store)
}

/// Returns the store of the call for a part in a hurry. Patient parts do not share what is opened here.
pub(crate) fn open_in_a_hurry(
    session: &Session,
    location: &StoreLocation,
    patience: Duration,
) -> Result<Arc<dyn Store>, Failure> {
    let patient = locked(&session.store.0.patient);
    if let Some(store) = patient.as_ref().and_then(|opened| opened.handle.store_at(location)) {
        return Ok(store);
    }
    drop(patient);
    let mut known = locked(&session.store.0.hurried);
    let same = known.as_ref().filter(|(known, _)| *known == patience);
    if let Some(store) = same.and_then(|(_, opened)| opened.handle.store_at(location)) {
        return Ok(store);
    }
    let open = |location: &_| convoke_store::open_in_a_hurry(location, patience);
    let store = with_accepted_password(session, location, &open)?;
    *known = Some((patience, OpenedStore::new(location, &store)));
    Ok(store)
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
    let mut known = locked(&session.store.0.accepted);
    let accepted = known.as_ref().filter(|(address, _)| address == location);
    let mut earlier = None;
    if let Some(accepted) = accepted.map(|(_, accepted)| accepted.clone()) {
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
    *known = Some((location.clone(), complete));
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

    // Parts of a call that follow each other share a connection, although none of them keeps it.
    #[test]
    fn a_call_keeps_its_store_open_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store.db");
        let session = session(folder.path(), &[("CONVOKE_STORE", file.clone().into_os_string())]);
        let (location, patience) = (StoreLocation::file(file), Duration::from_millis(50));
        let hurried = open_in_a_hurry(&session, &location, patience).unwrap().handle_at(&location);
        let patient = open_store(&session).unwrap().handle_at(&location);
        let is_open = |handle: &StoreHandle| handle.store_at(&location).is_some();
        assert!(is_open(&hurried) && is_open(&patient), "the next part opens the store again");
        let inside = session.in_project(folder.path().join("other"));
        drop(session);
        assert!(is_open(&patient), "a part in another project lost the store");
        drop(inside);
        assert!(!is_open(&hurried) && !is_open(&patient), "the store outlives the call");
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
