//! Rules about a store that several actors and threads use through one opening.

use std::thread;

use convoke_domain::run::RunId;
use convoke_store::journal::NewEvent;

use super::*;

pub(super) fn actors_share_a_store(store: &dyn Store) {
    let (june, max) = (store.acting_for(name("june")), store.acting_for(name("max")));
    add(&*june, "june's", None, None);
    add(&*max, "max's", None, None);
    add(store, "the person's", None, None);
    let log = max.task_log(&here(), None, 10).unwrap();
    let actors: Vec<_> = log.iter().map(|change| change.actor.as_str()).collect();
    assert_eq!(actors, ["june", "max", "human"]);
    assert_eq!(june.acting_for(name("max")).tasks(&here()).unwrap().len(), 3);
}

pub(super) fn threads_share_a_store(store: &dyn Store) {
    const THREADS: usize = 8;
    const EACH: usize = 20;
    thread::scope(|threads| {
        for number in 0..THREADS {
            threads.spawn(move || {
                let actor = name(&format!("agent-{number}"));
                let store = store.acting_for(actor.clone());
                for _ in 0..EACH {
                    // Each adds its own task and no other one, although all use one connection.
                    let id = add(&*store, actor.as_str(), None, None);
                    set_status(&*store, &id, TaskStatus::InProgress, 2);
                    store.record_event(&here(), &actor, "did it", at(3)).unwrap();
                }
            });
        }
    });
    let log = store.task_log(&here(), None, usize::MAX).unwrap();
    assert_eq!(log.len(), 2 * THREADS * EACH);
    assert!(log.iter().all(|change| change.actor.as_str() == change.after.content));
    assert_eq!(store.recent_events(&here(), usize::MAX).unwrap().len(), THREADS * EACH);
}

pub(super) fn a_replay_holds_nothing_up(store: &dyn Store) {
    let run = RunId::parse("20261116T060000-abcd").unwrap();
    store.begin_run(&run, &here(), "Add a search", at(1)).unwrap();
    let events = [NewEvent { at_ms: 1, kind: "said", body: "{}" }; 200];
    store.append(&run, 1, &events).unwrap();
    let mut heard = Vec::new();
    let hear = &mut |entry: convoke_store::journal::Entry| {
        heard.push(entry.seq);
        assert_eq!(store.run("app", &run).unwrap().last_seq, 200);
    };
    store.replay(&run, 70, hear).unwrap();
    assert_eq!(heard, (70..=200).collect::<Vec<_>>());
}
