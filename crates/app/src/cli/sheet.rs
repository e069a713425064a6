//! Sheets of facts for people: a name and its value, a row each.

use convoke_domain::text::{one_line, width, wrapped};

/// How many columns a line has.
const COLUMNS: usize = 80;

/// How many columns the name takes.
const NAME: usize = 10;

/// Renders one row, wrapped below its value.
pub(super) fn row(name: &str, value: &str) -> String {
    hung(&format!("{name:<NAME$} "), value)
}

/// Renders a text behind a prefix, wrapped below itself. Line breaks of the text become spaces:
/// foreign text cannot forge a line of Convoke's.
pub(super) fn hung(prefix: &str, text: &str) -> String {
    let indent = width(prefix);
    let lines = wrapped(&one_line(text), COLUMNS.saturating_sub(indent));
    format!("{prefix}{}\n", lines.join(&format!("\n{:indent$}", ""))).replace(" \n", "\n")
}
