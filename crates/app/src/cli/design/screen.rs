//! How a design is shown: text on stdout as it comes; the table of lanes in one place on a terminal,
//! and line by line elsewhere.

use convoke_domain::design::walk::Line;

use crate::app::{App, Format};
use crate::failure::Failure;
use crate::output::Output;

/// What a design is shown on.
pub(super) struct Screen<'o> {
    output: &'o mut Output,
    /// Whether a table stands where the next one may take its place.
    has_table: bool,
    is_terminal: bool,
    is_json: bool,
}

impl<'o> Screen<'o> {
    pub(super) fn new(app: &App, output: &'o mut Output) -> Self {
        let is_json = app.format == Format::Json;
        let is_terminal = output.is_terminal();
        Self { output, has_table: false, is_terminal, is_json }
    }

    /// Shows a line.
    pub(super) fn show(&mut self, line: &Line) -> Result<(), Failure> {
        if self.is_json {
            return Ok(());
        }
        match line {
            Line::Table(board) if self.is_terminal => {
                self.output.redraw(&board.text(), self.has_table);
                self.has_table = true;
                Ok(())
            }
            Line::Text(_) | Line::Table(_) => {
                self.has_table = false;
                self.output.data(&format!("{}\n", line.text()))?;
                self.output.flush()
            }
        }
    }

    /// Says something beside the run.
    pub(super) fn say(&mut self, text: &str) {
        self.has_table = false;
        self.output.say(text);
    }
}
