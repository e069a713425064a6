//! Aligned columns for people.

use comfy_table::{CellAlignment, Table, presets};
use convoke_domain::text::one_line;

/// Renders rows below a header, some columns aligned to the right.
pub(super) fn render<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    right: &[usize],
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    // Others' words are in some of them, and a cell is one line that nothing obeys.
    table.add_rows(rows.into_iter().map(|row| row.map(|cell| one_line(&cell))));
    for (at, column) in table.column_iter_mut().enumerate() {
        if right.contains(&at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().fold(String::new(), |page, line| {
        page + line.trim_end().strip_prefix(' ').unwrap_or_default() + "\n"
    })
}
