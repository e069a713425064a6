//! A settings file as its author wrote it, with the position of every value, key and comma.
//!
//! Clients read JSON, some of them with comments and trailing commas, so both are accepted. These
//! values are never printed again; edits cut and paste by their positions in the text.

use std::ops::Range;

use super::SettingsError;

/// The deepest nesting of values; no settings come near it.
const MAX_DEPTH: usize = 256;

/// One value, and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Its members have keys.
    Object(Vec<Item>),
    /// Its items have none.
    Array(Vec<Item>),
    /// A string, without its escapes; `None` if it is no Unicode.
    Text(Option<String>),
    /// `true`.
    True,
    /// `false`, `null`, or a number.
    Other,
}

/// One value in an object or an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// Where it begins: at its key, if it has one.
    pub(crate) start: usize,
    pub(crate) key: Option<String>,
    pub(crate) value: Node,
    /// Where the comma is that follows it.
    pub(crate) comma: Option<usize>,
}

impl Node {
    /// Returns the items directly inside.
    pub(crate) fn items(&self) -> &[Item] {
        match &self.shape {
            Shape::Object(items) | Shape::Array(items) => items,
            Shape::Text(_) | Shape::True | Shape::Other => &[],
        }
    }

    /// Returns the member that counts: clients take the last of several with one key.
    pub(crate) fn member(&self, key: &str) -> Option<&Node> {
        self.items().iter().rfind(|item| item.key.as_deref() == Some(key)).map(|item| &item.value)
    }

    /// Returns all members with one key.
    pub(crate) fn members<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Node> {
        let named = move |item: &&Item| item.key.as_deref() == Some(key);
        self.items().iter().filter(named).map(|item| &item.value)
    }

    /// Returns a string's text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.shape {
            Shape::Text(text) => text.as_deref(),
            Shape::Object(_) | Shape::Array(_) | Shape::True | Shape::Other => None,
        }
    }

    /// Returns the range between the brackets of an object or an array.
    pub(crate) fn inside(&self) -> Range<usize> {
        self.span.start + 1..self.span.end - 1
    }
}

/// Reads a text that is one JSON value; `None` if there is nothing but blanks in it.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, SettingsError> {
    let mut parser = Parser { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    let parsed = parser.document();
    parsed.map_err(|why| malformed(text, parser.at, why))
}

/// Returns an error at a place in a text.
fn malformed(text: &str, at: usize, why: &'static str) -> SettingsError {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    SettingsError::Malformed { line, column, why }
}

/// Finds where the blanks and comments end that begin at a place. If a comment has no end, the error
/// is where it begins.
pub(crate) fn skip_trivia(text: &str, mut at: usize) -> Result<usize, usize> {
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        let rest = &text[at..];
        at += if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            "/*".len() + comment.find("*/").ok_or(at)? + "*/".len()
        } else {
            return Ok(at);
        };
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, &'static str>;

impl Parser<'_> {
    fn document(&mut self) -> Parsed<Option<Node>> {
        self.skip()?;
        if self.at == self.text.len() {
            return Ok(None);
        }
        let root = self.value(0)?;
        self.skip()?;
        if self.at < self.text.len() {
            return Err("something follows the end");
        }
        Ok(Some(root))
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self) -> Parsed<()> {
        let (at, found) = match skip_trivia(self.text, self.at) {
            Ok(end) => (end, Ok(())),
            Err(start) => (start, Err("a comment has no end")),
        };
        self.at = at;
        found
    }

    fn value(&mut self, depth: usize) -> Parsed<Node> {
        if depth > MAX_DEPTH {
            return Err("values are nested too deeply");
        }
        let start = self.at;
        let shape = match self.next() {
            Some(b'{') => Shape::Object(self.list(b'}', depth)?),
            Some(b'[') => Shape::Array(self.list(b']', depth)?),
            Some(b'"') => Shape::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { span: start..self.at, shape })
    }

    fn list(&mut self, close: u8, depth: usize) -> Parsed<Vec<Item>> {
        self.at += 1;
        let mut items: Vec<Item> = Vec::new();
        loop {
            self.skip()?;
            let may_follow = items.last().is_none_or(|item| item.comma.is_some());
            match self.next() {
                None => return Err("the file ends too early"),
                Some(byte) if byte == close => {
                    self.at += 1;
                    return Ok(items);
                }
                Some(b',') => match items.last_mut() {
                    Some(item) if item.comma.is_none() => {
                        item.comma = Some(self.at);
                        self.at += 1;
                    }
                    Some(_) | None => return Err("a comma follows nothing"),
                },
                Some(_) if !may_follow => return Err("a comma is missing"),
                Some(_) => items.push(self.item(close, depth)?),
            }
        }
    }

    fn item(&mut self, close: u8, depth: usize) -> Parsed<Item> {
        let start = self.at;
        let mut key = None;
        if close == b'}' {
            if self.next() != Some(b'"') {
                return Err("a key in quotes is missing");
            }
            key = self.string()?;
            self.skip()?;
            if self.next() != Some(b':') {
                return Err("a colon is missing");
            }
            self.at += 1;
            self.skip()?;
        }
        Ok(Item { start, key, value: self.value(depth + 1)?, comma: None })
    }

    /// Parses a string; its value is `None` if only half a character is escaped.
    fn string(&mut self) -> Parsed<Option<String>> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.next() {
                None | Some(b'\n') => return Err("a string has no end"),
                Some(0..0x20) => return Err("a control character is in a string"),
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        Ok(serde_json::from_str(&self.text[start..self.at]).ok())
    }

    fn escape(&mut self) -> Parsed<()> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let length = match rest.first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if rest.len() > 4 && rest[1..5].iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return Err("an escape is unknown"),
        };
        self.at += length;
        Ok(())
    }

    fn number(&mut self) -> Parsed<Shape> {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if !is_number(&rest[..length]) {
            return Err("a number is malformed");
        }
        self.at += length;
        Ok(Shape::Other)
    }

    fn word(&mut self) -> Parsed<Shape> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let shape = match &rest[..length] {
            "true" => Shape::True,
            "false" | "null" => Shape::Other,
            _ => return Err("a value is missing"),
        };
        self.at += length;
        Ok(shape)
    }
}

/// Recognizes a number of any size, which no type needs to hold.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    let exponent = exponent.map(|power| power.strip_prefix(['+', '-']).unwrap_or(power));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_valid(text: &str) -> bool {
        parse(text).is_ok()
    }

    #[test]
    fn an_error_has_its_place() {
        for (text, expected) in [
            ("{", "line 1, column 2: the file ends too early"),
            ("{\n  \"a\" 1}", "line 2, column 7: a colon is missing"),
            ("{\"ä\": 1 \"b\": 2}", "line 1, column 9: a comma is missing"),
            ("[1,,2]", "line 1, column 4: a comma follows nothing"),
            ("{a: 1}", "line 1, column 2: a key in quotes is missing"),
            ("{} {}", "line 1, column 4: something follows the end"),
            ("[01]", "line 1, column 2: a number is malformed"),
            ("[\"a\nb\"]", "line 1, column 4: a string has no end"),
            ("[\"\\x\"]", "line 1, column 3: an escape is unknown"),
            ("{ /* ", "line 1, column 3: a comment has no end"),
            ("{\"a\": }", "line 1, column 7: a value is missing"),
            ("<<<<<<< HEAD", "line 1, column 1: a value is missing"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert_eq!(error, format!("it is not valid JSON: {expected}"), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(parse(&deep).unwrap_err().to_string().contains("too deep"));
    }

    #[test]
    fn comments_and_trailing_commas_are_no_mistake() {
        for text in ["// a\n{} // b", "[1, /* x */ 2,]", "{\"a\": 1,\n}", "\u{feff}{}", "", " \n"] {
            assert!(is_valid(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\PC|[\\[\\]{}:,\"\\\\\\n/*0-9.e-]|true|null){0,40}") {
            let ours = is_valid(&text);
            // Every valid JSON text is accepted.
            if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
                prop_assert!(ours);
            }
        }
    }
}
