//! Cases of many connections, and of stores that move.

use std::sync::Arc;
use std::thread;

use convoke_domain::message::MessageKind;
use convoke_domain::run::RunId;
use convoke_domain::scope::AgentName;
use convoke_store::error::StoreError;
use convoke_store::journal::{Integrity, NewEvent};
use convoke_store::message::NewMessage;
use convoke_store::transfer::TransferError;
use convoke_store::{Store, StoreLocation, open};
use jiff::Timestamp;

use super::{add, at, contents, database, scope};
use crate::server::TestServer;

/// A store with a row in every table.
const EVERY_TABLE: &str = include_str!("../../src/sql/transfer/every_table.jsonl");

pub(super) fn connections_lose_nothing(server: &TestServer) {
    const WRITERS: usize = 16;
    const WRITES: usize = 20;
    let address = server.new_database();
    let me = AgentName::parse("me").unwrap();
    let write = |writer: usize| {
        let store = open(&at(&address)).unwrap();
        let from = AgentName::parse(&format!("writer-{writer}")).unwrap();
        for number in 0..WRITES {
            let content = format!("{writer}-{number}");
            add(&*store, &content).unwrap();
            let message = NewMessage {
                from: &from,
                to: Some(&me),
                kind: MessageKind::Say,
                content: &content,
                mentions: &[],
            };
            store.say(&scope(), &message, Timestamp::UNIX_EPOCH).unwrap();
        }
    };
    thread::scope(|threads| {
        let write = &write;
        for writer in 0..WRITERS {
            threads.spawn(move || write(writer));
        }
    });
    let store: Arc<dyn Store> = open(&at(&address)).unwrap();
    assert_eq!(contents(&*store).len(), WRITERS * WRITES);
    let all = convoke_store::message::InboxFilter::Unread;
    assert_eq!(store.count_addressed_to(&scope(), &me, all).unwrap(), WRITERS * WRITES);
    let messages = store.recent_messages(&scope(), usize::MAX).unwrap();
    assert_eq!(messages.len(), WRITERS * WRITES);
    let log = store.task_log(&scope(), None, usize::MAX).unwrap();
    assert_eq!(log.len(), WRITERS * WRITES, "every change belongs to one step");
}

pub(super) fn journals_have_one_writer(server: &TestServer) {
    const EVENTS: u64 = 30;
    let address = server.new_database();
    let run = RunId::parse("20261116T060000-abcd").unwrap();
    open(&at(&address))
        .unwrap()
        .begin_run(&run, &scope(), "Add a search", Timestamp::UNIX_EPOCH)
        .unwrap();
    let write = || {
        let store = open(&at(&address)).unwrap();
        let mut won = 0;
        for seq in 1..=EVENTS {
            let event = NewEvent { at_ms: 1, kind: "said", body: "{}" };
            match store.append(&run, seq, &[event]) {
                Ok(_) => won += 1,
                Err(StoreError::OutOfTurn { next, .. }) if next > seq => {}
                // Another writer has not written the event before this one yet.
                Err(StoreError::OutOfTurn { .. }) => panic!("an event is left out"),
                Err(error) => panic!("{error:?}"),
            }
        }
        won
    };
    let won: u64 = thread::scope(|threads| {
        let writers: Vec<_> = (0..6).map(|_| threads.spawn(write)).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!(won, EVENTS, "each event is written by one");
    let store = open(&at(&address)).unwrap();
    assert_eq!(store.events(&run).unwrap().len() as u64, EVENTS);
    assert_eq!(store.verify("app", &run).unwrap(), Integrity::Sound);
    // The chain notices what is changed behind the store's back.
    server.sql(&database(&address), "UPDATE journal SET body = '{ }' WHERE seq = 7");
    assert_eq!(store.verify("app", &run).unwrap(), Integrity::BrokenAt(7));
}

pub(super) fn stores_move(server: &TestServer) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| StoreLocation::file(folder.path().join(name));
    let first = open(&file("first.db")).unwrap();
    first.import(&mut EVERY_TABLE.as_bytes()).unwrap();
    let rows = EVERY_TABLE.lines().count() as u64 - 2;
    let address = at(&server.new_database());
    let copied = first.copy_into(&address).unwrap();
    assert!(!copied.was_there);
    assert_eq!(copied.tables.iter().map(|table| table.rows).sum::<u64>(), rows);
    // Again, after an interruption that hid the answer.
    assert!(first.copy_into(&address).unwrap().was_there);
    let second = open(&address).unwrap();
    assert_eq!(second.digests().unwrap(), first.digests().unwrap());
    assert_eq!(second.check().unwrap(), Vec::<String>::new());
    // New rows come behind those that were copied.
    add(&*second, "new").unwrap();
    assert!(matches!(first.copy_into(&address), Err(TransferError::NotEmpty { .. })));
    let back = file("back.db");
    second.copy_into(&back).unwrap();
    let third = open(&back).unwrap();
    assert_eq!(third.digests().unwrap(), second.digests().unwrap());
    add(&*third, "newer").unwrap();
    let backup = folder.path().join("backup.db");
    second.backup(&backup).unwrap();
    assert_eq!(
        open(&StoreLocation::file(backup)).unwrap().digests().unwrap(),
        second.digests().unwrap()
    );
}

pub(super) fn a_copy_is_whole_or_not_there(server: &TestServer) {
    let folder = tempfile::tempdir().unwrap();
    let source = open(&StoreLocation::file(folder.path().join("source.db"))).unwrap();
    source.import(&mut EVERY_TABLE.as_bytes()).unwrap();
    let whole = source.digests().unwrap();
    let address = server.new_database();
    let (target, name) = (at(&address), database(&address));
    let empty = open(&target).unwrap().digests().unwrap();
    let spoil = |does: &str| {
        let sql = format!(
            "CREATE OR REPLACE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN {does}; RETURN NEW; END $$"
        );
        server.sql(&name, &sql);
    };
    spoil("NEW.agent := NEW.agent || '!'");
    server.sql(
        &name,
        "CREATE TRIGGER spoil BEFORE INSERT ON lanes FOR EACH ROW EXECUTE FUNCTION spoil()",
    );
    let differs = source.copy_into(&target).unwrap_err();
    assert!(matches!(&differs, TransferError::Differs { table } if table == "lanes"), "{differs}");
    assert_eq!(open(&target).unwrap().digests().unwrap(), empty);
    // The connection is lost in the middle of the copy.
    spoil("PERFORM pg_terminate_backend(pg_backend_pid())");
    let lost = source.copy_into(&target).unwrap_err();
    assert!(matches!(lost, TransferError::Store(_)), "{lost}");
    assert_eq!(open(&target).unwrap().digests().unwrap(), empty);
    assert_eq!(source.digests().unwrap(), whole);
    server.sql(&name, "DROP TRIGGER spoil ON lanes");
    assert!(!source.copy_into(&target).unwrap().was_there);
    assert_eq!(open(&target).unwrap().digests().unwrap(), whole);
    assert_eq!(source.digests().unwrap(), whole);
}

pub(super) fn searches_use_an_index(server: &TestServer) {
    let address = server.new_database();
    drop(open(&at(&address)).unwrap());
    let plan = server.sql(
        &database(&address),
        "SET enable_seqscan = off; \
         EXPLAIN SELECT id FROM messages WHERE words_of(content) @@ to_tsquery('simple', 'lo:*')",
    );
    assert!(plan.contains("message_words"), "{plan}");
}

// Each transaction may get another connection, so nothing may depend on the one before.
pub(super) fn pools_share_connections(server: &TestServer) {
    const WRITERS: usize = 6;
    const WRITES: usize = 10;
    let direct = server.new_database();
    let pool = server.start_pool();
    let pooled = pool.address(&database(&direct));
    let write = |writer: usize| {
        let store = open(&at(&pooled)).unwrap();
        for number in 0..WRITES {
            add(&*store, &format!("{writer}-{number}")).unwrap();
            assert!(contents(&*store).contains(&format!("{writer}-{number}")));
        }
    };
    thread::scope(|threads| {
        let write = &write;
        for writer in 0..WRITERS {
            threads.spawn(move || write(writer));
        }
    });
    let store = open(&at(&pooled)).unwrap();
    assert_eq!(contents(&*store).len(), WRITERS * WRITES);
    let defects = store.check().unwrap();
    // The tasks are of a project without a folder.
    assert!(defects.iter().all(|defect| defect.contains("that is missing")), "{defects:?}");
    let folder = tempfile::tempdir().unwrap();
    let file = StoreLocation::file(folder.path().join("copy.db"));
    store.copy_into(&file).unwrap();
    let moved = at(&pool.address(&database(&server.new_database())));
    open(&file).unwrap().copy_into(&moved).unwrap();
    assert_eq!(open(&moved).unwrap().digests().unwrap(), store.digests().unwrap());
}
