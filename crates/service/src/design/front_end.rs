//! A front end's part in a running design: it shows events, and asks a person.

use std::time::Duration;

use convoke_domain::design::event::{LaneEnd, LaneId, Settings};
use convoke_domain::design::notice::Notice;
use convoke_domain::design::render::Line;
use convoke_domain::design::walk::LaneNeed;
use convoke_domain::lane::event::{LaneEvent, Usage};
use convoke_domain::run::RunId;
use convoke_engine::lane::many::QueueEvent;
use jiff::Timestamp;

use super::lane::{LaneAnswer, LaneResult};
use crate::failure::Failure;

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedAnswer {
    /// A line that the person typed.
    Line(String),
    /// Nothing within the limit.
    TooLate,
    /// There is no person, or the person went away.
    End,
    /// Nothing: the user stopped Convoke.
    Stopped,
}

/// A lane that another process of the same run runs now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerLane {
    /// The lane, as the journal names it.
    pub id: LaneId,
    /// Its seat, for people.
    pub seat: String,
    /// When it began.
    pub since: Timestamp,
    /// What it used so far, as far as the client says.
    pub usage: Option<Usage>,
    /// The tool that its agent used last.
    pub last_tool: Option<String>,
    /// How many tools its agent used.
    pub tools: usize,
}

/// A front end of designs. A terminal prompts; one without a person declines.
pub trait DesignFrontEnd {
    /// Receives the run that begins or resumes, before any other call.
    fn open(&mut self, run: &RunId, settings: &Settings);

    /// Shows a notice of the design, with its line for programs. A failure stops the run, which can
    /// be resumed.
    fn show(&mut self, notice: &Notice, line: &Line) -> Result<(), Failure>;

    /// Learns what Convoke does itself now, such as asking agents whether they answer; nothing when
    /// that is over.
    fn works(&mut self, activity: Option<&str>);

    /// Learns which lanes a worker process runs at the moment.
    fn worker_lanes(&mut self, lanes: Vec<WorkerLane>);

    /// Shows a message beside the design, in every front end.
    fn say(&mut self, text: &str);

    /// Shows a remark beside the design, as such, in every front end.
    fn remark(&mut self, text: &str);

    /// Shows a warning beside the design, as such, in every front end.
    fn warn(&mut self, text: &str);

    /// Shows a note; a front end that only prints data leaves it out.
    fn note(&mut self, text: &str);

    /// Learns that a lane begins.
    fn lane_starts(&mut self, request: &LaneNeed, settings: &Settings);

    /// Receives what the agent of a lane says.
    fn lane_says(&mut self, lane: &LaneId, event: &LaneEvent);

    /// Learns how a lane ended; nothing if it was stopped or could not be tried.
    fn lane_ends(&mut self, lane: &LaneId, end: Option<&LaneEnd>);

    /// Tells whether a person can answer, and answer again.
    fn has_person(&self) -> bool;

    /// Asks a question, and waits for one line, within a time if there is a limit.
    fn ask(&mut self, question: &str, limit: Option<Duration>) -> TypedAnswer;
}

/// A front end that shows nothing and answers nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnattendedFrontEnd;

impl DesignFrontEnd for UnattendedFrontEnd {
    fn open(&mut self, _run: &RunId, _settings: &Settings) {}

    fn show(&mut self, _notice: &Notice, _line: &Line) -> Result<(), Failure> {
        Ok(())
    }

    fn works(&mut self, _activity: Option<&str>) {}

    fn worker_lanes(&mut self, _lanes: Vec<WorkerLane>) {}

    fn say(&mut self, _text: &str) {}

    fn remark(&mut self, _text: &str) {}

    fn warn(&mut self, _text: &str) {}

    fn note(&mut self, _text: &str) {}

    fn lane_starts(&mut self, _request: &LaneNeed, _settings: &Settings) {}

    fn lane_says(&mut self, _lane: &LaneId, _event: &LaneEvent) {}

    fn lane_ends(&mut self, _lane: &LaneId, _end: Option<&LaneEnd>) {}

    fn has_person(&self) -> bool {
        false
    }

    fn ask(&mut self, _question: &str, _limit: Option<Duration>) -> TypedAnswer {
        TypedAnswer::End
    }
}

/// Shows the progress of a lane.
pub(super) fn show_lane(
    front_end: &mut dyn DesignFrontEnd,
    request: &LaneNeed,
    settings: &Settings,
    news: &QueueEvent<'_, LaneAnswer>,
) {
    match news {
        QueueEvent::Started => front_end.lane_starts(request, settings),
        QueueEvent::Said(event) => front_end.lane_says(&request.id, event),
        QueueEvent::Ended(came) => {
            front_end.lane_ends(&request.id, came.as_ref().ok().and_then(LaneResult::end));
        }
    }
}
