//! Rules about lanes.

use convoke_domain::lane::counted::{CounterScope, UsageScope};
use convoke_domain::lane::event::{FailureKind, Usage};
use convoke_domain::lane::ledger::{LaneEnding, LaneEntry, LaneStart, Purpose, RecordedEnding};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::owner::Owner;
use convoke_store::lane::LaneQuery;

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
