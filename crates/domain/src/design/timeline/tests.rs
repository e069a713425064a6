//! Time axes of small journals.

use super::*;
use crate::design::event::{ParkedHolder, Reply};
use crate::design::facts::Facts;
use crate::design::lane_id::LaneKind;
use crate::design::seat::Holder;
use crate::lane::collected::CollectedStatus;
use crate::lane::event::Usage;
use crate::lane::unanswered::Unanswered;

fn lane(name: &str) -> LaneId {
    LaneId::new(LaneKind::Sketch, name)
}

fn end(status: CollectedStatus, took: u64) -> Box<LaneEnd> {
    Box::new(LaneEnd {
        status,
        reason: Some(Unanswered::Sentence("it said\nso".to_owned())),
        answer: "".into(),
        agent: "codex".to_owned(),
        model: None,
        usage: Some(Usage::default()),
        took,
    })
}

fn journal(events: Vec<(Millis, Event)>) -> Vec<Stamped> {
    events.into_iter().map(|(at, event)| Stamped { at, event }).collect()
}

/// Renders bars, waits and steps: one line each.
fn shown(events: &[Stamped]) -> Vec<String> {
    let timeline = Timeline::of(events);
    let bars = timeline.bars.iter().map(|bar| {
        let to = bar.to().map_or("…".to_owned(), |to| to.at.to_string());
        let how = match bar.end {
            BarEnd::Open => "open",
            BarEnd::CutOff(_) => "cut off",
            BarEnd::Ended(_, end) => end.status.name(),
        };
        format!("{} {}-{to} {how} {}", bar.id, bar.from.at, bar.restarts)
    });
    let waits = timeline.waits.iter().map(|wait| {
        let to = wait.to.map_or("…".to_owned(), |to| to.at.to_string());
        format!("wait {}-{to} {:?}", wait.from.at, wait.reason)
    });
    let steps = timeline.steps.iter();
    let steps = steps.map(|span| format!("{} {}-{}", span.step.name(), span.from.at, span.to.at));
    bars.chain(waits).chain(steps).collect()
}

#[test]
fn a_lane_that_was_stopped_and_started_again_has_two_bars() {
    let events = journal(vec![
        (10, Event::LaneStarted(lane("Codex-Arch"))),
        (20, Event::Interrupted(StopReason::Sentence("Ctrl-C".to_owned()))),
        (90, Event::Resumed),
        (91, Event::LaneStarted(lane("Codex-Arch"))),
        (99, Event::LaneEnded(lane("Codex-Arch"), end(CollectedStatus::Ok, 8))),
    ]);
    assert_eq!(
        shown(&events),
        [
            "sketch/Codex-Arch 10-20 cut off 0",
            "sketch/Codex-Arch 91-99 OK 1",
            "wait 20-90 Stopped(Sentence(\"Ctrl-C\"))",
            "sketches 10-99",
        ]
    );
}

// P-406: a wait for a limit ends when Convoke asks a lane again, and a process that is stopped or killed
// meanwhile waits no longer.
#[test]
fn a_wait_for_a_limit_lasts_until_the_next_lane_or_the_end_of_its_process() {
    let parked = |until| Event::Parked(ParkedHolder { holder: Holder::Second, until });
    let sketch = || Event::LaneStarted(lane("Codex-Arch"));
    let waits = |events: Vec<(Millis, Event)>| {
        let mut lines = shown(&journal(events));
        lines.retain(|line| line.starts_with("wait ") || line.contains("cut off"));
        lines
    };
    let cut_off = "sketch/Codex-Arch 10-20 cut off 0";
    let asked = waits(vec![(10, sketch()), (20, parked(50)), (21, parked(60)), (60, sketch())]);
    assert_eq!(asked, [cut_off, "wait 20-60 Parked"]);
    let signal = Event::Interrupted(StopReason::Signal);
    let stopped = waits(vec![(10, sketch()), (20, parked(50)), (30, signal), (90, Event::Resumed)]);
    assert_eq!(stopped, [cut_off, "wait 20-30 Parked", "wait 30-90 Stopped(Signal)"]);
    let killed = waits(vec![(10, sketch()), (20, parked(50)), (90, Event::Resumed)]);
    assert_eq!(killed, [cut_off, "wait 20-90 Parked"]);
}

// P-406, P-408: each limit is known until it is over or another process goes on.
#[test]
fn a_limit_is_known_until_a_lane_starts_after_it() {
    let parked = |holder, until| Event::Parked(ParkedHolder { holder, until });
    let facts = |events| {
        let facts = Facts::fold(journal(events));
        let of = [Holder::First, Holder::Second, Holder::Host];
        (facts.parked_until(), of.map(|holder| facts.limited_until(holder)))
    };
    let both = vec![(20, parked(Holder::First, 50)), (20, parked(Holder::Second, 90))];
    let and = |more| [both.clone(), more].concat();
    assert_eq!(facts(both.clone()), (Some(50), [Some(50), Some(90), None]));
    let asked = (55, Event::LaneStarted(lane("Codex-Arch")));
    assert_eq!(facts(and(vec![asked.clone()])), (None, [None, Some(90), None]));
    let again = (60, parked(Holder::Second, 90));
    assert_eq!(facts(and(vec![asked, again])), (Some(90), [None, Some(90), None]));
    let signal = (30, Event::Interrupted(StopReason::Signal));
    assert_eq!(facts(and(vec![signal])).0, Some(50), "it is parked while no process works on it");
    assert_eq!(facts(and(vec![(30, Event::Resumed)])), (None, [None, None, None]));
}

// A killed process writes no last event; the last that it wrote is the last that is known.
#[test]
fn a_lost_process_is_a_wait_since_its_last_event() {
    let events = journal(vec![
        (10, Event::LaneStarted(lane("Codex-Arch"))),
        (30, Event::LaneEnded(lane("Codex-Edge"), end(CollectedStatus::TimedOut, 25))),
        (90, Event::Resumed),
    ]);
    assert_eq!(
        shown(&events),
        [
            "sketch/Codex-Arch 10-30 cut off 0",
            "sketch/Codex-Edge 5-30 TIMED_OUT 0",
            "wait 30-90 Lost",
            "sketches 10-30",
        ]
    );
}

#[test]
fn time_does_not_go_backwards_and_a_second_answer_counts_for_nothing() {
    let reply = Reply::Recommended;
    let events = journal(vec![
        (50, Event::LaneStarted(lane("Codex-Arch"))),
        (20, Event::LaneEnded(lane("Codex-Arch"), end(CollectedStatus::Ok, 8))),
        (60, Event::LaneEnded(lane("Codex-Arch"), end(CollectedStatus::Failed, 8))),
        (70, Event::Replied(QuestionId::Branch, reply)),
    ]);
    assert_eq!(
        shown(&events),
        [
            "sketch/Codex-Arch 50-50 OK 0",
            "wait 60-70 Question(Branch)",
            "branch 70-70",
            "sketches 50-60",
        ]
    );
}

#[test]
fn an_event_is_one_line() {
    let failed = Event::LaneEnded(lane("Codex-Arch"), end(CollectedStatus::Failed, 61_000));
    assert_eq!(described(&failed, None), "sketch/Codex-Arch ended after 1m1s: FAILED (it said so)");
    let long = Event::Interrupted(StopReason::Sentence("x\u{202e}y\n".repeat(1000)));
    let line = described(&long, None);
    assert!(!line.contains(['\n', '\u{202e}']) && line.chars().count() < 230, "{line}");
}
