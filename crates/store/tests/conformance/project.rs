//! Rules about projects.

use convoke_domain::repository::RepositoryId;
use convoke_domain::run::RunId;
use convoke_store::journal::{Integrity, NewEvent};

use super::*;

fn id(root: &str) -> RepositoryId {
    RepositoryId { roots: [root.to_owned()].into(), remote: Some("example.com/x".to_owned()) }
}

pub(super) fn repositories_are_kept(store: &dyn Store) {
    let app = store.project_name("/one/app/.git", "app").unwrap();
    assert_eq!(store.repository_of(&app).unwrap(), None);
    store.keep_repository(&app, &id("abc")).unwrap();
    assert_eq!(store.repository_of(&app).unwrap(), Some(id("abc")));
    let unknown = RepositoryId::default();
    let other = store.project_name("/two/app/.git", "app").unwrap();
    store.keep_repository(&other, &unknown).unwrap();
    assert_eq!(store.repository_of(&other).unwrap(), Some(unknown), "known to have none");
    store.keep_use(&other, at(10)).unwrap();
    store.keep_use(&other, at(20)).unwrap();
    let done = add(store, "done", None, None);
    set_status(store, &done, TaskStatus::Completed, 1);
    add(store, "open", None, None);
    let projects = store.projects().unwrap();
    let names: Vec<_> = projects.iter().map(|known| &*known.name).collect();
    assert_eq!(names, ["app-2", "app"], "the last used first");
    assert_eq!(["app", "app-2"].map(|name| store.count_tasks(name).unwrap()), [(2, 1), (0, 0)]);
    assert_eq!(projects[0].last_used, Some(at(10)), "to the hour");
    let feature = Scope::new("app", "feature/x");
    store.add_tasks(&feature, &["a", "b"].map(NewTask::titled), at(1)).unwrap();
    let branches = store.open_branches("app").unwrap();
    assert_eq!(branches, [("feature/x".to_owned(), 2), ("main".to_owned(), 1)]);
    assert!(store.open_branches("app-2").unwrap().is_empty());
}

pub(super) fn projects_are_known_by_their_folders_ids(store: &dyn Store) {
    let app = store.project_name("/one/app/.git", "app").unwrap();
    assert_eq!(store.project_at("/gone").unwrap(), None);
    store.keep_folder_id(&app, "1234").unwrap();
    let known = store.project_at("/one/app/.git").unwrap().unwrap();
    assert_eq!(known.folder_id.as_deref(), Some("1234"));
    assert_eq!(store.projects_with_folder_id("1234").unwrap(), std::slice::from_ref(&known));
    assert!(store.projects_with_folder_id("12").unwrap().is_empty());
    // Another repository takes its folder, twice.
    store.replace_project(&known).unwrap();
    store.replace_project(&known).unwrap();
    assert_eq!(store.project_name("/one/app/.git", "app").unwrap(), "app-2");
    let second = store.project_at("/one/app/.git").unwrap().unwrap();
    store.replace_project(&second).unwrap();
    let projects = store.projects().unwrap();
    assert!(projects.iter().all(|known| known.is_replaced() && known.folder() == "/one/app"));
    store.move_project(&app, "/new/app/.git").unwrap();
    assert_eq!(store.project_name("/new/app/.git", "app").unwrap(), "app");
    // A folder that has a project keeps it.
    store.move_project("app-2", "/new/app/.git").unwrap();
    assert_eq!(store.project_name("/new/app/.git", "app").unwrap(), "app");
    assert!(store.waiting("app-2", at(1)).unwrap().is_empty());
    add(store, "open", None, None);
    assert_eq!(store.waiting("app", at(1)).unwrap().tasks, 1);
    store.merge_projects("app", "app-2").unwrap();
    let merged = store.project_at("/new/app/.git").unwrap().unwrap();
    assert_eq!(merged.merged_into.as_deref(), Some("app-2"));
    store.merge_projects("app-2", "app").unwrap();
    assert_eq!(store.project_at("/new/app/.git").unwrap().unwrap().merged_into, None);
}

pub(super) fn projects_are_attached(store: &dyn Store) {
    let app = store.project_name("/old/app", "app").unwrap();
    add(store, "kept", None, None);
    let moved = store.project_name("/new/app", "app").unwrap();
    assert_eq!(moved, "app-2");
    let here_now = Scope::new(&moved, "main");
    store.add_tasks(&here_now, &[NewTask::titled("made after the move")], at(2)).unwrap();
    assert!(matches!(store.attach_project("gone", "/new/app"), Err(StoreError::NoProject { .. })));
    let merged = store.attach_project(&app, "/new/app").unwrap();
    assert_eq!(merged.tasks, 1);
    assert_eq!(store.project_name("/new/app", "app").unwrap(), "app");
    assert_eq!(store.projects().unwrap().len(), 1);
    assert_eq!(store.tasks(&here()).unwrap().len(), 2, "nothing is lost");
    assert_eq!(store.project_name("/old/app", "app").unwrap(), "app-2", "a new one");
}

pub(super) fn projects_are_merged(store: &dyn Store) {
    for path in ["app", "other"] {
        assert_eq!(store.project_name(&format!("/{path}"), path).unwrap(), path);
    }
    let (into, from) = (here(), Scope::new("other", "main"));
    let mine = add(store, "mine", None, None);
    let june = name("june");
    for scope in [&into, &from] {
        store.add_agent(scope, &june, "claude").unwrap();
    }
    // One id is taken, and one task was removed there.
    let mut taken = store.task(&into, &mine).unwrap().unwrap();
    "theirs".clone_into(&mut taken.content);
    store.adopt_tasks(&from, vec![taken]).unwrap();
    let part = NewTask { parent: Some(&mine), ..NewTask::titled("part") };
    store.add_tasks(&from, &[part], at(2)).unwrap();
    let removed = store.add_tasks(&from, &[NewTask::titled("removed")], at(2)).unwrap().remove(0);
    store.remove_task(&from, &removed, at(3)).unwrap();
    let merged = store.merge_projects("other", "app").unwrap();
    assert_eq!((merged.tasks, merged.messages, merged.renamed.len()), (2, 0, 1));
    let tasks = store.tasks(&into).unwrap();
    let find = |content: &str| tasks.iter().find(|task| task.content == content).unwrap();
    assert_eq!(find("mine").id, mine, "who was there keeps its id");
    assert_eq!(find("part").parent, Some(find("theirs").id.clone()));
    assert!(store.tasks(&from).unwrap().is_empty());
    assert_eq!(store.removed_tasks(&into).unwrap().len(), 1);
    assert_eq!(store.agents(&from).unwrap(), []);
    // Only this project's own changes can be undone: the merged task has another id now.
    store.undo_task_step(&into, Undoer::User, at(9)).unwrap();
    let tasks = store.tasks(&into).unwrap();
    assert_eq!(tasks.iter().filter(|task| task.content != "mine").count(), 2);
    let with_itself = store.merge_projects("app", "app");
    assert!(matches!(with_itself, Err(StoreError::SameProject { .. })));
    assert!(matches!(store.merge_projects("gone", "app"), Err(StoreError::NoProject { .. })));
    store.forget_project("other").unwrap();
    assert_eq!(store.projects().unwrap().len(), 1);
}

// An agent that both projects have read only what it read in both.
pub(super) fn merged_messages_stay_unread(store: &dyn Store) {
    for path in ["app", "other"] {
        store.project_name(&format!("/{path}"), path).unwrap();
    }
    let (into, from, june) = (here(), Scope::new("other", "main"), name("june"));
    for scope in [&into, &from] {
        store.add_agent(scope, &june, "claude").unwrap();
    }
    let say = |scope: &Scope| {
        let human = name("human");
        let message = NewMessage {
            from: &human,
            to: Some(&june),
            kind: MessageKind::Direct,
            content: "x",
            mentions: &[],
        };
        store.say(scope, &message, at(1)).unwrap().id
    };
    // Each has seen what the other has not.
    let max = name("max");
    for scope in [&into, &from] {
        store.add_agent(scope, &max, "claude").unwrap();
    }
    let (unread, seen) = (say(&from), say(&into));
    store
        .change_agent(
            &into,
            &june,
            &AgentChange::Received(MessageReceipt { read: &[seen], known: Some(seen) }),
        )
        .unwrap();
    store
        .change_agent(
            &from,
            &max,
            &AgentChange::Received(MessageReceipt { read: &[seen], known: Some(seen) }),
        )
        .unwrap();
    store
        .change_agent(
            &into,
            &max,
            &AgentChange::Received(MessageReceipt { read: &[unread], known: Some(unread) }),
        )
        .unwrap();
    assert_eq!(store.merge_projects("other", "app").unwrap().messages, 1);
    let addressed = store.addressed_to(&into, &june, InboxFilter::Unread, None, 9).unwrap();
    let addressed: Vec<_> = addressed.into_iter().map(|message| message.id).collect();
    assert_eq!(addressed, [unread], "unread stays unread, and read stays read");
    assert_eq!(store.count_addressed_to(&into, &june, InboxFilter::Unread).unwrap(), 1);
    let known = store.agent(&into, &june).unwrap().unwrap().last_seen;
    let pending = store.pending(&into, &june, known).unwrap().map(|pending| pending.newest);
    assert_eq!(pending, Some(unread), "and still wakes its agent");
    let last_seen = store.agent(&into, &max).unwrap().unwrap().last_seen;
    assert_eq!(last_seen, Some(unread), "what it had not seen here, either");
}

// The chain of a journal begins with its project's name.
pub(super) fn merged_journals_stay_sound(store: &dyn Store) {
    for path in ["app", "other"] {
        store.project_name(&format!("/{path}"), path).unwrap();
    }
    let run = RunId::parse("20261116T060000-abcd").unwrap();
    store.begin_run(&run, &Scope::new("other", "main"), "Add a search", at(1)).unwrap();
    let event = NewEvent { at_ms: 1, kind: "begun", body: "{}" };
    store.append(&run, 1, &[event]).unwrap();
    store.merge_projects("other", "app").unwrap();
    assert_eq!(store.verify("app", &run).unwrap(), Integrity::Sound);
    store.append(&run, 2, &[event]).unwrap();
    assert_eq!(store.verify("app", &run).unwrap(), Integrity::Sound);
}
