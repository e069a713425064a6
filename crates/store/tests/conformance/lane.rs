//! Rules about lanes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::lane::counted::{CounterScope, UsageScope};
use convoke_domain::lane::event::{FailureKind, Usage};
use convoke_domain::lane::ledger::Sum;
use convoke_domain::lane::ledger::{LaneEnding, LaneEntry, LaneStart, Purpose, RecordedEnding};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::lane::reservation::TakenBudget;
use convoke_domain::owner::Owner;
use convoke_store::lane::{LaneQuery, LedgerLook};

use super::*;

fn begun(second: i64) -> LaneStart {
    LaneStart {
        agent: "codex".to_owned(),
        purpose: Purpose {
            run: Some("r1".to_owned()),
            role: Some("judge".to_owned()),
            phase: Some("sketch".to_owned()),
        },
        asked_model: Some("gpt".to_owned()),
        writes: true,
        resumed_from: None,
        owner: Owner { pid: 7, mark: "boot 99".to_owned() },
        kept_in: Some("/kept".to_owned()),
        prompt_chars: 12,
        prompt_hash: "abc".to_owned(),
        at: at(second),
    }
}

fn usage(input: u64, micro_dollars: Option<u64>) -> Usage {
    Usage { input, cached: input / 2, output: input / 10, reasoning: 1, micro_dollars }
}

fn ending(said: Option<Usage>, session: &str) -> LaneEnding {
    LaneEnding {
        outcome: LaneOutcome::Answered,
        end: "exited 0".to_owned(),
        why: Some("it said too much".to_owned()),
        failure: Some(FailureKind::LongLine),
        session: Some(session.to_owned()),
        model: Some("gpt-5.5".to_owned()),
        took_ms: 1500,
        bytes: 900,
        said,
        counts: UsageScope { tokens: CounterScope::Session, money: CounterScope::Session },
        at: at(50),
    }
}

pub(super) fn lanes_are_kept(store: &dyn Store) {
    let elsewhere = Scope::new("other", "main");
    let first = store.begin_lane(&here(), &begun(1)).unwrap();
    let plain = LaneStart { purpose: Purpose::default(), kept_in: None, ..begun(2) };
    let second = store.begin_lane(&elsewhere, &plain).unwrap();
    assert!(first < second);
    let all = |query| -> Vec<i64> {
        store.lanes(query).unwrap().into_iter().map(|entry| entry.id).collect()
    };
    let query = LaneQuery::default();
    assert_eq!(all(query), [first, second]);
    assert_eq!(all(LaneQuery { project: Some("app"), ..query }), [first]);
    assert_eq!(all(LaneQuery { since: Some(at(2)), ..query }), [second]);
    assert_eq!(all(LaneQuery { run: Some("r1"), ..query }), [first]);
    assert_eq!(all(LaneQuery { last: Some(1), ..query }), [second], "the last");
    let spent = store.end_lane(first, &ending(Some(usage(100, Some(9))), "s")).unwrap();
    assert_eq!(spent, Some(usage(100, Some(9))));
    assert_eq!(all(LaneQuery { open: true, ..query }), [second]);
    let over = RecordedEnding {
        outcome: Some(LaneOutcome::Answered),
        end: Some("exited 0".to_owned()),
        why: Some("it said too much".to_owned()),
        failure: Some(FailureKind::LongLine),
        session: Some("s".to_owned()),
        model: Some("gpt-5.5".to_owned()),
        took_ms: Some(1500),
        bytes: Some(900),
        spent,
        at: at(50),
    };
    let ended = LaneEntry { id: first, scope: here(), begun: begun(1), over: Some(over) };
    assert_eq!(store.lane(first).unwrap(), Some(ended));
    let running = LaneEntry { id: second, scope: elsewhere, begun: plain, over: None };
    assert_eq!(store.lane(second).unwrap(), Some(running));
    assert_eq!(store.lane(99).unwrap(), None);
    let mut visited = Vec::new();
    store.each_lane(None, None, &mut |lane| visited.push(lane)).unwrap();
    assert_eq!(visited, store.lanes(query).unwrap(), "whole lanes");
}

pub(super) fn every_lane_is_visited_once_in_the_order_of_beginnings(store: &dyn Store) {
    let elsewhere = Scope::new("other", "main");
    let begin = |scope: &Scope, second| store.begin_lane(scope, &begun(second)).unwrap();
    // More than one look holds, of which many begin in the same moment.
    let mut ours: Vec<_> = (0..2100).map(|lane| (lane / 700, begin(&here(), lane / 700))).collect();
    ours.push((1, begin(&here(), 1)));
    let theirs = begin(&elsewhere, 1);
    ours.sort_unstable();
    let visited = |project, since| {
        let mut visited = Vec::new();
        store.each_lane(project, since, &mut |lane| visited.push(lane.id)).unwrap();
        visited
    };
    let since = |second| -> Vec<i64> {
        ours.iter().filter(|(at, _)| *at >= second).map(|(_, id)| *id).collect()
    };
    assert_eq!(visited(Some("app"), None), since(0));
    assert_eq!(visited(Some("app"), Some(at(1))), since(1));
    assert_eq!(visited(Some("app"), Some(at(3))), [0; 0]);
    assert_eq!(visited(Some("other"), None), [theirs]);
    assert_eq!(visited(None, Some(at(1))).len(), since(1).len() + 1);
}

pub(super) fn counters_become_differences(store: &dyn Store) {
    let run = |resumed: Option<&str>, said, session: &str| {
        let lane = LaneStart { resumed_from: resumed.map(str::to_owned), ..begun(1) };
        let id = store.begin_lane(&here(), &lane).unwrap();
        store.end_lane(id, &ending(said, session)).unwrap()
    };
    assert_eq!(store.last_count("codex", "s").unwrap(), None);
    assert_eq!(run(None, Some(usage(100, Some(9))), "s"), Some(usage(100, Some(9))));
    let more = Usage { reasoning: 0, ..usage(60, Some(11)) };
    assert_eq!(run(Some("s"), Some(usage(160, Some(20))), "s"), Some(more));
    assert_eq!(store.last_count("codex", "s").unwrap(), Some(usage(160, Some(20))));
    assert_eq!(run(Some("s"), None, "s"), None, "nothing was said");
    // The next count includes that run's usage.
    let both = Usage { reasoning: 0, ..usage(40, Some(0)) };
    assert_eq!(run(Some("s"), Some(usage(200, Some(20))), "s"), Some(both));
    assert_eq!(run(Some("s"), Some(usage(50, None)), "s"), Some(usage(50, None)), "it began anew");
    assert_eq!(run(Some("theirs"), Some(usage(500, None)), "theirs"), None, "not ours alone");
    let ours = Usage { reasoning: 0, ..usage(100, None) };
    assert_eq!(run(Some("theirs"), Some(usage(600, None)), "theirs"), Some(ours));
    assert_eq!(run(Some("gone"), Some(usage(10, None)), "new"), Some(usage(10, None)));
    assert_eq!(store.last_count("claude", "s").unwrap(), None, "another client's session");
}

pub(super) fn lanes_are_closed_once(store: &dyn Store) {
    let id = store.begin_lane(&here(), &begun(1)).unwrap();
    assert_eq!(store.lane(id).unwrap().unwrap().state(), "running");
    assert!(store.close_lane(id, None, at(9)).unwrap());
    assert!(!store.close_lane(id, Some(LaneOutcome::Cancelled), at(10)).unwrap());
    let lost = store.lane(id).unwrap().unwrap();
    assert_eq!((lost.state(), lost.over.unwrap().at), ("lost", at(9)));
    let other = store.begin_lane(&here(), &begun(1)).unwrap();
    assert!(store.close_lane(other, Some(LaneOutcome::Cancelled), at(9)).unwrap());
    assert_eq!(store.lane(other).unwrap().unwrap().state(), "cancelled");
    // The process that ran the lane knows best how it ended, even late.
    store.end_lane(id, &ending(None, "s")).unwrap();
    assert_eq!(store.lane(id).unwrap().unwrap().state(), "answered");
}

pub(super) fn budgets_hold_for_all_processes(one: &dyn Store, other: &dyn Store) {
    const EACH: usize = 8;
    let today = at(1000);
    // Yesterday's lane of the agent needed 11 tokens.
    let yesterday = one.begin_lane(&here(), &begun(1)).unwrap();
    one.end_lane(yesterday, &ending(Some(usage(10, None)), "s")).unwrap();
    let let_in = AtomicUsize::new(0);
    let begin = |store: &dyn Store| {
        let mut is_refused = false;
        let mut refuse = |look: &LedgerLook| {
            let running: Vec<_> = look.lanes.iter().filter(|lane| lane.over.is_none()).collect();
            let sum = Sum::of_all(&look.lanes);
            let budget = LaneBudget::Tokens(50);
            is_refused = TakenBudget::find(budget, sum, &running, &look.earlier).is_some();
            let outcome = LaneOutcome::OverBudget;
            is_refused.then(|| LaneEnding { outcome, ..ending(None, "none") })
        };
        store.begin_lane_unless(&here(), &begun(2000), Some(today), &mut refuse).unwrap();
        let_in.fetch_add(usize::from(!is_refused), Ordering::Relaxed);
    };
    thread::scope(|threads| {
        for store in [one, other] {
            for _ in 0..EACH {
                threads.spawn(|| begin(store));
            }
        }
    });
    assert_eq!(let_in.load(Ordering::Relaxed), 5, "the rest of the budget is taken once");
    let lanes = one.lanes(LaneQuery { since: Some(today), ..LaneQuery::default() }).unwrap();
    let refused = lanes.iter().filter(|lane| lane.state() == "over_budget").count();
    assert_eq!((lanes.len(), refused), (2 * EACH, 2 * EACH - 5));
    // A lane that ends gives back what it did not need.
    let running = lanes.iter().find(|lane| lane.over.is_none()).unwrap();
    one.end_lane(running.id, &ending(Some(usage(0, None)), "t")).unwrap();
    let before = one.lanes(LaneQuery { open: true, ..LaneQuery::default() }).unwrap().len();
    begin(other);
    assert_eq!(
        one.lanes(LaneQuery { open: true, ..LaneQuery::default() }).unwrap().len(),
        before + 1
    );
}
