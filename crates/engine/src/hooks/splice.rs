//! Puts values into a settings file and removes them again, by cutting and pasting its text.
//!
//! An inserted value takes the style of its surroundings: indentation, line ends, or all of it in
//! one line. Removal is the exact opposite of insertion, so that every other byte stays unchanged,
//! even if the author has written text around Convoke's values meanwhile.

use std::ops::Range;

use serde_json::Value;

use super::bare;
use super::document::{Item, Node, skip_trivia};

/// A part of the text, and what takes its place.
pub(super) type Edit = (Range<usize>, String);

/// Carries out edits that do not overlap.
pub(super) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut result, mut at) = (String::with_capacity(text.len()), 0);
    for (range, new) in edits {
        result.push_str(text.get(at..range.start).unwrap_or_default());
        result.push_str(&new);
        at = range.end.max(at);
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}

/// How the author of a file lays it out.
pub(super) struct Layout<'a> {
    text: &'a str,
    line_end: &'static str,
    unit: &'a str,
    /// The text behind a colon, and behind a comma within a line.
    gap: &'static str,
    is_one_line: bool,
}

/// How a value is laid out.
#[derive(Clone, Copy)]
enum Form<'a> {
    /// In lines of its own, which are indented by this.
    Lines(&'a str),
    /// All in the present line.
    Line,
}

impl<'a> Layout<'a> {
    /// Determines the layout of a file.
    pub(super) fn of(text: &'a str, root: Option<&Node>) -> Self {
        let line_end = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            Some(_) | None => "\n",
        };
        let first = root.and_then(|root| root.items().first());
        let indented = first.and_then(|item| indentation(text, item.start));
        let is_tight = first.is_some_and(|item| {
            text[item.start..item.value.span.start].ends_with(':') && indented.is_none()
        });
        let is_one_line = root.is_some_and(|root| {
            !root.items().is_empty() && !text[root.span.clone()].contains('\n')
        });
        Layout {
            text,
            line_end,
            unit: indented.filter(|unit| !unit.is_empty()).unwrap_or("  "),
            gap: if is_tight { "" } else { " " },
            is_one_line,
        }
    }

    /// Prints a whole file below the comments of a text that has no value.
    pub(super) fn file_below(&self, text: &str, root: &Value) -> String {
        let file = self.print(root, Form::Lines("")) + self.line_end;
        match text {
            blank if bare(blank).is_empty() && blank.starts_with('\u{feff}') => {
                format!("\u{feff}{file}")
            }
            blank if bare(blank).is_empty() => file,
            comments if comments.ends_with('\n') => format!("{comments}{file}"),
            comments => format!("{comments}{}{file}", self.line_end),
        }
    }

    /// Puts values at the end of an object or an array; those with keys into an object.
    pub(super) fn append(&self, into: &Node, new: &[(Option<&str>, Value)]) -> Vec<Edit> {
        match into.items() {
            _ if new.is_empty() => Vec::new(),
            [] => vec![self.fill(into, new)],
            [.., last] => self.append_after(into.items(), last, new),
        }
    }

    fn append_after(
        &self,
        items: &[Item],
        last: &Item,
        new: &[(Option<&str>, Value)],
    ) -> Vec<Edit> {
        let indent = indentation(self.text, last.start);
        let (before, form) = match indent {
            Some(indent) => (format!("{}{indent}", self.line_end), Form::Lines(indent)),
            None => (self.between(items).to_owned(), Form::Line),
        };
        let values = new.iter().map(|value| format!("{before}{}", self.print_item(value, form)));
        let values = values.collect::<Vec<_>>().join(",");
        let end = last.comma.map_or(last.value.span.end, |comma| comma + 1);
        let place = if indent.is_some() { end_of_line(self.text, end) } else { end };
        match last.comma {
            Some(_) => vec![(place..place, format!("{values},"))],
            None if place == end => vec![(end..end, format!(",{values}"))],
            None => vec![(end..end, ",".to_owned()), (place..place, values)],
        }
    }

    /// Returns the blanks in front of the last of several values in a line.
    fn between(&self, items: &[Item]) -> &str {
        match items {
            [.., before, last] => {
                let comma = before.comma.unwrap_or(last.start);
                let blanks = self.text.get(comma + 1..last.start).unwrap_or_default();
                if blanks.trim().is_empty() && !blanks.contains('\n') { blanks } else { self.gap }
            }
            _ => self.gap,
        }
    }

    /// Puts values into a container that holds only comments.
    fn fill(&self, into: &Node, new: &[(Option<&str>, Value)]) -> Edit {
        let (inside, text) = (into.inside(), &self.text[into.inside()]);
        let comments = text.trim_end();
        let comments_end = inside.start + comments.len();
        let has_lines = text[comments.len()..].contains('\n');
        if self.is_one_line || !comments.is_empty() && !has_lines {
            let values = new.iter().map(|value| self.print_item(value, Form::Line));
            let values = values.collect::<Vec<_>>().join(&format!(",{}", self.gap));
            return if comments.is_empty() {
                (inside, values)
            } else {
                (comments_end..comments_end, format!(" {values}"))
            };
        }
        let outer = line_indentation(self.text, into.span.start);
        let indent = format!("{outer}{}", self.unit);
        let before = format!("{}{indent}", self.line_end);
        let form = Form::Lines(&indent);
        let values = new.iter().map(|value| format!("{before}{}", self.print_item(value, form)));
        let values = values.collect::<Vec<_>>().join(",");
        if has_lines {
            (comments_end..comments_end, values)
        } else {
            (inside, format!("{values}{}{outer}", self.line_end))
        }
    }

    fn print_item(&self, (key, value): &(Option<&str>, Value), form: Form<'_>) -> String {
        let value = self.print(value, form);
        key.map_or(value.clone(), |key| format!("{}:{}{value}", Value::from(key), self.gap))
    }

    fn print(&self, value: &Value, form: Form<'_>) -> String {
        let (open, items, close): (_, Vec<_>, _) = match value {
            Value::Object(members) => {
                let members = members.iter().map(|(key, value)| (Some(key.as_str()), value));
                ('{', members.collect(), '}')
            }
            Value::Array(items) => ('[', items.iter().map(|value| (None, value)).collect(), ']'),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return value.to_string();
            }
        };
        let inner = match form {
            Form::Lines(indent) => format!("{indent}{}", self.unit),
            Form::Line => String::new(),
        };
        let inner_form = match form {
            Form::Lines(_) => Form::Lines(&inner),
            Form::Line => Form::Line,
        };
        let items = items
            .into_iter()
            .map(|(key, value)| self.print_item(&(key, value.clone()), inner_form));
        let items: Vec<_> = items.collect();
        match form {
            _ if items.is_empty() => format!("{open}{close}"),
            Form::Line => format!("{open}{}{close}", items.join(&format!(",{}", self.gap))),
            Form::Lines(indent) => {
                let before = format!("{}{inner}", self.line_end);
                let items = items.join(&format!(",{before}"));
                format!("{open}{before}{items}{}{indent}{close}", self.line_end)
            }
        }
    }
}

/// Takes items out of an object or an array, with their commas and the blanks in front of them.
pub(super) fn take_out(text: &str, node: &Node, is_out: &[bool]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let (items, is_out) = (node.items(), |index: usize| is_out.get(index) == Some(&true));
    let mut before = node.inside().start;
    for (index, item) in items.iter().enumerate() {
        let end = item.value.span.end;
        let after = item.comma.map_or(end, |comma| comma + 1);
        if is_out(index) {
            let is_beside = item.comma.is_some_and(|comma| text[end..comma].trim().is_empty());
            let cut_end = if is_beside { after } else { end };
            edits.push((cut_start(text, before, item.start, cut_end)..cut_end, String::new()));
            let apart = item.comma.filter(|_| !is_beside);
            edits.extend(apart.map(|comma| (comma..comma + 1, String::new())));
        }
        before = after;
    }
    // The item that is last from now on needs no comma where the last had none.
    let is_last_bare = items.last().is_some_and(|item| item.comma.is_none());
    let stays = items.iter().enumerate().rfind(|(index, _)| !is_out(*index));
    let comma = stays.filter(|_| is_last_bare).and_then(|(_, item)| item.comma);
    edits.extend(comma.map(|comma| (comma..comma + 1, String::new())));
    edits
}

/// Returns where the blanks begin that go with an item: its own indentation and the line end before
/// it, or the blanks within its line. The text behind it must not become part of a comment between
/// it and the place `before` it.
fn cut_start(text: &str, before: usize, start: usize, end: usize) -> usize {
    let trivia = &text[before..start];
    let kept = trivia.trim_end_matches([' ', '\t', '\n', '\r']);
    let blanks = &trivia[kept.len()..];
    let Some(line) = blanks.rfind('\n') else { return before + kept.len() };
    let line_end = if blanks[..line].ends_with('\r') { line - 1 } else { line };
    let rest = text[end..].split('\n').next().unwrap_or_default().trim();
    let is_joined = !rest.is_empty() && !rest.starts_with("//") && ends_in_line_comment(kept);
    if is_joined { start } else { before + kept.len() + line_end }
}

/// Tells whether the last of some comments extends to the end of its line.
fn ends_in_line_comment(trivia: &str) -> bool {
    // Only such a comment swallows a letter that is put behind it.
    skip_trivia(&format!("{trivia}x"), 0) == Ok(trivia.len() + 1)
}

/// Returns the indentation of what begins its line at a place.
fn indentation(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    let blanks = &text[line..at];
    blanks.chars().all(|c| c == ' ' || c == '\t').then_some(blanks)
}

/// Returns the indentation of the line that a place is in.
fn line_indentation(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let rest = text[line..at].trim_start_matches('\u{feff}');
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// Returns where the comments end that follow in the same line.
fn end_of_line(text: &str, at: usize) -> usize {
    let after = skip_trivia(text, at).unwrap_or(text.len());
    let line = text[at..after].find('\n').map_or(after, |length| at + length);
    // A comment over several lines belongs to what follows it.
    let is_whole = skip_trivia(&text[..line], at) == Ok(line);
    if is_whole { at + text[at..line].trim_end().len() } else { at }
}
