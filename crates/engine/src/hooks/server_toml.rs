//! The entry of Convoke's MCP server in a TOML file: a table with a header of its own.

use std::ops::Range;

use serde_json::Value;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table};

use super::server_entry::{ARGUMENTS, NAME, ServerEntry};
use super::splice::apply;
use super::{FormerFile, SettingsError, bare, unexpected};
use crate::toml_text::{blank_before, line_end, member, replace, whole_line};

/// The table that lists servers.
const SECTION: &str = "mcp_servers";

/// The first line of our entry.
const HEADER: &str = "[mcp_servers.convoke]";

fn parse(text: &str) -> Result<Table, SettingsError> {
    text.parse().map_err(|error: toml::de::Error| SettingsError::NotToml {
        why: error.message().lines().next().unwrap_or_default().to_owned(),
    })
}

fn servers(table: &Table) -> Option<&Table> {
    table.get(SECTION)?.as_table()
}

pub(super) fn find(text: &str, own: &str) -> Result<Option<ServerEntry>, SettingsError> {
    Ok(entry_in(&parse(text)?, own))
}

fn entry_in(table: &Table, own: &str) -> Option<ServerEntry> {
    let entry = servers(table)?.get(NAME)?;
    let text = |value: &toml::Value| value.as_str().unwrap_or_default().to_owned();
    let arguments = entry.get("args").and_then(toml::Value::as_array);
    let arguments: Vec<_> = arguments.into_iter().flatten().map(text).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let command = entry.get("command").and_then(toml::Value::as_str);
    Some(ServerEntry::new(command, &arguments, own))
}

pub(super) fn put(text: &str, beside: &[&str], program: &str) -> Result<String, SettingsError> {
    let before = parse(text)?;
    // A string of JSON is one of TOML.
    let literal = Value::from(program).to_string();
    match entry_in(&before, program) {
        Some(ServerEntry::Foreign) => return Err(SettingsError::ForeignServer),
        Some(ServerEntry::Own { program: named }) if named.as_os_str() == program => {
            return Ok(text.to_owned());
        }
        Some(ServerEntry::Own { .. }) => {
            let named = spans(text, |entry| member(entry, "command").map(Spanned::span));
            let after = named.flatten().map(|named| replace(text, named, &literal));
            let after = after.ok_or_else(own_table)?;
            return same_but_ours(parse(&after)?, &before).map(|()| after);
        }
        None => {}
    }
    let end = line_end(text);
    let gap = match text.trim_start_matches('\u{feff}') {
        "" => String::new(),
        text if text.ends_with('\n') => end.to_owned(),
        _ => format!("{end}{end}"),
    };
    let arguments = Value::from(ARGUMENTS.to_vec());
    let lines = [HEADER.to_owned(), format!("command = {literal}"), format!("args = {arguments}")];
    let lines = lines.into_iter().chain(beside.iter().map(|line| (*line).to_owned()));
    let lines: String = lines.map(|line| line + end).collect();
    let after = format!("{text}{gap}{lines}");
    let parsed = parse(&after).map_err(|error| match before.get(SECTION) {
        Some(toml::Value::Table(_)) => SettingsError::InlineTable { place: SECTION },
        Some(_) => unexpected(SECTION, "a table"),
        None => error,
    })?;
    same_but_ours(parsed, &before).map(|()| after)
}

/// Returns a file whose entry of ours has the line with which the client waits for the server.
pub(super) fn require(text: &str, line: &str) -> Result<String, SettingsError> {
    let (key, value) = line.split_once(" = ").ok_or_else(own_table)?;
    let before = parse(text)?;
    let present = spans(text, |entry| member(entry, key).map(Spanned::span)).flatten();
    let after = if let Some(present) = present {
        replace(text, present, value)
    } else {
        let arguments = spans(text, |entry| member(entry, "args").map(Spanned::span)).flatten();
        let place = whole_line(text, arguments.ok_or_else(own_table)?).end;
        let (above, below) = text.split_at_checked(place).ok_or_else(own_table)?;
        let end = line_end(text);
        let gap = if above.ends_with('\n') { "" } else { end };
        format!("{above}{gap}{line}{end}{below}")
    };
    same_but_ours(parse(&after)?, &before).map(|()| after)
}

pub(super) fn take(
    text: &str,
    former: FormerFile<'_>,
    own: &str,
) -> Result<Option<String>, SettingsError> {
    let table = parse(text)?;
    if !matches!(entry_in(&table, own), Some(ServerEntry::Own { .. })) {
        return Ok(Some(text.to_owned()));
    }
    let parts = our_parts(text);
    let reaches_end = parts.last().is_some_and(|part| part.end == text.len());
    let edits =
        parts.into_iter().map(|part| (blank_before(text, part.start)..part.end, String::new()));
    let mut left = apply(text, edits.collect());
    let parsed = parse(&left)?;
    if entry_in(&parsed, own).is_some() {
        return Err(own_table());
    }
    same_but_ours(table, &parsed)?;
    match former {
        FormerFile::Absent if bare(&left).is_empty() => return Ok(None),
        FormerFile::Text(former) if reaches_end && !former.ends_with('\n') => {
            let line = left.strip_suffix('\n').unwrap_or(&left);
            left.truncate(line.strip_suffix('\r').unwrap_or(line).len());
        }
        FormerFile::Absent | FormerFile::Text(_) | FormerFile::Unknown => {}
    }
    Ok(Some(left))
}

/// Returns what must be remembered of a file: whether its last line has an end.
pub(super) fn trace(text: &str) -> String {
    if text.ends_with('\n') { "\n".to_owned() } else { String::new() }
}

/// Returns the lines of our entry: from each header of it to the last value below that header. A comment
/// behind that belongs to what follows it.
fn our_parts(text: &str) -> Vec<Range<usize>> {
    let values = spans(text, |entry| values_in(text, entry)).unwrap_or_default();
    let texts = DeTable::parse(text).map(|table| values_in(text, table.get_ref()));
    let texts = texts.unwrap_or_default();
    let mut headers = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        // A text of several lines can have one that looks like a header.
        let is_in_text = || texts.iter().any(|value| value.start < start && start < value.end);
        if is_our_header(line) && !is_in_text() {
            headers.push(start..at);
        }
    }
    let starts: Vec<_> = headers.iter().map(|header| header.start).skip(1).collect();
    let next = starts.into_iter().chain([text.len()]);
    let part = |(header, next): (Range<usize>, usize)| {
        let below = values.iter().filter(|value| header.end <= value.start && value.end <= next);
        let last = below.max_by_key(|value| value.end);
        let end = last.map_or(header.end, |value| whole_line(text, value.clone()).end);
        header.start..end
    };
    headers.into_iter().zip(next).map(part).collect()
}

fn is_our_header(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}');
    line.trim_start().starts_with('[')
        && line
            .parse::<Table>()
            .is_ok_and(|table| servers(&table).is_some_and(|servers| servers.contains_key(NAME)))
}

/// Looks at the spans of our entry.
fn spans<T>(text: &str, look: impl Fn(&DeTable<'_>) -> T) -> Option<T> {
    let table = DeTable::parse(text).ok()?;
    let DeValue::Table(servers) = member(table.get_ref(), SECTION)?.get_ref() else { return None };
    let DeValue::Table(entry) = member(servers, NAME)?.get_ref() else { return None };
    Some(look(entry))
}

/// Returns where the values in a table are, those of tables below it too.
fn values_in(text: &str, table: &DeTable<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (_, value) in table {
        let span = value.span();
        let is_inline = text.get(span.clone()).is_some_and(|text| text.starts_with('{'));
        if let DeValue::Table(inner) = value.get_ref()
            && !is_inline
        {
            found.extend(values_in(text, inner));
        } else if let DeValue::Array(items) = value.get_ref()
            && items.iter().any(|item| is_table_below(text, item))
        {
            for item in items {
                if let DeValue::Table(inner) = item.get_ref() {
                    found.extend(values_in(text, inner));
                }
            }
        } else {
            found.push(span);
        }
    }
    found
}

/// Tells whether an item of a list is a table with a header.
fn is_table_below(text: &str, item: &Spanned<DeValue<'_>>) -> bool {
    let is_inline = text.get(item.span()).is_some_and(|text| text.starts_with('{'));
    matches!(item.get_ref(), DeValue::Table(_)) && !is_inline
}

/// Checks that a file differs from another by our entry alone.
fn same_but_ours(one: Table, other: &Table) -> Result<(), SettingsError> {
    let bare = |mut table: Table| {
        if let Some(all) = table.get_mut(SECTION).and_then(toml::Value::as_table_mut) {
            all.remove(NAME);
        }
        if servers(&table).is_some_and(Table::is_empty) {
            table.remove(SECTION);
        }
        table
    };
    if bare(one) == bare(other.clone()) { Ok(()) } else { Err(own_table()) }
}

fn own_table() -> SettingsError {
    unexpected("mcp_servers.convoke", "a table with a header of its own")
}
