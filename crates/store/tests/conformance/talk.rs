//! Rules about agents, messages and deeds.

use convoke_store::task_edit::TasksToMove;

use super::*;

pub(super) fn say(
    store: &dyn Store,
    scope: &Scope,
    from: &str,
    to: Option<&str>,
    mentions: &[Address],
    second: i64,
) -> i64 {
    let (from, to) = (name(from), to.map(name));
    let content = format!("from {from}");
    let message = NewMessage {
        from: &from,
        to: to.as_ref(),
        kind: MessageKind::Say,
        content: &content,
        mentions,
    };
    store.say(scope, &message, at(second)).unwrap().id
}

// W-8
pub(super) fn time_never_runs_back(store: &dyn Store) {
    let ids = [say(store, &here(), "a", None, &[], 100), say(store, &here(), "b", None, &[], 50)];
    assert!(ids[0] < ids[1]);
    let messages = store.recent_messages(&here(), 10).unwrap();
    assert_eq!(messages.iter().map(|message| message.id).collect::<Vec<_>>(), ids);
    assert_eq!(messages[1].created_at, at(100));
    assert_eq!(store.recent_messages(&here(), 1).unwrap()[0].id, ids[1]);
}

// W-8, W-20, W-21
pub(super) fn addressing(store: &dyn Store) {
    let backend = Address { scope: here(), agent: name("backend") };
    let far = Scope::new("other", "main");
    let mentioned = say(store, &far, "june", None, std::slice::from_ref(&backend), 1);
    let direct = say(store, &here(), "june", Some("backend"), &[], 2);
    say(store, &here(), "backend", None, std::slice::from_ref(&backend), 3); // Its own.
    say(store, &here(), "june", None, &[], 4); // Without an addressee.
    let both = say(store, &here(), "june", Some("backend"), std::slice::from_ref(&backend), 5);
    let namesake = say(store, &far, "backend", None, std::slice::from_ref(&backend), 6);
    let ids = |which, before, most| {
        let found = store.addressed_to(&here(), &name("backend"), which, before, most).unwrap();
        found.into_iter().map(|message| message.id).collect::<Vec<_>>()
    };
    for which in [InboxFilter::Unread, InboxFilter::All] {
        assert_eq!(ids(which, None, 9), [mentioned, direct, both, namesake]);
        assert_eq!(ids(which, Some(both), 9), [mentioned, direct]);
        assert_eq!(ids(which, None, 2), [both, namesake], "the last ones, oldest first");
        assert_eq!(store.count_addressed_to(&here(), &name("backend"), which).unwrap(), 4);
        assert!(store.addressed_to(&far, &name("backend"), which, None, 9).unwrap().is_empty());
        assert_eq!(store.count_addressed_to(&far, &name("backend"), which).unwrap(), 0);
    }
    let messages = store.recent_messages(&far, 2).unwrap();
    assert_eq!(messages[0].mentions, [backend]);
}

// W-21: a delivered message is read, at any position; the rest stays unread, and stops waiting once
// the agent knows of it.
pub(super) fn messages_are_read_one_by_one(store: &dyn Store) {
    let june = name("june");
    let to_june = |second| say(store, &here(), "ana", Some("june"), &[], second);
    let ids = [to_june(1), to_june(2), to_june(3), to_june(4)];
    let elsewhere = Scope::new("app", "other");
    say(store, &elsewhere, "ana", Some("june"), &[], 5);
    store.add_agent(&here(), &june, "claude").unwrap();
    let receive = |read: &[i64], known| {
        let receipt = MessageReceipt { read, known };
        store.change_agent(&here(), &june, &AgentChange::Received(receipt)).unwrap();
    };
    let state = || {
        let found = store.addressed_to(&here(), &june, InboxFilter::Unread, None, 9).unwrap();
        let unread: Vec<_> = found.into_iter().map(|message| message.id).collect();
        let count = store.count_addressed_to(&here(), &june, InboxFilter::Unread).unwrap();
        assert_eq!(count, unread.len());
        let seen = store.agent(&here(), &june).unwrap().unwrap().last_seen;
        (unread, store.pending(&here(), &june, seen).unwrap().map(|pending| pending.newest))
    };
    assert_eq!(state(), (ids.to_vec(), Some(ids[3])));
    receive(&[ids[1]], None);
    assert_eq!(state(), (vec![ids[0], ids[2], ids[3]], Some(ids[3])));
    receive(&[ids[1], ids[2], 0], Some(ids[3]));
    assert_eq!(
        state(),
        (vec![ids[0], ids[3]], None),
        "twice is once, and what is not there is not"
    );
    receive(&[], None);
    assert_eq!(state().0, [ids[0], ids[3]]);
    let later = to_june(9);
    assert_eq!(state(), (vec![ids[0], ids[3], later], Some(later)));
    let all = store.addressed_to(&here(), &june, InboxFilter::All, None, 9).unwrap();
    assert_eq!(all.len(), 5, "what was read is still there");
    let far = store.count_addressed_to(&elsewhere, &june, InboxFilter::Unread).unwrap();
    assert_eq!(far, 1, "a namesake's are its own");
}

// W-7, W-21
pub(super) fn seeing_only_grows(store: &dyn Store) {
    let june = name("june");
    let change = |change: &AgentChange<'_>| store.change_agent(&here(), &june, change);
    let known = |id| AgentChange::Received(MessageReceipt { read: &[], known: Some(id) });
    assert!(matches!(change(&known(1)), Err(StoreError::NoAgent { .. })));
    store.add_agent(&here(), &june, "claude").unwrap();
    change(&known(7)).unwrap();
    change(&known(3)).unwrap();
    change(&AgentChange::Session("s-1")).unwrap();
    change(&AgentChange::Status(AgentStatus::Busy)).unwrap();
    change(&AgentChange::Compacted(Some(at(9)))).unwrap();
    store.add_agent(&here(), &june, "codex").unwrap();
    let agent = store.agent(&here(), &june).unwrap().unwrap();
    assert_eq!((agent.client.as_str(), agent.last_seen), ("codex", Some(7)));
    assert_eq!((agent.session_id.as_deref(), agent.status), (Some("s-1"), AgentStatus::Busy));
    assert_eq!((agent.compacted_at, agent.archived_at), (Some(at(9)), None));
    assert_eq!(store.agents(&Scope::new("app", "other")).unwrap(), []);
}

pub(super) fn agents_are_renamed(store: &dyn Store) {
    let (june, july, far) = (name("june"), name("july"), Scope::new("app", "far"));
    let rename = |from: &str, to: &str| store.rename_agent("app", &name(from), &name(to));
    assert!(matches!(rename("june", "july"), Err(StoreError::NoAgent { .. })));
    for scope in [here(), far.clone()] {
        store.add_agent(&scope, &june, "claude").unwrap();
    }
    store.add_agent(&far, &name("backend"), "codex").unwrap();
    store.add_agent(&Scope::new("other", "main"), &june, "claude").unwrap();
    assert!(matches!(rename("june", "backend"), Err(StoreError::AgentExists { .. })));
    let task = NewTask { agent: Some(&june), ..NewTask::titled("a") };
    let task = store.add_tasks(&here(), &[task], at(1)).unwrap().remove(0);
    store.change_task(&here(), &task, &Change::Status(TaskStatus::InProgress), at(2)).unwrap();
    let mention = Address { scope: here(), agent: june.clone() };
    let first = say(store, &here(), "backend", Some("june"), &[mention], 1);
    say(store, &here(), "june", Some("backend"), &[], 2);
    store
        .change_agent(
            &here(),
            &june,
            &AgentChange::Received(MessageReceipt { read: &[first], known: Some(first) }),
        )
        .unwrap();
    let next = say(store, &here(), "backend", Some("june"), &[], 3);
    store.record_event(&here(), &june, "did it", at(1)).unwrap();
    let session = Session { client: Client::Claude, id: "s-1" };
    store.bind(session, &Address { scope: here(), agent: june.clone() }).unwrap();
    rename("june", "july").unwrap();
    assert_eq!(store.agent(&here(), &june).unwrap(), None);
    let seen = store.agent(&here(), &july).unwrap().unwrap().last_seen;
    assert_eq!(seen, Some(first));
    assert!(store.agent(&far, &july).unwrap().is_some());
    // A new name is no step of a task, and no undone step brings the old name back.
    store.undo_task_step(&here(), Undoer::User, at(3)).unwrap();
    let undone = store.task(&here(), &task).unwrap().unwrap();
    assert_eq!((undone.agent, undone.status), (Some(july.clone()), TaskStatus::Pending));
    let unread = store.addressed_to(&here(), &july, InboxFilter::Unread, None, 9).unwrap();
    assert_eq!(unread.iter().map(|message| message.id).collect::<Vec<_>>(), [next]);
    let messages = store.recent_messages(&here(), 9).unwrap();
    assert_eq!((&messages[0].to, &messages[1].from), (&Some(july.clone()), &july));
    assert_eq!(messages[0].mentions[0].agent, july);
    assert_eq!(store.recent_events(&here(), 9).unwrap()[0].actor, july);
    assert_eq!(store.bound(session).unwrap().unwrap().agent, july);
    // An agent of the same name in another project is another agent.
    assert!(store.agent(&Scope::new("other", "main"), &june).unwrap().is_some());
}

pub(super) fn agents_are_removed(store: &dyn Store) {
    let june = name("june");
    let remove = |removal| store.remove_agent(&here(), &june, removal, at(4));
    assert!(matches!(remove(Removal::Anyway), Err(StoreError::NoAgent { .. })));
    store.add_agent(&here(), &june, "claude").unwrap();
    assert_eq!(remove(Removal::IfIdle).unwrap(), AgentLeftovers { tasks: 0, unread: 0 });
    store.add_agent(&here(), &june, "claude").unwrap();
    let task = NewTask { agent: Some(&june), ..NewTask::titled("a") };
    let task = store.add_tasks(&here(), &[task], at(1)).unwrap().remove(0);
    let session = Session { client: Client::Claude, id: "s-1" };
    store.bind(session, &Address { scope: here(), agent: june.clone() }).unwrap();
    say(store, &here(), "backend", Some("june"), &[], 1);
    let busy = remove(Removal::IfIdle);
    assert!(matches!(busy, Err(StoreError::AgentBusy { tasks: 1, unread: 1, .. })), "{busy:?}");
    assert!(store.agent(&here(), &june).unwrap().is_some());
    assert_eq!(remove(Removal::Anyway).unwrap(), AgentLeftovers { tasks: 1, unread: 1 });
    assert_eq!(store.agent(&here(), &june).unwrap(), None);
    assert_eq!(store.task(&here(), &task).unwrap().unwrap().agent, None);
    assert_eq!(store.bound(session).unwrap(), None);
    assert_eq!(store.addressed_to(&here(), &june, InboxFilter::All, None, 9).unwrap().len(), 1);
}

// W-9
pub(super) fn deeds_in_order(store: &dyn Store) {
    for (phrase, second) in [("did one", 5), ("did two", 4), ("did three", 6)] {
        store.record_event(&here(), &name("june"), phrase, at(second)).unwrap();
    }
    let events = store.recent_events(&here(), 2).unwrap();
    let found: Vec<_> =
        events.iter().map(|event| (event.verb_phrase.as_str(), event.created_at)).collect();
    assert_eq!(found, [("did two", at(5)), ("did three", at(6))]);
}

// W-21, W-22: one wake-up at a time, with all waiting messages; a message sent meanwhile is one hop
// further.
pub(super) fn wake_ups_are_taken_once(store: &dyn Store) {
    let (june, owner) = (name("june"), Owner { pid: 7, mark: "boot 70".to_owned() });
    let other = |pid| Owner { pid, ..owner.clone() };
    let begin = |hop, owner: &Owner| store.begin_wake_up(&here(), &june, hop, owner).unwrap();
    let pending = |after| store.pending(&here(), &june, after).unwrap();
    let end = |owner: &Owner, end: &WakeUpEnd<'_>| {
        store.end_wake_up(&here(), &june, owner, end, at(9)).unwrap()
    };
    let backend = name("backend");
    let message = NewMessage {
        from: &june,
        to: Some(&backend),
        kind: MessageKind::Complete,
        content: "done",
        mentions: &[],
    };
    let answered = |seen| WakeUpEnd {
        received: MessageReceipt { read: &[], known: Some(seen) },
        answered: true,
        message: Some(message),
    };
    store.add_agent(&here(), &june, "claude").unwrap();
    store.change_agent(&here(), &june, &AgentChange::Archived(Some(at(1)))).unwrap();
    store.change_agent(&here(), &june, &AgentChange::Compacted(Some(at(1)))).unwrap();
    assert_eq!(pending(None), None);
    let first = say(store, &here(), "ana", Some("june"), &[], 1);
    let last = say(store, &here(), "ana", Some("june"), &[], 2);
    assert_eq!(pending(None), Some(PendingWakeUp { newest: last, hop: 0 }));
    assert_eq!(pending(Some(first)), Some(PendingWakeUp { newest: last, hop: 0 }));
    assert!(begin(8, &owner) && !begin(8, &other(8)));
    let agent = store.agent(&here(), &june).unwrap().unwrap();
    assert_eq!((agent.status, agent.owner), (AgentStatus::Busy, Some(owner.clone())));
    assert_eq!(agent.archived_at, None);
    assert_eq!(
        end(&Owner { mark: "boot 71".to_owned(), ..other(7) }, &answered(last)),
        None,
        "a namesake"
    );
    let said = end(&owner, &answered(last)).unwrap();
    assert_eq!(said.hop, 9);
    let agent = store.agent(&here(), &june).unwrap().unwrap();
    assert_eq!((agent.status, agent.owner), (AgentStatus::Idle, None));
    assert_eq!((agent.last_seen, agent.compacted_at), (Some(last), None));
    assert_eq!(end(&owner, &answered(last)), None, "it ended before");
    assert_eq!(store.pending(&here(), &backend, None).unwrap(), None, "a chain too long");
    assert_eq!(store.addressed_to(&here(), &backend, InboxFilter::All, None, 9).unwrap()[0].hop, 9);
    say(store, &here(), "june", Some("backend"), &[], 3);
    let waiting = store.pending(&here(), &backend, None).unwrap().unwrap();
    assert_eq!(waiting.hop, 0, "no message woke her for this one");
    assert!(begin(0, &owner));
    end(&owner, &WakeUpEnd { received: MessageReceipt::default(), answered: false, message: None });
    assert_eq!(store.agent(&here(), &june).unwrap().unwrap().last_seen, Some(last));
}

// A message in another scope stays there, unless it is addressed to an agent of this one.
pub(super) fn answers_are_threaded(store: &dyn Store) {
    let far = Scope::new("other", "main");
    let backend = Address { scope: here(), agent: name("backend") };
    let asked = say(store, &far, "june", None, std::slice::from_ref(&backend), 1);
    let unheard = say(store, &far, "june", None, &[], 1);
    let from = name("backend");
    let message = NewMessage {
        from: &from,
        to: None,
        kind: MessageKind::Say,
        content: "answer",
        mentions: &[],
    };
    let reply = |to| store.reply(&here(), to, &message, at(2));
    let answer = reply(asked).unwrap().id;
    let deeper = reply(answer).unwrap().id;
    assert!(matches!(reply(unheard), Err(StoreError::NoMessage { .. })));
    assert!(matches!(reply(999), Err(StoreError::NoMessage { .. })));
    let ids = |scope: &Scope, id| {
        let thread = store.thread(scope, id).unwrap();
        thread.into_iter().map(|message| (message.id, message.re)).collect::<Vec<_>>()
    };
    let all = [(asked, None), (answer, Some(asked)), (deeper, Some(answer))];
    for id in [asked, answer, deeper] {
        assert_eq!(ids(&here(), id), all);
    }
    assert_eq!(ids(&far, asked), [(asked, None)], "the answers are not to it");
    assert!(store.thread(&here(), unheard).is_err());
    let visible = |scope: &Scope, before, most| {
        let found = store.visible_messages(scope, before, most).unwrap();
        found.into_iter().map(|message| message.id).collect::<Vec<_>>()
    };
    assert_eq!(visible(&here(), None, 9), [asked, answer, deeper]);
    assert_eq!(visible(&here(), Some(deeper), 1), [answer], "the last ones before it");
    assert_eq!(visible(&far, None, 9), [asked, unheard]);
    assert_eq!(store.count_visible_messages(&here()).unwrap(), 3);
    assert_eq!(store.message(&here(), asked).unwrap().unwrap().scope, far);
    assert_eq!(store.message(&here(), unheard).unwrap(), None);
}

// Messages, agents and sessions follow all tasks of a branch, and come back with them.
pub(super) fn talk_follows_a_branch(store: &dyn Store) {
    let there = Scope { branch: "feature/x".to_owned(), ..here() };
    let june = name("june");
    add(store, "a task", None, None);
    store.add_agent(&here(), &june, "claude").unwrap();
    store.add_agent(&here(), &name("max"), "claude").unwrap();
    store.add_agent(&there, &name("max"), "claude").unwrap();
    let read = say(store, &here(), "ana", Some("june"), &[], 1);
    let unread = say(store, &here(), "ana", Some("june"), &[], 2);
    let to_there = Address { scope: there.clone(), agent: name("max") };
    say(store, &here(), "ana", Some("max"), std::slice::from_ref(&to_there), 3);
    let receipt = MessageReceipt { read: &[read], known: Some(read) };
    store.change_agent(&here(), &june, &AgentChange::Received(receipt)).unwrap();
    let session = Session { client: Client::Claude, id: "s" };
    store.bind(session, &Address { scope: here(), agent: june.clone() }).unwrap();
    let state = |scope: &Scope| {
        let ids = |agent, which| {
            let found = store.addressed_to(scope, agent, which, None, 9).unwrap();
            found.into_iter().map(|message| message.id).collect::<Vec<_>>()
        };
        let unread = store.count_addressed_to(scope, &june, InboxFilter::Unread).unwrap();
        let recent = store.recent_messages(scope, 9).unwrap().len();
        let of_june = (ids(&june, InboxFilter::All), ids(&june, InboxFilter::Unread), unread);
        (of_june, ids(&name("max"), InboxFilter::Unread).len(), recent)
    };
    let all = (vec![read, unread], vec![unread], 1);
    let moved = store.move_tasks(&there, "main", TasksToMove::All, at(4)).unwrap();
    assert_eq!((moved.messages, moved.agents), (3, 1), "max is there already");
    assert_eq!(state(&there), (all.clone(), 1, 3));
    assert_eq!(state(&here()), ((vec![], vec![], 0), 0, 0));
    assert_eq!(store.bound(session).unwrap().unwrap().scope, there);
    assert!(store.agent(&there, &june).unwrap().is_some());
    store.undo_task_step(&there, Undoer::User, at(5)).unwrap();
    let (of_june, _, recent) = state(&here());
    assert_eq!((of_june, recent), (all, 3));
    assert_eq!(state(&there).2, 0);
    assert_eq!(store.bound(session).unwrap().unwrap().scope, here());
    assert!(store.agent(&there, &june).unwrap().is_none());
    // A single task takes no message along, and a branch without tasks all that it has.
    let ids: Vec<_> = store.tasks(&here()).unwrap().into_iter().map(|task| task.id).collect();
    let moved = store.move_tasks(&there, "main", TasksToMove::Tasks(&ids), at(6)).unwrap();
    assert_eq!((moved.messages, moved.agents), (0, 0));
    let moved = store.move_tasks(&there, "main", TasksToMove::All, at(7)).unwrap();
    assert_eq!((moved.ids.len(), moved.messages), (0, 3));
}
