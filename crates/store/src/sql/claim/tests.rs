//! Messages of texts in a store with a damaged column.

use convoke_domain::hook::{Moment, NoticedEvent, Trace};
use convoke_domain::message::MessageKind;
use convoke_domain::scope::{AgentName, Scope};

use super::*;
use crate::agent::AgentStore;
use crate::delivery::{DeliveryStore, TextChoice};
use crate::error::StoreError;
use crate::message::{MessageStore, NewMessage};
use crate::sql::SqlStore;
use crate::transfer::TransferStore;

const FIRST: Session<'static> = Session { client: Client::Claude, id: "s-1" };
const SECOND: Session<'static> = Session { client: Client::Claude, id: "s-2" };

/// Lists of messages that no version of Convoke writes. Each still holds message 1.
const DAMAGED: [&str; 7] = ["1 x", "x 1", "1,2", "1  2", " 1", "1 ", "1 99999999999999999999"];

fn june() -> Address {
    Address { scope: Scope::new("app", "main"), agent: AgentName::known("june") }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Begins a session whose text hands over a message.
fn keep(store: &SqlStore, session: Session<'_>, message: i64) -> Result<TextChoice, StoreError> {
    let owner = Owner { pid: 7, mark: "m".to_owned() };
    let claimant = Claimant { owner: &owner, is_gone: &|_| false };
    let noticed =
        NoticedEvent { moment: Moment::Compacted, trace: Trace::Unknown, mark: 1, entries: 1 };
    let loss = store.notice(session, 1, noticed, claimant, at(100)).unwrap().unwrap();
    let wording = Wording {
        text: "with the message".to_owned(),
        messages: vec![message],
        entries: 1,
        whose: Wording::name_of(&june()),
        ..Wording::default()
    };
    let text = NewText {
        loss,
        wording: &wording,
        agent: &june(),
        client: None,
        is_cleared: false,
        is_outdated: &|_, _| false,
    };
    store.keep_text(session, text, claimant, at(100))
}

/// Returns a store whose first session is being given its only message.
fn store_with_a_message() -> (tempfile::TempDir, SqlStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqlStore::open(&folder.path().join("store.db")).unwrap();
    store.add_agent(&june().scope, &june().agent, "claude").unwrap();
    let message = NewMessage {
        from: &AgentName::known("rev"),
        to: Some(&june().agent),
        kind: MessageKind::Say,
        content: "look",
        mentions: &[],
    };
    assert_eq!(store.say(&june().scope, &message, at(90)).unwrap().id, 1);
    assert!(matches!(keep(&store, FIRST, 1).unwrap(), TextChoice::Deliver(_)));
    (folder, store)
}

// A number that is left out would be given to a second session, or to none.
#[test]
fn a_damaged_list_of_messages_is_an_error_of_the_store() {
    let (_folder, store) = store_with_a_message();
    assert_eq!(keep(&store, SECOND, 1).unwrap(), TextChoice::Taken(vec![1]));
    for damaged in DAMAGED {
        let change = "UPDATE deliveries SET messages = ?1 WHERE session_id = 's-1'";
        store.connection().execute(change, params![damaged]).unwrap();
        let third = Session { client: Client::Claude, id: damaged };
        let errors = [
            keep(&store, third, 1).unwrap_err(),
            store.given(FIRST).unwrap_err(),
            store.given_to_others(&june(), third).unwrap_err(),
            store.last_text(FIRST, 1).unwrap_err(),
        ];
        for error in errors {
            assert!(error.is_damage(), "{damaged:?}: {error:?}");
            let cause = std::error::Error::source(&error).unwrap().to_string();
            assert!(cause.contains("is not a list of message numbers"), "{damaged:?}: {cause}");
        }
        let defects = store.check().unwrap();
        assert!(defects.iter().any(|defect| defect.contains("`deliveries`")), "{defects:?}");
    }
}
