//! Rules about editing tasks, their order, their dependencies and their branch.

use convoke_domain::task::Task;
use convoke_domain::task::order::SiblingPlace;
use convoke_domain::task::priority::TaskPriority;
use convoke_domain::task::tree::in_order;
use convoke_store::task_edit::{TaskEdit, TasksToMove};

use super::*;

pub(super) fn get(store: &dyn Store, id: &TaskId) -> Task {
    store.task(&here(), id).unwrap().unwrap()
}

fn contents(store: &dyn Store, scope: &Scope) -> Vec<String> {
    let mut tasks = store.tasks(scope).unwrap();
    tasks.sort_by(in_order);
    tasks.into_iter().map(|task| task.content).collect()
}

pub(super) fn edits_are_kept(store: &dyn Store) {
    let id = add(store, "old", None, None);
    let edit = |edit: &TaskEdit<'_>| store.edit_task(&here(), &id, edit, at(5));
    edit(&TaskEdit { title: Some("new"), body: Some("two\nlines"), ..TaskEdit::default() })
        .unwrap();
    edit(&TaskEdit { priority: Some(TaskPriority::High), ..TaskEdit::default() }).unwrap();
    let task = get(store, &id);
    assert_eq!((task.content.as_str(), task.body.as_deref()), ("new", Some("two\nlines")));
    assert_eq!((task.priority, task.updated_at), (TaskPriority::High, at(5)));
    edit(&TaskEdit { body: Some(""), ..TaskEdit::default() }).unwrap();
    assert_eq!(get(store, &id).body, None);
    let gone = TaskId::parse("t-zzzzz").unwrap();
    let edited = store.edit_task(&here(), &gone, &TaskEdit::default(), at(5));
    assert!(matches!(edited, Err(StoreError::NoTask { .. })));
}

pub(super) fn tasks_are_reordered(store: &dyn Store) {
    let ids = ["a", "b", "c", "d"].map(|content| add(store, content, None, None));
    let part = add(store, "part", Some(&ids[0]), None);
    let order = |id: usize, place| store.reorder_task(&here(), &ids[id], place, at(2));
    let shown = || {
        let mut tasks = store.tasks(&here()).unwrap();
        tasks.retain(|task| task.parent.is_none());
        tasks.sort_by(in_order);
        tasks.into_iter().map(|task| task.content).collect::<String>()
    };
    for (id, place, expected) in [
        (3, SiblingPlace::First, "dabc"),
        (0, SiblingPlace::Last, "dbca"),
        (0, SiblingPlace::Before(&ids[1]), "dabc"),
        (3, SiblingPlace::After(&ids[1]), "abdc"),
        (2, SiblingPlace::After(&ids[0]), "acbd"),
    ] {
        order(id, place).unwrap();
        assert_eq!(shown(), expected);
    }
    let beside = order(1, SiblingPlace::Before(&part));
    assert!(matches!(beside, Err(StoreError::NotSiblings { .. })));
    let gone = TaskId::parse("t-zzzzz").unwrap();
    assert!(matches!(order(1, SiblingPlace::After(&gone)), Err(StoreError::NoTask { .. })));
    assert_eq!(shown(), "acbd", "what is refused changes nothing");
}

pub(super) fn prerequisites_are_waited_for(store: &dyn Store) {
    let first = add(store, "first", None, Some("one.md"));
    let task = NewTask { after: std::slice::from_ref(&first), ..NewTask::titled("then") };
    let then = store.add_tasks(&here(), &[task], at(1)).unwrap().remove(0);
    assert_eq!(get(store, &then).waits_for, std::slice::from_ref(&first));
    assert!(get(store, &then).is_waiting() && !get(store, &first).is_waiting());
    let of_plan = store.tasks_of_plan(&here(), None).unwrap();
    let open = std::slice::from_ref(&first);
    assert_eq!(of_plan[0].waits_for, open, "also for a task of another plan");
    let after = |id: &TaskId, after: &[TaskId]| {
        store.edit_task(&here(), id, &TaskEdit { after: Some(after), ..TaskEdit::default() }, at(2))
    };
    let circle = after(&first, std::slice::from_ref(&then));
    assert!(matches!(circle, Err(StoreError::Waits { .. })), "{circle:?}");
    assert_eq!(get(store, &first).after, [], "what is refused changes nothing");
    let part = add(store, "part", Some(&then), None);
    let moved = store.change_task(&here(), &first, &Change::Parent(Some(&part)), at(2));
    assert!(matches!(moved, Err(StoreError::Waits { .. })), "{moved:?}");
    let gone = TaskId::parse("t-zzzzz").unwrap();
    assert!(matches!(after(&then, &[gone]), Err(StoreError::NoTask { .. })));
    set_status(store, &first, TaskStatus::Skipped, 3);
    assert_eq!(
        (get(store, &then).waits_for, get(store, &then).after),
        (vec![], vec![first.clone()])
    );
    set_status(store, &first, TaskStatus::Pending, 4);
    assert!(get(store, &then).is_waiting());
    store.remove_task(&here(), &first, at(5)).unwrap();
    assert!(!get(store, &then).is_waiting(), "what is removed holds nothing up");
    after(&then, &[]).unwrap();
    assert_eq!(get(store, &then).after, []);
}

pub(super) fn tasks_change_their_branch(store: &dyn Store) {
    let other = Scope::new("app", "feature/x");
    let top = add(store, "top", None, None);
    let part = add(store, "part", Some(&top), None);
    let stays = add(store, "stays", None, None);
    let after = [stays.clone(), part.clone()];
    let last = NewTask { after: &after, ..NewTask::titled("last") };
    let last = store.add_tasks(&here(), &[last], at(1)).unwrap().remove(0);
    store.add_tasks(&other, &[NewTask::titled("there")], at(1)).unwrap();
    // One of the ids is taken there.
    let mut taken = get(store, &part);
    taken.parent = None;
    "taken".clone_into(&mut taken.content);
    store.adopt_tasks(&other, vec![taken]).unwrap();
    let moving = [top.clone(), last.clone()];
    let moved = store.move_tasks(&other, "main", TasksToMove::Tasks(&moving), at(2)).unwrap();
    assert_eq!(moved.ids.len(), 3);
    assert_eq!(moved.renamed.len(), 1);
    let new = moved.renamed[0].1.clone();
    assert_eq!(moved.renamed, [(part.clone(), new.clone())]);
    let there = |id: &TaskId| store.task(&other, id).unwrap().unwrap();
    assert_eq!((there(&new).content.as_str(), there(&new).parent), ("part", Some(top.clone())));
    assert_eq!(there(&last).after, [new], "what stays behind is dropped");
    assert_eq!(contents(store, &here()), ["stays"]);
    assert!(there(&top).order > 1, "behind those that are there");
    let missing = [stays, top.clone()];
    let missing = store.move_tasks(&other, "main", TasksToMove::Tasks(&missing), at(3));
    assert!(matches!(missing, Err(StoreError::NoTask { .. })));
    assert_eq!(contents(store, &here()), ["stays"], "all or none");
    let all = store.move_tasks(&here(), "feature/x", TasksToMove::All, at(4)).unwrap();
    assert_eq!((all.ids.len(), store.tasks(&other).unwrap().len()), (5, 0));
    // Undoing a move brings the tasks back, under the ids that they had.
    store.undo_task_step(&here(), Undoer::User, at(5)).unwrap();
    assert_eq!(
        (contents(store, &here()), store.tasks(&other).unwrap().len()),
        (vec!["stays".to_owned()], 5)
    );
    store.undo_task_step(&other, Undoer::User, at(6)).unwrap();
    assert_eq!(get(store, &part).parent, Some(top));
    assert_eq!(store.tasks(&here()).unwrap().len(), 4);
    assert_eq!(get(store, &last).after.len(), 2);
}
