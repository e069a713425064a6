//! One row of a pipe table.

/// Tells whether a line is a table row: its first filled character is `|`.
pub fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

/// Tells whether a row separates a table's head from its body.
/// It must hold a dash: a row of empty cells is a row of empty cells.
pub fn is_delimiter(row: &str) -> bool {
    row.contains('-') && row.chars().all(|c| matches!(c, '|' | '-' | ':') || c.is_whitespace())
}

/// Returns a row's cells, trimmed. A `\|` does not end a cell.
pub fn cells(row: &str) -> impl Iterator<Item = &str> {
    let inner = row.trim();
    let inner = inner.strip_prefix('|').unwrap_or(inner);
    let inner = if ends_with_border(inner) { &inner[..inner.len() - 1] } else { inner };
    let mut escaped = false;
    inner
        .split(move |c| {
            let border = c == '|' && !escaped;
            escaped = c == '\\' && !escaped;
            border
        })
        .map(str::trim)
}

fn ends_with_border(row: &str) -> bool {
    let Some(rest) = row.strip_suffix('|') else { return false };
    (rest.len() - rest.trim_end_matches('\\').len()).is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    // B-25
    #[test]
    fn cells_are_split_at_bare_pipes() {
        let cases: [(&str, &[&str]); 8] = [
            ("| a | b |", &["a", "b"]),
            ("| a | b", &["a", "b"]),
            ("  |a|| ", &["a", ""]),
            (r"| a \| b | c |", &[r"a \| b", "c"]),
            (r"| a \|", &[r"a \|"]),
            (r"| a \\|", &[r"a \\"]),
            ("|", &[""]),
            ("| |", &[""]),
        ];
        for (row, expected) in cases {
            assert_eq!(cells(row).collect::<Vec<_>>(), expected, "{row:?}");
        }
    }

    #[test]
    fn a_delimiter_row_holds_a_dash_and_no_words() {
        for (row, expected) in
            [("|---|:-:|", true), ("| - |", true), ("| | |", false), ("|-a-|", false)]
        {
            assert_eq!(is_delimiter(row), expected, "{row:?}");
        }
    }
}
