//! The items of a fan-out, taken from a text.

use std::fmt;
use std::str;

/// The longest item, in bytes. Every item becomes a part of a prompt.
pub const LONGEST_ITEM: usize = 1024 * 1024;

/// What an item is known by: all that its answer depends on, as 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemKey(String);

impl ItemKey {
    const DIGITS: usize = 32;

    /// Reads a key: 32 hexadecimal digits, or the beginning of a longer hash.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.get(..Self::DIGITS)?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| Self(digits.to_owned()))
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ItemKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An item as the journal lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedItem {
    /// What the item is known by.
    pub key: ItemKey,
    /// The line, or the file's path.
    pub text: String,
    /// The SHA-256 of the file.
    pub sha256: Option<String>,
}

/// A line that cannot be an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} {why}")]
pub struct BadLine {
    /// The line, from 1.
    pub line: usize,
    /// The defect.
    pub why: &'static str,
}

/// Splits bytes into items, one for each line that is not blank, each with its line number.
pub fn items_of_lines(bytes: &[u8]) -> Result<Vec<(usize, &str)>, BadLine> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut items = Vec::new();
    for (line, bytes) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let refused = |why| BadLine { line, why };
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if bytes.len() > LONGEST_ITEM {
            return Err(refused("is longer than 1 MiB"));
        }
        let text = str::from_utf8(bytes).map_err(|_| refused("is not UTF-8"))?;
        if text.contains('\0') {
            return Err(refused("has a NUL character, which no client accepts"));
        }
        if !text.trim().is_empty() {
            items.push((line, text));
        }
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // F-2
    #[test]
    fn lines_are_items_and_blank_lines_are_not() {
        let items = items_of_lines("\u{feff}one\r\n\n  \ntwo \n\tthree".as_bytes()).unwrap();
        assert_eq!(items, [(1, "one"), (4, "two "), (5, "\tthree")]);
        assert_eq!(items_of_lines(b"").unwrap(), []);
        assert_eq!(items_of_lines(b"\n\r\n \n").unwrap(), []);
    }

    // F-2
    #[test]
    fn a_line_that_is_no_text_is_refused_with_its_number() {
        let why = |bytes: &[u8]| items_of_lines(bytes).unwrap_err().to_string();
        assert_eq!(why(b"one\n\ntw\xff\n"), "line 3 is not UTF-8");
        assert!(why(b"a\0b").starts_with("line 1 has a NUL character"));
        let long = format!("short\n{}\n", "x".repeat(LONGEST_ITEM + 1));
        assert_eq!(why(long.as_bytes()), "line 2 is longer than 1 MiB");
        let longest = "x".repeat(LONGEST_ITEM);
        assert_eq!(items_of_lines(longest.as_bytes()).unwrap().len(), 1);
    }

    #[test]
    fn a_key_is_32_digits() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(ItemKey::parse(&hash).unwrap().as_str(), &hash[..32]);
        for text in ["", "0123", &"g".repeat(32), &"ü".repeat(32)] {
            assert_eq!(ItemKey::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_item_is_a_whole_line(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(items) = items_of_lines(&bytes) {
                for (_, text) in items {
                    prop_assert!(!text.contains(['\n', '\0']) && !text.trim().is_empty());
                }
            }
        }
    }
}
