//! Rules about lanes of workers.

use std::sync::Mutex;
use std::thread;

use convoke_store::fleet::{
    AttemptFence, BeginAnswer, EventPlace, FenceAnswer, FleetLaneState, FleetWorker,
    FleetWorkerState, NewFleetLane, PermitLimit, RenewAnswer, ResubmitAnswer, ReturnKind,
    SubmitAnswer,
};

use super::*;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

fn lane(id: &str) -> NewFleetLane<'_> {
    let permit = PermitLimit { key: "claude", most: None, counts_for: MINUTE };
    NewFleetLane {
        id,
        project: "app",
        queue: "claude@x",
        request: "{}",
        prompt: "Why?",
        permit,
        most_attempts: 3,
    }
}

fn fence(id: &str, generation: u64, attempt: u64) -> AttemptFence {
    AttemptFence { lane: id.to_owned(), generation, attempt }
}

fn begins(store: &dyn Store, fence: &AttemptFence, worker: &str) -> bool {
    matches!(store.begin_attempt(fence, worker, at(20)).unwrap(), BeginAnswer::Begun { .. })
}

fn renews(store: &dyn Store, fence: &AttemptFence) -> bool {
    matches!(store.renew_attempt(fence, at(30)).unwrap(), RenewAnswer::Current { .. })
}

fn lines(store: &dyn Store, id: &str) -> Vec<String> {
    let events = store.fleet_events(id, EventPlace::default()).unwrap();
    events.into_iter().map(|event| event.line).collect()
}

fn append(store: &dyn Store, fence: &AttemptFence, first: u64, line: &str) -> FenceAnswer {
    store.append_fleet_events(fence, first, &[line.to_owned()]).unwrap()
}

pub(super) fn attempts_are_fenced(store: &dyn Store) {
    use FenceAnswer::{Current, Superseded};
    assert_eq!(store.submit_fleet_lane(&lane("f-1"), at(10)).unwrap(), SubmitAnswer::Submitted);
    let (first, second) = (fence("f-1", 1, 1), fence("f-1", 1, 2));
    assert_eq!(append(store, &first, 1, "too early"), Superseded, "it has not begun");
    let begun = store.begin_attempt(&first, "w1", at(20)).unwrap();
    let BeginAnswer::Begun { lane: found, prompt } = begun else { unreachable!("{begun:?}") };
    assert_eq!((prompt.as_str(), found.worker.as_deref()), ("Why?", Some("w1")));
    assert_eq!((found.attempt, found.state), (1, FleetLaneState::Running));
    assert!(!begins(store, &first, "w2"), "an attempt is one worker's");
    assert!(begins(store, &first, "w1"), "a worker that did not hear the answer asks again");
    assert_eq!(append(store, &first, 1, "one"), Current);
    assert_eq!(
        append(store, &first, 1, "one again"),
        Current,
        "a repeated line is not there twice"
    );
    assert!(begins(store, &second, "w2"), "another worker takes over");
    assert!(!begins(store, &first, "w1"), "it comes too late");
    assert_eq!(append(store, &first, 2, "stale"), Superseded);
    assert!(!renews(store, &first));
    assert_eq!(store.end_attempt(&first, "answered", "stale", at(30)).unwrap(), Superseded);
    assert_eq!(append(store, &second, 1, "two"), Current);
    assert!(renews(store, &second));
    assert_eq!(store.end_attempt(&second, "answered", "{}", at(40)).unwrap(), Current);
    assert_eq!(store.end_attempt(&second, "answered", "{}", at(41)).unwrap(), Current, "the same");
    assert_eq!(store.end_attempt(&second, "failed", "x", at(41)).unwrap(), Superseded, "another");
    assert_eq!(append(store, &second, 2, "late"), Superseded, "it has ended");
    assert!(!begins(store, &fence("f-1", 1, 3), "w3"), "it has ended");
    assert_eq!(lines(store, "f-1"), ["one", "two"]);
    let ended = store.fleet_lane("f-1").unwrap().unwrap();
    assert_eq!((ended.outcome.as_deref(), ended.report.as_deref()), (Some("answered"), Some("{}")));
    let place = EventPlace { generation: 1, attempt: 1, number: 1 };
    let later = store.fleet_events("f-1", place).unwrap();
    assert_eq!(later.len(), 1);
    assert_eq!(later[0].place, EventPlace { generation: 1, attempt: 2, number: 1 });
}

pub(super) fn generations_are_fenced(store: &dyn Store) {
    use FenceAnswer::{Current, Superseded};
    store.submit_fleet_lane(&lane("f-1"), at(10)).unwrap();
    let first = fence("f-1", 1, 1);
    assert!(begins(store, &first, "w1"));
    let delay = SignedDuration::from_secs(90);
    let again = |generation, delay| {
        let permit = &lane("f-1").permit;
        store.resubmit_fleet_lane("f-1", generation, "{}", permit, delay, at(20)).unwrap()
    };
    assert_eq!(again(1, delay), ResubmitAnswer::Moved, "it runs");
    assert_eq!(store.end_attempt(&first, "rate_limited", "{}", at(20)).unwrap(), Current);
    assert_eq!(again(7, delay), ResubmitAnswer::Moved, "no such one");
    assert_eq!(again(1, delay), ResubmitAnswer::Submitted(2));
    assert_eq!(again(1, delay), ResubmitAnswer::Moved, "only once");
    let waiting = store.fleet_lane("f-1").unwrap().unwrap();
    assert_eq!((waiting.state, waiting.attempt), (FleetLaneState::Waiting, 0));
    assert!(waiting.not_before.unwrap() > waiting.submitted_at);
    assert_eq!((waiting.outcome, waiting.report, waiting.worker), (None, None, None));
    assert_eq!(append(store, &first, 9, "stale"), Superseded);
    assert_eq!(store.end_attempt(&first, "rate_limited", "{}", at(21)).unwrap(), Superseded);
    assert!(!begins(store, &fence("f-1", 1, 2), "w1"), "of an earlier generation");
    let second = fence("f-1", 2, 1);
    assert!(begins(store, &second, "w2"), "attempts are counted from 1 again");
    let stop = |id, generation| store.stop_fleet_lane(id, generation, "cancelled", at(30)).unwrap();
    assert!(!stop("f-1", 1), "a submitter of an earlier generation ends nothing of this one");
    assert!(renews(store, &second), "it goes on");
    assert!(stop("f-1", 2));
    assert!(!stop("f-1", 2) && !stop("f-1", 3), "it has ended");
    assert!(!stop("f-9", 1), "there is none");
    assert!(!renews(store, &second), "it was stopped");
    assert_eq!(store.end_attempt(&second, "answered", "{}", at(31)).unwrap(), Superseded);
    let ended = store.watch_fleet_lane("f-1", at(99)).unwrap().unwrap();
    assert_eq!((ended.outcome.as_deref(), ended.generation), (Some("cancelled"), 3));
    assert_eq!(store.fleet_lanes(0).unwrap(), []);
    assert_eq!(store.fleet_lanes(5).unwrap().len(), 1);
}

pub(super) fn a_lane_that_is_submitted_again_may_have_another_request(store: &dyn Store) {
    let first = NewFleetLane { request: "one minute", ..lane("f-1") };
    assert_eq!(store.submit_fleet_lane(&first, at(10)).unwrap(), SubmitAnswer::Submitted);
    let request = || store.fleet_lane("f-1").unwrap().unwrap().request;
    let second = NewFleetLane { request: "two minutes", ..lane("f-1") };
    let submit = |lane: &NewFleetLane<'_>| store.submit_fleet_lane(lane, at(10)).unwrap();
    let SubmitAnswer::Known(known) = submit(&second) else { unreachable!("the same work") };
    assert_eq!((known.request.as_str(), request().as_str()), ("one minute", "one minute"));
    let again = |generation| {
        let (permit, now) = (&second.permit, SignedDuration::ZERO);
        store.resubmit_fleet_lane("f-1", generation, second.request, permit, now, at(20)).unwrap()
    };
    assert_eq!(again(1), ResubmitAnswer::Moved);
    assert_eq!(request(), "one minute", "a lane that waits or runs keeps its request");
    assert!(begins(store, &fence("f-1", 1, 1), "w1"));
    assert_eq!(again(1), ResubmitAnswer::Moved);
    assert_eq!(request(), "one minute", "a lane that waits or runs keeps its request");
    store.end_attempt(&fence("f-1", 1, 1), "timed_out", "{}", at(20)).unwrap();
    assert_eq!(again(1), ResubmitAnswer::Submitted(2));
    let begun = store.begin_attempt(&fence("f-1", 2, 1), "w2", at(20)).unwrap();
    let BeginAnswer::Begun { lane: found, .. } = begun else { unreachable!("{begun:?}") };
    assert_eq!(found.request, "two minutes", "its worker hears the later one");
    for other in
        [NewFleetLane { prompt: "Who?", ..second }, NewFleetLane { queue: "codex", ..second }]
    {
        assert_eq!(submit(&other), SubmitAnswer::Different, "other work is another lane");
    }
}

pub(super) fn submissions_are_counted(store: &dyn Store) {
    let most = |id, most| {
        let permit = PermitLimit { most: Some(most), ..lane(id).permit };
        NewFleetLane { permit, ..lane(id) }
    };
    assert_eq!(store.submit_fleet_lane(&most("f-1", 2), at(10)).unwrap(), SubmitAnswer::Submitted);
    let again = store.submit_fleet_lane(&most("f-1", 1), at(10)).unwrap();
    assert!(matches!(again, SubmitAnswer::Known(known) if known.id == "f-1"), "the same lane");
    let other = NewFleetLane { prompt: "Who?", ..most("f-1", 1) };
    assert_eq!(store.submit_fleet_lane(&other, at(10)).unwrap(), SubmitAnswer::Different);
    assert_eq!(store.submit_fleet_lane(&most("f-2", 2), at(10)).unwrap(), SubmitAnswer::Submitted);
    let full = store.submit_fleet_lane(&most("f-3", 2), at(10)).unwrap();
    assert_eq!(full, SubmitAnswer::Full { open: 2 });
    assert_eq!(store.fleet_lane("f-3").unwrap(), None);
    let permit_of_none = PermitLimit { key: "gemini", ..most("f-4", 1).permit };
    let permit = PermitLimit { key: "codex", ..most("f-4", 1).permit };
    let codex = NewFleetLane { permit, ..lane("f-4") };
    assert_eq!(store.submit_fleet_lane(&codex, at(10)).unwrap(), SubmitAnswer::Submitted);
    assert!(begins(store, &fence("f-2", 1, 1), "w1"));
    store.end_attempt(&fence("f-2", 1, 1), "answered", "{}", at(20)).unwrap();
    assert_eq!(store.submit_fleet_lane(&most("f-3", 2), at(20)).unwrap(), SubmitAnswer::Submitted);
    // A permit that counts for no time at all counts lanes that were there this very moment.
    let gone = PermitLimit { most: Some(1), counts_for: -MINUTE, ..lane("f-5").permit };
    let after = NewFleetLane { permit: gone, ..lane("f-5") };
    assert_eq!(store.submit_fleet_lane(&after, at(20)).unwrap(), SubmitAnswer::Submitted);
    // A lane that was cancelled takes a permit when it is submitted again, and no other.
    assert!(store.stop_fleet_lane("f-3", 1, "cancelled", at(20)).unwrap());
    let again = |most, delay| {
        let permit = PermitLimit { most: Some(most), ..lane("f-3").permit };
        store.resubmit_fleet_lane("f-3", 2, "{}", &permit, delay, at(20)).unwrap()
    };
    assert_eq!(again(2, SignedDuration::ZERO), ResubmitAnswer::Full { open: 2 });
    assert_eq!(again(3, SignedDuration::ZERO), ResubmitAnswer::Submitted(3));
    assert!(store.stop_fleet_lane("f-3", 3, "cancelled", at(20)).unwrap());
    let permit = PermitLimit { most: Some(2), ..lane("f-3").permit };
    let later = SignedDuration::from_hours(2);
    let late = store.resubmit_fleet_lane("f-3", 4, "{}", &permit, later, at(20)).unwrap();
    assert_eq!(
        late,
        ResubmitAnswer::Submitted(5),
        "while it waits for its time, it needs no permit"
    );
    let full = store.submit_fleet_lane(&most("f-6", 2), at(20)).unwrap();
    assert_eq!(full, SubmitAnswer::Full { open: 2 }, "and holds none");
    let open = |permit: &PermitLimit<'_>| store.open_lanes(permit, at(20)).unwrap();
    assert_eq!(open(&lane("f-6").permit), 2, "it is counted as for a submission");
    assert_eq!(open(&permit_of_none), 0);
    assert_eq!(open(&gone), 0, "lanes of which nothing is heard hold none");
}

pub(super) fn a_worker_hears_when_its_lanes_submitter_was_there(store: &dyn Store) {
    store.submit_fleet_lane(&lane("f-1"), at(10)).unwrap();
    let fence = fence("f-1", 1, 1);
    assert!(begins(store, &fence, "w1"));
    let renew = |now| match store.renew_attempt(&fence, at(now)).unwrap() {
        RenewAnswer::Current { now, watched_at } => (now, watched_at),
        RenewAnswer::Superseded => unreachable!("no other attempt has begun"),
    };
    let row = || store.fleet_lane("f-1").unwrap().unwrap();
    let (first, submitted) = renew(40);
    assert_eq!((Some(first), submitted), (row().beat_at, row().submitted_at));
    let watched = store.watch_fleet_lane("f-1", at(50)).unwrap().unwrap().watched_at;
    assert!(watched > submitted, "by the store's clock");
    let (second, heard) = renew(60);
    assert_eq!(heard, watched, "a worker that is alive says nothing about its submitter");
    assert!(second > first && second >= heard, "both are times of one clock");
}

pub(super) fn silent_lanes_are_removed(store: &dyn Store) {
    for id in ["f-1", "f-2", "f-3"] {
        store.submit_fleet_lane(&lane(id), at(10)).unwrap();
    }
    assert!(begins(store, &fence("f-2", 1, 1), "w1"));
    store.end_attempt(&fence("f-2", 1, 1), "answered", "{}", at(20)).unwrap();
    assert!(begins(store, &fence("f-3", 1, 1), "w1"));
    store.prune_fleet(MINUTE, at(30)).unwrap();
    assert_eq!(store.fleet_lanes(9).unwrap().len(), 3, "they were there a moment ago");
    store.prune_fleet(-MINUTE, at(30)).unwrap();
    assert_eq!(store.fleet_lanes(9).unwrap(), [], "also open ones, which nothing would ever end");
}

pub(super) fn unfit_workers_use_up_no_attempt(store: &dyn Store) {
    use FenceAnswer::{Current, Superseded};
    store.submit_fleet_lane(&NewFleetLane { most_attempts: 2, ..lane("f-1") }, at(10)).unwrap();
    for attempt in 1..=5 {
        let fence = fence("f-1", 1, attempt);
        assert!(begins(store, &fence, "old"), "{attempt}");
        let back = |why| store.return_attempt(&fence, ReturnKind::Unfit, why, at(20)).unwrap();
        assert_eq!(back("too old"), Current);
        assert_eq!(back("again"), Superseded, "it has given the lane back");
        assert_eq!(append(store, &fence, 1, "late"), Superseded);
    }
    let waiting = store.fleet_lane("f-1").unwrap().unwrap();
    assert_eq!(
        (waiting.state, waiting.worker, waiting.returned),
        (FleetLaneState::Waiting, None, 5)
    );
    assert_eq!(waiting.complaints.get("old").map(String::as_str), Some("too old"));
    let sixth = fence("f-1", 1, 6);
    assert!(begins(store, &sixth, "good"));
    let long = "x".repeat(100_000);
    let failed = store.return_attempt(&sixth, ReturnKind::Failed, &long, at(20)).unwrap();
    assert_eq!(failed, Current);
    assert!(begins(store, &fence("f-1", 1, 7), "good"), "the second attempt that counts");
    assert!(begins(store, &fence("f-1", 1, 7), "good"), "it says so again");
    assert!(!begins(store, &fence("f-1", 1, 8), "good"), "there is no third one");
    let lost = store.fleet_lane("f-1").unwrap().unwrap();
    assert_eq!((lost.state, lost.outcome.as_deref()), (FleetLaneState::Ended, Some("lost")));
    assert_eq!(
        store.end_attempt(&fence("f-1", 1, 7), "answered", "{}", at(30)).unwrap(),
        Superseded
    );
    assert!(lost.complaints["good (failed)"].len() < 1000, "what a worker says is bounded");
    let hidden = store.begin_attempt(&fence("f-9", 1, 1), "good", at(30)).unwrap();
    assert_eq!(hidden, BeginAnswer::Hidden);
    let next = store
        .resubmit_fleet_lane("f-1", lost.generation, "{}", &lane("f-1").permit, MINUTE, at(30))
        .unwrap();
    assert_eq!(next, ResubmitAnswer::Submitted(3));
    let next = store.fleet_lane("f-1").unwrap().unwrap();
    assert_eq!((next.returned, next.complaints.len()), (0, 0), "a generation begins from nothing");
}

pub(super) fn a_drained_worker_uses_up_no_attempt(store: &dyn Store) {
    store.submit_fleet_lane(&NewFleetLane { most_attempts: 1, ..lane("f-1") }, at(10)).unwrap();
    for attempt in 1..=3 {
        let fence = fence("f-1", 1, attempt);
        assert!(begins(store, &fence, "w1"), "{attempt}");
        let why = "the worker drains";
        let back = store.return_attempt(&fence, ReturnKind::Drained, why, at(20)).unwrap();
        assert_eq!(back, FenceAnswer::Current);
        let waiting = store.fleet_lane("f-1").unwrap().unwrap();
        assert_eq!((waiting.state, waiting.worker), (FleetLaneState::Waiting, None));
        assert_eq!(waiting.returned, 0, "the worker could have run it");
    }
    assert!(begins(store, &fence("f-1", 1, 4), "w2"), "the only attempt that counts");
    assert!(!begins(store, &fence("f-1", 1, 5), "w2"), "there is no second one");
}

pub(super) fn workers_are_known(store: &dyn Store) {
    let worker = |process: &str, name: &str| FleetWorker {
        process: process.to_owned(),
        name: name.to_owned(),
        machine: "build-1".to_owned(),
        pid: 7,
        offers: "claude@x".to_owned(),
        slots: 4,
        version: "0.1.0".to_owned(),
        state: FleetWorkerState::Working,
        started_at: at(1),
        beat_at: at(1),
    };
    let beat = |process, name| store.beat_worker(&worker(process, name), at(5)).unwrap();
    assert_eq!(beat("a", "one"), FleetWorkerState::Working);
    assert_eq!(beat("b", "one"), FleetWorkerState::Working, "two may have one name");
    assert_eq!(beat("c", "two"), FleetWorkerState::Working);
    let names = |store: &dyn Store| -> Vec<String> {
        store.fleet_workers().unwrap().into_iter().map(|worker| worker.process).collect()
    };
    assert_eq!(names(store), ["a", "b", "c"]);
    assert_eq!(store.drain_workers("one").unwrap(), 2);
    assert_eq!(store.drain_workers("nine").unwrap(), 0);
    assert_eq!(beat("a", "one"), FleetWorkerState::Draining, "it hears of it with its next beat");
    assert_eq!(beat("c", "two"), FleetWorkerState::Working);
    assert_eq!(store.evict_workers("one").unwrap(), 2, "also those that drain");
    assert_eq!(store.evict_workers("nine").unwrap(), 0);
    assert_eq!(store.drain_workers("one").unwrap(), 0, "they end at once");
    assert_eq!(beat("a", "one"), FleetWorkerState::Evicted);
    store.end_worker("a").unwrap();
    assert_eq!(names(store), ["b", "c"]);
    store.prune_fleet(-MINUTE, at(90)).unwrap();
    assert_eq!(names(store), Vec::<String>::new());
}

pub(super) fn lanes_have_one_winner(one: &dyn Store, other: &dyn Store) {
    one.submit_fleet_lane(&lane("f-1"), at(10)).unwrap();
    let winners = Mutex::new(Vec::new());
    thread::scope(|threads| {
        for (number, store) in (1..=8).zip([one, other].into_iter().cycle()) {
            let winners = &winners;
            threads.spawn(move || {
                // Half of them are the same attempt, which the engine handed out twice.
                let fence = fence("f-1", 1, 1 + number % 4);
                if !begins(store, &fence, &format!("w{number}")) {
                    return;
                }
                let report = format!("by {number}");
                let answer = store.end_attempt(&fence, "answered", &report, at(30)).unwrap();
                if answer == FenceAnswer::Current {
                    winners.lock().unwrap().push(report);
                }
            });
        }
    });
    let report = other.fleet_lane("f-1").unwrap().unwrap().report;
    assert_eq!(winners.into_inner().unwrap(), Vec::from_iter(report), "one answer is kept");
}
