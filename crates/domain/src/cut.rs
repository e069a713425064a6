//! Finds a place to cut a text so that the kept part fits into a budget.

use std::fmt;

use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::section::{Lead, Section, sections};
use crate::markdown::{bare, lines};
use crate::text::{CharOffset, Text};
use crate::token::{Tokenizer, Tokens};

/// The kind of border of a cut, from the best place to the last resort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    /// Before a heading of level 2 or 3.
    Section,
    /// Before a line.
    Line,
    /// Between two characters.
    Character,
}

impl fmt::Display for Border {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Section => "before a section",
            Self::Line => "before a line: no section border fits",
            Self::Character => "inside a line: no line border fits",
        })
    }
}

/// A place to cut: everything before `at` is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The offset in the whole document.
    pub at: CharOffset,
    /// The kind of border of this cut.
    pub border: Border,
}

/// The worst border that the caller accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// Only a section border.
    Sections,
    /// At any character, for text that must not disappear.
    Anything,
}

/// Finds the last acceptable cut after `from` so that the text between costs at most `room`.
///
/// `document` is always the whole file, because the fences of a part depend on the text before it.
pub fn find(
    document: Text<'_>,
    from: CharOffset,
    room: Tokens,
    accept: Accept,
    tokenizer: &dyn Tokenizer,
) -> Option<Cut> {
    let rest = document.after(from);
    let mut limit = from.plus(tokenizer.reach(rest, room).get());
    loop {
        let cut = last_cut(document, from, limit, accept)?;
        let kept = rest.before(CharOffset::new(cut.at.get() - from.get()));
        if tokenizer.count(kept) <= room {
            return Some(cut);
        }
        // A vocabulary may spend more on a shorter text when the cut splits a token.
        limit = CharOffset::new(cut.at.get() - 1);
    }
}

/// Returns the last acceptable cut in `(from, limit]`.
fn last_cut(
    document: Text<'_>,
    from: CharOffset,
    limit: CharOffset,
    accept: Accept,
) -> Option<Cut> {
    if limit <= from {
        return None;
    }
    let section = last_section_start(document.as_str(), from, limit);
    if let Some(at) = section {
        return Some(Cut { at, border: Border::Section });
    }
    if accept == Accept::Sections {
        return None;
    }
    let line = last_line_start(document, from, limit);
    let cut = line.map(|at| Cut { at, border: Border::Line });
    Some(cut.unwrap_or(Cut { at: limit, border: Border::Character }))
}

fn last_section_start(document: &str, from: CharOffset, limit: CharOffset) -> Option<CharOffset> {
    sections(document)
        .take_while(|section| section.start <= limit)
        .filter(|section| section.start > from && begins_a_part(section))
        .last()
        .map(|section| section.start)
}

/// Levels 2 and 3 are a document's parts; level 1 is its title, deeper levels are details.
fn begins_a_part(section: &Section<'_>) -> bool {
    match section.lead {
        Lead::Heading(heading) => matches!(heading.level, 2 | 3) && !heading.indented,
        Lead::FrontMatter | Lead::Preamble => false,
    }
}

fn last_line_start(document: Text<'_>, from: CharOffset, limit: CharOffset) -> Option<CharOffset> {
    let (window, _) = document.after(from).split_at(CharOffset::new(limit.get() - from.get()));
    let newline = window.as_str().rfind('\n')?;
    Some(from.plus(window.as_str()[..=newline].chars().count()))
}

/// Returns the line that closes the fence in which a text ends, if it ends in one.
pub fn closing_fence(text: &str) -> Option<&str> {
    let mut fences = Fences::default();
    let mut opened = "";
    for line in lines(text).map(bare) {
        if fences.feed(line) == FenceLine::Opens {
            opened = line.trim_start();
        }
    }
    let mark = opened.chars().next().filter(|_| fences.inside())?;
    Some(&opened[..opened.len() - opened.trim_start_matches(mark).len()])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::token::Estimate;

    #[track_caller]
    fn check(document: &str, budget: u64, expected: Option<(usize, Border)>) {
        let room = Tokens::whole(budget);
        let text = Text::new(document);
        let cut = find(text, CharOffset::START, room, Accept::Anything, &Estimate);
        let found = cut.map(|cut| (cut.at.get(), cut.border));
        assert_eq!(found, expected, "{document:?} with {budget}");
    }

    // B-50: room for q quarters reaches 4·q characters. B-51: the heading itself is not kept.
    // B-52: the offset counts characters of the original file.
    #[test]
    fn the_last_section_that_begins_within_reach_is_the_cut() {
        let checkout = "# Checkout\n\n## Goal\nOne-page checkout.\n\n## Frames\n- Cart\n- Pay\n";
        check(checkout, 10, Some((12, Border::Section))); // Reach 36, next border 40.
        check(checkout, 11, Some((40, Border::Section))); // Reach 40: a border at the limit counts.
        check(checkout, 12, Some((40, Border::Section))); // 10.9 quarters are ten.
    }

    // B-51
    #[test]
    fn only_headings_of_level_two_and_three_are_section_borders() {
        let cases = [
            ("abc\n## B\nrest of it\n", Border::Section),
            ("abc\n### B\nrest of it\n", Border::Section),
            ("abc\n##\nrest of it all\n", Border::Section),
            ("abc\n##\tB\nrest of it\n", Border::Section),
            ("abc\n# Bbb\nrest of it\n", Border::Line),
            ("abc\n#### B\nrest of it\n", Border::Line),
            ("abc\n ## B\nrest of it\n", Border::Line),
            ("abc\n##Bbb\nrest of it\n", Border::Line),
            ("abc\n##\r\nrest of it\n", Border::Section),
            ("abc\n##\r\r\nrest of it\n", Border::Line), // One carriage return ends a line, not two.
            ("```\n## B\nrest of it\n", Border::Line),
            ("~~~\n## B\nrest of it\n", Border::Line),
        ];
        for (document, border) in cases {
            check(document, 3, Some((4, border))); // Two quarters: eight characters.
        }
    }

    // B-51: a border at offset 0 would keep nothing.
    #[test]
    fn a_heading_at_the_start_is_not_a_cut() {
        check("## A\nabcdefgh\n## B\n", 3, Some((5, Border::Line)));
    }

    // B-53: then a line, then a character. B-55: no room, no cut.
    #[test]
    fn without_sections_the_cut_falls_on_a_line_and_then_on_a_character() {
        check("ab\ncdefghijklmnop", 3, Some((3, Border::Line)));
        check("\nabcdefghijklmnop", 3, Some((1, Border::Line)));
        check("abcdefghijklmnop", 3, Some((8, Border::Character)));
        check("가나다라마바사아자차카타", 3, Some((8, Border::Character)));
        check("abcdefghijklmnop", 1, None);
    }

    #[test]
    fn a_fence_that_is_cut_can_be_closed() {
        for (text, fence) in [
            ("a\n```rust\nfn x", Some("```")),
            ("a\n~~~~\nb\n~~~", Some("~~~~")),
            ("```\nb\n```\nc", None),
            ("", None),
        ] {
            assert_eq!(closing_fence(text), fence, "{text}");
        }
    }

    // B-53
    #[test]
    fn a_text_that_may_disappear_is_cut_at_sections_only() {
        let room = Tokens::whole(3);
        let text = Text::new("ab\ncdefghijklmnop");
        let cut = find(text, CharOffset::START, room, Accept::Sections, &Estimate);
        assert_eq!(cut, None);
    }

    // B-51, B-52
    #[test]
    fn offsets_are_characters_also_behind_wide_text_and_crlf() {
        check("가나다\r\n## B\r\n마바사아자차카타파하", 4, Some((5, Border::Section)));
    }

    #[test]
    fn reading_on_looks_at_fences_from_the_start_of_the_file() {
        let document = Text::new("```\nabcd\n## no\n```\n## yes\nabcdefgh\n");
        let from = CharOffset::new(4);
        let cut = find(document, from, Tokens::whole(5), Accept::Anything, &Estimate).unwrap();
        assert_eq!((cut.at.get(), cut.border), (19, Border::Section));
    }

    /// Charges extra for every text that is not the whole, as a vocabulary may when a cut splits a
    /// token.
    struct DearPrefixes;

    impl Tokenizer for DearPrefixes {
        fn vocabulary(&self) -> crate::token::Vocabulary {
            crate::token::Vocabulary::O200k
        }

        fn count(&self, text: Text<'_>) -> Tokens {
            let extra = if text.as_str().ends_with("## ") { 0 } else { 5 };
            Tokens::whole(text.chars() as u64 + extra)
        }

        fn reach(&self, _: Text<'_>, room: Tokens) -> CharOffset {
            CharOffset::new(usize::try_from(room.tenths() / 10).unwrap())
        }
    }

    #[test]
    fn a_cut_that_costs_more_than_it_seemed_moves_back() {
        let text = Text::new("ab\n## a\nabc\n## b\n## ");
        let room = Tokens::whole(14);
        let cut = find(text, CharOffset::START, room, Accept::Sections, &DearPrefixes).unwrap();
        assert_eq!(cut.at.get(), 3); // At 12 it would cost 17.
    }

    const MARKDOWN: &str = "([#`~]{0,4}[ \t]?[a-zé가]{0,6}\r?\n?){0,16}";

    /// The rule again, in its slowest and plainest form.
    fn plainly(document: &str, limit: usize) -> Option<usize> {
        let chars: Vec<char> = document.chars().collect();
        (1..=limit.min(chars.len())).rev().find(|&at| {
            let line: String = chars[at..].iter().take_while(|&&c| c != '\n').collect();
            let before: String = chars[..at].iter().collect();
            let marks = line.strip_suffix('\r').unwrap_or(&line);
            let heading = ["##", "###"].iter().any(|marker| {
                marks == *marker
                    || marks.starts_with(&format!("{marker} "))
                    || marks.starts_with(&format!("{marker}\t"))
            });
            let mut fences = crate::markdown::fence::Fences::default();
            for line in before.lines() {
                fences.feed(line);
            }
            before.ends_with('\n') && heading && !fences.inside() && at < chars.len()
        })
    }

    proptest! {
        #[test]
        fn the_cut_is_the_one_a_plain_search_finds(document in MARKDOWN, budget in 2_u64..40) {
            let text = Text::new(&document);
            let room = Tokens::whole(budget);
            let limit = Estimate.reach(text, room).get();
            let cut = find(text, CharOffset::START, room, Accept::Sections, &Estimate);
            prop_assert_eq!(cut.map(|cut| cut.at.get()), plainly(&document, limit));
        }

        #[test]
        fn the_kept_text_never_costs_more_than_the_room(
            document in any::<String>(), from in 0_usize..8, budget in 1_u64..40,
        ) {
            let text = Text::new(&document);
            let from = CharOffset::new(from.min(text.chars()));
            let room = Tokens::whole(budget);
            if let Some(cut) = find(text, from, room, Accept::Anything, &Estimate) {
                prop_assert!(cut.at > from);
                let kept = text.before(cut.at).after(from);
                prop_assert!(Estimate.count(kept) <= room);
            }
        }
    }
}
