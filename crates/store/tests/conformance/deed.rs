//! Records about tasks.

use convoke_store::task_edit::TasksToMove;

use super::*;

fn record(store: &dyn Store, task: &TaskId, kind: DeedKind, role: &str, second: i64) -> TaskDeed {
    let (role, actor) = (DeedRole::parse(role).unwrap(), name("june"));
    let deed = NewDeed {
        task,
        kind,
        role: &role,
        actor: &actor,
        reason: Some("why"),
        message_id: None,
        run: Some("round 1"),
    };
    store.record_deed(&here(), &deed, at(second)).unwrap()
}

fn kinds(store: &dyn Store, task: &TaskId) -> Vec<&'static str> {
    store.deeds_of_task(&here(), task).unwrap().iter().map(|deed| deed.kind.name()).collect()
}

// W-9, W-38
pub(super) fn deeds_are_kept(store: &dyn Store) {
    let (one, two) = (add(store, "Spec review", None, None), add(store, "2", None, None));
    let sent = record(store, &one, DeedKind::Dispatched, "spec-reviewer", 1);
    let passed = record(store, &one, DeedKind::Pass, "spec-reviewer", 2);
    record(store, &two, DeedKind::Work, "implementer", 3);
    assert_eq!(store.deeds_of_task(&here(), &one).unwrap(), [sent, passed.clone()]);
    assert_eq!((passed.reason.as_deref(), passed.run.as_deref()), (Some("why"), Some("round 1")));
    assert_eq!((passed.task, passed.actor, passed.at), (one.clone(), name("june"), at(2)));
    assert_eq!(kinds(store, &two), ["work"]);
    let elsewhere = Scope::new("app", "other");
    assert!(store.deeds_of_task(&elsewhere, &one).unwrap().is_empty());
    let phrases: Vec<_> = store.recent_events(&here(), 9).unwrap();
    let phrases: Vec<_> = phrases.iter().map(|event| event.verb_phrase.as_str()).collect();
    assert_eq!(
        phrases,
        [
            "dispatched spec-reviewer subagent",
            "passed Spec review as spec-reviewer",
            "dispatched implementer subagent"
        ]
    );
    let gone = TaskId::parse("t-gone").unwrap();
    let (role, actor) = (DeedRole::parse("a").unwrap(), name("june"));
    let deed = NewDeed {
        task: &gone,
        kind: DeedKind::Pass,
        role: &role,
        actor: &actor,
        reason: None,
        message_id: None,
        run: None,
    };
    let refused = store.record_deed(&here(), &deed, at(1));
    assert!(matches!(refused, Err(StoreError::NoTask { .. })), "{refused:?}");
    assert_eq!(store.recent_events(&here(), 9).unwrap().len(), 3, "nothing is half recorded");
}

// W-38: a verdict judges the work before it, not work that starts later.
pub(super) fn verdicts_end_with_a_new_start(store: &dyn Store) {
    let task = add(store, "1", None, None);
    record(store, &task, DeedKind::Dispatched, "spec-reviewer", 1);
    record(store, &task, DeedKind::Pass, "spec-reviewer", 1);
    set_status(store, &task, TaskStatus::InProgress, 2);
    assert_eq!(kinds(store, &task), ["dispatched"], "a verdict from before the start");
    record(store, &task, DeedKind::Pass, "spec-reviewer", 3);
    set_status(store, &task, TaskStatus::InProgress, 4);
    assert_eq!(kinds(store, &task), ["dispatched", "pass"], "it was begun already");
    set_status(store, &task, TaskStatus::Completed, 5);
    assert_eq!(kinds(store, &task), ["dispatched", "pass"]);
    set_status(store, &task, TaskStatus::InProgress, 6);
    assert_eq!(kinds(store, &task), ["dispatched"]);
}

// W-38
pub(super) fn a_message_carries_its_verdict(store: &dyn Store) {
    let (one, from) = (add(store, "1", None, None), name("ana"));
    let message = NewMessage {
        from: &from,
        to: None,
        kind: MessageKind::Say,
        content: "done",
        mentions: &[],
    };
    let said = store.say(&here(), &message, at(1)).unwrap();
    let other = store.say(&here(), &message, at(2)).unwrap();
    let role = DeedRole::parse("ana").unwrap();
    let deed = NewDeed {
        task: &one,
        kind: DeedKind::Fail,
        role: &role,
        actor: &from,
        reason: None,
        message_id: Some(said.id),
        run: None,
    };
    let recorded = store.record_deed(&here(), &deed, at(3)).unwrap();
    assert_eq!(store.deeds_of_message(&here(), said.id).unwrap(), [recorded]);
    assert!(store.deeds_of_message(&here(), other.id).unwrap().is_empty());
}

// W-40
pub(super) fn chosen_skills_are_kept(store: &dyn Store) {
    let (skill, other) = (SkillId::parse("a").unwrap(), SkillId::parse("superpowers:b").unwrap());
    let june = name("june");
    assert_eq!(store.used_skill(&here(), None).unwrap(), None);
    store.use_skill(&here(), None, Some(&skill)).unwrap();
    store.use_skill(&here(), Some(&june), Some(&skill)).unwrap();
    store.use_skill(&here(), Some(&june), Some(&other)).unwrap();
    assert_eq!(store.used_skill(&here(), None).unwrap(), Some(skill.clone()));
    assert_eq!(store.used_skill(&here(), Some(&june)).unwrap(), Some(other));
    assert_eq!(store.used_skill(&here(), Some(&name("max"))).unwrap(), None);
    assert_eq!(store.used_skill(&Scope::new("app", "other"), None).unwrap(), None);
    store.use_skill(&here(), None, None).unwrap();
    assert_eq!(store.used_skill(&here(), None).unwrap(), None);
    let task = add(store, "1", None, None);
    store.change_task(&here(), &task, &Change::Skill(Some("a, b")), at(2)).unwrap();
    let found = store.task(&here(), &task).unwrap().unwrap().skill;
    assert_eq!(found.as_deref(), Some("a, b"));
    store.change_task(&here(), &task, &Change::Skill(None), at(3)).unwrap();
    assert_eq!(store.task(&here(), &task).unwrap().unwrap().skill, None);
}

// A verdict follows its task to another branch and back.
pub(super) fn verdicts_follow_a_moved_task(store: &dyn Store) {
    let there = Scope::new("app", "other");
    let task = add(store, "a", None, None);
    let role = DeedRole::parse("spec-reviewer").unwrap();
    let new = NewDeed {
        task: &task,
        kind: DeedKind::Fail,
        role: &role,
        actor: &name("june"),
        reason: None,
        message_id: None,
        run: None,
    };
    store.record_deed(&here(), &new, at(2)).unwrap();
    let count = |scope: &Scope| store.deeds_of_task(scope, &task).unwrap().len();
    store
        .move_tasks(&there, "main", TasksToMove::Tasks(std::slice::from_ref(&task)), at(3))
        .unwrap();
    assert_eq!((count(&here()), count(&there)), (0, 1));
    store.undo_task_step(&there, Undoer::User, at(4)).unwrap();
    assert_eq!((count(&here()), count(&there)), (1, 0));
}
