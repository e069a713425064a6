//! Time axes of small journals.

use super::*;
use crate::design::event::Reply;
use crate::design::lane_id::LaneKind;
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
