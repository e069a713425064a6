//! One ATX heading.

use super::unindent;

/// A heading of level 1 to 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading<'a> {
    /// The number of `#` marks.
    pub level: usize,
    /// The heading's words, without marks, closing marks and surrounding blanks.
    pub title: &'a str,
    /// Whether spaces precede the first mark.
    pub indented: bool,
}

impl<'a> Heading<'a> {
    /// Reads a line without its ending. The marks must be followed by a blank or by nothing.
    pub fn parse(line: &'a str) -> Option<Self> {
        let marked = unindent(line)?;
        let rest = marked.trim_start_matches('#');
        let level = marked.len() - rest.len();
        if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
            return None;
        }
        Some(Self { level, title: title(rest), indented: marked.len() < line.len() })
    }
}

/// Takes off closing marks, which count only after a blank: `# C#` keeps its last character.
fn title(rest: &str) -> &str {
    let words = rest.trim();
    let open = words.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_marks_a_blank_and_words() {
        let cases = [
            ("# A", Some((1, "A", false))),
            ("###### A b ", Some((6, "A b", false))),
            ("##\tA", Some((2, "A", false))),
            ("##", Some((2, "", false))),
            ("## A ##", Some((2, "A", false))),
            ("## ##", Some((2, "", false))),
            ("# C#", Some((1, "C#", false))),
            ("   ## A", Some((2, "A", true))),
            ("    ## A", None),
            ("####### A", None),
            ("#A", None),
            ("A #", None),
            ("", None),
        ];
        for (line, expected) in cases {
            let found = Heading::parse(line).map(|h| (h.level, h.title, h.indented));
            assert_eq!(found, expected, "{line:?}");
        }
    }
}
