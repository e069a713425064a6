//! The lock of the index.

use std::time::Duration;

use convoke_domain::message::MessageKind;
use convoke_domain::scope::{AgentName, Scope};
use jiff::Timestamp;

use super::*;
use crate::message::{MessageStore as _, NewMessage};

fn say(store: &SqlStore, text: &str) -> Result<(), StoreError> {
    let from = AgentName::human();
    let message =
        NewMessage { from: &from, to: None, kind: MessageKind::Say, content: text, mentions: &[] };
    store.say(&Scope::new("app", "main"), &message, Timestamp::UNIX_EPOCH).map(drop)
}

#[test]
fn a_writer_does_not_wait_for_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqlStore::open(&path).unwrap();
    say(&store, "first").unwrap();
    Index::open(&store.connection()).unwrap();
    let change = store.begin_index().unwrap();
    assert_eq!(take_messages(&change, Index::open(&change).unwrap(), 10).unwrap(), 0);
    // The index is being written, and another program has no time to wait.
    let other = SqlStore::open_in_a_hurry(&path, Duration::ZERO).unwrap();
    say(&other, "second").unwrap();
    change.commit().unwrap();
    assert_eq!(store.index_messages(10).unwrap(), 0);
    let words = SearchWords::parse("second").unwrap();
    assert_eq!(store.search("app", &words, 10).unwrap().len(), 1);
}
