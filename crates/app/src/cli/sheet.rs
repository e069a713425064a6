//! Sheets of facts for people: a name and its value, a row each.

use convoke_domain::text::{one_line, width, wrapped};

/// How many columns a line has where no terminal says it.
pub(super) const COLUMNS: usize = 80;

/// How many columns the name takes.
const NAME: usize = 10;

/// Renders one row, wrapped below its value.
pub(super) fn row(name: &str, value: &str, columns: usize) -> String {
    hung(&format!("{name:<NAME$} "), value, columns)
}

/// Renders a text behind a prefix, wrapped below itself. Line breaks of the text become spaces:
/// foreign text cannot forge a line of Convoke's.
pub(super) fn hung(prefix: &str, text: &str, columns: usize) -> String {
    let indent = width(prefix);
    let lines = wrapped(&one_line(text), columns.saturating_sub(indent));
    format!("{prefix}{}\n", lines.join(&format!("\n{:indent$}", ""))).replace(" \n", "\n")
}
