//! Aligned columns for people.

use comfy_table::{CellAlignment, Table, presets};

/// Renders rows below a header, some columns aligned to the right.
pub(super) fn render<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    right: &[usize],
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.add_rows(rows);
    for (at, column) in table.column_iter_mut().enumerate() {
        if right.contains(&at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().fold(String::new(), |page, line| {
        page + line.trim_end().strip_prefix(' ').unwrap_or_default() + "\n"
    })
}
