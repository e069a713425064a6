//! Plans that are lists: one item for each task, with a box or a number.

use crate::markdown::search::lines_with;

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

/// The items of a list that are tasks. Items that are part of another one belong to that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListForm {
    /// Those with a box.
    Boxed,
    /// Those with a number.
    Numbered,
}

impl ListForm {
    /// Returns the words of a line that begins a task.
    pub(super) fn title(self, line: &str) -> Option<&str> {
        let item = Item::parse(line).filter(|_| !is_indented(line))?;
        let is_task = match self {
            Self::Boxed => item.letter.is_some(),
            Self::Numbered => item.is_numbered,
        };
        (is_task && !item.words.is_empty()).then_some(item.words)
    }
}

/// Tells whether an item of a list ends before a line: at the next item, or at a heading.
pub(super) fn ends_item(line: &str) -> bool {
    !is_indented(line) && (line.starts_with('#') || Item::parse(line).is_some())
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// Returns the tasks of a plan without headings for tasks: its items with a box, or, if it has none,
/// those with a number.
pub(super) fn items(text: &str) -> Vec<ListItem<'_>> {
    let boxed = items_of(text, ListForm::Boxed);
    if boxed.is_empty() { items_of(text, ListForm::Numbered) } else { boxed }
}

fn items_of(text: &str, form: ListForm) -> Vec<ListItem<'_>> {
    let mut found: Vec<ListItem<'_>> = Vec::new();
    let mut is_open = false;
    for (start, line) in lines_with(text, None) {
        if let (true, Some(last)) = (is_open && ends_item(line), found.last_mut()) {
            last.end = start;
            is_open = false;
        }
        if let Some(title) = form.title(line) {
            found.push(ListItem { start, end: text.len(), title });
            is_open = true;
        }
    }
    found
}

/// Tells whether a text has boxes, and each of them is checked.
pub(super) fn is_checked(text: &str) -> bool {
    let items = lines_with(text, None).filter_map(|(_, line)| Item::parse(line)?.letter);
    let letters: Vec<_> = items.collect();
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
