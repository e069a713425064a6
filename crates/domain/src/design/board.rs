//! The table of lanes: the state of every seat of a phase, on one line.
//!
//! Programs read the line, so it is exact.

use super::event::LaneId;
use super::progress::elapsed;

/// A lane's state on a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It answered after so many seconds.
    Done(u64),
    /// It failed after so many seconds.
    Failed(u64),
    /// It runs.
    Running,
    /// It was not started.
    NotStarted,
}

impl Standing {
    fn cell(self) -> String {
        match self {
            Self::Done(seconds) | Self::Failed(seconds) => {
                format!("{} {}", self.sign(), elapsed(seconds))
            }
            Self::Running | Self::NotStarted => self.sign().to_owned(),
        }
    }

    const fn sign(self) -> &'static str {
        match self {
            Self::Done(_) => "✅",
            Self::Failed(_) => "❌",
            Self::Running => "⏳",
            Self::NotStarted => "⊘",
        }
    }
}

/// The lanes of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Four sketches.
    Sketches,
    /// Two sketches.
    QuickSketches,
    /// The agents that review the plan.
    Reviewers,
}

impl Table {
    const fn label(self) -> &'static str {
        match self {
            Self::Sketches => "Sketches (regular)",
            Self::QuickSketches => "Sketches (quick)",
            Self::Reviewers => "Reviewers",
        }
    }
}

/// One seat on a board. It keeps its label when another agent takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The seat's label.
    pub label: String,
    /// The lane that last worked for this seat, if any.
    pub lane: Option<LaneId>,
    /// That lane's state.
    pub standing: Standing,
}

/// The states of all lanes of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// Which lanes the board shows.
    pub table: Table,
    /// The seats of the phase, in their order.
    pub cells: Vec<Cell>,
}

impl Board {
    /// Returns the line.
    pub fn text(&self) -> String {
        let cell = |cell: &Cell| format!(" {}: {} |", cell.label, cell.standing.cell());
        let cells: String = self.cells.iter().map(cell).collect();
        format!("📊 {}: |{cells}", self.table.label())
    }
}

#[cfg(test)]
mod tests {
    use super::super::seat::{Available, Panel, Seat};
    use super::super::sketch::SketchPanel;
    use super::*;

    fn board(table: Table, seats: &[Seat], standings: &[Standing]) -> Board {
        let cell = |(seat, standing): (&Seat, &Standing)| Cell {
            label: seat.label.clone(),
            lane: LaneId::parse(&format!("sketch/{}", seat.kind)),
            standing: *standing,
        };
        Board { table, cells: seats.iter().zip(standings).map(cell).collect() }
    }

    // P-91, P-92, P-93, P-94: one line for all lanes; a seat keeps its label.
    #[test]
    fn the_table_shows_how_lanes_stand() {
        let panel = Panel::default();
        let up = Available { first: true, second: false };
        let standings =
            [Standing::Done(242), Standing::Running, Standing::Failed(483), Standing::NotStarted];
        let seats = panel.sketchers(SketchPanel::Full, up);
        assert_eq!(
            board(Table::Sketches, &seats, &standings).text(),
            "📊 Sketches (regular): | Cursor-Arch: ✅ 4m2s | Cursor-Edge: ⏳ | \
             Codex-Innovation: ❌ 8m3s | Codex-Pragmatic: ⊘ |"
        );
        let waiting = |seats: &[Seat], table| board(table, seats, &[Standing::Running; 4]).text();
        assert_eq!(
            waiting(&panel.sketchers(SketchPanel::Quick, up), Table::QuickSketches),
            "📊 Sketches (quick): | Cursor-Generic: ⏳ | Codex-Generic: ⏳ |"
        );
        assert_eq!(
            waiting(&panel.reviewers(up), Table::Reviewers),
            "📊 Reviewers: | Cursor-Arch: ⏳ | Cursor-Edge: ⏳ | Codex-Innovation: ⏳ | \
             Codex-Pragmatic: ⏳ |"
        );
    }
}
