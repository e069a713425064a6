//! How a design is shown: text on stdout as it comes; the table of lanes in one place on a terminal,
//! with what they have spent so far, and line by line elsewhere.

use std::collections::HashMap;
use std::time::Duration;

use convoke_domain::design::board::Board;
use convoke_domain::design::event::LaneId;
use convoke_domain::design::render::Line;
use convoke_domain::lane::event::Usage;
use convoke_domain::text::width;

use convoke_service::design::{DesignFrontEnd, TypedAnswer, amount, in_all};

use crate::app::{App, Format};
use crate::input::{self, Typed};
use crate::interrupt;
use crate::output::{Output, is_closed_pipe};
use convoke_service::failure::{ErrorClass, Failure};

#[derive(Debug, thiserror::Error)]
#[error("cannot continue the run: the output pipe was closed")]
struct Unheard;

/// What a design is shown on.
pub(in crate::cli) struct Screen<'o> {
    output: &'o mut Output,
    /// The table on the screen that the next one replaces.
    board: Option<Board>,
    /// What lanes have spent, as far as they say.
    spent: HashMap<LaneId, Usage>,
    is_terminal: bool,
    is_json: bool,
}

impl<'o> Screen<'o> {
    pub(in crate::cli) fn new(app: &App, output: &'o mut Output) -> Self {
        let is_json = app.format == Format::Json;
        let is_terminal = output.is_terminal();
        Self { output, board: None, spent: HashMap::new(), is_terminal, is_json }
    }

    /// Draws a table in the place of the last one, in one line: another could not be drawn over it.
    fn draw(&self, board: &Board) {
        let all = self.spent.values().copied().reduce(Usage::plus);
        let all = all.map_or_else(String::new, |all| in_all(&all));
        let left = self.output.columns().saturating_sub(width(&all));
        let spent = |lane: &LaneId| self.spent.get(lane).map_or_else(String::new, amount);
        self.output.redraw(&(all + &board.within(left, spent)), self.board.is_some());
    }

    fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.output.data(&format!("{text}\n"))?;
        self.output.flush()
    }
}

/// A reader that closes a pipe has enough of the text; the run itself is not at its end.
fn unheard(failure: Failure) -> Failure {
    if !is_closed_pipe(&failure) {
        return failure;
    }
    Failure::new(ErrorClass::Prerequisite, Unheard)
}

impl DesignFrontEnd for Screen<'_> {
    fn show(&mut self, line: &Line) -> Result<(), Failure> {
        if self.is_json {
            return Ok(());
        }
        match line {
            Line::Table(board) if self.is_terminal => {
                self.draw(board);
                self.board = Some(board.clone());
                Ok(())
            }
            Line::Text(_) | Line::Table(_) => {
                self.board = None;
                self.print(&line.text()).map_err(unheard)
            }
        }
    }

    fn say(&mut self, text: &str) {
        self.board = None;
        self.output.say(text);
    }

    fn note(&mut self, text: &str) {
        if !self.is_json {
            self.say(text);
        }
    }

    fn lane_spends(&mut self, lane: &LaneId, usage: Usage) {
        self.lane_spent(lane, usage);
        if let Some(board) = self.board.as_ref().filter(|_| self.is_terminal) {
            self.draw(board);
        }
    }

    fn lane_spent(&mut self, lane: &LaneId, usage: Usage) {
        self.spent.insert(lane.clone(), usage);
    }

    fn has_person(&self) -> bool {
        input::has_person()
    }

    fn ask(&mut self, question: &str, limit: Option<Duration>) -> TypedAnswer {
        match input::line(|| self.say(question), limit, &interrupt::cancel()) {
            Typed::Line(line) => TypedAnswer::Line(line),
            Typed::TooLate => TypedAnswer::TooLate,
            Typed::End => TypedAnswer::End,
            Typed::Stopped => TypedAnswer::Stopped,
        }
    }
}
