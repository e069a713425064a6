//! What every store guarantees, one rule at a time, against a fresh store each.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a rule that cannot be set up fails")]

use convoke_domain::agent::AgentStatus;
use convoke_domain::hook::{Client, Moment};
use convoke_domain::message::MessageKind;
use convoke_domain::scope::{Address, AgentName, Scope};
use convoke_domain::skill::SkillId;
use convoke_domain::task::Status;
use convoke_domain::task::id::TaskId;
use jiff::{SignedDuration, Timestamp};

use convoke_store::Store;
use convoke_store::agent::AgentChange;
use convoke_store::delivery::Session;
use convoke_store::error::StoreError;
use convoke_store::install::Install;
use convoke_store::message::NewMessage;
use convoke_store::skill::Injection;
use convoke_store::sqlite::SqliteStore;
use convoke_store::task::{ActivePlan, Change, NewTask};

type Rule = (&'static str, fn(&dyn Store));

/// Runs every rule. Each backend calls this once.
#[track_caller]
fn check(open: impl Fn() -> Box<dyn Store>) {
    let rules: [Rule; 18] = [
        ("a tree does not grow without end", trees_end),
        ("a plan is imported once", plans_are_imported_once),
        ("what a file was before the first install is kept", installs_are_kept),
        ("a session belongs to whom it was bound to last", sessions_are_bound),
        ("a loss is answered once at every entry, with one text", losses_are_answered),
        ("a project keeps its name, and no two share one", names_are_unique),
        ("a task is found by its id, in its own scope only", tasks_are_scoped),
        ("a part inherits its plan and comes behind its siblings", parts_inherit),
        ("a closed task knows when, and an opened one forgets", closing_has_a_time),
        ("removing takes everything below", removing_cascades),
        ("a task cannot become part of itself", no_circles),
        ("the active plan is the one changed last that has an open task", active_plan),
        ("branches with tasks are listed", branches_are_listed),
        ("messages keep their order when the clock runs back", time_never_runs_back),
        ("an agent is addressed by name or mention, from anywhere", addressing),
        ("what was seen is never unseen", seeing_only_grows),
        ("deeds are kept in order", deeds_in_order),
        ("skills are pinned and their history kept", skills),
    ];
    for (rule, holds) in rules {
        eprintln!("rule: {rule}"); // Shown only when a test fails.
        holds(&*open());
    }
}

#[test]
fn sqlite_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let next = std::cell::Cell::new(0);
    check(|| {
        next.set(next.get() + 1);
        let path = dir.path().join(format!("deep/{}/store.db", next.get()));
        Box::new(SqliteStore::open(&path).unwrap())
    });
}

fn here() -> Scope {
    Scope::new("app", "main")
}

fn at(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
}

fn name(name: &str) -> AgentName {
    AgentName::parse(name).unwrap()
}

fn add(store: &dyn Store, content: &str, parent: Option<&TaskId>, plan: Option<&str>) -> TaskId {
    let task = NewTask { parent, plan_file: plan, ..NewTask::titled(content) };
    store.add_tasks(&here(), &[task], at(1)).unwrap().remove(0)
}

fn set_status(store: &dyn Store, id: &TaskId, status: Status, second: i64) {
    store.change_task(&here(), id, &Change::Status(status), at(second)).unwrap();
}

// W-1
fn names_are_unique(store: &dyn Store) {
    let name = |path, wanted| store.project_name(path, wanted).unwrap();
    assert_eq!(name("/a/app/.git", "app"), "app");
    assert_eq!(name("/b/app/.git", "app"), "app-2");
    assert_eq!(name("/c/app/.git", "app"), "app-3");
    assert_eq!(name("/b/app/.git", "renamed"), "app-2");
}

fn sessions_are_bound(store: &dyn Store) {
    let session = Session { client: Client::Claude, id: "s-1" };
    assert_eq!(store.bound(session).unwrap(), None);
    for agent in ["june", "backend"] {
        let address = Address { scope: here(), agent: name(agent) };
        store.bind(session, &address).unwrap();
        assert_eq!(store.bound(session).unwrap(), Some(address));
    }
    assert_eq!(store.bound(Session { client: Client::Codex, id: "s-1" }).unwrap(), None);
}

fn installs_are_kept(store: &dyn Store) {
    let install = |original: Option<&str>, installed: &str| Install {
        original: original.map(str::to_owned),
        installed: installed.to_owned(),
        installed_at: at(1),
    };
    let remember = |it: &Install| store.remember_install("/p", Client::Claude, it).unwrap();
    remember(&install(Some("mine"), "ours"));
    remember(&install(Some("ours"), "ours again"));
    assert_eq!(store.install("/p").unwrap(), Some(install(Some("mine"), "ours again")));
    store.forget_install("/p").unwrap();
    assert_eq!(store.install("/p").unwrap(), None);
    assert_eq!(store.last_delivery(Client::Claude).unwrap(), None);
}

// W-20e
fn losses_are_answered(store: &dyn Store) {
    let session = Session { client: Client::Claude, id: "s-1" };
    let notice = |entry, moment| store.notice(session, entry, moment).unwrap();
    assert_eq!(notice(1, Moment::Prompted), None);
    assert_eq!(notice(1, Moment::Began), Some(1));
    assert_eq!(notice(1, Moment::Prompted), Some(1), "nobody said that it arrived");
    let kept = |text| store.keep_text(session, 1, text, at(1)).unwrap();
    assert_eq!((kept("first").as_str(), kept("second").as_str()), ("first", "first"));
    store.delivered(session, 1, 1, at(2)).unwrap();
    assert_eq!(notice(1, Moment::Prompted), None);
    assert_eq!(notice(2, Moment::Began), Some(1), "another entry counts for itself");
    assert_eq!(notice(1, Moment::Began), Some(2));
    let other = Session { client: Client::Claude, id: "s-2" };
    assert_eq!(store.notice(other, 1, Moment::Began).unwrap(), Some(1));
}

// W-1, W-2
fn tasks_are_scoped(store: &dyn Store) {
    let id = add(store, "do it", None, None);
    let task = store.task(&here(), &id).unwrap().unwrap();
    assert_eq!((task.content.as_str(), task.status), ("do it", Status::Pending));
    assert_eq!((task.created_at, task.updated_at), (at(1), at(1)));
    for elsewhere in [Scope::new("app", "other"), Scope::new("other", "main")] {
        assert_eq!(store.task(&elsewhere, &id).unwrap(), None);
        assert!(store.tasks(&elsewhere).unwrap().is_empty());
        let error = store.change_task(&elsewhere, &id, &Change::Note("x"), at(2)).unwrap_err();
        assert!(matches!(error, StoreError::NoTask { .. }));
    }
}

// W-2
fn parts_inherit(store: &dyn Store) {
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
fn closing_has_a_time(store: &dyn Store) {
    let id = add(store, "a", None, None);
    let times = |store: &dyn Store| {
        let task = store.task(&here(), &id).unwrap().unwrap();
        (task.completed_at, task.updated_at)
    };
    set_status(store, &id, Status::Completed, 5);
    assert_eq!(times(store), (Some(at(5)), at(5)));
    set_status(store, &id, Status::InProgress, 6);
    assert_eq!(times(store), (None, at(6)));
}

// W-2: soft delete cascades.
fn removing_cascades(store: &dyn Store) {
    let top = add(store, "top", None, None);
    let part = add(store, "part", Some(&top), None);
    add(store, "detail", Some(&part), None);
    let other = add(store, "other", None, None);
    assert_eq!(store.remove_task(&here(), &top, at(2)).unwrap(), 3);
    let left: Vec<_> = store.tasks(&here()).unwrap().into_iter().map(|task| task.id).collect();
    assert_eq!(left, [other]);
    assert!(store.remove_task(&here(), &top, at(3)).is_err());
}

fn no_circles(store: &dyn Store) {
    let top = add(store, "top", None, None);
    let part = add(store, "part", Some(&top), None);
    for parent in [&top, &part] {
        let moved = store.change_task(&here(), &top, &Change::Parent(Some(parent)), at(2));
        assert!(matches!(moved, Err(StoreError::Circle { .. })));
    }
    store.change_task(&here(), &part, &Change::Parent(None), at(2)).unwrap();
    assert_eq!(store.task(&here(), &part).unwrap().unwrap().parent, None);
}

fn trees_end(store: &dyn Store) {
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

fn plans_are_imported_once(store: &dyn Store) {
    let import =
        |titles: &[&str]| store.import_tasks(&here(), "p.md", titles, at(1)).unwrap().len();
    assert_eq!(import(&["Task 1: a", "Task 2: b"]), 2);
    assert_eq!(import(&["Task 1: renamed", "Task 2: b", "Task 3: c"]), 1);
    add(store, "Fix 4 bugs", None, Some("p.md"));
    assert_eq!(import(&["Task 4: d"]), 1, "only tasks have numbers");
}

// W-6
fn active_plan(store: &dyn Store) {
    assert_eq!(store.active_plan(&here(), None).unwrap(), ActivePlan::Nothing);
    let one = add(store, "one", None, Some("one.md"));
    let two = add(store, "two", None, Some("two.md"));
    add(store, "none", None, None);
    let backend = name("backend");
    store.change_task(&here(), &one, &Change::Agent(Some(&backend)), at(2)).unwrap();
    set_status(store, &two, Status::InProgress, 3);
    let plan = |agent: Option<&AgentName>| store.active_plan(&here(), agent).unwrap();
    let file = |name: &str| ActivePlan::File(name.to_owned());
    assert_eq!(plan(None), file("two.md"));
    assert_eq!(plan(Some(&backend)), file("one.md"));
    assert_eq!(plan(Some(&name("nobody"))), ActivePlan::Nothing);
    let more = add(store, "more", None, Some("two.md"));
    set_status(store, &two, Status::Completed, 4);
    assert_eq!(plan(None), file("two.md"), "closing a task is work on its plan");
    set_status(store, &more, Status::Completed, 4);
    assert_eq!(plan(None), file("one.md"));
    set_status(store, &one, Status::Skipped, 5);
    assert_eq!(plan(None), ActivePlan::WithoutFile);
}

fn branches_are_listed(store: &dyn Store) {
    add(store, "a", None, None);
    let other = Scope::new("app", "feature/x");
    store.add_tasks(&other, &["b", "c"].map(NewTask::titled), at(1)).unwrap();
    let listed = store.branches("app").unwrap();
    assert_eq!(listed, [("feature/x".to_owned(), 2), ("main".to_owned(), 1)]);
}

fn say(
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
    store.say(scope, &message, at(second)).unwrap()
}

// W-8
fn time_never_runs_back(store: &dyn Store) {
    let ids = [say(store, &here(), "a", None, &[], 100), say(store, &here(), "b", None, &[], 50)];
    assert!(ids[0] < ids[1]);
    let messages = store.recent_messages(&here(), 10).unwrap();
    assert_eq!(messages.iter().map(|it| it.id).collect::<Vec<_>>(), ids);
    assert_eq!(messages[1].created_at, at(100));
    assert_eq!(store.recent_messages(&here(), 1).unwrap()[0].id, ids[1]);
}

// W-8, W-20, W-21
fn addressing(store: &dyn Store) {
    let backend = Address { scope: here(), agent: name("backend") };
    let far = Scope::new("other", "main");
    let mentioned = say(store, &far, "june", None, std::slice::from_ref(&backend), 1);
    let direct = say(store, &here(), "june", Some("backend"), &[], 2);
    say(store, &here(), "backend", None, std::slice::from_ref(&backend), 3); // Its own.
    say(store, &here(), "june", None, &[], 4); // To nobody.
    let ids = |after| {
        let found = store.addressed_to(&here(), &name("backend"), after).unwrap();
        found.into_iter().map(|message| message.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(None), [mentioned, direct]);
    assert_eq!(ids(Some(mentioned)), [direct]);
    assert!(store.addressed_to(&far, &name("backend"), None).unwrap().is_empty());
    let messages = store.recent_messages(&far, 1).unwrap();
    assert_eq!(messages[0].mentions, [backend]);
}

// W-7, W-21
fn seeing_only_grows(store: &dyn Store) {
    let june = name("june");
    let change = |change: &AgentChange<'_>| store.change_agent(&here(), &june, change);
    assert!(matches!(change(&AgentChange::Seen(1)), Err(StoreError::NoAgent { .. })));
    store.add_agent(&here(), &june, "claude").unwrap();
    change(&AgentChange::Seen(7)).unwrap();
    change(&AgentChange::Seen(3)).unwrap();
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

// W-9
fn deeds_in_order(store: &dyn Store) {
    for (phrase, second) in [("did one", 5), ("did two", 4), ("did three", 6)] {
        store.record_event(&here(), &name("june"), phrase, at(second)).unwrap();
    }
    let events = store.recent_events(&here(), 2).unwrap();
    let found: Vec<_> = events.iter().map(|it| (it.verb_phrase.as_str(), it.created_at)).collect();
    assert_eq!(found, [("did two", at(5)), ("did three", at(6))]);
}

// W-10
fn skills(store: &dyn Store) {
    let id = SkillId::parse("superpowers:brainstorming").unwrap();
    assert_eq!(store.pinned(&here(), &id).unwrap(), None);
    store.pin(&here(), &id, "4.0.0").unwrap();
    store.pin(&here(), &id, "4.0.3").unwrap();
    assert_eq!(store.pinned(&here(), &id).unwrap().as_deref(), Some("4.0.3"));
    assert!(store.unpin(&here(), &id).unwrap());
    assert!(!store.unpin(&here(), &id).unwrap());
    let injection = |version: &str, plan: Option<&str>| Injection {
        agent: name("june"),
        plan_file: plan.map(str::to_owned),
        task_id: None,
        skill: id.clone(),
        version: Some(version.to_owned()),
        sha256: Some("00".to_owned()),
        mode: "full".to_owned(),
        injected_at: at(1),
    };
    for (version, plan) in [("1", Some("a.md")), ("2", Some("a.md")), ("3", None)] {
        store.record_injection(&here(), &injection(version, plan)).unwrap();
    }
    let last = |plan| store.last_injection(&here(), &name("june"), plan).unwrap();
    assert_eq!(last(Some("a.md")), Some(injection("2", Some("a.md"))));
    assert_eq!(last(None), Some(injection("3", None)));
    assert_eq!(last(Some("b.md")), None);
    let other = SkillId::parse("other").unwrap();
    let of = |skill| store.last_injection_of(&here(), &name("june"), Some("a.md"), skill).unwrap();
    store
        .record_injection(
            &here(),
            &Injection { skill: other.clone(), ..injection("9", Some("a.md")) },
        )
        .unwrap();
    assert_eq!(of(&id).unwrap().version.as_deref(), Some("2"));
    assert_eq!(of(&other).unwrap().version.as_deref(), Some("9"));
}
