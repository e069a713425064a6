//! Splits Markdown without loss.
//!
//! Small recognisers that the rules combine: [`fence`] follows code fences through a file,
//! [`comment`] hides HTML comments, [`hidden`] follows both as blocks, [`front_matter`] finds the leading YAML, [`heading`] reads one
//! ATX heading, [`table`] reads one row, and [`section`] splits a whole file so that joining the
//! pieces gives back the same bytes. None of them changes a line ending or a byte-order mark.
//!
//! An unclosed comment hides the rest of a file from the scaffold rule, as its contract says, but
//! not from [`section`]: a stray `<!--` in prose must not make every heading disappear.

pub mod comment;
pub mod fence;
pub mod front_matter;
pub mod heading;
pub mod hidden;
pub(crate) mod search;
pub mod section;
pub mod table;

/// The byte-order mark that some editors put before the first character.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Splits text into lines that keep their endings. Only LF ends a line.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
}

/// Returns a line without its LF and without one CR before it.
pub fn bare(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Returns the text without a leading byte-order mark.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Takes off at most three spaces: more would make an indented code block.
pub(crate) fn unindent(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= 3).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_feed_ends_a_line() {
        let cases: [(&str, &[&str]); 5] = [
            ("", &[]),
            ("a", &["a"]),
            ("a\nb\n", &["a", "b"]),
            ("a\r\nb", &["a", "b"]),
            ("a\rb\r\r\n", &["a\rb\r"]),
        ];
        for (text, expected) in cases {
            assert_eq!(lines(text).map(bare).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
