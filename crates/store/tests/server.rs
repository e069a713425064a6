//! What only a server can do wrong: it goes away, refuses, is late, or is someone else's. One server
//! serves all of these cases, one after the other.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a case that cannot be set up fails")]
#![expect(
    clippy::print_stderr,
    reason = "the test runner shows this output only for a failed test"
)]

#[path = "support/server.rs"]
mod server;
#[path = "server/sharing.rs"]
mod sharing;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use convoke_domain::scope::Scope;
use convoke_store::error::{BackendTrouble, StoreError};
use convoke_store::task::NewTask;
use convoke_store::{Password, Store, StoreLocation, open, open_in_a_hurry, open_to_look};
use jiff::Timestamp;

use crate::server::{PASSWORD, TestServer, USER};

type Case = (&'static str, fn(&TestServer));

const CASES: [Case; 16] = [
    ("a password is checked, and never shown", passwords_are_checked),
    ("a server that is away is said to be", a_server_that_is_away),
    ("only a server that proves its name is trusted", names_are_proved),
    ("a lost connection is made again", connections_are_made_again),
    ("a server may start again in the middle", servers_start_again),
    ("a change is made once, or not at all, or said to be unconfirmed", changes_are_made_once),
    ("a server that hangs is not waited for", a_server_that_hangs),
    ("a later schema is refused and left alone", later_schemas_are_refused),
    ("another program's database is left alone", other_databases_are_left_alone),
    ("a new store is made once", stores_are_made_once),
    ("many connections lose nothing", sharing::connections_lose_nothing),
    ("of many writers of one journal each event has one", sharing::journals_have_one_writer),
    ("a store moves to a server and back", sharing::stores_move),
    ("a copy is whole or not there", sharing::a_copy_is_whole_or_not_there),
    ("searches for messages use an index", sharing::searches_use_an_index),
    ("a pool may share connections between transactions", sharing::pools_share_connections),
];

#[test]
fn a_server_is_used_with_care() {
    let server = TestServer::start();
    for (case, holds) in CASES {
        eprintln!("{case}");
        holds(&server);
    }
}

fn scope() -> Scope {
    Scope::new("app", "main")
}

fn at(address: &str) -> StoreLocation {
    StoreLocation::parse(address)
}

fn database(address: &str) -> String {
    let (_, rest) = address.split_once("@/").unwrap();
    rest.split('?').next().unwrap().to_owned()
}

fn add(store: &dyn Store, content: &str) -> Result<(), StoreError> {
    store.add_tasks(&scope(), &[NewTask::titled(content)], Timestamp::UNIX_EPOCH).map(drop)
}

fn contents(store: &dyn Store) -> Vec<String> {
    let mut found: Vec<_> =
        store.tasks(&scope()).unwrap().into_iter().map(|task| task.content).collect();
    found.sort();
    found
}

/// Returns the kind of trouble of an error, and everything that a user can see of it.
fn told(error: &StoreError) -> (Option<BackendTrouble>, String) {
    let trouble =
        if let StoreError::Open { trouble, .. } | StoreError::Failed { trouble, .. } = error {
            Some(*trouble)
        } else {
            None
        };
    let mut text = format!("{error} {error:?} {:?}", error.hint());
    let mut cause = std::error::Error::source(error);
    while let Some(found) = cause {
        text.push(' ');
        text.push_str(&found.to_string());
        cause = found.source();
    }
    (trouble, text)
}

fn refused(location: &StoreLocation) -> (Option<BackendTrouble>, String) {
    told(&open(location).err().unwrap())
}

fn passwords_are_checked(server: &TestServer) {
    let name = database(&server.new_database());
    let bare = at(&server.tcp_address(USER, &name));
    assert!(bare.wants_password());
    let good = bare.clone().with_password(Password::new(PASSWORD));
    open(&good).unwrap();
    assert!(!format!("{good} {good:?}").contains(PASSWORD));
    for wrong in ["wr0ng-secret", ""] {
        let (trouble, text) = refused(&bare.clone().with_password(Password::new(wrong)));
        assert_eq!(trouble, Some(BackendTrouble::Login), "{text}");
        assert!(!text.contains("wr0ng-secret") && text.contains("password"), "{text}");
    }
    let missing = at(&server.tcp_address(USER, "nowhere")).with_password(Password::new(PASSWORD));
    assert_eq!(refused(&missing).0, Some(BackendTrouble::Login));
}

fn a_server_that_is_away(server: &TestServer) {
    let (trouble, text) = refused(&at("postgres://ana@127.0.0.1:1/x"));
    assert_eq!(trouble, Some(BackendTrouble::Away), "{text}");
    let nowhere = format!("postgres://ana@/x?host={}", server.data().display());
    assert_eq!(refused(&at(&nowhere)).0, Some(BackendTrouble::Away));
}

fn names_are_proved(server: &TestServer) {
    let name = database(&server.new_database());
    let reach = |host: &str, authority: &Path| {
        let port = server.port;
        let url = format!("postgres://{USER}@{host}:{port}/{name}?sslmode=verify-full");
        at(&format!("{url}&sslrootcert={}", authority.display()))
            .with_password(Password::new(PASSWORD))
    };
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (authority(folder.path(), "ours"), authority(folder.path(), "theirs"));
    // The server speaks no TLS yet.
    let (trouble, text) = refused(&reach("localhost", &ours));
    assert_eq!(trouble, Some(BackendTrouble::Untrusted), "{text}");
    let (key, certificate) = leaf(folder.path(), "ours", "localhost");
    server.put("server.key", &fs::read(key).unwrap());
    server.put("server.crt", &fs::read(certificate).unwrap());
    server.sql("postgres", "ALTER SYSTEM SET ssl = on");
    server.sql("postgres", "SELECT pg_reload_conf()");
    // The server takes the change in its own time; a connection of its own shows that it did.
    while server.sql("postgres", "SHOW ssl") != "on" {}
    open(&reach("localhost", &ours)).unwrap();
    for (host, authority) in [("localhost", &theirs), ("127.0.0.1", &ours)] {
        let (trouble, text) = refused(&reach(host, authority));
        assert_eq!(trouble, Some(BackendTrouble::Untrusted), "{host}: {text}");
    }
    let (trouble, text) = refused(&reach("localhost", &folder.path().join("missing.pem")));
    assert_eq!(trouble, Some(BackendTrouble::Untrusted), "{text}");
}

/// Makes a certificate authority, and returns its certificate.
fn authority(folder: &Path, name: &str) -> std::path::PathBuf {
    let path = folder.join(format!("{name}.pem"));
    let key = folder.join(format!("{name}.key"));
    openssl(&[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        &format!("/CN={name}"),
        "-keyout",
        key.to_str().unwrap(),
        "-out",
        path.to_str().unwrap(),
    ]);
    path
}

/// Makes a host's key, and a certificate of an authority for it.
fn leaf(folder: &Path, authority: &str, host: &str) -> (std::path::PathBuf, std::path::PathBuf) {
    let path = |name: &str| folder.join(name);
    let (key, request, certificate) = (path("host.key"), path("host.csr"), path("host.crt"));
    openssl(&[
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        &format!("/CN={host}"),
        "-keyout",
        key.to_str().unwrap(),
        "-out",
        request.to_str().unwrap(),
    ]);
    let names = path("names");
    fs::write(&names, format!("subjectAltName=DNS:{host}\nbasicConstraints=CA:FALSE\n")).unwrap();
    openssl(&[
        "x509",
        "-req",
        "-days",
        "2",
        "-in",
        request.to_str().unwrap(),
        "-CA",
        path(&format!("{authority}.pem")).to_str().unwrap(),
        "-CAkey",
        path(&format!("{authority}.key")).to_str().unwrap(),
        "-CAcreateserial",
        "-extfile",
        names.to_str().unwrap(),
        "-out",
        certificate.to_str().unwrap(),
    ]);
    (key, certificate)
}

#[expect(clippy::disallowed_methods, reason = "certificates are made by openssl")]
fn openssl(arguments: &[&str]) {
    let output = std::process::Command::new("openssl").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Ends every connection to a database.
fn end_connections(server: &TestServer, name: &str) {
    let sql =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    server.sql("postgres", &sql);
}

fn connections_are_made_again(server: &TestServer) {
    let address = server.new_database();
    let store = open(&at(&address)).unwrap();
    add(&*store, "before").unwrap();
    end_connections(server, &database(&address));
    assert_eq!(contents(&*store), ["before"], "a reader goes on");
    end_connections(server, &database(&address));
    add(&*store, "after").unwrap();
    assert_eq!(contents(&*store), ["after", "before"], "a writer begins again");
}

fn servers_start_again(server: &TestServer) {
    let store = open(&at(&server.new_database())).unwrap();
    add(&*store, "before").unwrap();
    server.stop("immediate");
    let error = add(&*store, "lost").unwrap_err();
    let (trouble, text) = told(&error);
    assert_eq!(trouble, Some(BackendTrouble::Away), "{text}");
    assert!(store.tasks(&scope()).is_err());
    server.begin("");
    add(&*store, "after").unwrap();
    assert_eq!(contents(&*store), ["after", "before"], "what was kept survives a crash");
}

// Every error says whether the change can have been made.
fn changes_are_made_once(server: &TestServer) {
    const WRITERS: usize = 4;
    const WRITES: usize = 60;
    let address = server.new_database();
    open(&at(&address)).unwrap();
    let is_over = AtomicBool::new(false);
    let write = |writer: usize| {
        let store = open(&at(&address)).unwrap();
        let (mut sure, mut unsure) = (Vec::new(), Vec::new());
        for number in 0..WRITES {
            let content = format!("{writer}-{number:03}");
            match add(&*store, &content) {
                Ok(()) => sure.push(content),
                Err(error) => match told(&error) {
                    (Some(BackendTrouble::Unconfirmed), _) => unsure.push(content),
                    (Some(BackendTrouble::Away), _) => {}
                    (_, text) => panic!("{text}"),
                },
            }
        }
        (sure, unsure)
    };
    let (mut sure, mut unsure) = (Vec::new(), Vec::new());
    let mut ended = 0;
    thread::scope(|threads| {
        let killer = threads.spawn(|| {
            let mut ended = 0;
            while !is_over.load(Ordering::Relaxed) {
                end_connections(server, &database(&address));
                ended += 1;
            }
            ended
        });
        let write = &write;
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| threads.spawn(move || write(writer))).collect();
        for writer in writers {
            let (known, unknown) = writer.join().unwrap();
            sure.extend(known);
            unsure.extend(unknown);
        }
        is_over.store(true, Ordering::Relaxed);
        ended = killer.join().unwrap();
    });
    let found = contents(&*open(&at(&address)).unwrap());
    eprintln!(
        "{ended} kills: {} kept, {} unconfirmed, {} there",
        sure.len(),
        unsure.len(),
        found.len()
    );
    let mut single = found.clone();
    single.dedup();
    assert_eq!(found, single, "nothing is there twice");
    let lost: Vec<_> = sure.iter().filter(|content| !found.contains(content)).collect();
    assert!(lost.is_empty(), "confirmed and lost: {lost:?}");
    let wrong: Vec<_> =
        found.iter().filter(|there| !sure.contains(there) && !unsure.contains(there)).collect();
    assert!(wrong.is_empty(), "said to be undone, and there: {wrong:?}");
    assert!(ended > 0);
}

#[expect(clippy::disallowed_methods, reason = "the server is frozen by a signal")]
fn a_server_that_hangs(server: &TestServer) {
    let address = server.new_database();
    open(&at(&address)).unwrap();
    let pid = fs::read_to_string(server.data().join("postmaster.pid")).unwrap();
    let pid = pid.lines().next().unwrap().to_owned();
    let signal = |name: &str| {
        let sent = std::process::Command::new("kill").args([name, &pid]).output().unwrap();
        assert!(sent.status.success());
    };
    signal("-STOP");
    let hurried = open_in_a_hurry(&at(&address), Duration::from_millis(200)).err();
    let looked = open_to_look(&at(&address), Duration::from_millis(200)).err();
    signal("-CONT");
    for error in [hurried.unwrap(), looked.unwrap()] {
        let (trouble, text) = told(&error);
        assert_eq!(trouble, Some(BackendTrouble::Away), "{text}");
        assert!(text.contains("within 200 ms"), "{text}");
    }
    open_in_a_hurry(&at(&address), Duration::from_secs(20)).unwrap();
}

fn later_schemas_are_refused(server: &TestServer) {
    let address = server.new_database();
    let name = database(&address);
    assert!(matches!(
        open_to_look(&at(&address), Duration::from_secs(20)),
        Err(StoreError::Older { found: 0, .. })
    ));
    assert_eq!(
        server.sql(&name, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"),
        "0"
    );
    drop(open(&at(&address)).unwrap());
    server.sql(&name, "UPDATE convoke_schema SET version = 99");
    for result in
        [open(&at(&address)).err(), open_to_look(&at(&address), Duration::from_secs(20)).err()]
    {
        assert!(matches!(result, Some(StoreError::Newer { found: 99, .. })), "{result:?}");
    }
    assert_eq!(server.sql(&name, "SELECT version FROM convoke_schema"), "99");
}

fn other_databases_are_left_alone(server: &TestServer) {
    let address = server.new_database();
    let name = database(&address);
    server.sql(&name, "CREATE TABLE theirs (x INT)");
    assert!(matches!(open(&at(&address)), Err(StoreError::Foreign { .. })));
    let tables = "SELECT string_agg(tablename, ' ') FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(server.sql(&name, tables), "theirs");
}

fn stores_are_made_once(server: &TestServer) {
    let address = server.new_database();
    thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| open(&at(&address)).unwrap());
        }
    });
    assert_eq!(server.sql(&database(&address), "SELECT count(*) FROM convoke_schema"), "1");
    assert_eq!(open(&at(&address)).unwrap().check().unwrap(), Vec::<String>::new());
}
