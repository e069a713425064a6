//! Rows of cells in aligned columns, as wide as there is room.
//!
//! A table that is too wide leaves out the columns that a reader misses least, if it names some, and
//! gives room from its widest columns. Where that would cut all of them to pieces, every row becomes a block of its own with a line for each cell.

use super::styled::{Ink, StyledLine};

/// The width between two columns.
const GAP: usize = 2;

/// How to render a cell that is wider than its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// It is cut, with an ellipsis.
    Cut,
    /// It continues in the next line, and a rule is below the header.
    Wrap,
    /// It goes on in the next line, without a rule.
    Fold,
}

impl Overflow {
    /// Returns how narrow a column may get before the rows become blocks.
    const fn least(self) -> usize {
        match self {
            Self::Cut => 16,
            Self::Wrap | Self::Fold => 10,
        }
    }
}

/// A table: a header, and rows with as many cells.
#[derive(Debug, Clone)]
pub struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<StyledLine>>,
    right: Vec<usize>,
    overflow: Overflow,
    dispensable: Vec<usize>,
}

impl Grid {
    /// Returns a table without rows.
    pub fn new(header: impl IntoIterator<Item = impl Into<String>>, overflow: Overflow) -> Self {
        let header = header.into_iter().map(Into::into).collect();
        Self { header, rows: Vec::new(), right: Vec::new(), overflow, dispensable: Vec::new() }
    }

    /// Aligns columns to the right.
    #[must_use]
    pub fn right(mut self, columns: &[usize]) -> Self {
        self.right.extend(columns);
        self
    }

    /// Names the columns that are left out where the table is too wide, in this order.
    #[must_use]
    pub fn dispensable(mut self, columns: &[usize]) -> Self {
        self.dispensable.extend(columns);
        self
    }

    /// Adds a row. Cells that are missing are empty; more than the header has are left out.
    pub fn push(&mut self, cells: impl IntoIterator<Item = StyledLine>) {
        let mut row: Vec<_> = cells.into_iter().collect();
        row.resize(self.header.len(), StyledLine::default());
        self.rows.push(row);
    }

    /// Returns the lines, none of them wider than `columns`.
    pub fn lines(&self, columns: usize) -> Vec<StyledLine> {
        let natural = self.natural();
        let is_too_wide =
            natural.iter().map(|width| width + GAP).sum::<usize>() > columns.saturating_add(GAP);
        if let (true, Some((first, _))) = (is_too_wide, self.dispensable.split_first()) {
            return self.without(*first).lines(columns);
        }
        let Some(widths) = self.shrunk(natural, columns) else { return self.blocks(columns) };
        let header: Vec<_> =
            self.header.iter().map(|word| StyledLine::new(Ink::Strong, word)).collect();
        let mut lines = self.row(&header, &widths);
        if self.overflow == Overflow::Wrap {
            let rules: Vec<_> = widths
                .iter()
                .map(|width| vec![StyledLine::new(Ink::Quiet, &"─".repeat(*width))])
                .collect();
            lines.push(self.line(&rules, &widths, 0));
        }
        for row in &self.rows {
            lines.extend(self.row(row, &widths));
        }
        lines
    }

    fn without(&self, column: usize) -> Self {
        let mut narrower = self.clone();
        narrower.header.remove(column);
        for row in &mut narrower.rows {
            row.remove(column);
        }
        let behind = |at: &usize| if *at > column { *at - 1 } else { *at };
        let others = |columns: &[usize]| -> Vec<_> {
            columns.iter().filter(|at| **at != column).map(behind).collect()
        };
        narrower.right = others(&self.right);
        narrower.dispensable = others(&self.dispensable);
        narrower
    }

    fn natural(&self) -> Vec<usize> {
        let header = self.header.iter().map(|word| StyledLine::plain(word).width());
        header
            .enumerate()
            .map(|(at, head)| {
                self.rows.iter().map(|row| row[at].width()).fold(head, std::cmp::Ord::max)
            })
            .collect()
    }

    /// Takes room from the widest columns; nothing if that is not enough.
    fn shrunk(&self, mut widths: Vec<usize>, columns: usize) -> Option<Vec<usize>> {
        let room = columns.saturating_sub(GAP * widths.len().saturating_sub(1));
        let mut excess = widths.iter().sum::<usize>().saturating_sub(room);
        while excess > 0 {
            let widest = widths.iter_mut().filter(|width| **width > self.overflow.least()).max()?;
            *widest -= 1;
            excess -= 1;
        }
        Some(widths)
    }

    fn row(&self, cells: &[StyledLine], widths: &[usize]) -> Vec<StyledLine> {
        let none = StyledLine::default();
        let cells: Vec<_> = cells
            .iter()
            .zip(widths)
            .map(|(cell, width)| match self.overflow {
                Overflow::Cut => vec![cell.clone().fitted(*width)],
                Overflow::Fold if cell.width() <= *width => vec![cell.clone()],
                Overflow::Wrap | Overflow::Fold => cell.wrapped((*width).max(1), &none, &none),
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        (0..height).map(|at| self.line(&cells, widths, at)).collect()
    }

    fn line(&self, cells: &[Vec<StyledLine>], widths: &[usize], at: usize) -> StyledLine {
        let mut line = StyledLine::default();
        let mut start = 0;
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let Some(piece) = cell.get(at).filter(|piece| !piece.is_blank()) else {
                start += width + GAP;
                continue;
            };
            let before =
                if self.right.contains(&column) { width.saturating_sub(piece.width()) } else { 0 };
            line = line.padded(start + before);
            line.extend(piece);
            start += width + GAP;
        }
        line
    }

    /// Every row as a block: its first cell, and below a line for each other one.
    fn blocks(&self, columns: usize) -> Vec<StyledLine> {
        let widest = self.header.iter().skip(1).map(|word| StyledLine::plain(word).width()).max();
        let indent = (GAP * 2 + widest.unwrap_or_default()).min(columns / 2);
        let rest = StyledLine::default().padded(indent);
        let mut lines = Vec::new();
        for row in &self.rows {
            let Some((first, others)) = row.split_first() else { continue };
            lines.push(StyledLine::new(Ink::Strong, &first.text()).fitted(columns));
            for (word, cell) in self.header.iter().skip(1).zip(others) {
                if !cell.is_blank() {
                    let word = StyledLine::plain("  ").with(Ink::Quiet, word);
                    let word = word.fitted(indent.saturating_sub(1)).padded(indent);
                    lines.extend(cell.wrapped(columns, &word, &rest));
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(lines: &[StyledLine]) -> String {
        lines.iter().map(|line| line.text() + "\n").collect()
    }

    fn agents() -> Grid {
        let mut grid =
            Grid::new(["agent", "tokens", "read-only", "path"], Overflow::Cut).right(&[1]);
        for row in [
            ["claude", "12", "permission mode plan", "/home/user/.local/bin/claude"],
            ["codex", "1200", "a sandbox", "-"],
        ] {
            grid.push(row.map(StyledLine::plain));
        }
        grid
    }

    #[test]
    fn a_table_takes_the_room_there_is() {
        insta::assert_snapshot!(
            [140, 60, 40]
                .map(|columns| format!("{columns} columns\n{}", text(&agents().lines(columns))))
                .join("\n")
        );
    }

    #[test]
    fn a_narrow_table_leaves_out_what_it_can_spare() {
        let grid = agents().dispensable(&[3, 2]);
        let header = |columns| text(&grid.lines(columns)[..1]);
        assert_eq!(header(80).split_whitespace().last(), Some("path"));
        assert_eq!(header(60), "agent   tokens  read-only\n");
        assert_eq!(header(20), "agent   tokens\n");
        assert_eq!(text(&grid.lines(20)[1..2]), "claude      12\n");
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_it_may_be(cells in proptest::collection::vec("\\PC{0,40}", 12), columns in 12_usize..120) {
            for overflow in [Overflow::Cut, Overflow::Wrap, Overflow::Fold] {
                let mut grid = Grid::new(["one", "two", "three", "four"], overflow).right(&[2]);
                for row in cells.chunks(4) {
                    grid.push(row.iter().map(|cell| StyledLine::plain(cell)));
                }
                for line in grid.lines(columns) {
                    prop_assert!(line.width() <= columns, "{:?}", line.text());
                }
            }
        }
    }
}
