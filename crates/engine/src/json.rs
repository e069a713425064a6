//! Values of a record that are one thing in one line and another in the next.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// Reads a value as something, if it is that.
pub(crate) fn parse<'a, T: Deserialize<'a>>(value: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

/// Tells whether a text is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// A string, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Returns a string's text.
pub(crate) fn string(value: Option<&RawValue>) -> Option<Cow<'_, str>> {
    parse::<Text<'_>>(value).map(|text| text.0)
}

/// A number of lines, which some clients write as `3.0` or `"3"`.
pub(crate) fn number(value: Option<&RawValue>) -> Option<usize> {
    let text = value?.get().trim_matches('"');
    text.strip_suffix(".0").unwrap_or(text).parse().ok()
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

/// Returns the text of a content, which is a string, or a list of parts of which some have one.
pub(crate) fn content_text(value: Option<&RawValue>) -> Option<Cow<'_, str>> {
    if let Some(text) = string(value) {
        return Some(text);
    }
    let parts: Vec<Part<'_>> = parse(value)?;
    let texts: Vec<Cow<'_, str>> = parts.iter().filter_map(|part| string(part.text)).collect();
    (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
}
