//! Blocks whose lines are not a document's own words: code, and comments.

use super::fence::{FenceLine, Fences};
use super::unindent;

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// Follows code fences, and comments that begin a line, through a file: feed it every line in order,
/// without line endings.
#[derive(Debug, Clone, Copy, Default)]
pub struct HiddenBlocks {
    fences: Fences,
    in_comment: bool,
}

/// A kind of hidden block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenBlock {
    /// Code between fences.
    Code,
    /// A comment, from `<!--` to `-->`.
    Comment,
}

impl HiddenBlocks {
    /// Tells what `line` is and moves on. As in Markdown, a comment ends with the line that closes it,
    /// and a block that is never closed extends to the end of the file.
    pub fn feed(&mut self, line: &str) -> FenceLine {
        if self.in_comment {
            self.in_comment = !line.contains(CLOSE);
            return if self.in_comment { FenceLine::Body } else { FenceLine::Closes };
        }
        let kind = self.fences.feed(line);
        let is_comment = kind == FenceLine::Outside
            && unindent(line).is_some_and(|words| words.starts_with(OPEN));
        self.in_comment = is_comment && !line.contains(CLOSE);
        match (is_comment, self.in_comment) {
            (true, true) => FenceLine::Opens,
            (true, false) => FenceLine::Body,
            (false, _) => kind,
        }
    }

    /// Returns the block that the next line is in.
    pub const fn open(&self) -> Option<HiddenBlock> {
        match (self.in_comment, self.fences.inside()) {
            (true, _) => Some(HiddenBlock::Comment),
            (false, true) => Some(HiddenBlock::Code),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_fences_hide_each_other() {
        use FenceLine::{Body, Closes, Opens, Outside};
        let cases: [(&[&str], &[FenceLine]); 7] = [
            (&["<!--", "```", "--> a", "b"], &[Opens, Body, Closes, Outside]),
            (&["```", "<!--", "```", "b"], &[Opens, Body, Closes, Outside]),
            (&["<!-- a -->", "b"], &[Body, Outside]),
            (&["<!-->", "b"], &[Body, Outside]),
            (&["   <!-- a", "b"], &[Opens, Body]),
            (&["    <!-- a", "b"], &[Outside, Outside]),
            (&["words <!-- a", "-->"], &[Outside, Outside]),
        ];
        for (lines, expected) in cases {
            let mut blocks = HiddenBlocks::default();
            let found: Vec<_> = lines.iter().map(|line| blocks.feed(line)).collect();
            assert_eq!(found, expected, "{lines:?}");
        }
    }
}
