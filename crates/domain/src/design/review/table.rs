//! Findings in a table.

use super::heading::{Chapter, Chapters};
use super::tags::Tags;
use super::{plain, title};
use crate::design::finding::{FindingScope, FocusArea, Remark};
use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::table::{cells, is_delimiter, is_row};
use crate::markdown::{bare, lines};

/// The content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Number,
    Focus,
    Concern,
    Revision,
    /// Something else that belongs to the concern.
    Other,
}

/// Words in the head of a column, in lower case.
const HEADS: [(&str, Column); 24] = [
    ("focus", Column::Focus),
    ("area", Column::Focus),
    ("category", Column::Focus),
    ("tag", Column::Focus),
    ("bereich", Column::Focus),
    ("domaine", Column::Focus),
    ("suggest", Column::Revision),
    ("revision", Column::Revision),
    ("fix", Column::Revision),
    ("recommend", Column::Revision),
    ("vorschlag", Column::Revision),
    ("correction", Column::Revision),
    ("concern", Column::Concern),
    ("finding", Column::Concern),
    ("issue", Column::Concern),
    ("problem", Column::Concern),
    ("problème", Column::Concern),
    ("description", Column::Concern),
    ("befund", Column::Concern),
    ("#", Column::Number),
    ("no", Column::Number),
    ("nr", Column::Number),
    ("id", Column::Number),
    ("n°", Column::Number),
];

/// Reads every table outside of code whose rows are findings. Returns an empty list without such a
/// table, and `None` if a table is ambiguous.
pub(super) fn remarks(answer: &str) -> Option<Vec<Remark>> {
    let mut fences = Fences::default();
    let mut chapters = Chapters::default();
    let (mut found, mut rows) = (Vec::new(), Vec::new());
    let mut scope = FindingScope::In;
    for line in lines(answer).map(bare).chain([""]) {
        let outside = fences.feed(line) == FenceLine::Outside;
        if outside && is_row(line) {
            rows.push(line);
            continue;
        }
        let table = std::mem::take(&mut rows);
        if chapters.current() != Chapter::Remaining && table.len() > 1 {
            found.extend(table_remarks(&table, scope)?);
        }
        if outside {
            chapters.turn(line);
        }
        if let Chapter::Findings(of_list) = chapters.current() {
            scope = of_list;
        }
    }
    Some(found)
}

fn table_remarks(rows: &[&str], scope: FindingScope) -> Option<Vec<Remark>> {
    let [head, delimiter, body @ ..] = rows else { return None };
    let names: Vec<_> = cells(head).collect();
    let columns: Vec<_> = names.iter().map(|name| column(name)).collect();
    let count = |wanted: Column| columns.iter().filter(|column| **column == wanted).count();
    let is_clear = count(Column::Concern) == 1 && count(Column::Focus) == 1;
    if !is_delimiter(delimiter) || !is_clear || count(Column::Revision) > 1 {
        return None;
    }
    body.iter().map(|row| remark(row, &names, &columns, scope)).collect()
}

fn column(name: &str) -> Column {
    let name = plain(name).to_lowercase();
    let is_short = |head: &str| head.len() <= 2;
    let named = |(head, _): &&(&str, Column)| {
        if is_short(head) { name.trim_end_matches('.') == *head } else { name.contains(head) }
    };
    HEADS.iter().find(named).map_or(Column::Other, |(_, column)| *column)
}

fn remark(row: &str, names: &[&str], columns: &[Column], scope: FindingScope) -> Option<Remark> {
    let values: Vec<_> = cells(row).map(|cell| cell.replace("\\|", "|")).collect();
    if values.len() != columns.len() {
        return None;
    }
    let value = |wanted: Column| {
        let at = columns.iter().position(|column| *column == wanted)?;
        Some(values[at].trim()).filter(|value| !plain(value).is_empty())
    };
    // A cell is a tag from end to end, so the text behind the tags is ignored.
    let cell = format!("{}:", value(Column::Focus)?);
    let focus = Tags::peel(&cell);
    let said = Tags::peel(value(Column::Concern)?);
    let area: Option<FocusArea> = focus.focus.or(said.focus);
    let is_out = focus.out_of_scope || said.out_of_scope;
    if area.is_none() && !is_out || !plain(focus.rest).is_empty() {
        return None;
    }
    let more = names
        .iter()
        .zip(columns)
        .zip(&values)
        .filter(|((_, column), value)| **column == Column::Other && !plain(value).is_empty());
    let more: Vec<_> = more.map(|((name, _), value)| format!("{}: {value}", plain(name))).collect();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
    Some(Remark {
        scope: if is_out { FindingScope::Out } else { scope },
        focus: area,
        title: title(said.rest),
        concern: format!("{}{more}", said.rest.trim()),
        revision: value(Column::Revision).map(str::to_owned),
    })
}
