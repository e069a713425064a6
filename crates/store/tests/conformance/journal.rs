//! Rules about runs and their journals.

use convoke_domain::run::{RunId, RunState};
use convoke_store::journal::{Integrity, NewEvent};

use super::*;

fn id(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

fn event<'a>(kind: &'a str, body: &'a str) -> NewEvent<'a> {
    NewEvent { at_ms: 1_700_000_000_123, kind, body }
}

pub(super) fn journals_only_grow(store: &dyn Store) {
    let (one, other) = (id("20260101-000000-aaaaa"), id("20260101-000000-bbbbb"));
    assert!(matches!(store.append(&one, 1, &[]), Err(StoreError::NoRun { .. })));
    store.begin_run(&one, &here(), "Add a search", at(1)).unwrap();
    store.begin_run(&other, &here(), "Add a search", at(1)).unwrap();
    assert_eq!(store.events(&one).unwrap(), []);
    assert_eq!(store.verify("app", &one).unwrap(), Integrity::Sound);

    let strange = "line\nline\r\n\0 ünïcode \"{}";
    let chain = store.append(&one, 1, &[event("begun", strange), event("asked", "")]).unwrap();
    store.append(&other, 1, &[event("begun", strange)]).unwrap();
    for seq in [0, 1, 2, 4, u64::MAX] {
        let refused = store.append(&one, seq, &[event("again", "")]);
        assert!(matches!(refused, Err(StoreError::OutOfTurn { next: 3, .. })), "{refused:?}");
    }
    let kept = store.events(&one).unwrap();
    let words: Vec<_> =
        kept.iter().map(|entry| (entry.seq, entry.kind.as_str(), entry.body.as_str())).collect();
    assert_eq!(words, [(1, "begun", strange), (2, "asked", "")]);
    assert!(kept.iter().all(|entry| entry.at_ms == 1_700_000_000_123));
    assert_eq!(kept.last().unwrap().chain, chain);
    assert_ne!(store.events(&other).unwrap()[0].chain, kept[0].chain, "a chain is one run's");

    store.append(&one, 3, &[event("answered", "x")]).unwrap();
    let mut later = Vec::new();
    store.replay(&one, 3, &mut |entry| later.push(entry.kind)).unwrap();
    assert_eq!(later, ["answered"]);
    let one_event = |seq| store.event(&one, seq).unwrap().map(|entry| entry.kind);
    assert_eq!(
        [0, 2, 3, 4].map(one_event).map(Option::unwrap_or_default),
        ["", "asked", "answered", ""]
    );
    assert_eq!(store.verify("app", &one).unwrap(), Integrity::Sound);
}

pub(super) fn runs_are_found(store: &dyn Store) {
    let (first, second) = (id("20260101-000000-aaaaa"), id("20260102-000000-aaaaa"));
    let elsewhere = Scope { branch: "other".to_owned(), ..here() };
    store.begin_run(&first, &here(), "Add a search", at(1)).unwrap();
    store.begin_run(&second, &elsewhere, "Remove it", at(2)).unwrap();
    let twice = store.begin_run(&first, &here(), "Add a search", at(3));
    assert!(matches!(twice, Err(StoreError::RunExists { .. })), "{twice:?}");

    let runs = store.runs("app").unwrap();
    let ids: Vec<_> = runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids, [second.as_str(), first.as_str()], "of all branches, the last one first");
    assert_eq!(runs[1].scope, here());
    assert_eq!((runs[1].feature.as_str(), runs[1].started_at), ("Add a search", at(1)));
    assert_eq!((runs[1].state, runs[1].ended_at), (RunState::Running, None));
    assert_eq!(store.runs("another").unwrap(), []);

    assert_eq!(store.run("app", &first).unwrap().id, first);
    assert_eq!(store.run("app", &id("20260102")).unwrap().id, second);
    assert!(matches!(store.run("app", &id("202601")), Err(StoreError::ManyRuns { .. })));
    assert!(matches!(store.run("app", &id("2027")), Err(StoreError::NoRun { .. })));
    assert!(matches!(store.run("another", &first), Err(StoreError::NoRun { .. })));
    let longer = id("20260101-000000-aaaaa-2");
    store.begin_run(&longer, &here(), "Add a search", at(4)).unwrap();
    assert_eq!(store.run("app", &first).unwrap().id, first, "a whole id is not a beginning");
    // Ids tell apart what began in one second, and not which came first.
    let (one, next) = (id("20260103-000000-aaaaa"), id("20260103-000000-00001"));
    store.begin_run(&one, &here(), "Add a search", at(5)).unwrap();
    let soon = at(5) + SignedDuration::from_millis(1);
    store.begin_run(&next, &here(), "Add a search", soon).unwrap();
    let ids: Vec<_> = store.runs("app").unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(ids, [next, one, longer, second, first]);
}

pub(super) fn runs_end(store: &dyn Store) {
    let run = id("20260101-000000-aaaaa");
    let unknown = store.mark_run(&run, RunState::Ended, at(2));
    assert!(matches!(unknown, Err(StoreError::NoRun { .. })), "{unknown:?}");
    store.begin_run(&run, &here(), "Add a search", at(1)).unwrap();
    let stands = || store.run("app", &run).map(|run| (run.state, run.ended_at)).unwrap();
    for state in [RunState::Refused, RunState::Stopped, RunState::Ended] {
        store.mark_run(&run, state, at(7)).unwrap();
        assert_eq!(stands(), (state, Some(at(7))));
    }
    store.mark_run(&run, RunState::Running, at(8)).unwrap();
    assert_eq!(stands(), (RunState::Running, None), "it was taken up again");
    assert_eq!(store.verify("app", &run).unwrap(), Integrity::Sound);
}

/// Long journals are read as they come, in one pass.
pub(super) fn long_journals_are_read(store: &dyn Store) {
    const EVENTS: u64 = 20_000;
    let run = id("20260101-000000-aaaaa");
    store.begin_run(&run, &here(), "Add a search", at(1)).unwrap();
    let events = vec![event("said", "a few words of an agent"); 1000];
    for first in (1..=EVENTS).step_by(events.len()) {
        store.append(&run, first, &events).unwrap();
    }
    let mut next = 1;
    store
        .replay(&run, 0, &mut |entry| {
            assert_eq!(entry.seq, next);
            next += 1;
        })
        .unwrap();
    assert_eq!(next, EVENTS + 1);
    assert_eq!(store.verify("app", &run).unwrap(), Integrity::Sound);
}
