//! What a trial counts, from the store itself: rows of lanes, their lines, and the ledger. What a
//! submitter printed is only one look at them, and ends with the first report.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use convoke_store::fleet::{EventPlace, FleetEvent, FleetLane};
use convoke_store::lane::LaneQuery;
use convoke_store::{Store, StoreLocation, open};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// More lanes than any trial has.
const MANY: u32 = 10_000;

/// How far the time of a line, by its worker, may be from that of its lane, by the store.
const NEARLY: SignedDuration = SignedDuration::from_secs(1);

/// What was counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Lanes that had to be answered.
    pub(crate) lanes: usize,
    /// Those without an answer in the store, or for a submitter that waited to the end.
    pub(crate) lost: usize,
    /// Answers beyond the first one of a lane.
    pub(crate) doubled: usize,
    /// Answers and lines of attempts that counted no more.
    pub(crate) stale: usize,
    pub(crate) slowest: Duration,
}

impl Counts {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            lanes: self.lanes + other.lanes,
            lost: self.lost + other.lost,
            doubled: self.doubled + other.doubled,
            stale: self.stale + other.stale,
            slowest: self.slowest.max(other.slowest),
        }
    }

    pub(crate) fn are_wrong(self) -> bool {
        self.lost + self.doubled + self.stale > 0
    }
}

/// What a trial did, beside what the store knows.
#[derive(Debug, Default)]
pub(crate) struct TrialLog {
    /// Lanes whose client was let answer.
    pub(crate) expected: BTreeSet<String>,
    /// What submitters that waited to the end heard: the lane, and the answer if any.
    pub(crate) heard: Vec<(String, Option<String>)>,
    /// How many lanes `convoke` submitted itself whose answer it has to count in its ledger.
    pub(crate) in_ledger: usize,
    pub(crate) slowest: Duration,
}

/// Counts what came of a trial's lanes.
pub(crate) fn count(store: &str, log: &TrialLog) -> Counts {
    let store = open(&StoreLocation::parse(store)).unwrap();
    let mut counts =
        Counts { lanes: log.expected.len(), slowest: log.slowest, ..Counts::default() };
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for lane in store.fleet_lanes(MANY).unwrap() {
        let events = store.fleet_events(&lane.id, EventPlace::default()).unwrap();
        let answer = answer(&lane);
        counts.stale += stale_parts(&lane, answer.as_deref(), &events);
        counts.doubled += answered_turns(&events).saturating_sub(1);
        if let Some(answer) = answer {
            *answers.entry(name_of(&answer).to_owned()).or_default() += 1;
        }
    }
    for name in &log.expected {
        let heard: Vec<_> = log.heard.iter().filter(|(lane, _)| lane == name).collect();
        let different: BTreeSet<_> = heard.iter().filter_map(|(_, heard)| heard.clone()).collect();
        let kept = answers.get(name).copied().unwrap_or_default();
        let is_lost = kept == 0 || heard.iter().any(|(_, heard)| heard.is_none());
        counts.lost += usize::from(is_lost);
        counts.doubled += kept.max(different.len()).saturating_sub(1);
    }
    // A lane that no test let answer has no answer either.
    counts.stale += answers.keys().filter(|name| !log.expected.contains(*name)).count();
    let counted = ledger_answers(&*store);
    counts.lost += log.in_ledger.saturating_sub(counted);
    counts.doubled += counted.saturating_sub(log.in_ledger);
    counts
}

/// Returns the answer of a lane that ended with one: the client's lane and process.
fn answer(lane: &FleetLane) -> Option<String> {
    let report: Value = serde_json::from_str(lane.report.as_deref()?).unwrap();
    // The submitter takes no answer of a reader that changed its tree.
    let is_tidy = report["tree"]["status"] != "dirty";
    let is_answered = lane.outcome.as_deref() == Some("answered") && is_tidy;
    is_answered.then(|| report["answer"].as_str().unwrap_or_default().to_owned())
}

fn name_of(answer: &str) -> &str {
    answer.split(' ').next().unwrap_or_default()
}

/// Counts what a lane has of attempts that counted no more: its answer, and lines that came after the last
/// attempt began, or after the lane was stopped.
fn stale_parts(lane: &FleetLane, answer: Option<&str>, events: &[FleetEvent]) -> usize {
    let last = (lane.generation, lane.attempt);
    let of_last = |event: &&FleetEvent| (event.place.generation, event.place.attempt) == last;
    let session = events.iter().filter(of_last).find_map(|event| {
        let said = read(event);
        (said["event"] == "session").then(|| said["id"].as_str().unwrap_or_default().to_owned())
    });
    let is_by_last = |answer: &str| {
        let pid = answer.rsplit(' ').next().unwrap_or_default();
        session.as_deref() == Some(&format!("s-{pid}"))
    };
    let answer = usize::from(answer.is_some_and(|answer| !is_by_last(answer)));
    // A stop begins a generation without an attempt, and leaves the start of the one before.
    let over = if lane.attempt == 0 { lane.ended_at } else { lane.started_at };
    let over = over.map(|over| over.saturating_add(NEARLY).unwrap());
    let is_late = |event: &&FleetEvent| {
        let at: Timestamp = read(event)["at"].as_str().unwrap().parse().unwrap();
        !of_last(event) && over.is_some_and(|over| at > over)
    };
    answer + events.iter().filter(is_late).count()
}

/// Counts the attempts whose client said that it has answered.
fn answered_turns(events: &[FleetEvent]) -> usize {
    let is_answer = |event: &&FleetEvent| {
        let line = read(event);
        line["event"] == "turn" && line["failure"].is_null()
    };
    events.iter().filter(is_answer).count()
}

fn read(event: &FleetEvent) -> Value {
    serde_json::from_str(&event.line).unwrap()
}

/// Counts the remote lanes that the ledger has an answer of.
fn ledger_answers(store: &dyn Store) -> usize {
    let lanes = store.lanes(LaneQuery::default()).unwrap();
    let is_remote = |agent: &str| agent.starts_with("fleet:");
    lanes.iter().filter(|lane| lane.has_answered() && is_remote(&lane.begun.agent)).count()
}
