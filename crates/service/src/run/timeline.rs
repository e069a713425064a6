//! The course of a run on a time axis, for programs and pages.

use convoke_domain::design::event::{Event, LaneEnd, LaneId, Settings, Stamped};
use convoke_domain::design::progress::Step;
use convoke_domain::design::seat::Holder;
use convoke_domain::design::seat_name::{lane_holder, lane_seat};
use convoke_domain::design::timeline::{
    BarEnd, LaneBar, StepSpan, Timeline, TimelineMoment, Wait, WaitReason, described,
};
use serde::Serialize;

use super::report::answering_holder;

/// The course of a run. Times are milliseconds since 1970.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunTimelineReport {
    /// The steps of the design that have begun.
    pub steps: Vec<StepSpanReport>,
    /// Every start of a lane, in order.
    pub lanes: Vec<LaneBarReport>,
    /// The times in which the run stood still.
    pub waits: Vec<RunWaitReport>,
    /// All events, in order.
    pub events: Vec<RunEventReport>,
}

/// A step on the time axis.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepSpanReport {
    /// The step's number, such as `2a`.
    pub number: &'static str,
    /// The step's name.
    pub name: &'static str,
    /// Its first event.
    pub from_event: u64,
    /// When it began.
    pub from_ms: i64,
    /// When its last event so far happened.
    pub to_ms: i64,
}

/// One start of a lane.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneBarReport {
    /// The lane's name, such as `sketch/Codex-Generic`.
    pub lane: String,
    /// The number of the step that needs it.
    pub step: &'static str,
    /// The seat and its agent, for people: `Claude · Architecture`.
    pub seat: String,
    /// The agent's reference, such as `codex`.
    pub agent: String,
    /// The model that the user requested; nothing if it was the client's choice.
    pub requested_model: Option<String>,
    /// The model that answered, as far as the client says.
    pub model: Option<String>,
    /// `open`, `cut-off`, or how the lane ended.
    pub status: &'static str,
    /// Why there is no answer.
    pub reason: Option<String>,
    /// Whether it repeats a request after an answer in another form.
    pub is_second_request: bool,
    /// Whether the host answers in place of another agent.
    pub is_substitute: bool,
    /// How many starts of the same lane came before.
    pub restarts: usize,
    /// The event of its start.
    pub from_event: u64,
    /// When it began.
    pub from_ms: i64,
    /// The event of its end.
    pub to_event: Option<u64>,
    /// When it ended.
    pub to_ms: Option<i64>,
    /// Tokens that the model read.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    pub output_tokens: Option<u64>,
    /// The cost, in millionths of a dollar.
    pub micro_dollars: Option<u64>,
}

/// A time in which a run stood still.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunWaitReport {
    /// `person`, `stopped` or `lost`.
    pub kind: &'static str,
    /// What it waited for, or why it was stopped.
    pub reason: String,
    /// The event before it.
    pub from_event: u64,
    /// Since when.
    pub from_ms: i64,
    /// Until when; nothing if the run has not gone on.
    pub to_ms: Option<i64>,
}

/// An event of a journal, in words.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunEventReport {
    /// The event's number, from 1.
    pub event: u64,
    /// When it happened.
    pub at_ms: i64,
    /// The event in one line.
    pub text: String,
}

impl RunTimelineReport {
    /// Describes the course of a run by its events.
    pub(super) fn new(events: &[Stamped]) -> Self {
        let settings = events.iter().find_map(|stamped| {
            let Event::Begun(settings) = &stamped.event else { return None };
            Some(settings.as_ref())
        });
        let timeline = Timeline::of(events);
        let told = (1..).zip(events).map(|(event, Stamped { at, event: happened })| {
            RunEventReport { event, at_ms: *at, text: described(happened, settings) }
        });
        Self {
            steps: timeline.steps.iter().map(StepSpanReport::new).collect(),
            lanes: timeline.bars.iter().map(|bar| LaneBarReport::new(bar, settings)).collect(),
            waits: timeline.waits.iter().map(RunWaitReport::new).collect(),
            events: told.collect(),
        }
    }
}

impl StepSpanReport {
    const fn new(span: &StepSpan) -> Self {
        Self {
            number: Step::number(span.step),
            name: span.step.name(),
            from_event: span.from.event,
            from_ms: span.from.at,
            to_ms: span.to.at,
        }
    }
}

impl LaneBarReport {
    fn new(bar: &LaneBar<'_>, settings: Option<&Settings>) -> Self {
        let end = match bar.end {
            BarEnd::Ended(_, end) => Some(end),
            BarEnd::Open | BarEnd::CutOff(_) => None,
        };
        let named = |settings: &Settings| match end {
            Some(end) => answering_holder(bar.id, end, settings),
            None => lane_holder(bar.id, &settings.panel).unwrap_or(Holder::Host),
        };
        let seated = settings.map(|settings| (settings, named(settings)));
        let chosen = seated.map(|(settings, holder)| settings.chosen(holder));
        let usage = end.and_then(|end| end.usage);
        let to = bar.to();
        Self {
            lane: bar.id.to_string(),
            step: bar.id.step().number(),
            seat: seat(bar.id, seated),
            agent: end
                .map(|end| end.agent.clone())
                .or_else(|| chosen.map(|chosen| chosen.agent.clone()))
                .unwrap_or_default(),
            requested_model: chosen.and_then(|chosen| chosen.model.clone()),
            model: end.and_then(|end| end.model.clone()),
            status: match bar.end {
                BarEnd::Open => "open",
                BarEnd::CutOff(_) => "cut-off",
                BarEnd::Ended(_, end) => end.status.name(),
            },
            reason: end.map(LaneEnd::reason_text).filter(|reason| !reason.is_empty()),
            is_second_request: bar.id.is_second_request(),
            is_substitute: bar.id.is_substitute(),
            restarts: bar.restarts,
            from_event: bar.from.event,
            from_ms: bar.from.at,
            to_event: to.map(|TimelineMoment { event, .. }| event),
            to_ms: to.map(|TimelineMoment { at, .. }| at),
            input_tokens: usage.map(|usage| usage.input),
            output_tokens: usage.map(|usage| usage.output),
            micro_dollars: usage.and_then(|usage| usage.micro_dollars),
        }
    }
}

fn seat(lane: &LaneId, seated: Option<(&Settings, Holder)>) -> String {
    seated.map_or_else(
        || lane.to_string(),
        |(settings, holder)| lane_seat(lane, settings.panel.named(holder)),
    )
}

impl RunWaitReport {
    fn new(wait: &Wait<'_>) -> Self {
        let (kind, reason) = match wait.reason {
            WaitReason::Question(id) => ("person", format!("question {id}")),
            WaitReason::Tree(boundary) => ("person", format!("working tree ({})", boundary.name())),
            WaitReason::Stopped(why) => ("stopped", why.to_string()),
            WaitReason::Parked => ("parked", "an agent's limit was reached".to_owned()),
            WaitReason::Lost => ("lost", "the run's process ended without a word".to_owned()),
        };
        Self {
            kind,
            reason,
            from_event: wait.from.event,
            from_ms: wait.from.at,
            to_ms: wait.to.map(|to| to.at),
        }
    }
}
