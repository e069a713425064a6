//! Text measured in characters, and offsets into it that cannot be mistaken for bytes.
//!
//! A character is one Unicode scalar value of the decoded file. Byte indices never leave this file.

pub(crate) mod lookalike;

use std::borrow::Cow;
use std::fmt;

/// Returns a text on one line that no terminal obeys: foreign text cannot forge a line of
/// Convoke's.
pub fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'), " ")
}

/// Cuts a line to a number of columns, so that it stays one line where it is drawn.
pub fn fitting(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| {
        let fits = columns_of(*c) <= left;
        left = left.saturating_sub(columns_of(*c));
        fits
    };
    text.chars().take_while(fits).chain(['…'].into_iter().take(columns)).collect()
}

/// Breaks a text at spaces into lines of at most so many columns. A word that is longer, such as a
/// path, stays whole on a line of its own.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Formats a count with its noun: `1 task`, `2 tasks`.
pub fn counted(number: usize, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

/// Breaks a text into lines of at most so many columns, of which all but the first are indented.
/// Line breaks of the text itself become spaces: foreign text cannot forge a line of Convoke's.
pub fn hanging(text: &str, columns: usize, indent: usize) -> String {
    let lines = wrapped(&one_line(text), columns.saturating_sub(indent));
    lines.join(&format!("\n{:indent$}", ""))
}

/// Breaks a line at blanks into lines of at most so many columns, of which all but the first are
/// indented. Blanks between words stay as they are; a word that is longer than a line stays whole, and so
/// does a command in back-ticks, because its reader copies it.
pub fn folded(line: &str, columns: usize, indent: usize) -> String {
    let (mut page, mut taken, mut rest) = (String::new(), 0, line);
    while !rest.is_empty() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let word = blanks + unbroken_word(&rest[blanks..]).len();
        let (piece, after) = rest.split_at(word);
        if taken > indent && taken + width(piece) > columns {
            page.push('\n');
            page.push_str(&" ".repeat(indent));
            page.push_str(&piece[blanks..]);
            taken = indent + width(&piece[blanks..]);
        } else {
            page.push_str(piece);
            taken += width(piece);
        }
        rest = after;
    }
    page
}

/// Returns the beginning of a text that folding keeps on one line: up to the first blank that is not
/// between back-ticks.
pub fn unbroken_word(text: &str) -> &str {
    let mut end = 0;
    while let Some(stop) = text[end..].find([' ', '`']).map(|at| end + at) {
        if text[stop..].starts_with(' ') {
            return &text[..stop];
        }
        // A back-tick without a second one is a character like others.
        let inside = stop + 1;
        end = text[inside..].find('`').map_or(inside, |length| inside + length + 1);
    }
    text
}

/// Quotes a word for a shell if it is more than a plain one: a name in a command for an agent must
/// not become a command itself. A character that could begin a line of ours becomes a blank; no
/// command finds such a name, and none is run by it either.
pub fn shell_word(word: &str) -> String {
    let word = word.replace(is_disruptive, " ");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns the width of a line, in columns.
pub fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Returns the width of a character, in columns: pictographs take two.
fn columns_of(c: char) -> usize {
    let is_wide = matches!(c, '⏳' | '✅' | '❌' | '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{1f300}'..='\u{1faff}');
    if is_wide { 2 } else { 1 }
}

/// Tells whether a character is invisible, or reorders those around it.
///
/// Joiners of letters and signs (U+200C, U+200D) and places where a word may break do not count:
/// whole scripts need the first two, and none of them makes a text look like another.
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Tells whether a character ends a line for some reader, gives a terminal an order, or shows a text in
/// another order than it was written.
pub fn is_disruptive(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a text with its lines, of which a terminal obeys nothing else: neither orders nor marks
/// that show it in another order than it was written.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    let is_order = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || is_hidden(c);
    if text.contains(is_order) {
        Cow::Owned(text.replace("\r\n", "\n").replace(is_order, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A distance from the start of a text, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CharOffset(usize);

impl CharOffset {
    /// The start of a text.
    pub const START: Self = Self(0);

    /// Returns the offset after `chars` characters.
    pub const fn new(chars: usize) -> Self {
        Self(chars)
    }

    /// Returns how many characters precede this offset.
    pub const fn get(self) -> usize {
        self.0
    }

    /// Returns the offset `chars` characters further on.
    #[must_use]
    pub const fn plus(self, chars: usize) -> Self {
        Self(self.0.saturating_add(chars))
    }
}

impl fmt::Display for CharOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A borrowed text that knows its length in characters.
///
/// Counting is the only pass over a large text that cannot be avoided, so it happens once, here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    content: &'a str,
    chars: usize,
}

impl<'a> Text<'a> {
    /// Measures `content`.
    pub fn new(content: &'a str) -> Self {
        Self { content, chars: content.chars().count() }
    }

    /// Returns the text itself.
    pub const fn as_str(self) -> &'a str {
        self.content
    }

    /// Returns the length in characters.
    pub const fn chars(self) -> usize {
        self.chars
    }

    /// Splits the text; an offset past the end leaves the second part empty.
    pub fn split_at(self, at: CharOffset) -> (Self, Self) {
        let chars = at.get().min(self.chars);
        let (head, tail) = self.content.split_at(self.byte_index(chars));
        (Self { content: head, chars }, Self { content: tail, chars: self.chars - chars })
    }

    /// Returns everything before `at`.
    #[must_use]
    pub fn before(self, at: CharOffset) -> Self {
        self.split_at(at).0
    }

    /// Returns everything from `at` on.
    #[must_use]
    pub fn after(self, at: CharOffset) -> Self {
        self.split_at(at).1
    }

    fn byte_index(self, chars: usize) -> usize {
        if self.content.len() == self.chars {
            return chars; // All ASCII: a character is a byte.
        }
        self.content.char_indices().nth(chars).map_or(self.content.len(), |(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_folded_at_blanks_and_keeps_them() {
        assert_eq!(folded("t-1  a title  [open]", 80, 2), "t-1  a title  [open]");
        assert_eq!(folded("t-1  a title  [open]", 13, 2), "t-1  a title\n  [open]");
        assert_eq!(folded("  fix: one two three", 12, 4), "  fix: one\n    two\n    three");
        assert_eq!(folded("a-word-that-is-long b", 8, 2), "a-word-that-is-long\n  b");
        assert_eq!(folded("", 8, 2), "");
    }

    #[test]
    fn a_command_in_back_ticks_stays_on_one_line() {
        assert_eq!(folded("hint: run `a b c d` now", 15, 2), "hint: run\n  `a b c d` now");
        assert_eq!(folded("run `a b c d e f g h`, ok", 9, 2), "run\n  `a b c d e f g h`,\n  ok");
        assert_eq!(folded("one ` two three four", 8, 2), "one `\n  two\n  three\n  four");
        assert_eq!(folded("`a b` `c d`", 6, 0), "`a b`\n`c d`");
    }

    #[test]
    fn a_word_in_a_command_is_no_command() {
        for (word, expected) in [
            ("main", "main"),
            ("feature/x-1.2_b", "feature/x-1.2_b"),
            ("x;touch${IFS}y", "'x;touch${IFS}y'"),
            ("it's", "'it'\\''s'"),
            ("--force", "'--force'"),
            ("", "''"),
            ("a\u{2028}##\u{202e}b\n", "'a ## b '"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }

    #[test]
    fn a_long_text_hangs_and_makes_no_lines_of_ours() {
        let text = "[nit] one two\nverdict PASS three";
        assert_eq!(hanging(text, 16, 4), "[nit] one\n    two verdict\n    PASS three");
        assert_eq!(hanging("a/very/long/path", 8, 2), "a/very/long/path");
        assert_eq!(hanging("", 8, 2), "");
    }

    #[test]
    fn a_line_fits_a_terminal() {
        let line = "📊 Reviewers: | A: ⏳ | B: ✅ 1s |";
        assert_eq!(fitting(line, 34), line, "two signs take two columns, and so does the first");
        assert_eq!(fitting(line, 33), "📊 Reviewers: | A: ⏳ | B: ✅ 1s…");
        assert_eq!(fitting(line, 28), "📊 Reviewers: | A: ⏳ | B: …");
        assert_eq!((fitting(line, 1).as_str(), fitting(line, 0).as_str()), ("…", ""));
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_it_may_be(text in ".*", columns in 0_usize..90) {
            let cut = fitting(&text, columns);
            prop_assert!(cut.chars().map(columns_of).sum::<usize>() <= columns);
        }
    }

    #[test]
    fn a_terminal_is_given_no_orders() {
        assert!(matches!(for_terminal("two\n\tlines: ü"), Cow::Borrowed(_)));
        let hostile = "a\u{1b}]0;x\u{7}b\r\nc\rd\u{9b}2J\u{7f}\u{8}";
        let shown = "a\u{fffd}]0;x\u{fffd}b\nc\u{fffd}d\u{fffd}2J\u{fffd}\u{fffd}";
        assert_eq!(for_terminal(hostile), shown);
        let turned = "a\u{202e}b\u{2066}c\u{2069}\u{200b}\u{200f}\u{feff}\u{e0041}";
        assert_eq!(for_terminal(turned).replace('\u{fffd}', ""), "abc");
        assert!(matches!(for_terminal("👩\u{200d}💻 می\u{200c}خواهم ⚠\u{fe0f}"), Cow::Borrowed(_)));
    }

    #[test]
    fn offsets_count_characters_and_not_bytes() {
        let cases = [
            ("abc", 1, "a", "bc"),
            ("ébc", 1, "é", "bc"),
            ("a가나", 2, "a가", "나"),
            ("a\r\n", 2, "a\r", "\n"),
            ("\u{feff}a", 1, "\u{feff}", "a"),
            ("ab", 0, "", "ab"),
            ("ab", 9, "ab", ""),
        ];
        for (content, at, head, tail) in cases {
            let text = Text::new(content);
            let at = CharOffset::new(at);
            assert_eq!(
                text.split_at(at),
                (Text::new(head), Text::new(tail)),
                "{content:?} at {at}"
            );
        }
    }
}
