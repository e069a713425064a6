//! What a front end does for a design that runs: it shows what happens, and asks a person.

use std::time::Duration;

use convoke_domain::design::event::LaneId;
use convoke_domain::design::render::Line;
use convoke_domain::lane::event::Usage;

use crate::failure::Failure;

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedAnswer {
    /// A line.
    Line(String),
    /// Nothing within the limit.
    TooLate,
    /// There is no person, or the person went away.
    End,
    /// Nothing: the user asked to stop.
    Stopped,
}

/// A front end of designs. A terminal prompts; one without a person declines.
pub trait DesignFrontEnd {
    /// Shows a line of the design. A failure stops the run, which can be resumed.
    fn show(&mut self, line: &Line) -> Result<(), Failure>;

    /// Says something beside the design that every front end shows.
    fn say(&mut self, text: &str);

    /// Says what is good to know; a front end that only prints data leaves it out.
    fn note(&mut self, text: &str);

    /// Receives what a lane has spent so far.
    fn lane_spends(&mut self, lane: &LaneId, usage: Usage);

    /// Receives what a lane spent that is over.
    fn lane_spent(&mut self, lane: &LaneId, usage: Usage);

    /// Tells whether a person can answer, and be asked again.
    fn has_person(&self) -> bool;

    /// Asks a question, and waits for one line, within a time if there is a limit.
    fn ask(&mut self, question: &str, limit: Option<Duration>) -> TypedAnswer;
}

/// A front end that shows nothing and answers nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnattendedFrontEnd;

impl DesignFrontEnd for UnattendedFrontEnd {
    fn show(&mut self, _line: &Line) -> Result<(), Failure> {
        Ok(())
    }

    fn say(&mut self, _text: &str) {}

    fn note(&mut self, _text: &str) {}

    fn lane_spends(&mut self, _lane: &LaneId, _usage: Usage) {}

    fn lane_spent(&mut self, _lane: &LaneId, _usage: Usage) {}

    fn has_person(&self) -> bool {
        false
    }

    fn ask(&mut self, _question: &str, _limit: Option<Duration>) -> TypedAnswer {
        TypedAnswer::End
    }
}
