//! How a design is shown: text on stdout as it comes; the table of lanes in one place on a terminal,
//! with what they have spent so far, and line by line elsewhere.

use std::collections::HashMap;

use convoke_domain::design::board::Board;
use convoke_domain::design::event::LaneId;
use convoke_domain::design::walk::Line;
use convoke_domain::lane::event::Usage;
use convoke_domain::text::width;

use crate::app::{App, Format};
use crate::failure::Failure;
use crate::output::Output;
use convoke_service::design::{amount, in_all};

/// What a design is shown on.
pub(super) struct Screen<'o> {
    output: &'o mut Output,
    /// The table that stands where the next one may take its place.
    board: Option<Board>,
    /// What lanes have spent, as far as they say.
    spent: HashMap<LaneId, Usage>,
    is_terminal: bool,
    is_json: bool,
}

impl<'o> Screen<'o> {
    pub(super) fn new(app: &App, output: &'o mut Output) -> Self {
        let is_json = app.format == Format::Json;
        let is_terminal = output.is_terminal();
        Self { output, board: None, spent: HashMap::new(), is_terminal, is_json }
    }

    /// Shows a line.
    pub(super) fn show(&mut self, line: &Line) -> Result<(), Failure> {
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
                self.output.data(&format!("{}\n", line.text()))?;
                self.output.flush()
            }
        }
    }

    /// Takes down what a lane has spent so far.
    pub(super) fn take_down(&mut self, lane: &LaneId, usage: Usage) {
        self.spent.insert(lane.clone(), usage);
    }

    /// Takes down what a lane has spent so far, and shows it where its table is.
    pub(super) fn spent(&mut self, lane: &LaneId, usage: Usage) {
        self.take_down(lane, usage);
        if let Some(board) = self.board.as_ref().filter(|_| self.is_terminal) {
            self.draw(board);
        }
    }

    /// Draws a table in the place of the last one, in one line: another could not be drawn over it.
    fn draw(&self, board: &Board) {
        let all = self.spent.values().copied().reduce(Usage::plus);
        let all = all.map_or_else(String::new, |all| in_all(&all));
        let left = self.output.columns().saturating_sub(width(&all));
        let spent = |lane: &LaneId| self.spent.get(lane).map_or_else(String::new, amount);
        self.output.redraw(&(all + &board.within(left, spent)), self.board.is_some());
    }

    /// Says something beside the run.
    pub(super) fn say(&mut self, text: &str) {
        self.board = None;
        self.output.say(text);
    }
}
