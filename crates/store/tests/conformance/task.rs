//! Rules about tasks.

use convoke_domain::task::priority::TaskPriority;
use convoke_store::task_edit::TaskEdit;

use super::*;

// W-1, W-2
pub(super) fn tasks_are_scoped(store: &dyn Store) {
    let id = add(store, "do it", None, None);
    let task = store.task(&here(), &id).unwrap().unwrap();
    assert_eq!((task.content.as_str(), task.status), ("do it", TaskStatus::Pending));
    assert_eq!((task.created_at, task.updated_at), (at(1), at(1)));
    for elsewhere in [Scope::new("app", "other"), Scope::new("other", "main")] {
        assert_eq!(store.task(&elsewhere, &id).unwrap(), None);
        assert!(store.tasks(&elsewhere).unwrap().is_empty());
        let error = store.change_task(&elsewhere, &id, &Change::Note("x"), at(2)).unwrap_err();
        assert!(matches!(error, StoreError::NoTask { .. }));
    }
}

// W-2
pub(super) fn parts_inherit(store: &dyn Store) {
    let top = add(store, "top", None, Some("plan.md"));
    let parts = ["a", "b"].map(|content| add(store, content, Some(&top), None));
    let tasks = store.tasks_of_plan(&here(), Some("plan.md")).unwrap();
    assert_eq!(tasks.len(), 3);
    let order = |id: &TaskId| tasks.iter().find(|task| task.id == *id).unwrap().order;
    assert!(order(&parts[0]) < order(&parts[1]));
    assert_eq!(store.children(&here(), &top).unwrap().len(), 2);
    let missing = TaskId::parse("t-zzzzz").unwrap();
    let orphan = NewTask { parent: Some(&missing), ..NewTask::titled("x") };
    let added = store.add_tasks(&here(), &[NewTask::titled("y"), orphan], at(1));
    assert!(matches!(added, Err(StoreError::NoTask { .. })));
    assert_eq!(store.tasks(&here()).unwrap().len(), 3, "all or none");
}

// W-2
pub(super) fn closing_has_a_time(store: &dyn Store) {
    let id = add(store, "a", None, None);
    let times = |store: &dyn Store| {
        let task = store.task(&here(), &id).unwrap().unwrap();
        (task.completed_at, task.updated_at)
    };
    set_status(store, &id, TaskStatus::Completed, 5);
    assert_eq!(times(store), (Some(at(5)), at(5)));
    set_status(store, &id, TaskStatus::InProgress, 6);
    assert_eq!(times(store), (None, at(6)));
}

// W-2: soft delete cascades.
pub(super) fn removing_cascades(store: &dyn Store) {
    let top = add(store, "top", None, None);
    let part = add(store, "part", Some(&top), None);
    add(store, "detail", Some(&part), None);
    let other = add(store, "other", None, None);
    assert_eq!(store.remove_task(&here(), &top, at(2)).unwrap(), 3);
    let left: Vec<_> = store.tasks(&here()).unwrap().into_iter().map(|task| task.id).collect();
    assert_eq!(left, [other]);
    assert!(store.remove_task(&here(), &top, at(3)).is_err());
}

pub(super) fn no_circles(store: &dyn Store) {
    let top = add(store, "top", None, None);
    let part = add(store, "part", Some(&top), None);
    for parent in [&top, &part] {
        let moved = store.change_task(&here(), &top, &Change::Parent(Some(parent)), at(2));
        assert!(matches!(moved, Err(StoreError::Circle { .. })));
    }
    store.change_task(&here(), &part, &Change::Parent(None), at(2)).unwrap();
    assert_eq!(store.task(&here(), &part).unwrap().unwrap().parent, None);
}

pub(super) fn trees_end(store: &dyn Store) {
    let mut deepest = add(store, "top", None, None);
    for _ in 1..convoke_domain::task::DEEPEST {
        deepest = add(store, "deeper", Some(&deepest), None);
    }
    let task = NewTask { parent: Some(&deepest), ..NewTask::titled("too deep") };
    let added = store.add_tasks(&here(), &[task], at(1));
    assert!(matches!(added, Err(StoreError::TooDeep { .. })));
    let other = add(store, "other", None, Some("plan.md"));
    let part = add(store, "part", Some(&other), None);
    let above = store.task(&here(), &deepest).unwrap().unwrap().parent.unwrap();
    let moved = |id, parent| store.change_task(&here(), id, &Change::Parent(Some(parent)), at(2));
    assert!(
        matches!(moved(&other, &above), Err(StoreError::TooDeep { .. })),
        "two levels do not fit"
    );
    moved(&part, &above).unwrap();
    let part = store.task(&here(), &part).unwrap().unwrap();
    assert_eq!(part.plan_file, None, "what moves comes from the new plan");
    assert!(part.order > store.task(&here(), &deepest).unwrap().unwrap().order, "and to the end");
}

pub(super) fn plans_are_imported_once(store: &dyn Store) {
    let import =
        |titles: &[&str]| store.import_tasks(&here(), "p.md", titles, &[], at(1)).unwrap().len();
    assert_eq!(import(&["Task 1: a", "Task 2: b"]), 2);
    assert_eq!(import(&["Task 1: renamed", "Task 2: b", "Task 3: c"]), 1);
    add(store, "Fix 4 bugs", None, Some("p.md"));
    assert_eq!(import(&["Task 4: d"]), 1, "only tasks have numbers");
    // A new task that is done in the plan is completed; an existing task stays unchanged.
    let titles = ["Task 1: a", "Task 5: e", "Task 6: f"];
    let new = store.import_tasks(&here(), "p.md", &titles, &titles[..2], at(2)).unwrap();
    let task = |id| store.task(&here(), id).unwrap().unwrap();
    assert_eq!(
        new.iter().map(|id| task(id).status).collect::<Vec<_>>(),
        [TaskStatus::Completed, TaskStatus::Pending]
    );
    assert_eq!(task(&new[0]).completed_at, Some(at(2)));
    let all = store.tasks_of_plan(&here(), Some("p.md")).unwrap();
    let done = all.iter().filter(|task| task.status == TaskStatus::Completed).count();
    assert_eq!(done, 1, "what was imported before stays open");
    store.undo_task_step(&here(), Undoer::User, at(3)).unwrap();
    assert_eq!(store.tasks_of_plan(&here(), Some("p.md")).unwrap().len(), all.len() - 2);
}

// W-6
pub(super) fn active_plan(store: &dyn Store) {
    assert_eq!(store.active_plan(&here(), None).unwrap(), ActivePlan::Nothing);
    let one = add(store, "one", None, Some("one.md"));
    let two = add(store, "two", None, Some("two.md"));
    add(store, "none", None, None);
    let backend = name("backend");
    store.change_task(&here(), &one, &Change::Agent(Some(&backend)), at(2)).unwrap();
    set_status(store, &two, TaskStatus::InProgress, 3);
    let plan = |agent: Option<&AgentName>| store.active_plan(&here(), agent).unwrap();
    let file = |name: &str| ActivePlan::File(name.to_owned());
    assert_eq!(plan(None), file("two.md"));
    assert_eq!(plan(Some(&backend)), file("one.md"));
    assert_eq!(plan(Some(&name("nobody"))), ActivePlan::Nothing);
    let titles = ["Task 1: index"];
    store.import_tasks(&here(), "three.md", &titles, &[], at(4)).unwrap();
    assert_eq!(plan(None), file("two.md"), "a task in progress keeps its plan active");
    let three = store.tasks_of_plan(&here(), Some("three.md")).unwrap().remove(0).id;
    store.change_task(&here(), &three, &Change::Agent(Some(&backend)), at(4)).unwrap();
    assert_eq!(plan(Some(&backend)), file("three.md"), "what another agent began does not count");
    store.change_task(&here(), &one, &Change::Start(&backend), at(4)).unwrap();
    set_status(store, &three, TaskStatus::Completed, 5);
    assert_eq!(plan(Some(&backend)), file("one.md"), "an agent's own task in progress does");
    set_status(store, &one, TaskStatus::Pending, 2);
    let more = add(store, "more", None, Some("two.md"));
    set_status(store, &two, TaskStatus::Completed, 6);
    assert_eq!(plan(None), file("two.md"), "closing a task is work on its plan");
    set_status(store, &more, TaskStatus::Completed, 6);
    assert_eq!(plan(None), file("one.md"));
    set_status(store, &one, TaskStatus::Skipped, 7);
    assert_eq!(plan(None), ActivePlan::WithoutFile);
}

// W-5, W-6: the current task, the tasks above and near it, and the number of the others.
pub(super) fn large_plans_are_read_in_part(store: &dyn Store) {
    let plan = Some("large.md");
    let titles: Vec<_> = (0..400).map(|n| format!("Task {n}: do it")).collect();
    let tasks = titles.iter().map(|title| NewTask { plan_file: plan, ..NewTask::titled(title) });
    let ids = store.add_tasks(&here(), &tasks.collect::<Vec<_>>(), at(1)).unwrap();
    ids[..150].iter().for_each(|id| set_status(store, id, TaskStatus::Completed, 2));
    let part = add(store, "part", Some(&ids[150]), None);
    let other = add(store, "another plan's", None, Some("other.md"));
    let june = name("june");
    store.change_task(&here(), &ids[300], &Change::Agent(Some(&june)), at(3)).unwrap();
    let read = |agent, most| {
        let found = store.surroundings(&here(), plan, agent, most).unwrap();
        let of_plan = store.tasks_of_plan(&here(), plan).unwrap();
        let closed = |tasks: &[Task]| tasks.iter().filter(|task| task.status.is_closed()).count();
        let elsewhere = TaskCounts {
            open: of_plan.len() - closed(&of_plan) + closed(&found.tasks) - found.tasks.len(),
            closed: closed(&of_plan) - closed(&found.tasks),
        };
        assert_eq!(found.elsewhere, elsewhere, "every task is there or counted");
        found.tasks.into_iter().map(|task| task.id).collect::<Vec<_>>()
    };
    assert_eq!(read(None, 500).len(), 401, "a small plan is read whole");
    let around = read(None, 100);
    assert!(around.len() < 200, "{}", around.len());
    for near in [&part, &ids[149], &ids[150], &ids[151], &ids[160]] {
        assert!(around.contains(near), "{near}");
    }
    assert!(!around.contains(&other) && !around.contains(&ids[399]));
    // Started work comes first, in a large plan, too.
    let begun = add(store, "deep", Some(&ids[390]), None);
    set_status(store, &begun, TaskStatus::InProgress, 3);
    let around = read(None, 100);
    assert!(around.contains(&begun) && around.contains(&ids[389]), "what is begun is current");
    assert!(around.contains(&ids[150]), "and the task that comes next");
    assert!(!around.contains(&ids[170]), "and not all between them");
    store.remove_task(&here(), &begun, at(3)).unwrap();
    let of_june = read(Some(&june), 100);
    assert!(of_june.contains(&ids[299]) && of_june.contains(&ids[300]));
    assert!(!of_june.contains(&ids[150]));
    let task = |id| store.task(&here(), id).unwrap().unwrap();
    assert_eq!(store.place(&here(), &task(&ids[150])).unwrap(), (151, 400));
    assert_eq!(store.place(&here(), &task(&part)).unwrap(), (1, 1));
    // Counts follow every change of tasks.
    store.remove_task(&here(), &ids[399], at(4)).unwrap();
    store.change_task(&here(), &ids[398], &Change::Parent(Some(&other)), at(4)).unwrap();
    set_status(store, &ids[0], TaskStatus::Pending, 4);
    assert!(read(None, 100).contains(&ids[0]), "what is opened again comes first");
}

// Urgent tasks outside of the current plan are found.
pub(super) fn urgent_tasks_elsewhere(store: &dyn Store) {
    let titles = [
        ("first", Some("a.md"), TaskPriority::High),
        ("mine", Some("b.md"), TaskPriority::High),
        ("none", None, TaskPriority::High),
        ("usual", Some("c.md"), TaskPriority::Normal),
        ("late", Some("c.md"), TaskPriority::High),
    ];
    let tasks = titles.map(|(title, plan_file, priority)| NewTask {
        plan_file,
        priority,
        ..NewTask::titled(title)
    });
    let ids = store.add_tasks(&here(), &tasks, at(1)).unwrap();
    let urgent = |plan, agent, most| {
        let found = store.urgent_elsewhere(&here(), plan, agent, most).unwrap();
        let titles: Vec<_> = found.into_iter().map(|task| task.content).collect();
        titles.join(" ")
    };
    assert_eq!(urgent(Some("b.md"), None, 9), "first none late");
    assert_eq!(urgent(None, None, 9), "first mine late");
    assert_eq!(urgent(Some("b.md"), None, 1), "first");
    let june = name("june");
    assert_eq!(urgent(Some("b.md"), Some(&june), 9), "");
    store.change_task(&here(), &ids[2], &Change::Agent(Some(&june)), at(2)).unwrap();
    assert_eq!(urgent(Some("b.md"), Some(&june), 9), "none");
    set_status(store, &ids[0], TaskStatus::Completed, 3);
    let edit = TaskEdit { after: Some(&ids[..2]), ..TaskEdit::default() };
    store.edit_task(&here(), &ids[4], &edit, at(4)).unwrap();
    assert_eq!(urgent(Some("b.md"), None, 9), "none", "what is closed or waits is not urgent");
    let is_open = |plan| store.is_open_elsewhere(&here(), plan).unwrap();
    assert!(is_open(Some("b.md")) && is_open(None) && is_open(Some("c.md")));
    let text = PinText::of_cancelled_plan("b.md", None).unwrap();
    let (reach, plan) = (Reach::Branch, Some("b.md"));
    let new = NewPin { text: &text, reach, task: None, plan, until: None };
    store.add_pin(&here(), &new, at(4)).unwrap();
    assert_eq!(urgent(None, None, 9), "", "what is cancelled is not urgent");
    set_status(store, &ids[3], TaskStatus::Completed, 4);
    set_status(store, &ids[4], TaskStatus::Completed, 4);
    assert!(!is_open(None) && is_open(Some("b.md")), "nor does it keep a branch open");
    assert_eq!(store.resume_plan(&here(), "b.md", at(4)).unwrap(), 1);
    assert!(is_open(None));
    ids[1..].iter().for_each(|id| set_status(store, id, TaskStatus::Completed, 5));
    assert!(!is_open(Some("b.md")) && !is_open(None));
    set_status(store, &ids[1], TaskStatus::Pending, 6);
    assert!(!is_open(Some("b.md")) && is_open(Some("a.md")) && is_open(None));
}

pub(super) fn branches_are_listed(store: &dyn Store) {
    add(store, "a", None, None);
    let other = Scope::new("app", "feature/x");
    store.add_tasks(&other, &["b", "c"].map(NewTask::titled), at(1)).unwrap();
    let listed = store.branches("app").unwrap();
    assert_eq!(listed, [("feature/x".to_owned(), 2), ("main".to_owned(), 1)]);
}

// W-5: no open task is hidden below a closed one.
pub(super) fn closing_cascades(store: &dyn Store) {
    let top = add(store, "top", None, None);
    let part = add(store, "part", Some(&top), None);
    let deep = add(store, "deep", Some(&part), None);
    let done = add(store, "done", Some(&top), None);
    set_status(store, &done, TaskStatus::Completed, 1);
    let change = Change::Status(TaskStatus::Completed);
    assert_eq!(store.change_task(&here(), &top, &change, at(2)).unwrap(), 2);
    let status = |id| store.task(&here(), id).unwrap().unwrap().status;
    assert_eq!(
        [&top, &part, &deep, &done].map(status),
        [TaskStatus::Completed, TaskStatus::Skipped, TaskStatus::Skipped, TaskStatus::Completed]
    );
    assert_eq!(store.active_plan(&here(), None).unwrap(), ActivePlan::Nothing);
}

// W-3
pub(super) fn tasks_are_adopted(store: &dyn Store) {
    let theirs = add(store, "theirs", None, None);
    let part = add(store, "part", Some(&theirs), None);
    let mut tasks = store.tasks(&here()).unwrap();
    tasks[0].status = TaskStatus::Completed;
    let elsewhere = Scope { branch: "other".to_owned(), ..here() };
    let adopted = store.adopt_tasks(&elsewhere, tasks.clone()).unwrap();
    assert_eq!(adopted, [theirs.clone(), part.clone()]);
    assert_eq!(store.adopt_tasks(&elsewhere, tasks.clone()).unwrap(), []);
    let mut kept = store.tasks(&elsewhere).unwrap();
    kept.sort_by_key(|task| tasks.iter().position(|adopted| adopted.id == task.id));
    assert_eq!(kept, tasks);
}

pub(super) fn plans_are_counted(store: &dyn Store) {
    assert_eq!(store.plan_counts(&here()).unwrap(), []);
    for (title, plan) in
        [("a", Some("b.md")), ("b", None), ("c", Some("a.md")), ("d", Some("b.md"))]
    {
        add(store, title, None, plan);
    }
    let gone = add(store, "gone", None, Some("gone.md"));
    store.remove_task(&here(), &gone, at(2)).unwrap();
    let plan = |plan: &str, count| (Some(plan.to_owned()), count);
    assert_eq!(store.plan_counts(&here()).unwrap(), [plan("b.md", 2), plan("a.md", 1), (None, 1)]);
    assert_eq!(store.plan_counts(&Scope::new("app", "other")).unwrap(), []);
}

pub(super) fn held_tasks_are_listed(store: &dyn Store) {
    let worker = AgentName::parse("worker").unwrap();
    let begin = |title: &str, now| {
        let id = add(store, title, None, None);
        store.change_task(&here(), &id, &Change::Start(&worker), at(now)).unwrap();
        id
    };
    let (first, second, done) = (begin("first", 2), begin("second", 3), begin("done", 4));
    set_status(store, &done, TaskStatus::Completed, 5);
    let free = add(store, "free", None, None);
    set_status(store, &free, TaskStatus::InProgress, 6);
    let held = store.held_tasks(&here()).unwrap();
    let held: Vec<_> = held.into_iter().map(|task| (task.id, task.agent)).collect();
    assert_eq!(held, [(second, Some(worker.clone())), (first, Some(worker))]);
    assert!(store.held_tasks(&Scope::new("app", "other")).unwrap().is_empty());
}

pub(super) fn parts_of_a_long_list_are_read(store: &dyn Store) {
    assert_eq!(store.outline(&here(), None).unwrap(), []);
    let top = add(store, "top", None, Some("plan.md"));
    let part = add(store, "part", Some(&top), None);
    let other = add(store, "other", None, None);
    let gone = add(store, "gone", None, None);
    store.remove_task(&here(), &gone, at(2)).unwrap();
    let outline = |plan| {
        let mut outline = store.outline(&here(), plan).unwrap();
        outline.sort();
        outline.into_iter().map(|task| (task.id, task.parent)).collect::<Vec<_>>()
    };
    let of_plan = [(top.clone(), None), (part.clone(), Some(top.clone()))];
    let mut sorted = outline(Some(Some("plan.md")));
    sorted.sort_by_key(|(id, _)| *id != top);
    assert_eq!(sorted, of_plan);
    assert_eq!(outline(Some(None)), [(other.clone(), None)]);
    assert_eq!(outline(None).len(), 3);
    let missing = TaskId::parse("t-zzzzz").unwrap();
    let mut found = store.tasks_with(&here(), &[&part, &missing, &gone, &other]).unwrap();
    found.sort_by_key(|task| task.id != part);
    let found: Vec<_> = found.into_iter().map(|task| task.content).collect();
    assert_eq!(found, ["part", "other"]);
    assert!(store.tasks_with(&Scope::new("app", "other"), &[&part]).unwrap().is_empty());
    assert!(store.tasks_with(&here(), &[]).unwrap().is_empty());
}
