//! Many parallel processes are the normal case: hooks of several agents write at the same moment.
#![expect(clippy::disallowed_methods, reason = "this test starts itself again as other processes")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use convoke_domain::message::MessageKind;
use convoke_domain::run::RunId;
use convoke_domain::scope::{AgentName, Scope};
use convoke_store::error::StoreError;
use convoke_store::journal::{Integrity, NewEvent};
use convoke_store::message::NewMessage;
use convoke_store::task::NewTask;
use convoke_store::{Store, StoreLocation};
use jiff::Timestamp;

const PROCESSES: usize = 16;
const WRITES: usize = 500;
const STORE: &str = "CONVOKE_TEST_STORE";

fn scope() -> Scope {
    Scope::new("app", "main")
}

fn open(path: &Path) -> Arc<dyn Store> {
    convoke_store::open(&StoreLocation::file(path)).unwrap()
}

/// Runs a test of this file in many parallel processes, on one store.
fn run_in_parallel(test: &str, store: &Path) {
    let start = |_| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(STORE, store)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let processes: Vec<_> = (0..PROCESSES).map(start).collect();
    for process in processes {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Does one process's share; does nothing when it is run as a test.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let store = open(&PathBuf::from(path));
    let from = AgentName::parse("writer").unwrap();
    for number in 0..WRITES / 2 {
        let content = format!("write {number}");
        let task = NewTask::titled(&content);
        store.add_tasks(&scope(), &[task], Timestamp::UNIX_EPOCH).unwrap();
        let message = NewMessage {
            from: &from,
            to: None,
            kind: MessageKind::Say,
            content: &content,
            mentions: &[],
        };
        store.say(&scope(), &message, Timestamp::UNIX_EPOCH).unwrap();
    }
}

#[test]
fn sixteen_processes_lose_nothing_and_never_find_the_store_locked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/store.db");
    run_in_parallel("writer", &path);
    let store = open(&path);
    assert_eq!(store.tasks(&scope()).unwrap().len(), PROCESSES * WRITES / 2);
    let messages = store.recent_messages(&scope(), PROCESSES * WRITES).unwrap();
    assert_eq!(messages.len(), PROCESSES * WRITES / 2);
    assert!(messages.is_sorted_by_key(|message| message.id));
    store.project_name("/home/ana/app", "app").unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

/// The run that every process writes to.
fn shared() -> RunId {
    RunId::parse("shared").unwrap()
}

const OWN: u64 = 25;
const SHARED: u64 = 10;

/// Keeps a journal of its own, and adds to one that all others add to.
#[test]
fn journal_writer() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let store = open(&PathBuf::from(path));
    let own = RunId::parse(&format!("own-{}", std::process::id())).unwrap();
    store.begin_run(&own, &scope(), "Add a search", Timestamp::UNIX_EPOCH).unwrap();
    let body = own.to_string();
    let event = NewEvent { at_ms: 0, kind: "said", body: &body };
    for seq in 1..=OWN {
        store.append(&own, seq, &[event]).unwrap();
    }
    let mut seq = 1;
    for _ in 0..SHARED {
        while let Err(error) = store.append(&shared(), seq, &[event]) {
            let StoreError::OutOfTurn { next, .. } = error else { panic!("{error}") };
            seq = next;
        }
    }
}

#[test]
fn sixteen_processes_keep_journals_and_no_event_is_lost_or_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let store = open(&path);
    store.begin_run(&shared(), &scope(), "Add a search", Timestamp::UNIX_EPOCH).unwrap();
    run_in_parallel("journal_writer", &path);
    let runs = store.runs(&scope().project).unwrap();
    assert_eq!(runs.len(), PROCESSES + 1);
    let together = store.events(&shared()).unwrap();
    for run in runs {
        assert_eq!(store.verify(&scope().project, &run.id).unwrap(), Integrity::Sound);
        let of_run = |bodies: &[_]| bodies.iter().filter(|body| **body == run.id.as_str()).count();
        let bodies: Vec<_> = together.iter().map(|entry| entry.body.as_str()).collect();
        let (own, in_shared) =
            if run.id == shared() { (PROCESSES as u64 * SHARED, 0) } else { (OWN, SHARED) };
        assert_eq!((run.last_seq, of_run(&bodies) as u64), (own, in_shared));
    }
}
