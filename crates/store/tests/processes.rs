//! Many processes at once are the normal case: hooks of several agents write at the same moment.
#![expect(clippy::disallowed_methods, reason = "this test starts itself again as other processes")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

use convoke_domain::message::MessageKind;
use convoke_domain::scope::{AgentName, Scope};
use convoke_store::message::{MessageStore, NewMessage};
use convoke_store::sqlite::SqliteStore;
use convoke_store::task::{NewTask, TaskStore};
use jiff::Timestamp;

const PROCESSES: usize = 16;
const WRITES: usize = 500;
const STORE: &str = "CONVOKE_TEST_STORE";

fn scope() -> Scope {
    Scope::new("app", "main")
}

/// Does one process's share; does nothing when it is run as a test.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let store = SqliteStore::open(&PathBuf::from(path)).unwrap();
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
    let start = |_| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writer", "--nocapture"])
            .env(STORE, &path)
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
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.tasks(&scope()).unwrap().len(), PROCESSES * WRITES / 2);
    let messages = store.recent_messages(&scope(), PROCESSES * WRITES).unwrap();
    assert_eq!(messages.len(), PROCESSES * WRITES / 2);
    assert!(messages.is_sorted_by_key(|message| message.id));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}
