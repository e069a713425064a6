//! Rules about processes that deliver at the same time.

use super::memory::{event, never, wording};
use super::talk::say;
use super::*;

fn owner(pid: u32) -> Owner {
    Owner { pid, mark: "m".to_owned() }
}

fn alive(_: &Owner) -> bool {
    false
}

fn gone(_: &Owner) -> bool {
    true
}

// Two events of a session in flight together: the second leaves the loss to the first, unless that has
// died, has answered, or takes too long.
pub(super) fn losses_are_claimed(store: &dyn Store) {
    let (first, second) = (owner(1), owner(2));
    let took = |session, moment, owner, is_gone: &dyn Fn(&Owner) -> bool, second| {
        let session = Session { client: Client::Claude, id: session };
        let (event, claimant) = (event(moment, Trace::Unknown), Claimant { owner, is_gone });
        store.notice(session, 1, event, claimant, at(second)).unwrap()
    };
    for (start, prompt) in
        [(Moment::Started, Moment::Prompted), (Moment::Prompted, Moment::Started)]
    {
        let id = if start == Moment::Started { "s-1" } else { "s-2" };
        assert_eq!(took(id, start, &first, &alive, 100), Some(1), "{start:?}");
        assert_eq!(took(id, prompt, &second, &alive, 101), None, "{start:?}");
        assert_eq!(took(id, Moment::Prompted, &second, &gone, 102), Some(1), "it died");
        assert_eq!(took(id, Moment::Prompted, &first, &alive, 103), None, "it is the second's now");
        assert_eq!(took(id, Moment::Prompted, &first, &alive, 150), Some(1), "it takes too long");
        let session = Session { client: Client::Claude, id };
        store.delivered(session, 1, 1, at(151)).unwrap();
        assert_eq!(took(id, Moment::Prompted, &second, &gone, 152), None, "it is answered");
        assert_eq!(took(id, Moment::Compacted, &second, &alive, 153), Some(2), "a new loss");
    }
}

// W-21: two sessions of one agent that begin together.
pub(super) fn messages_are_claimed(store: &dyn Store) {
    let june = Address { scope: here(), agent: name("june") };
    store.add_agent(&here(), &june.agent, "claude").unwrap();
    let message = say(store, &here(), "rev", Some("june"), &[], 90);
    let hands_over = Wording { messages: vec![message], ..wording("with the message") };
    let choose = |id, pid, wording: &Wording, is_gone: &dyn Fn(&Owner) -> bool, second| {
        let session = Session { client: Client::Claude, id };
        let owner = &owner(pid);
        let claimant = Claimant { owner, is_gone };
        let moment = event(Moment::Prompted, Trace::Unknown);
        let loss = store.notice(session, 1, moment, claimant, at(second)).unwrap();
        let text = NewText {
            loss: loss.unwrap(),
            wording,
            agent: &june,
            is_outdated: &never,
            client: None,
            is_cleared: false,
        };
        store.keep_text(session, text, claimant, at(second)).unwrap()
    };
    let given = TextChoice::Deliver(hands_over.clone());
    let taken = TextChoice::Taken(vec![message]);
    assert_eq!(choose("s-1", 1, &hands_over, &alive, 100), given);
    assert_eq!(choose("s-2", 2, &hands_over, &alive, 101), taken, "the first is giving it");
    let without = Wording { messages: Vec::new(), ..wording("without") };
    let text = TextChoice::Deliver(without.clone());
    assert_eq!(choose("s-2", 2, &without, &alive, 101), text);
    assert_eq!(choose("s-3", 3, &hands_over, &gone, 102), given, "the first died before it did");
    store.delivered(Session { client: Client::Claude, id: "s-3" }, 1, 1, at(103)).unwrap();
    assert_eq!(choose("s-4", 4, &hands_over, &gone, 104), taken, "its part was delivered");
    let received = MessageReceipt { read: &[message], known: Some(message) };
    store.change_agent(&here(), &june.agent, &AgentChange::Received(received)).unwrap();
    assert_eq!(choose("s-5", 5, &hands_over, &gone, 900), taken, "it was read since");
}

// W-21: a session that had no prompt yet keeps its messages while its client lives, for half a day. A
// session that is cleared loses them.
pub(super) fn messages_are_held_until_a_model_has_them(store: &dyn Store) {
    let june = Address { scope: here(), agent: name("june") };
    store.add_agent(&here(), &june.agent, "claude").unwrap();
    let message = say(store, &here(), "rev", Some("june"), &[], 90);
    let wording = Wording { messages: vec![message], ..wording("with the message") };
    let (first, second) = (owner(11), owner(12));
    let first_is_gone = |other: &Owner| *other != second;
    let session = |id| Session { client: Client::Claude, id };
    let keeps = |id, client: &Owner, is_cleared, is_gone: &dyn Fn(&Owner) -> bool, second| {
        let claimant = Claimant { owner: &owner(1), is_gone };
        let moment = event(Moment::Started, Trace::Unknown);
        let loss = store.notice(session(id), 1, moment, claimant, at(second)).unwrap().unwrap();
        let text = NewText {
            loss,
            wording: &wording,
            agent: &june,
            client: Some(client),
            is_cleared,
            is_outdated: &never,
        };
        let choice = store.keep_text(session(id), text, claimant, at(second)).unwrap();
        choice == TextChoice::Deliver(wording.clone())
    };
    assert!(keeps("s-1", &first, false, &alive, 100));
    store.delivered(session("s-1"), 1, 1, at(101)).unwrap();
    store.hold(session("s-1"), 1, &first, at(101)).unwrap();
    let given = store.given(session("s-1")).unwrap().unwrap();
    assert_eq!((given.last.wording, given.entries), (wording.clone(), vec![1]));
    for (id, second, later) in [("s-2", &second, 105), ("s-3", &second, 4000), ("s-4", &first, 105)]
    {
        assert!(!keeps(id, second, false, &alive, later), "{id}: the first session has it");
    }
    assert!(keeps("s-5", &first, false, &|_| true, 4000), "begun in the place of the first");
    assert!(keeps("s-6", &first, true, &|_| true, 106), "cleared");
    assert!(keeps("s-7", &second, false, &first_is_gone, 107), "the first client ended");
    assert!(keeps("s-8", &second, false, &|other| *other != first, 101 + 12 * 3600), "too long");
    let others = store.given_to_others(&june, session("s-8")).unwrap();
    assert!(others.iter().any(|given| given.id == "s-1"), "{others:?}");
    assert!(others.iter().all(|given| given.id != "s-8"), "{others:?}");
    let received = MessageReceipt { read: &[message], known: Some(message) };
    store.change_agent(&here(), &june.agent, &AgentChange::Received(received)).unwrap();
    assert_eq!(store.given(session("s-1")).unwrap(), None);
    assert_eq!(store.given_to_others(&june, session("s-9")).unwrap(), Vec::new());
}
