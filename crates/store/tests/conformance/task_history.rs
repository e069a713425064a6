//! Rules about the log of tasks, undoing and restoring.

use convoke_domain::task::history::TaskChange;
use convoke_domain::task::order::SiblingPlace;
use convoke_domain::task::priority::TaskPriority;
use convoke_store::task_edit::{TaskEdit, TasksToMove};

use super::task_edit::get;
use super::*;

fn log(store: &dyn Store, id: Option<&TaskId>) -> Vec<String> {
    let changes = store.task_log(&here(), id, 100).unwrap();
    changes.iter().map(|change| format!("{} {}", change.actor, change.words())).collect()
}

pub(super) fn a_chosen_task_is_started_by_the_first_alone(store: &dyn Store) {
    let id = add(store, "a", None, None);
    let chosen = get(store, &id);
    let (ann, bob) = (name("ann"), name("bob"));
    let start = |agent| {
        store.change_task(&here(), &id, &Change::StartChosen(agent, &chosen), at(2)).map(drop)
    };
    start(&ann).unwrap();
    assert!(matches!(start(&bob), Err(StoreError::Taken { .. })));
    assert_eq!(get(store, &id).agent, Some(ann));
    assert_eq!(log(store, Some(&id)).len(), 2);
}

pub(super) fn every_change_is_logged(store: &dyn Store) {
    let id = add(store, "a", None, None);
    let part = add(store, "part", Some(&id), None);
    let june = name("june");
    let change = |change: &Change<'_>| store.change_task(&here(), &id, change, at(2)).unwrap();
    change(&Change::Status(TaskStatus::InProgress));
    change(&Change::Note("x"));
    change(&Change::Agent(Some(&june)));
    let edit =
        TaskEdit { title: Some("b"), priority: Some(TaskPriority::Low), ..TaskEdit::default() };
    store.edit_task(&here(), &id, &edit, at(3)).unwrap();
    store.reorder_task(&here(), &id, SiblingPlace::First, at(3)).unwrap();
    change(&Change::Status(TaskStatus::Completed));
    store.remove_task(&here(), &id, at(4)).unwrap();
    assert_eq!(
        log(store, Some(&id)),
        [
            "human added",
            "human started",
            "human noted",
            "human assigned to @june",
            "human renamed from “a”, set to low priority",
            "human completed",
            "human removed",
        ]
    );
    assert_eq!(log(store, Some(&part)), ["human added", "human skipped", "human removed"]);
    assert_eq!(log(store, None).len(), 10);
    assert_eq!(store.task_log(&here(), None, 2).unwrap().len(), 2, "the last ones");
    let elsewhere = Scope::new("app", "other");
    assert!(store.task_log(&elsewhere, None, 9).unwrap().is_empty());
    // A refused change leaves no trace.
    assert!(store.change_task(&here(), &id, &Change::Note("y"), at(5)).is_err());
    store.import_tasks(&here(), "p.md", &[], &[], at(5)).unwrap();
    assert_eq!(log(store, None).len(), 10);
}

// An agent undoes what agents did, and nothing of the user's: neither a step nor a verdict.
pub(super) fn agents_undo_nothing_of_the_users(store: &dyn Store) {
    let moved = |scope: &Scope| store.tasks(scope).unwrap().len();
    let id = add(store, "top", None, None);
    let there = Scope::new("app", "other");
    store.move_tasks(&there, &here().branch, TasksToMove::All, at(2)).unwrap();
    assert_eq!((moved(&here()), moved(&there)), (0, 1));
    let undo = |undoer| store.undo_task_step(&there, undoer, at(3));
    assert!(matches!(undo(Undoer::Agent), Err(StoreError::OfUser { .. })));
    assert_eq!((moved(&here()), moved(&there)), (0, 1), "nothing is undone");
    let agents = store.acting_for(name("june"));
    agents.change_task(&there, &id, &Change::Note("x"), at(4)).unwrap();
    assert_eq!(undo(Undoer::Agent).unwrap()[0].words(), "noted");
    assert!(matches!(undo(Undoer::Agent), Err(StoreError::OfUser { .. })));
    assert_eq!(undo(Undoer::User).unwrap().len(), 1);
    assert_eq!((moved(&here()), moved(&there)), (1, 0));
}

pub(super) fn steps_are_undone(store: &dyn Store) {
    assert_eq!(store.undo_task_step(&here(), Undoer::User, at(1)).unwrap(), []);
    let top = add(store, "top", None, None);
    let parts = ["a", "b"].map(|content| add(store, content, Some(&top), None));
    set_status(store, &parts[0], TaskStatus::InProgress, 2);
    let states = || {
        let mut tasks = store.tasks(&here()).unwrap();
        tasks.sort_by_key(|task| task.id.clone());
        let shown = |task: &convoke_domain::task::Task| {
            let (mut task, epoch) = (task.clone(), Timestamp::UNIX_EPOCH);
            task.updated_at = epoch;
            task
        };
        tasks.iter().map(shown).collect::<Vec<_>>()
    };
    let other = Scope::new("app", "other");
    let mut before = Vec::new();
    let mut apply = |act: &dyn Fn()| {
        before.push(states());
        act();
    };
    apply(&|| set_status(store, &top, TaskStatus::Completed, 3));
    apply(&|| {
        let edit = TaskEdit {
            title: Some("new"),
            body: Some("text"),
            after: Some(&[]),
            ..TaskEdit::default()
        };
        store.edit_task(&here(), &top, &edit, at(4)).unwrap();
    });
    apply(&|| store.reorder_task(&here(), &parts[1], SiblingPlace::First, at(5)).unwrap());
    apply(&|| assert_eq!(store.remove_task(&here(), &parts[0], at(6)).unwrap(), 1));
    apply(&|| assert_eq!(store.restore_task(&here(), &parts[0], at(7)).unwrap(), 1));
    apply(&|| {
        store.change_task(&here(), &parts[0], &Change::Parent(None), at(8)).unwrap();
    });
    apply(&|| {
        drop(store.import_tasks(&here(), "p.md", &["Task 1: x", "Task 2: y"], &[], at(9)).unwrap());
    });
    store.add_tasks(&other, &[NewTask::titled("elsewhere")], at(10)).unwrap();
    for expected in before.iter().rev() {
        assert!(!store.undo_task_step(&here(), Undoer::User, at(20)).unwrap().is_empty());
        assert_eq!(states(), *expected);
    }
    assert_eq!(store.tasks(&other).unwrap().len(), 1, "another branch is left alone");
    let undone = store.undo_task_step(&here(), Undoer::User, at(21)).unwrap();
    assert_eq!(undone.iter().map(TaskChange::words).collect::<Vec<_>>(), ["started"]);
    // A change after undoing is the next to be undone.
    store.change_task(&here(), &top, &Change::Note("again"), at(22)).unwrap();
    assert_eq!(store.undo_task_step(&here(), Undoer::User, at(23)).unwrap()[0].words(), "noted");
    for _ in 0..3 {
        assert_eq!(
            store.undo_task_step(&here(), Undoer::User, at(24)).unwrap()[0].words(),
            "added"
        );
    }
    assert_eq!(store.undo_task_step(&here(), Undoer::User, at(25)).unwrap(), []);
    assert!(store.tasks(&here()).unwrap().is_empty());
    let log = store.task_log(&here(), None, 1000).unwrap();
    assert!(log.iter().all(|change| change.is_undo || change.is_undone));
}

// Everything that an edit or an assignment changed is as before.
pub(super) fn undo_brings_everything_back(store: &dyn Store) {
    let (first, then) = (add(store, "first", None, None), add(store, "then", None, None));
    let edit = TaskEdit {
        body: Some("text"),
        priority: Some(TaskPriority::High),
        after: Some(std::slice::from_ref(&first)),
        ..TaskEdit::default()
    };
    store.edit_task(&here(), &then, &edit, at(2)).unwrap();
    let june = name("june");
    store.change_task(&here(), &then, &Change::Agent(Some(&june)), at(3)).unwrap();
    store.undo_task_step(&here(), Undoer::User, at(4)).unwrap();
    let task = get(store, &then);
    assert_eq!((task.agent, task.priority, task.after), (None, TaskPriority::High, vec![first]));
    store.undo_task_step(&here(), Undoer::User, at(5)).unwrap();
    let task = get(store, &then);
    assert_eq!((task.body, task.priority, task.after), (None, TaskPriority::Normal, vec![]));
}

pub(super) fn removed_tasks_are_restored(store: &dyn Store) {
    let top = add(store, "top", None, None);
    let part = add(store, "part", Some(&top), None);
    let early = add(store, "early", Some(&top), None);
    store.remove_task(&here(), &early, at(2)).unwrap();
    store.remove_task(&here(), &top, at(3)).unwrap();
    let removed = || {
        let tasks = store.removed_tasks(&here()).unwrap();
        tasks.into_iter().map(|removed| removed.task.content).collect::<Vec<_>>()
    };
    assert_eq!(removed(), ["top", "early"]);
    let restore = |id: &TaskId| store.restore_task(&here(), id, at(4));
    assert!(matches!(restore(&part), Err(StoreError::RemovedParent { .. })));
    assert_eq!(restore(&top).unwrap(), 2, "only what was removed with it");
    assert_eq!(get(store, &part).parent, Some(top.clone()));
    assert_eq!(removed(), ["early"]);
    assert!(matches!(restore(&top), Err(StoreError::NotRemoved { .. })));
    assert!(matches!(restore(&TaskId::parse("t-zzzzz").unwrap()), Err(StoreError::NoTask { .. })));
    assert_eq!(restore(&early).unwrap(), 1);
    // What was removed may wait for what has come to wait for it.
    let after = |id: &TaskId, after: &TaskId| {
        let edit = TaskEdit { after: Some(std::slice::from_ref(after)), ..TaskEdit::default() };
        store.edit_task(&here(), id, &edit, at(5)).unwrap();
    };
    let [one, two, three] = ["1", "2", "3"].map(|content| add(store, content, None, None));
    after(&one, &two);
    after(&two, &three);
    store.remove_task(&here(), &two, at(6)).unwrap();
    after(&three, &one);
    assert!(matches!(restore(&two), Err(StoreError::Waits { .. })));
    assert_eq!(removed(), ["2"], "what is refused changes nothing");
    assert!(store.removed_tasks(&Scope::new("app", "other")).unwrap().is_empty());
}
