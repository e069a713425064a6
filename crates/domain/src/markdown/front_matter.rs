//! The YAML that may precede a document.

use super::{bare, lines, without_mark};

/// Returns how many lines of `text` are front matter, both borders included; zero for none.
///
/// A lone `---` is a thematic break. It is front matter only when it is the first line, a later
/// line is `---` or `...`, and the first filled line between them looks like `key:`.
pub fn line_count(text: &str) -> usize {
    let mut rest = lines(without_mark(text)).map(bare).map(str::trim_end);
    if rest.next() != Some("---") {
        return 0;
    }
    let mut keyed = false;
    for (index, line) in rest.enumerate() {
        if matches!(line, "---" | "...") {
            return if keyed { index + 2 } else { 0 };
        }
        if !keyed && !line.trim().is_empty() {
            if !starts_with_key(line) {
                return 0;
            }
            keyed = true;
        }
    }
    0
}

fn starts_with_key(line: &str) -> bool {
    let key = line.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_.-".contains(c));
    key.len() < line.len() && key.starts_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    // B-22
    #[test]
    fn front_matter_needs_a_first_line_a_key_and_an_end() {
        let cases = [
            ("---\ntitle: x\n---\nbody", 3),
            ("---  \n\na.b-c_1: x\n...\nbody", 4),
            ("\u{feff}---\r\ntitle: x\r\n---\r\n", 3),
            ("---\ntitle: x\nbody", 0),
            ("---\n---\n", 0),
            ("---\nno key here\n---\n", 0),
            ("---\n: x\n---\n", 0),
            ("---\n indented: x\n---\n", 0),
            ("\n---\ntitle: x\n---\n", 0),
            ("--- x\ntitle: x\n---\n", 0),
            ("", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(line_count(text), expected, "{text:?}");
        }
    }
}
