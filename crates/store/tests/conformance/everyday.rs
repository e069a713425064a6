//! What people notice of a store in a day: verdicts taken back, plans that move, messages elsewhere.

use super::memory::{claimant, event};
use super::talk::say;
use super::*;

/// These rules, for every backend.
pub(super) const RULES: [Rule; 5] = [
    ("the last verdict can be taken back", the_last_verdict_is_undone),
    ("a verdict of a dispatch or a message stays", verdicts_of_dispatches_stay),
    ("the tasks of a plan follow its file", tasks_follow_their_plan),
    ("branches with unread messages are listed", unread_branches_are_listed),
    ("a session is settled when all its entries answered", sessions_are_settled),
];

fn verdict<'a>(task: &'a TaskId, role: &'a DeedRole, actor: &'a AgentName) -> NewDeed<'a> {
    let kind = DeedKind::Pass;
    NewDeed { task, kind, role, actor, reason: None, message_id: None, run: None }
}

fn count(store: &dyn Store, task: &TaskId) -> usize {
    store.deeds_of_task(&here(), task).unwrap().len()
}

fn the_last_verdict_is_undone(store: &dyn Store) {
    let (role, human) = (DeedRole::parse("spec-reviewer").unwrap(), name("human"));
    let (one, two) = (add(store, "1", None, None), add(store, "2", None, None));
    let undo = |undoer| store.undo_verdict(&here(), undoer, at(9));
    assert_eq!(undo(Undoer::User).unwrap(), None, "no verdict is left to take back");
    let june = name("june");
    store.record_deed(&here(), &verdict(&one, &role, &june), at(2)).unwrap();
    let last = store.record_deed(&here(), &verdict(&two, &role, &human), at(3)).unwrap();
    let elsewhere = Scope::new("app", "other");
    assert_eq!(store.undo_verdict(&elsewhere, Undoer::User, at(9)).unwrap(), None);
    let refused = undo(Undoer::Agent);
    assert!(matches!(refused, Err(StoreError::OfUser { .. })), "{refused:?}");
    assert_eq!(undo(Undoer::User).unwrap(), Some(last));
    assert_eq!((count(store, &one), count(store, &two)), (1, 0));
    assert_eq!(undo(Undoer::Agent).unwrap().map(|deed| deed.task), Some(one.clone()));
    assert_eq!(count(store, &one), 0);
    // A step after a verdict is undone first, and by another command.
    store.record_deed(&here(), &verdict(&one, &role, &june), at(4)).unwrap();
    set_status(store, &two, TaskStatus::Completed, 5);
    assert_eq!(undo(Undoer::User).unwrap(), None);
    assert_eq!(count(store, &one), 1);
}

fn verdicts_of_dispatches_stay(store: &dyn Store) {
    let (role, june) = (DeedRole::parse("spec-reviewer").unwrap(), name("june"));
    let (other, task) = (add(store, "1", None, None), add(store, "2", None, None));
    let of_run = |task| NewDeed { run: Some("round 1"), ..verdict(task, &role, &june) };
    store.record_deed(&here(), &of_run(&other), at(2)).unwrap();
    assert_eq!(store.undo_verdict(&here(), Undoer::User, at(3)).unwrap(), None);
    store.record_deed(&here(), &of_run(&task), at(4)).unwrap();
    let refused = store.undo_verdict(&here(), Undoer::User, at(5));
    let is_judged = matches!(&refused, Err(StoreError::JudgedSince { id, .. }) if *id == task);
    assert!(is_judged, "its last step made the task: {refused:?}");
    assert_eq!((count(store, &other), count(store, &task)), (1, 1));
}

fn tasks_follow_their_plan(store: &dyn Store) {
    let first = add(store, "a", None, Some("a.md"));
    let part = add(store, "part", Some(&first), None);
    add(store, "b", None, Some("b.md"));
    add(store, "without a plan", None, None);
    let plans = |scope: &Scope| store.plans(scope).unwrap();
    let elsewhere = Scope::new("app", "other");
    assert_eq!((plans(&here()), plans(&elsewhere)), (vec!["a.md".into(), "b.md".into()], vec![]));
    let text = PinText::of_cancelled_plan("a.md", None).unwrap();
    let cancelled =
        NewPin { text: &text, reach: Reach::Branch, task: None, plan: Some("a.md"), until: None };
    store.add_pin(&here(), &cancelled, at(2)).unwrap();
    store.rename_plan(&elsewhere, "a.md", "docs/a.md", at(3)).unwrap();
    assert_eq!(plans(&here()), ["a.md", "b.md"], "another branch's plan is its own");
    store.rename_plan(&here(), "a.md", "docs/a.md", at(4)).unwrap();
    assert_eq!(plans(&here()), ["b.md", "docs/a.md"]);
    for id in [&first, &part] {
        let task = store.task(&here(), id).unwrap().unwrap();
        assert_eq!(task.plan_file.as_deref(), Some("docs/a.md"));
    }
    let active = store.active_plan(&here(), None).unwrap();
    assert_ne!(active, ActivePlan::File("docs/a.md".to_owned()), "it is cancelled there, too");
}

fn unread_branches_are_listed(store: &dyn Store) {
    let (june, other) = (name("june"), Scope::new("app", "other"));
    let listed = || store.unread_branches("app", &june).unwrap();
    assert_eq!(listed(), []);
    let first = say(store, &here(), "ana", Some("june"), &[], 1);
    for second in 2..4 {
        say(store, &other, "ana", Some("june"), &[], second);
    }
    say(store, &Scope::new("web", "main"), "ana", Some("june"), &[], 5);
    say(store, &here(), "ana", Some("max"), &[], 6);
    assert_eq!(listed(), [("main".to_owned(), 1), ("other".to_owned(), 2)]);
    store.add_agent(&here(), &june, "claude").unwrap();
    let received = MessageReceipt { read: &[first], known: Some(first) };
    store.change_agent(&here(), &june, &AgentChange::Received(received)).unwrap();
    assert_eq!(listed(), [("other".to_owned(), 2)], "what was read is not listed");
}

fn sessions_are_settled(store: &dyn Store) {
    let session = Session { client: Client::Claude, id: "s-1" };
    let notice = |entry, moment, second| {
        let moment = event(moment, Trace::Unknown);
        store.notice(session, entry, moment, claimant(), at(second)).unwrap()
    };
    let is_settled = || store.is_settled(session).unwrap();
    assert!(!is_settled(), "it never lost its memory");
    let losses = [1, 2].map(|entry| notice(entry, Moment::Started, 100).unwrap());
    assert_eq!(losses, [1, 1]);
    assert!(!is_settled());
    store.delivered(session, 1, 1, at(101)).unwrap();
    assert!(!is_settled(), "the second entry has not answered");
    store.delivered(session, 2, 1, at(101)).unwrap();
    assert!(is_settled());
    let other = Session { id: "s-2", ..session };
    assert!(!store.is_settled(other).unwrap(), "another session's answers are its own");
    notice(1, Moment::Compacted, 200);
    assert!(!is_settled(), "it lost its memory again");
}
