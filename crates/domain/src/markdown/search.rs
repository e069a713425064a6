//! Lines that contain a word, found without looking at the others: a file may have 100,000 sections, of
//! which a caller needs one.

use memchr::memmem::{self, FindIter, Finder};
use memchr::{memchr, memrchr};

use super::bare;
use super::fence::FenceLine;
use super::hidden::HiddenBlocks;

/// What a line that begins or ends a hidden block has.
const BLOCK_MARKS: [&str; 4] = ["```", "~~~", "<!--", "-->"];

/// Returns the lines outside of code and comments that contain a word, without line endings, each with the byte
/// that it begins at; all lines without a word. No letter or digit may precede the word directly, and
/// no digit may follow it.
pub(crate) fn lines_with<'a, 'w>(text: &'a str, word: Option<&'w str>) -> LinesWith<'a, 'w> {
    lines_with_after(HiddenBlocks::default(), text, word)
}

/// Returns the same lines of a text that continues another one.
pub(crate) fn lines_with_after<'a, 'w>(
    blocks: HiddenBlocks,
    text: &'a str,
    word: Option<&'w str>,
) -> LinesWith<'a, 'w> {
    let bytes = text.as_bytes();
    LinesWith {
        text,
        word: word.map_or(0, str::len),
        hits: word.map(|word| memmem::find_iter(bytes, word)),
        at: 0,
        blocks,
        block_marks: BLOCK_MARKS.map(BlockMarks::new),
        followed: 0,
    }
}

/// The iterator behind [`lines_with`].
pub(crate) struct LinesWith<'a, 'w> {
    text: &'a str,
    /// The length of the word.
    word: usize,
    hits: Option<FindIter<'a, 'w>>,
    /// The beginning of the first line that is not decided on.
    at: usize,
    blocks: HiddenBlocks,
    block_marks: [BlockMarks; 4],
    /// The beginning of the first line that `blocks` was not fed.
    followed: usize,
}

impl<'a> Iterator for LinesWith<'a, '_> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<(usize, &'a str)> {
        loop {
            let hit = self.next_hit()?;
            let (start, end) = self.line_around(hit);
            self.at = end;
            self.follow_blocks(start);
            let line = bare(&self.text[start..end]);
            self.followed = end;
            if self.blocks.feed(line) == FenceLine::Outside {
                return Some((start, line));
            }
        }
    }
}

impl LinesWith<'_, '_> {
    /// Returns the blocks at the end of the text.
    pub(crate) fn blocks_at_end(mut self) -> HiddenBlocks {
        self.follow_blocks(self.text.len());
        self.blocks
    }

    /// Returns where the word is next, from the line at `at` on.
    fn next_hit(&mut self) -> Option<usize> {
        let (text, word, at) = (self.text.as_bytes(), self.word, self.at);
        let Some(hits) = &mut self.hits else { return (at < text.len()).then_some(at) };
        let before = |hit: usize| hit.checked_sub(1).and_then(|index| text.get(index));
        let is_alone = |hit: usize| {
            !before(hit).is_some_and(u8::is_ascii_alphanumeric)
                && !text.get(hit + word).is_some_and(u8::is_ascii_digit)
        };
        hits.find(|hit| *hit >= at && is_alone(*hit))
    }

    /// Returns where the line around a place begins, and where the next one does.
    fn line_around(&self, place: usize) -> (usize, usize) {
        let (before, after) = self.text.as_bytes().split_at(place);
        let start = memrchr(b'\n', before).map_or(0, |feed| feed + 1);
        let end = memchr(b'\n', after).map_or(self.text.len(), |feed| place + feed + 1);
        (start, end)
    }

    /// Feeds all lines before `end` to the blocks, as far as a block can begin or end there.
    fn follow_blocks(&mut self, end: usize) {
        while let Some(mark) = self.next_block_mark(end) {
            let (start, next) = self.line_around(mark);
            self.blocks.feed(bare(&self.text[start..next]));
            self.followed = next;
        }
    }

    /// Returns the first mark in the lines from `followed` to `end`.
    fn next_block_mark(&mut self, end: usize) -> Option<usize> {
        let (text, from) = (&self.text.as_bytes()[..end], self.followed);
        self.block_marks.iter_mut().filter_map(|marks| marks.next(text, from)).min()
    }
}

/// The places of one mark. Each part of a text is searched once, and only as far as a
/// caller asks: the last line that it needs is often far from the end.
struct BlockMarks {
    finder: Finder<'static>,
    /// The last mark that was found; a caller may not have reached it yet.
    found: Option<usize>,
    /// No other mark begins before this place.
    searched: usize,
}

impl BlockMarks {
    fn new(mark: &'static str) -> Self {
        Self { finder: Finder::new(mark), found: None, searched: 0 }
    }

    /// Returns the first mark of a text at or behind a place. Later texts continue earlier ones.
    fn next(&mut self, text: &[u8], from: usize) -> Option<usize> {
        if self.found.is_none_or(|mark| mark < from) {
            let start = self.searched.max(from);
            self.found =
                text.get(start..).and_then(|rest| self.finder.find(rest)).map(|at| start + at);
            self.searched = self.found.map_or(text.len().max(start), |mark| mark + 1);
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lines;
    use super::*;

    /// Finds the same lines by looking at each.
    fn all_lines(text: &str) -> Vec<(usize, &str)> {
        let (mut blocks, mut offset, mut found) = (HiddenBlocks::default(), 0, Vec::new());
        for line in lines(text) {
            if blocks.feed(bare(line)) == FenceLine::Outside {
                found.push((offset, bare(line)));
            }
            offset += line.len();
        }
        found
    }

    #[test]
    fn a_word_is_found_where_no_letter_or_digit_adjoins() {
        for (text, expected) in [
            ("Task 1\nTask 10\nTask 21\nTask\t1: a\r\n- 1\n1", "Task 1|Task\t1: a|- 1|1"),
            ("a1\n11\n1.5\n(1)\n1a\né1", "1.5|(1)|1a|é1"),
            ("```\n1 a\n```\n1 b\n~~~\n```\n1 c\n", "1 b"),
            ("1 1\n\n1", "1 1|1"),
            ("", ""),
        ] {
            let lines: Vec<_> = lines_with(text, Some("1")).collect();
            assert!(lines.iter().all(|(start, line)| text[*start..].starts_with(line)), "{text:?}");
            let lines: Vec<_> = lines.into_iter().map(|(_, line)| line).collect();
            assert_eq!(lines.join("|"), expected, "{text:?}");
        }
    }

    /// Lines made of fences, comments, words and what may adjoin them.
    const TEXT: &str = "( {0,4}([`~]{0,5}|<!--|-->|#|1|11|Task|a|é)[ \t]?(1|`|x)?\r?\n?){0,16}";

    proptest! {
        #[test]
        fn all_lines_outside_of_hidden_blocks_are_found(text in TEXT) {
            prop_assert_eq!(lines_with(&text, None).collect::<Vec<_>>(), all_lines(&text));
        }

        #[test]
        fn a_text_in_two_blocks_has_the_same_lines(text in TEXT, at in 0..40_usize) {
            let middle = text.match_indices('\n').nth(at).map_or(text.len(), |(feed, _)| feed + 1);
            let (first, second) = text.split_at(middle);
            let mut lines = lines_with(first, Some("1"));
            let mut found: Vec<_> = lines.by_ref().collect();
            let rest = lines_with_after(lines.blocks_at_end(), second, Some("1"));
            found.extend(rest.map(|(start, line)| (middle + start, line)));
            prop_assert_eq!(found, lines_with(&text, Some("1")).collect::<Vec<_>>());
        }

        #[test]
        fn a_word_is_found_in_the_lines_that_have_it(text in TEXT, word in "1|11|Task") {
            let adjoins = |(at, _): (usize, &str), line: &str| {
                line[..at].ends_with(|c: char| c.is_ascii_alphanumeric())
                    || line[at + word.len()..].starts_with(|c: char| c.is_ascii_digit())
            };
            let mut expected = all_lines(&text);
            expected.retain(|(_, line)| line.match_indices(&word).any(|hit| !adjoins(hit, line)));
            prop_assert_eq!(lines_with(&text, Some(&word)).collect::<Vec<_>>(), expected);
        }
    }
}
