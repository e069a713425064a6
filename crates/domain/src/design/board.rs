//! The table of lanes: the state of every seat that a phase asks, on one line.
//!
//! Programs read the line, so it is exact. Where a person watches it can say more.

use super::event::LaneId;
use super::progress::elapsed;
use crate::text::width;

/// How a lane stands.
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

/// Which lanes a table of lanes is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Four sketches.
    Sketches,
    /// Two sketches.
    QuickSketches,
    /// Reviewers.
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

/// One seat on a board. It keeps its label, whoever sits on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The seat's label.
    pub label: String,
    /// The lane that was asked last, if one was.
    pub lane: Option<LaneId>,
    /// How that stands.
    pub standing: Standing,
}

/// How all lanes of a phase stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// Which lanes it is about.
    pub table: Table,
    /// Its seats.
    pub cells: Vec<Cell>,
}

impl Board {
    /// Returns the line.
    pub fn text(&self) -> String {
        self.text_with(|_| String::new())
    }

    /// Returns the line with something more behind each seat's standing.
    pub fn text_with(&self, more: impl Fn(&LaneId) -> String) -> String {
        let cell = |cell: &Cell| {
            let more = cell.lane.as_ref().map(&more).unwrap_or_default();
            let space = if more.is_empty() { "" } else { " " };
            format!(" {}: {}{space}{more} |", cell.label, cell.standing.cell())
        };
        let cells: String = self.cells.iter().map(cell).collect();
        format!("📊 {}: |{cells}", self.table.label())
    }

    /// Returns the line with as much in it as so many columns hold, so that every seat is seen: all
    /// of it, then without what is more, without the frame, without whose the seats are, without
    /// times, and in the end only how many stand how.
    pub fn within(&self, columns: usize, more: impl Fn(&LaneId) -> String) -> String {
        let whole = |cell: &Cell| format!("{} {}", cell.label, cell.standing.cell());
        let timed = |cell: &Cell| format!("{} {}", self.short(cell), cell.standing.cell());
        let signed = |cell: &Cell| format!("{} {}", self.short(cell), cell.standing.sign());
        let lines: [&dyn Fn() -> String; 5] = [
            &|| self.text_with(&more),
            &|| self.text(),
            &|| self.row(&whole),
            &|| self.row(&timed),
            &|| self.row(&signed),
        ];
        let fits = |line: &String| width(line) <= columns;
        lines.iter().map(|line| line()).find(fits).unwrap_or_else(|| self.sum())
    }

    fn row(&self, cell: &dyn Fn(&Cell) -> String) -> String {
        format!("📊 {}", self.cells.iter().map(cell).collect::<Vec<_>>().join(" · "))
    }

    /// Returns what a seat is called beside its owner's name, unless another is called the same.
    fn short<'a>(&self, cell: &'a Cell) -> &'a str {
        let is_same = |other: &&Cell| beside_owner(&other.label) == beside_owner(&cell.label);
        let is_only = self.cells.iter().filter(is_same).count() < 2;
        if is_only { beside_owner(&cell.label) } else { &cell.label }
    }

    /// Says how many stand how.
    fn sum(&self) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for sign in self.cells.iter().map(|cell| cell.standing.sign()) {
            match counts.iter_mut().find(|(known, _)| *known == sign) {
                Some((_, count)) => *count += 1,
                None => counts.push((sign, 1)),
            }
        }
        let counts = counts.iter().map(|(sign, count)| format!(" {count} {sign}"));
        format!("📊 {}:{}", self.table.label(), counts.collect::<String>())
    }
}

fn beside_owner(label: &str) -> &str {
    label.split_once('-').map_or(label, |(_, own)| own)
}

#[cfg(test)]
mod tests {
    use super::super::seat::{Available, Panel, Seat};
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
        let seats = panel.sketchers(false, up);
        assert_eq!(
            board(Table::Sketches, &seats, &standings).text(),
            "📊 Sketches (regular): | Cursor-Arch: ✅ 4m2s | Cursor-Edge: ⏳ | \
             Codex-Innovation: ❌ 8m3s | Codex-Pragmatic: ⊘ |"
        );
        let waiting = |seats: &[Seat], table| board(table, seats, &[Standing::Running; 4]).text();
        assert_eq!(
            waiting(&panel.sketchers(true, up), Table::QuickSketches),
            "📊 Sketches (quick): | Cursor-Generic: ⏳ | Codex-Generic: ⏳ |"
        );
        assert_eq!(
            waiting(&panel.reviewers(up), Table::Reviewers),
            "📊 Reviewers: | Cursor-Arch: ⏳ | Cursor-Edge: ⏳ | Codex-Innovation: ⏳ | \
             Codex-Pragmatic: ⏳ |"
        );
    }

    #[test]
    fn whoever_watches_can_be_told_more() {
        let seats = Panel::default().sketchers(true, Available { first: true, second: true });
        let board = board(Table::QuickSketches, &seats, &[Standing::Running; 2]);
        let more = |lane: &LaneId| {
            if lane.as_str().starts_with("sketch/codex") {
                "1.2k".to_owned()
            } else {
                String::new()
            }
        };
        assert_eq!(
            board.text_with(more),
            "📊 Sketches (quick): | Cursor-Generic: ⏳ | Codex-Generic: ⏳ 1.2k |"
        );
    }

    // P-91: however narrow, every seat is counted.
    #[test]
    fn every_seat_is_seen_in_few_columns() {
        let both = Available { first: true, second: true };
        let seats = Panel::default().sketchers(false, both);
        let standings = [Standing::Done(48), Standing::Running, Standing::Failed(75)];
        let board =
            board(Table::Sketches, &seats, &[&standings[..], &[Standing::Running]].concat());
        let more = |_: &LaneId| "1.2k".to_owned();
        let within = |columns| board.within(columns, more);
        assert_eq!(within(140), board.text_with(more));
        assert_eq!(within(120), board.text());
        let row = "📊 Cursor-Arch ✅ 48s · Cursor-Edge ⏳ · Codex-Innovation ❌ 1m15s · Codex-Pragmatic ⏳";
        assert_eq!(within(90), row);
        assert_eq!(within(80), "📊 Arch ✅ 48s · Edge ⏳ · Innovation ❌ 1m15s · Pragmatic ⏳");
        assert_eq!(within(60), "📊 Arch ✅ · Edge ⏳ · Innovation ❌ · Pragmatic ⏳");
        assert_eq!(within(40), "📊 Sketches (regular): 1 ✅ 2 ⏳ 1 ❌");
        let seats = Panel::default().sketchers(true, both);
        let quick = super::tests::board(Table::QuickSketches, &seats, &[Standing::Running; 2]);
        assert_eq!(quick.within(45, more), "📊 Cursor-Generic ⏳ · Codex-Generic ⏳");
    }
}
