//! Aligned columns for people.

use crate::terminal::grid::{Grid, Overflow};
use crate::terminal::styled::StyledLine;

/// Puts rows below a header, some columns aligned to the right. Cells are as wide as there is room:
/// [`crate::output::Output::table`] knows that.
pub(super) fn grid<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    right: &[usize],
) -> Grid {
    let mut grid = Grid::new(header, Overflow::Cut).right(right);
    for row in rows {
        grid.push(row.map(|cell| StyledLine::plain(&cell)));
    }
    grid
}
