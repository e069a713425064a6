//! HTML comments, hidden line by line.

use std::borrow::Cow;

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// Follows comments through a file: feed it the lines outside code fences, in order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Comments {
    inside: bool,
}

impl Comments {
    /// Returns the part of `line` that a rendered page shows, and moves on. An unclosed comment
    /// extends to the end of the file.
    pub fn visible<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        if !self.inside && !line.contains(OPEN) {
            return Cow::Borrowed(line);
        }
        let mut seen = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once(if self.inside { CLOSE } else { OPEN }) {
            if !self.inside {
                seen.push_str(before);
            }
            self.inside = !self.inside;
            rest = after;
        }
        if !self.inside {
            seen.push_str(rest);
        }
        Cow::Owned(seen)
    }

    /// Tells whether the next line starts inside a comment.
    pub const fn inside(&self) -> bool {
        self.inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B-23
    #[test]
    fn a_comment_disappears_and_its_neighbours_stay() {
        let cases: [(&[&str], &[&str]); 6] = [
            (&["a <!-- b --> c"], &["a  c"]),
            (&["<!-- a", "b", "c --> d"], &["", "", " d"]),
            (&["a <!-- b", "c"], &["a ", ""]),
            (&["<!-- a --><!-- b -->"], &[""]),
            (&["--> a"], &["--> a"]),
            (&["a <!-- b --> c <!-- d", "e --> f"], &["a  c ", " f"]),
        ];
        for (lines, expected) in cases {
            let mut comments = Comments::default();
            let seen: Vec<_> = lines.iter().map(|line| comments.visible(line)).collect();
            assert_eq!(seen, expected, "{lines:?}");
        }
    }
}
