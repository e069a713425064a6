//! Values of a record that have different types in different lines.

pub(crate) mod ascii;
pub(crate) mod lenient;

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// Parses a value as a type, if it has that type.
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

/// Returns a string's text, to keep.
pub(crate) fn owned(value: Option<&RawValue>) -> Option<String> {
    string(value).map(Cow::into_owned)
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

/// The highest believable count of tokens or millionths of a dollar in one run; a higher one is a
/// mistake.
const BELIEVABLE: u64 = 1_000_000_000_000;

/// Returns a count, which some clients write as `3.0` or `"3"`; an invalid or impossible one counts
/// as zero.
pub(crate) fn count(value: Option<&RawValue>) -> u64 {
    believed(number(value).and_then(|count| u64::try_from(count).ok())).unwrap_or_default()
}

/// Returns a number of tokens; `None` if it is missing, invalid or impossible. Zero would make it
/// free.
pub(crate) fn tokens(value: Option<&RawValue>) -> Option<u64> {
    believed(number(value).and_then(|count| u64::try_from(count).ok()))
}

/// Returns tokens of a kind that not every client has, such as those of a cache: a missing value
/// means zero.
pub(crate) fn more_tokens(value: Option<&RawValue>) -> Option<u64> {
    match value.filter(|value| value.get() != "null") {
        None => Some(0),
        said => tokens(said),
    }
}

/// Returns a number that can be believed.
pub(crate) fn believed(number: Option<u64>) -> Option<u64> {
    number.filter(|number| *number <= BELIEVABLE)
}

/// Returns an amount of dollars in millionths.
pub(crate) fn micro_dollars(value: Option<&RawValue>) -> Option<u64> {
    let dollars: f64 = parse(value)?;
    // Formatted and parsed again, because a cast would accept every value.
    believed(format!("{:.0}", dollars * 1e6).parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_come_in_many_shapes() {
        for (text, expected) in [
            ("3", Some(3)),
            ("3.0", Some(3)),
            ("\"3\"", Some(3)),
            ("-3", None),
            ("[3]", None),
            ("3.5", None),
            ("1000000000000", Some(BELIEVABLE)),
            ("1000000000001", None),
            ("18446744073709551615", None),
            ("18446744073709551616", None),
            ("1e300", None),
        ] {
            assert_eq!(tokens(Some(raw(text))), expected, "{text}");
            assert_eq!(more_tokens(Some(raw(text))), expected, "{text}");
            assert_eq!(count(Some(raw(text))), expected.unwrap_or_default(), "{text}");
        }
        for nothing in [None, Some(raw("null"))] {
            let said = (tokens(nothing), more_tokens(nothing), count(nothing));
            assert_eq!(said, (None, Some(0), 0), "{nothing:?}");
        }
    }

    #[test]
    fn money_is_counted_in_millionths() {
        for (text, expected) in [
            ("0.00368", Some(3680)),
            ("0.005520000000000001", Some(5520)),
            ("3.84e-4", Some(384)),
            ("0", Some(0)),
            ("2", Some(2_000_000)),
            ("-1", None),
            ("1e300", None),
            ("1000000", Some(BELIEVABLE)),
            ("1000001", None),
            ("\"2\"", None),
            ("null", None),
        ] {
            assert_eq!(micro_dollars(Some(raw(text))), expected, "{text}");
        }
    }
}
