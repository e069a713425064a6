//! The identity of traces and spans, and the trace around this process.

use std::fmt;

/// A trace's id: 32 hexadecimal digits, not all zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TraceId(String);

/// A span's id: 16 hexadecimal digits, not all zero.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SpanId(String);

impl TraceId {
    const DIGITS: usize = 32;

    /// Takes the beginning of a digest in hexadecimal digits.
    pub fn of_digest(digest: &str) -> Self {
        Self(digits(digest, Self::DIGITS))
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SpanId {
    const DIGITS: usize = 16;

    /// Takes the beginning of a digest in hexadecimal digits.
    pub fn of_digest(digest: &str) -> Self {
        Self(digits(digest, Self::DIGITS))
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns so many digits of a digest, and ones where it has too few. Zeros alone are no id.
fn digits(digest: &str, count: usize) -> String {
    let usable = digest.chars().filter(char::is_ascii_hexdigit).map(|c| c.to_ascii_lowercase());
    let id: String = usable.chain(std::iter::repeat('1')).take(count).collect();
    if is_zero(&id) { "1".repeat(count) } else { id }
}

fn is_zero(digits: &str) -> bool {
    digits.chars().all(|c| c == '0')
}

/// Whether the spans of a trace are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// They are.
    Recorded,
    /// The process that began the trace decided that they are not.
    Dropped,
}

/// The span around this process, as `TRACEPARENT` names it (W3C Trace Context).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace that this process continues.
    pub trace: TraceId,
    /// The span that this process is part of.
    pub span: SpanId,
    /// Whether the trace is recorded.
    pub sampling: Sampling,
}

impl TraceParent {
    /// Reads `00-TRACE-SPAN-FLAGS`; a later version may say more behind it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let version = hexadecimal(parts.next()?, 2).filter(|version| *version != "ff")?;
        let trace = hexadecimal(parts.next()?, TraceId::DIGITS).filter(|id| !is_zero(id))?;
        let span = hexadecimal(parts.next()?, SpanId::DIGITS).filter(|id| !is_zero(id))?;
        let flags = u8::from_str_radix(hexadecimal(parts.next()?, 2)?, 16).ok()?;
        if version == "00" && parts.next().is_some() {
            return None;
        }
        let sampling = if flags & 1 == 1 { Sampling::Recorded } else { Sampling::Dropped };
        Some(Self { trace: TraceId(trace.to_owned()), span: SpanId(span.to_owned()), sampling })
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = match self.sampling {
            Sampling::Recorded => "01",
            Sampling::Dropped => "00",
        };
        write!(f, "00-{}-{}-{flags}", self.trace.0, self.span.0)
    }
}

/// Returns a text of exactly so many hexadecimal digits in lower case.
fn hexadecimal(text: &str, count: usize) -> Option<&str> {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    (text.len() == count && text.chars().all(is_digit)).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn a_traceparent_is_read_as_the_standard_says() {
        let known = format!("00-{TRACE}-{SPAN}-01");
        let parent = TraceParent::parse(&known).unwrap();
        assert_eq!((parent.trace.as_str(), parent.span.as_str()), (TRACE, SPAN));
        assert_eq!(parent.to_string(), known);
        let dropped = TraceParent::parse(&format!("00-{TRACE}-{SPAN}-02")).unwrap();
        assert_eq!(dropped.sampling, Sampling::Dropped);
        assert!(TraceParent::parse(&format!("cc-{TRACE}-{SPAN}-01-what-comes-later")).is_some());
        for wrong in [
            String::new(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("0-{TRACE}-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{TRACE}x-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-zz"),
        ] {
            assert_eq!(TraceParent::parse(&wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_digest_makes_valid_ids(digest in "[0-9a-f]{64}|0{64}|\\PC{0,40}", text in "\\PC{0,60}") {
            let parent = TraceParent {
                trace: TraceId::of_digest(&digest),
                span: SpanId::of_digest(&digest),
                sampling: Sampling::Recorded,
            };
            prop_assert_eq!(TraceParent::parse(&parent.to_string()), Some(parent));
            if let Some(read) = TraceParent::parse(&text) {
                prop_assert!(TraceParent::parse(&read.to_string()).is_some());
            }
        }
    }
}
