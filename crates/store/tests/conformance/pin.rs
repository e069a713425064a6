//! The user's rules.

use convoke_store::task_edit::TasksToMove;

use super::memory::{claimant, keep, wording};
use super::*;

fn pin(store: &dyn Store, text: &str, reach: Reach, task: Option<&TaskId>) -> Pin {
    let text = PinText::parse(text).unwrap();
    let new = NewPin { text: &text, reach, task, plan: None, until: None };
    store.add_pin(&here(), &new, at(1)).unwrap()
}

fn texts(store: &dyn Store, scope: &Scope, second: i64) -> Vec<String> {
    let pins = store.pins(scope, at(second)).unwrap();
    pins.iter().map(|pin| pin.text.as_str().to_owned()).collect()
}

pub(super) fn rules_hold_where_they_should(store: &dyn Store) {
    let task = add(store, "1", None, None);
    let of_project = pin(store, "everywhere", Reach::Project, None);
    pin(store, "on main", Reach::Branch, None);
    pin(store, "with the task", Reach::Branch, Some(&task));
    let text = PinText::parse("for a while").unwrap();
    let until = Some(at(10));
    let new = NewPin { text: &text, reach: Reach::Project, task: None, plan: None, until };
    store.add_pin(&here(), &new, at(2)).unwrap();
    let all = ["everywhere", "on main", "with the task", "for a while"];
    assert_eq!(texts(store, &here(), 9), all);
    assert_eq!(texts(store, &here(), 10), all[..3]);
    assert_eq!(texts(store, &Scope::new("app", "other"), 9), ["everywhere", "for a while"]);
    assert!(texts(store, &Scope::new("web", "main"), 9).is_empty());
    set_status(store, &task, TaskStatus::Completed, 3);
    assert_eq!(texts(store, &here(), 9), ["everywhere", "on main", "for a while"]);
    set_status(store, &task, TaskStatus::InProgress, 4);
    assert_eq!(texts(store, &here(), 9), all, "an opened task has its rules back");
    store.remove_task(&here(), &task, at(5)).unwrap();
    assert_eq!(texts(store, &here(), 9), ["everywhere", "on main", "for a while"]);
    assert_eq!(store.all_pins("app").unwrap().len(), 4, "what has ended is still known");
    assert!(!store.remove_pin("web", of_project.id, at(6)).unwrap(), "of another project");
    assert!(store.remove_pin("app", of_project.id, at(6)).unwrap());
    assert!(!store.remove_pin("app", of_project.id, at(7)).unwrap());
    assert_eq!(texts(store, &here(), 20), ["on main"]);
    let gone = TaskId::parse("t-gone").unwrap();
    let new = NewPin { text: &text, reach: Reach::Branch, task: Some(&gone), plan: None, until };
    let refused = store.add_pin(&here(), &new, at(1));
    assert!(matches!(refused, Err(StoreError::NoTask { .. })), "{refused:?}");
}

pub(super) fn a_cancelled_plan_is_not_active(store: &dyn Store) {
    add(store, "a", None, Some("a.md"));
    let b = add(store, "b", None, Some("b.md"));
    set_status(store, &b, TaskStatus::InProgress, 5);
    let active = || store.active_plan(&here(), None).unwrap();
    assert_eq!(active(), ActivePlan::File("b.md".to_owned()));
    let text = PinText::of_cancelled_plan("b.md", None).unwrap();
    let cancel = |plan| {
        let new =
            NewPin { text: &text, reach: Reach::Branch, task: None, plan: Some(plan), until: None };
        store.add_pin(&here(), &new, at(6)).unwrap()
    };
    cancel("b.md");
    assert_eq!(active(), ActivePlan::File("a.md".to_owned()));
    let a = cancel("a.md");
    assert_eq!(active(), ActivePlan::Nothing);
    assert_eq!(store.resume_plan(&Scope::new("app", "other"), "b.md", at(7)).unwrap(), 0);
    assert_eq!(store.resume_plan(&here(), "b.md", at(7)).unwrap(), 1);
    assert_eq!(active(), ActivePlan::File("b.md".to_owned()));
    assert!(store.remove_pin("app", a.id, at(8)).unwrap());
    set_status(store, &b, TaskStatus::Completed, 9);
    assert_eq!(active(), ActivePlan::File("a.md".to_owned()), "without its rule it is active");
}

pub(super) fn receipts_are_kept(store: &dyn Store) {
    let (one, two) = (pin(store, "1", Reach::Project, None), pin(store, "2", Reach::Project, None));
    assert_eq!(store.last_receipt(one.id).unwrap(), None);
    store.pins_delivered(&[one.id, two.id], "claude", "s-1", at(3)).unwrap();
    store.pins_delivered(&[one.id], "claude", "s-1", at(5)).unwrap();
    store.pins_delivered(&[one.id], "codex", "s-2", at(4)).unwrap();
    let last = store.last_receipt(one.id).unwrap().unwrap();
    assert_eq!((last.client.as_str(), last.session.as_str(), last.at), ("claude", "s-1", at(5)));
    assert_eq!(store.last_receipt(two.id).unwrap().unwrap().at, at(3));
    // A rule has arrived with the text that it was given in, and no earlier one.
    let session = Session { client: Client::Claude, id: "s-1" };
    let notice = |moment, trace, second| {
        let noticed = NoticedEvent { moment, trace, mark: second, entries: 1 };
        let second = i64::try_from(second).unwrap();
        store.notice(session, 1, noticed, claimant(), at(second)).unwrap();
    };
    let arrived = || store.last_receipt(one.id).unwrap().unwrap().arrived_at;
    notice(Moment::Began, Trace::Unknown, 5);
    keep(store, session, 1, &wording("text"), at(5), &|_, _| false);
    store.delivered(session, 1, 1, at(5)).unwrap();
    assert_eq!(arrived(), None);
    notice(Moment::Prompted, Trace::Found, 60);
    assert_eq!(arrived(), Some(at(60)));
    store.pins_delivered(&[one.id], "claude", "s-1", at(90)).unwrap();
    assert_eq!(arrived(), None, "given again, and not seen since");
}

// A branch that is renamed keeps its rules, its cancelled plans and the rules of its tasks; undoing
// the move brings all of it back.
pub(super) fn rules_follow_their_tasks(store: &dyn Store) {
    let there = Scope::new("app", "renamed");
    let task = add(store, "a", None, Some("a.md"));
    pin(store, "everywhere", Reach::Project, None);
    pin(store, "on main", Reach::Branch, None);
    pin(store, "with the task", Reach::Branch, Some(&task));
    let text = PinText::of_cancelled_plan("a.md", None).unwrap();
    let new =
        NewPin { text: &text, reach: Reach::Branch, task: None, plan: Some("a.md"), until: None };
    store.add_pin(&here(), &new, at(2)).unwrap();
    let all = texts(store, &here(), 9);
    assert_eq!(all.len(), 4);
    let active = |scope: &Scope| store.active_plan(scope, None).unwrap();
    store.move_tasks(&there, "main", TasksToMove::All, at(3)).unwrap();
    assert_eq!((texts(store, &there, 9), active(&there)), (all.clone(), ActivePlan::Nothing));
    assert_eq!(texts(store, &here(), 9), ["everywhere"]);
    store.undo_task_step(&there, Undoer::User, at(4)).unwrap();
    assert_eq!((texts(store, &here(), 9), active(&here())), (all.clone(), ActivePlan::Nothing));
    assert_eq!(texts(store, &there, 9), ["everywhere"]);
    // Rules of a branch without tasks follow, too.
    let empty = Scope { branch: "empty".to_owned(), ..here() };
    let on_empty = PinText::parse("on empty").unwrap();
    let new = NewPin { text: &on_empty, reach: Reach::Branch, task: None, plan: None, until: None };
    store.add_pin(&empty, &new, at(4)).unwrap();
    store.move_tasks(&there, "empty", TasksToMove::All, at(4)).unwrap();
    assert_eq!(texts(store, &there, 9), ["everywhere", "on empty"]);
    let last = store.pins(&there, at(4)).unwrap().last().unwrap().id;
    store.remove_pin(&here().project, last, at(4)).unwrap();
    // One task alone takes its own rules along; its plan is cancelled there, too.
    let alone = [task.clone()];
    store.move_tasks(&there, "main", TasksToMove::Tasks(&alone), at(5)).unwrap();
    let cancelled = text.as_str();
    assert_eq!(texts(store, &there, 9), ["everywhere", "with the task", cancelled]);
    assert_eq!(texts(store, &here(), 9), ["everywhere", "on main", cancelled]);
    assert_eq!(active(&there), ActivePlan::Nothing);
    store.undo_task_step(&there, Undoer::User, at(6)).unwrap();
    assert_eq!(texts(store, &here(), 9), all);
    assert_eq!(texts(store, &there, 9), ["everywhere"]);
}
