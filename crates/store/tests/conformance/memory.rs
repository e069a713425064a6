//! Rules about projects, sessions, deliveries, settings files and skills.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

// W-1
pub(super) fn names_are_unique(store: &dyn Store) {
    let name = |path, wanted| store.project_name(path, wanted).unwrap();
    assert_eq!(name("/a/app/.git", "app"), "app");
    assert_eq!(name("/b/app/.git", "app"), "app-2");
    assert_eq!(name("/c/app/.git", "app"), "app-3");
    assert_eq!(name("/b/app/.git", "renamed"), "app-2");
}

pub(super) fn sessions_are_bound(store: &dyn Store) {
    let session = Session { client: Client::Claude, id: "s-1" };
    assert_eq!(store.bound(session).unwrap(), None);
    for agent in ["june", "backend"] {
        let address = Address { scope: here(), agent: name(agent) };
        store.bind(session, &address).unwrap();
        assert_eq!(store.bound(session).unwrap(), Some(address));
    }
    assert_eq!(store.bound(Session { client: Client::Codex, id: "s-1" }).unwrap(), None);
    let later = Session { client: Client::Codex, id: "s-2" };
    store.bind(later, &Address { scope: here(), agent: name("june") }).unwrap();
    store.notice(session, 1, event(Moment::Began, Trace::Unknown), claimant(), at(1)).unwrap();
    store.notice(later, 1, event(Moment::Began, Trace::Unknown), claimant(), at(2)).unwrap();
    let sessions = store.sessions(&here().project).unwrap();
    let found = sessions.iter().map(|session| (session.id.as_str(), session.noticed_at));
    assert_eq!(found.collect::<Vec<_>>(), [("s-2", Some(at(2))), ("s-1", Some(at(1)))]);
    assert_eq!(store.sessions("other").unwrap(), []);
}

pub(super) fn installs_are_kept(store: &dyn Store) {
    let install = |original: Option<&str>, installed: &str| Install {
        original: original.map(str::to_owned),
        installed: installed.to_owned(),
        installed_at: at(1),
    };
    let remember =
        |install: &Install| store.remember_install("/p", Client::Claude, install).unwrap();
    remember(&install(Some("mine"), "ours"));
    remember(&install(None, "ours again"));
    assert_eq!(store.install("/p").unwrap(), Some(install(None, "ours again")));
    store.forget_install("/p").unwrap();
    assert_eq!(store.install("/p").unwrap(), None);
}

pub(super) fn setups_are_kept(store: &dyn Store) {
    let step = |path: &str, change: SetupChange| SetupStep { path: path.to_owned(), change };
    let original = Some("# Rules".to_owned());
    let steps = [
        step("/p/.claude", SetupChange::Folder),
        step("/p/.claude/settings.json", SetupChange::Hooks(Client::Claude)),
        step("/p/convoke.local.toml", SetupChange::Binding(Client::Codex)),
        step("/p/A", SetupChange::Guidance { original, written: "# Rules\nline".to_owned() }),
        step("/p/B", SetupChange::Guidance { original: None, written: "line".to_owned() }),
        step("/p/convoke.toml", SetupChange::Configuration { written: "[brief]".to_owned() }),
    ];
    for step in &steps {
        store.remember_setup("/p", step, at(1)).unwrap();
    }
    assert_eq!(store.setup("/p").unwrap(), steps);
    assert_eq!(store.setup("/q").unwrap(), []);
    store.remember_setup("/p", &steps[0], at(2)).unwrap();
    assert_eq!(store.setup("/p").unwrap()[5], steps[0], "a path is known once");
    store.forget_setup("/p", "/p/.claude").unwrap();
    assert_eq!(store.setup("/p").unwrap(), steps[1..]);
}

/// An event that differs from all others.
pub(super) fn event(moment: Moment, trace: Trace) -> NoticedEvent {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NoticedEvent { moment, trace, mark: NEXT.fetch_add(1, Ordering::Relaxed), entries: 4 }
}

// Hooks in the settings and in a plugin: the second report finds the first.
pub(super) fn events_are_answered_once(store: &dyn Store) {
    let session = Session { client: Client::Claude, id: "s" };
    let began = event(Moment::Began, Trace::Unknown);
    let hear = |entry, second| store.notice(session, entry, began, claimant(), at(second)).unwrap();
    assert_eq!((hear(1, 10), hear(1, 10)), (Some(1), None), "before it is delivered");
    assert_eq!((hear(2, 11), hear(2, 12)), (Some(1), None), "another entry, the same loss");
    keep(store, session, 1, &wording("text"), at(12), &never);
    assert_eq!(store.delivered(session, 2, 1, at(12)).unwrap(), [2]);
    assert_eq!(store.delivered(session, 1, 1, at(12)).unwrap(), [1, 2], "all that have answered");
    assert_eq!(hear(1, 13), None, "and after it was");
    assert_eq!(hear(1, 60), Some(2), "much later it is another event");
}

/// Keeps a text of an agent that has no messages, and returns the one to deliver.
pub(super) fn keep(
    store: &dyn Store,
    session: Session<'_>,
    loss: u32,
    wording: &Wording,
    now: Timestamp,
    is_outdated: &dyn Fn(&Wording, Timestamp) -> bool,
) -> Wording {
    let agent = &Address { scope: here(), agent: name("june") };
    let text = NewText { loss, wording, agent, is_outdated, client: None, is_cleared: false };
    let choice = store.keep_text(session, text, claimant(), now).unwrap();
    let kept = match choice {
        TextChoice::Deliver(kept) => Some(kept),
        TextChoice::Taken(_) => None,
    };
    kept.unwrap()
}

/// A process among others that have all ended.
pub(super) fn claimant() -> Claimant<'static> {
    static OWNER: LazyLock<Owner> = LazyLock::new(|| Owner { pid: 1, mark: "one".to_owned() });
    Claimant { owner: &OWNER, is_gone: &|_| true }
}

pub(super) fn wording(text: &str) -> Wording {
    Wording {
        text: text.to_owned(),
        messages: Vec::new(),
        newest_known: Some(9),
        record_bytes: 100,
        entries: 4,
        whose: "app\nmain\njune".to_owned(),
    }
}

pub(super) fn never(_: &Wording, _: Timestamp) -> bool {
    false
}

// A text that is outdated before its complete delivery is replaced by a fresh one, which every
// entry delivers.
pub(super) fn outdated_texts_are_replaced(store: &dyn Store) {
    let session = Session { client: Client::Claude, id: "s-1" };
    for entry in [1, 2] {
        store
            .notice(session, entry, event(Moment::Began, Trace::Unknown), claimant(), at(3))
            .unwrap();
    }
    keep(store, session, 1, &wording("old"), at(3), &never);
    store.delivered(session, 1, 1, at(3)).unwrap();
    let is_old = |kept: &Wording, made_at: Timestamp| kept.text == "old" && made_at == at(3);
    let replace = |text| keep(store, session, 1, &wording(text), at(9), &is_old);
    assert_eq!((replace("new"), replace("newer")), (wording("new"), wording("new")));
    let prompted = event(Moment::Prompted, Trace::Unknown);
    assert_eq!(
        store.notice(session, 1, prompted, claimant(), at(10)).unwrap(),
        Some(1),
        "its part is another"
    );
    assert_eq!(store.delivered(session, 2, 1, at(10)).unwrap(), [2]);
    assert_eq!(store.delivered(session, 1, 1, at(10)).unwrap(), [1, 2]);
    let other = NoticedEvent { entries: 2, ..event(Moment::Began, Trace::Unknown) };
    assert_eq!(store.notice(session, 1, other, claimant(), at(11)).unwrap(), None, "another split");
}

// W-20e
pub(super) fn losses_are_answered(store: &dyn Store) {
    let session = Session { client: Client::Claude, id: "s-1" };
    let notice = |entry, moment| {
        store.notice(session, entry, event(moment, Trace::Unknown), claimant(), at(3)).unwrap()
    };
    assert_eq!(notice(1, Moment::Began), Some(1));
    assert_eq!(notice(1, Moment::Prompted), Some(1), "no record says that it arrived");
    let kept = |text| keep(store, session, 1, &wording(text), at(1), &never);
    assert_eq!((kept("first"), kept("second")), (wording("first"), wording("first")));
    assert_eq!(store.delivered(session, 1, 1, at(2)).unwrap(), [1]);
    assert_eq!(notice(1, Moment::Prompted), None);
    assert_eq!(notice(2, Moment::Began), Some(1), "another entry hears of the same loss");
    assert_eq!(notice(1, Moment::Began), Some(2));
    assert_eq!(notice(2, Moment::Prompted), Some(2), "who missed it catches up");
    let other = Session { client: Client::Claude, id: "s-2" };
    let began = store.notice(other, 1, event(Moment::Began, Trace::Unknown), claimant(), at(3));
    assert_eq!(began.unwrap(), Some(1));
}

// W-21: what the client's record says is kept, and a text has arrived with its last part.
pub(super) fn arrivals_are_kept(store: &dyn Store) {
    let session = Session { client: Client::Claude, id: "s-1" };
    let address = Address { scope: here(), agent: name("june") };
    store.bind(session, &address).unwrap();
    let notice = |entry, moment, trace| {
        store.notice(session, entry, event(moment, trace), claimant(), at(9)).unwrap()
    };
    let activity = || store.activity(Client::Claude, &here().project).unwrap();
    assert_eq!(activity(), Activity::default());
    store.fired(Client::Claude, &here().project, at(1)).unwrap();
    store.fired(Client::Claude, &here().project, at(2)).unwrap();
    assert_eq!(store.last_text(session, 1).unwrap(), None);
    for entry in [1, 2] {
        notice(entry, Moment::Began, Trace::Unknown);
        keep(store, session, 1, &wording("text"), at(3), &never);
    }
    store.delivered(session, 1, 1, at(4)).unwrap();
    let last = |entry| store.last_text(session, entry).unwrap().unwrap();
    let delivered =
        LastText { wording: wording("text"), at: at(4), arrived: false, read_until: None };
    assert_eq!(last(1), delivered);
    assert_eq!(notice(1, Moment::Prompted, Trace::Found), None);
    assert!(last(1).arrived && !last(2).arrived);
    let known = Activity { fired_at: Some(at(2)), delivered_at: Some(at(4)), arrived_at: None };
    assert_eq!(activity(), known, "one part is not all of it");
    // The second entry died before it could confirm its part.
    assert_eq!(notice(2, Moment::Prompted, Trace::Found), None);
    assert_eq!(activity(), Activity { arrived_at: Some(at(9)), ..known });
    assert_eq!(store.activity(Client::Claude, "other").unwrap(), Activity::default());
    store.record_read(session, 70).unwrap();
    assert_eq!((last(1).read_until, last(2).read_until), (Some(70), Some(70)));
    assert_eq!(notice(1, Moment::Prompted, Trace::Missing), Some(2), "it was forgotten");
    keep(store, session, 2, &wording("new"), at(9), &never);
    assert_eq!((last(1).wording, last(1).read_until), (wording("new"), None));
    assert_eq!(activity().delivered_at, None, "texts of earlier losses go");
}

// W-10
pub(super) fn skills(store: &dyn Store) {
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
        skill: Some(id.clone()),
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
    let of =
        |skill| store.last_injection_of(&here(), Some(&name("june")), Some("a.md"), skill).unwrap();
    store
        .record_injection(
            &here(),
            &Injection { skill: Some(other.clone()), ..injection("9", Some("a.md")) },
        )
        .unwrap();
    assert_eq!(of(&id).unwrap().version.as_deref(), Some("2"));
    let without = Injection { skill: None, version: None, ..injection("", Some("c.md")) };
    store.record_injection(&here(), &without).unwrap();
    assert_eq!(last(Some("c.md")), Some(without), "an agent may be woken without a skill");
    assert_eq!(of(&other).unwrap().version.as_deref(), Some("9"));
}

// Section 10.1: an agent keeps the version while the plan has open tasks.
pub(super) fn pins_are_released(store: &dyn Store) {
    let (one, two) = (add(store, "1", None, Some("p.md")), add(store, "2", None, Some("p.md")));
    let skill = SkillId::parse("superpowers:x").unwrap();
    let given = Injection {
        agent: name("june"),
        plan_file: Some("p.md".to_owned()),
        task_id: None,
        skill: Some(skill.clone()),
        version: Some("4.0.0".to_owned()),
        sha256: None,
        mode: "full".to_owned(),
        injected_at: at(1),
    };
    store.record_injection(&here(), &given).unwrap();
    let pin = || {
        let june = name("june");
        let found = store.last_injection_of(&here(), Some(&june), Some("p.md"), &skill).unwrap();
        assert_eq!(found, store.last_injection_of(&here(), None, Some("p.md"), &skill).unwrap());
        found.and_then(|injection| injection.version)
    };
    set_status(store, &one, TaskStatus::Completed, 2);
    assert_eq!(pin().as_deref(), Some("4.0.0"));
    set_status(store, &two, TaskStatus::Skipped, 3);
    assert_eq!(pin(), None);
    // The agent's skill is still known.
    assert!(store.last_injection(&here(), &name("june"), Some("p.md")).unwrap().is_some());
    set_status(store, &two, TaskStatus::Pending, 4);
    assert_eq!(pin(), None);
    store.record_injection(&here(), &given).unwrap();
    assert!(pin().is_some());
    store.pin(&here(), &SkillId::parse("x").unwrap(), "5.0.0").unwrap();
    assert_eq!(pin(), None, "a pin is stronger than what was injected before it");
    store.record_injection(&here(), &given).unwrap();
    let other = Injection { plan_file: Some("q.md".to_owned()), ..given };
    store.record_injection(&here(), &other).unwrap();
    store.remove_task(&here(), &two, at(5)).unwrap();
    assert_eq!(pin(), None);
    let other = store.last_injection_of(&here(), None, Some("q.md"), &skill).unwrap();
    assert!(other.is_some(), "another plan keeps its own");
}
