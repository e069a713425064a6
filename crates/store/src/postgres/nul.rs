//! The character U+0000 in texts, which PostgreSQL cannot keep.
//!
//! An event of a journal may hold any character, and its hash covers all of them. The last code point,
//! which no text has a use for, therefore replaces it, with a digit behind: `0` for U+0000, `1` for the
//! code point itself.

use std::borrow::Cow;

const MARK: char = '\u{10ffff}';

/// Returns a text as a server keeps it.
pub(super) fn encoded(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', MARK]) {
        return Cow::Borrowed(text);
    }
    text.replace(MARK, "\u{10ffff}1").replace('\0', "\u{10ffff}0").into()
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextForm {
    Plain,
    /// JSON, which spells U+0000 out.
    Json,
}

impl TextForm {
    /// Steps keep tasks as JSON, which the server writes from its own texts.
    pub(super) fn of_column(name: &str) -> Self {
        if matches!(name, "before" | "after") { Self::Json } else { Self::Plain }
    }
}

/// Returns the text that a server keeps; `None` if it keeps it as it is.
pub(super) fn decoded(text: &str, form: TextForm) -> Option<String> {
    let nul = match form {
        TextForm::Plain => "\0",
        TextForm::Json => "\\u0000",
    };
    let decode = || text.replace("\u{10ffff}0", nul).replace("\u{10ffff}1", "\u{10ffff}");
    text.contains(MARK).then(decode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for text in
            ["", "a", "\0", "a\0b\0", "\u{10ffff}", "\u{10ffff}0", "\u{10ffff}1\0", "\0\u{10ffff}"]
        {
            let kept = encoded(text);
            assert!(!kept.contains('\0'), "{text:?}");
            assert_eq!(decoded(&kept, TextForm::Plain).as_deref().unwrap_or(&kept), text);
        }
    }
}
