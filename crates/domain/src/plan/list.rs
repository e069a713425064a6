//! Plans that are lists: one item for each task, with a box or a number.

use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::{bare, lines};

/// Letters that people put into the box of an item. Only `x` means that it is done.
const BOX_LETTERS: &str = " xX-~/>!?";

/// A task of a list: where its item begins and ends, and its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListItem<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) title: &'a str,
}

/// An item of a list: the words behind its mark, and the character in its box.
struct Item<'a> {
    words: &'a str,
    letter: Option<char>,
    is_numbered: bool,
}

impl<'a> Item<'a> {
    /// Reads `- [x] words`, `* words`, `1. words` or `2) words`.
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim_start();
        let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (rest, is_numbered) = match digits {
            0 => (line.strip_prefix(['-', '*', '+'])?, false),
            // A year at the start of a sentence is no number of an item.
            1..=3 => (line[digits..].strip_prefix(['.', ')'])?, true),
            _ => return None,
        };
        let words = rest.strip_prefix([' ', '\t'])?.trim();
        let boxed = words.strip_prefix('[').and_then(|inside| {
            let letter = inside.chars().next().filter(|letter| BOX_LETTERS.contains(*letter))?;
            let after = inside[letter.len_utf8()..].strip_prefix(']')?;
            (after.is_empty() || after.starts_with([' ', '\t'])).then(|| (letter, after.trim()))
        });
        let letter = boxed.map(|(letter, _)| letter);
        let words = boxed.map_or(words, |(_, words)| words);
        Some(Self { words, letter, is_numbered })
    }
}

/// Returns the tasks of a plan without headings for tasks: its items with a box, or, if it has none,
/// those with a number. Items that are part of another one belong to that one.
pub(super) fn items(text: &str) -> Vec<ListItem<'_>> {
    let boxed = matching(text, |item| item.letter.is_some());
    if boxed.is_empty() { matching(text, |item| item.is_numbered) } else { boxed }
}

fn matching(text: &str, is_task: fn(&Item<'_>) -> bool) -> Vec<ListItem<'_>> {
    let mut found: Vec<ListItem<'_>> = Vec::new();
    let (mut fences, mut offset, mut is_open) = (Fences::default(), 0, false);
    for line in lines(text) {
        let visible = bare(line);
        if fences.feed(visible) == FenceLine::Outside && !visible.starts_with([' ', '\t']) {
            let item = Item::parse(visible);
            let is_end = item.is_some() || visible.starts_with('#');
            if let (true, Some(last)) = (is_open && is_end, found.last_mut()) {
                last.end = offset;
                is_open = false;
            }
            let task = item.filter(|item| is_task(item) && !item.words.is_empty());
            if let Some(Item { words: title, .. }) = task {
                found.push(ListItem { start: offset, end: text.len(), title });
                is_open = true;
            }
        }
        offset += line.len();
    }
    found
}

/// Tells whether a text has boxes, and each of them is checked.
pub(super) fn is_checked(text: &str) -> bool {
    let mut fences = Fences::default();
    let visible = lines(text).map(bare).filter(|line| fences.feed(line) == FenceLine::Outside);
    let letters: Vec<_> = visible.filter_map(|line| Item::parse(line)?.letter).collect();
    !letters.is_empty() && letters.iter().all(|letter| letter.eq_ignore_ascii_case(&'x'))
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-3
    #[test]
    fn items_with_a_box_are_tasks_and_else_those_with_a_number() {
        for (text, expected) in [
            ("- [ ] one\n- [x] two\n", "one|two"),
            ("* [ ] one\n+ [X] two\n3. [-] three\n2) [ ] four\n", "one|two|three|four"),
            ("intro\n\n1. one\n2. two\n   more\n10) ten\n", "one|two|ten"),
            // Boxes come before numbers, and parts belong to their item.
            ("1. read this\n- [ ] one\n  - [ ] part\n\t- [x] part\n", "one"),
            ("```\n- [ ] code\n```\n- [ ] one\n~~~\n1. x\n", "one"),
            // No task.
            ("- plain\n- [link](x)\n- [1] source\n-[ ] glued\n", ""),
            ("2024. A year\n1.5 is a number\n1.\n- [ ]\n", ""),
            ("", ""),
        ] {
            let titles: Vec<_> = items(text).into_iter().map(|item| item.title).collect();
            assert_eq!(titles.join("|"), expected, "{text}");
        }
    }

    #[test]
    fn an_item_ends_at_the_next_one_or_at_a_heading() {
        let text = "- [ ] one\n  more\n\n- plain\n- [ ] two\nlazy\n## Notes\nx\n";
        let texts: Vec<_> = items(text).iter().map(|item| &text[item.start..item.end]).collect();
        assert_eq!(texts, ["- [ ] one\n  more\n\n", "- [ ] two\nlazy\n"]);
    }

    #[test]
    fn a_text_is_checked_if_every_box_is() {
        for (text, expected) in [
            ("- [x] a", true),
            ("- [x] a\n  1. [X] b", true),
            ("- [x] a\n  - [ ] b", false),
            ("- [-] a", false),
            ("- [x] a\n- [~] b", false),
            ("no box", false),
            ("```\n- [x] a\n```", false),
            ("- [x] a\n```\n- [ ] code\n```", true),
            ("- [x](link)", false),
        ] {
            assert_eq!(is_checked(text), expected, "{text}");
        }
    }
}
