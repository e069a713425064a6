//! One value of a TOML file, inserted, changed or removed by editing the text.
//!
//! Comments, line ends and all other text stay unchanged. Every edit is parsed before it counts, so
//! a file with an unknown layout is refused rather than spoiled.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// A TOML file that cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TomlTextError {
    /// It is not TOML.
    #[error("it is not valid TOML: line {line}: {why}")]
    Malformed {
        /// In which line, from one.
        line: usize,
        /// The error.
        why: String,
    },
    /// Its layout does not allow a change without touching the rest.
    #[error("Convoke cannot change `{key}` there without changing other text")]
    Layout {
        /// The key with its section.
        key: String,
    },
}

/// A key of a section.
#[derive(Debug, Clone, Copy)]
pub struct TomlKey<'a> {
    /// The section, such as `wake`.
    pub section: &'a str,
    /// The key in it, such as `agent`.
    pub key: &'a str,
}

/// Returns the value of a key.
pub fn value(text: &str, at: TomlKey<'_>) -> Result<Option<Value>, TomlTextError> {
    Ok(parse(text)?.get(at.section).and_then(|section| section.get(at.key)).cloned())
}

/// Returns a text in which a key has a value, written as `literal`.
pub fn set_value(
    text: &str,
    at: TomlKey<'_>,
    literal: &str,
    value: &Value,
) -> Result<String, TomlTextError> {
    let TomlKey { section: name, key } = at;
    let mut expected = parse(text)?;
    let section = expected.entry(name).or_insert_with(|| Value::Table(Table::new()));
    let section = section.as_table_mut().ok_or_else(|| at.layout())?;
    section.insert(key.to_owned(), value.clone());
    let line = format!("{key} = {literal}");
    let end = line_end(text);
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let spans = at.spans(text);
    let mut candidates = Vec::new();
    candidates.extend(spans.value.map(|value| replace(text, value, literal)));
    for header in at.headers(text) {
        candidates.push(replace(text, header.end..header.end, &format!("{end}{line}")));
    }
    if let Some(section) = &spans.section {
        let inside = section.start + 1;
        for new in [format!(" {line} "), format!(" {line},")] {
            candidates.push(replace(text, inside..inside, &new));
        }
        candidates.push(replace(text, start..start, &format!("{name}.{line}{end}")));
    }
    let gap = match text.get(start..).unwrap_or_default() {
        "" => String::new(),
        body if body.ends_with('\n') => end.to_owned(),
        _ => format!("{end}{end}"),
    };
    candidates.push(format!("{text}{gap}[{name}]{end}{line}{end}"));
    at.first(candidates, &expected)
}

/// Returns a text in which a key has no value. It also removes the section, if that is empty then
/// and was not there `before`.
pub fn unset_value(
    text: &str,
    at: TomlKey<'_>,
    before: Option<&str>,
) -> Result<String, TomlTextError> {
    let mut expected = parse(text)?;
    let had_section = before
        .is_some_and(|before| parse(before).is_ok_and(|table| table.contains_key(at.section)));
    let section = expected.get_mut(at.section).and_then(Value::as_table_mut);
    let Some(section) = section.filter(|section| section.contains_key(at.key)) else {
        return Ok(text.to_owned());
    };
    section.remove(at.key);
    let is_empty = section.is_empty();
    let spans = at.spans(text);
    let value = spans.value.ok_or_else(|| at.layout())?;
    let without = replace(text, whole_line(text, value.clone()), "");
    if is_empty && !had_section {
        let mut bare = expected.clone();
        bare.remove(at.section);
        let cut = at.headers(&without).into_iter().map(|header| {
            let line = whole_line(&without, header);
            let gap = blank_before(&without, line.start);
            replace(&without, gap..line.end, "")
        });
        if let Ok(done) = at.first(cut.chain([without.clone()]).collect(), &bare) {
            return Ok(done);
        }
    }
    let entry = spans.key.map(|key| key.start..value.end);
    let cut = entry.map(|entry| cut_from_inline_table(text, entry)).into_iter().flatten();
    at.first([without].into_iter().chain(cut).collect(), &expected)
}

/// Returns the texts without an entry of an inline table, together with the comma before it, with the
/// one behind it, or without either.
fn cut_from_inline_table(text: &str, entry: Range<usize>) -> Vec<String> {
    let before = text.get(..entry.start).unwrap_or_default().trim_end_matches([' ', '\t']);
    let after = text.get(entry.end..).unwrap_or_default();
    let trimmed = after.trim_start_matches([' ', '\t']);
    let behind_another = before.strip_suffix(',').map(|before| format!("{before}{after}"));
    let before_another = trimmed.strip_prefix(',').map(|after| format!("{before}{after}"));
    let alone = format!("{before}{trimmed}");
    behind_another.into_iter().chain(before_another).chain([alone]).collect()
}

/// The positions of a section and a value in a text.
#[derive(Default)]
struct Spans {
    section: Option<Range<usize>>,
    key: Option<Range<usize>>,
    value: Option<Range<usize>>,
}

impl TomlKey<'_> {
    fn layout(&self) -> TomlTextError {
        TomlTextError::Layout { key: format!("{}.{}", self.section, self.key) }
    }

    fn spans(&self, text: &str) -> Spans {
        let Ok(table) = DeTable::parse(text) else { return Spans::default() };
        let Some(section) = member(table.get_ref(), self.section) else { return Spans::default() };
        let values =
            if let DeValue::Table(values) = section.get_ref() { Some(values) } else { None };
        let is_wanted = |key: &&Spanned<_>| key.get_ref() == self.key;
        let key = values.and_then(|values| values.keys().find(is_wanted)).map(Spanned::span);
        let value = values.and_then(|values| member(values, self.key)).map(Spanned::span);
        Spans { section: Some(section.span()), key, value }
    }

    /// Returns the first text that means what it should.
    fn first(&self, candidates: Vec<String>, expected: &Table) -> Result<String, TomlTextError> {
        let is_right = |text: &String| text.parse::<Table>().is_ok_and(|table| table == *expected);
        candidates.into_iter().find(is_right).ok_or_else(|| self.layout())
    }

    /// Returns the positions of lines that look like the section's header, each without its line
    /// end.
    fn headers(&self, text: &str) -> Vec<Range<usize>> {
        let wanted = format!("[{}]", self.section);
        let mut at = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let start = at;
            at += line.len();
            (start, line.trim_end_matches(['\r', '\n']))
        });
        let is_header = |line: &str| {
            let code = line.trim_start_matches('\u{feff}').split('#').next().unwrap_or_default();
            code.replace([' ', '\t'], "") == wanted
        };
        let found = lines.filter(|(_, line)| is_header(line));
        found.map(|(at, line)| at..at + line.len()).collect()
    }
}

pub(crate) fn member<'a, 'i>(
    table: &'a DeTable<'i>,
    name: &str,
) -> Option<&'a Spanned<DeValue<'i>>> {
    table.iter().find(|(key, _)| key.get_ref().as_ref() == name).map(|(_, value)| value)
}

fn parse(text: &str) -> Result<Table, TomlTextError> {
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let why = error.message().lines().next().unwrap_or("it is not TOML").to_owned();
        TomlTextError::Malformed { line: before.matches('\n').count() + 1, why }
    })
}

pub(crate) fn replace(text: &str, range: Range<usize>, new: &str) -> String {
    let (before, after) = (text.get(..range.start), text.get(range.end..));
    format!("{}{new}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// Returns the complete line around a range, with its line end.
pub(crate) fn whole_line(text: &str, part: Range<usize>) -> Range<usize> {
    let before = text.get(..part.start).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(part.end..).unwrap_or_default();
    let end = rest.find('\n').map_or(text.len(), |at| part.end + at + 1);
    start..end
}

/// Returns where an empty line begins that ends at a place, else that place.
pub(crate) fn blank_before(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let cut = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n'));
    match cut {
        Some(cut) if cut.ends_with('\n') => cut.len(),
        Some(_) | None => at,
    }
}
