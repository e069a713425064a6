//! Text measured in characters, and offsets into it that cannot be mistaken for bytes.
//!
//! A character is one Unicode scalar value of the decoded file. Byte indices never leave this file.

use std::fmt;

/// Returns a text on one line that no terminal obeys: what others say cannot make lines of ours.
pub fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'), " ")
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

    /// Returns how many characters stand before this offset.
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
    use super::*;

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
