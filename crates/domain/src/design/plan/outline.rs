//! The headings of a plan as the agent wrote them, and in the usual form.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{PlanPart, TaskPart};
use crate::design::quote;
use crate::markdown::bare;
use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::heading::Heading;

/// The level of a line that only looks like a heading: bold or numbered.
const LOOSE: usize = 7;

/// A plan's headings, by the number of their line.
pub(super) struct Outline {
    headings: BTreeMap<usize, String>,
    underlines: BTreeSet<usize>,
    tasks: Option<Range<usize>>,
    first_part: Option<usize>,
}

/// A line that is or looks like a heading.
struct Entry<'a> {
    line: usize,
    level: usize,
    /// As it was written.
    title: &'a str,
    is_underlined: bool,
    /// The part that the title names, if any.
    part: Option<PlanPart>,
}

impl<'a> Entry<'a> {
    fn new(line: usize, level: usize, title: &'a str) -> Self {
        let part = part_named(title, level);
        Self { line, level, title, is_underlined: false, part }
    }

    fn task(&self) -> Option<(&'a str, &'a str)> {
        task_name(without_marks(self.title))
    }
}

fn part_named(title: &str, level: usize) -> Option<PlanPart> {
    const LONGEST: usize = 60;
    let title = without_marks(title);
    if title.len() > LONGEST {
        return None;
    }
    let words = words(title);
    let usual = PlanPart::ALL.into_iter().map(|part| (part.title(), part));
    let others = ALIASES.into_iter().filter(|_| level < LOOSE);
    usual.chain(others).find(|(name, _)| words == self::words(name)).map(|(_, part)| part)
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Other names of parts, for marked headings.
const ALIASES: [(&str, PlanPart); 12] = [
    ("Files to modify or create", PlanPart::Files),
    ("Files to modify and create", PlanPart::Files),
    ("Files to create/modify", PlanPart::Files),
    ("Files to create or modify", PlanPart::Files),
    ("Files to change", PlanPart::Files),
    ("Edge cases and handling", PlanPart::EdgeCases),
    ("Edge cases & their handling", PlanPart::EdgeCases),
    ("Test strategy", PlanPart::Testing),
    ("Testing", PlanPart::Testing),
    ("Test plan", PlanPart::Testing),
    ("Implementation tasks", PlanPart::Tasks),
    ("Task list", PlanPart::Tasks),
];

impl Outline {
    /// Reads the lines of a plan.
    pub(super) fn of(lines: &[&str]) -> Self {
        let entries = entries(lines);
        let level = level_of_parts(&entries);
        let parts = chosen_parts(&entries, level);
        let mut headings = BTreeMap::new();
        for (place, entry) in entries.iter().enumerate() {
            let new = match parts.get(&place) {
                Some(part) if entry.level == 2 && entry.title == part.title() => None,
                Some(part) => Some(format!("## {part}")),
                None => shifted(entry, level),
            };
            // An underline below a heading that Convoke rewrites is not part of it.
            if let Some(new) = new.or_else(|| entry.is_underlined.then(|| atx(entry))) {
                headings.insert(entry.line, new);
            }
        }
        let tasks = tasks_region(&entries, &parts, level, lines.len());
        if let Some(region) = &tasks {
            headings.extend(task_headings(&entries, region, level));
        }
        let is_rewritten =
            |entry: &&Entry<'_>| entry.is_underlined && headings.contains_key(&entry.line);
        let underlines = entries.iter().filter(is_rewritten).map(|entry| entry.line + 1).collect();
        let first_part = parts.keys().next().map(|place| entries[*place].line);
        Self { headings, underlines, tasks, first_part }
    }

    /// Returns a heading in the usual form, if the line is one that has another.
    pub(super) fn heading(&self, line: usize) -> Option<String> {
        self.headings.get(&line).cloned()
    }

    /// Tells whether a line only underlines the heading before it.
    pub(super) fn is_underline(&self, line: usize) -> bool {
        self.underlines.contains(&line)
    }

    /// Tells whether a line belongs to the tasks.
    pub(super) fn is_in_tasks(&self, line: usize) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| tasks.contains(&line))
    }

    /// Returns the line of the first part.
    pub(super) const fn first_part(&self) -> Option<usize> {
        self.first_part
    }
}

fn entries<'a>(lines: &[&'a str]) -> Vec<Entry<'a>> {
    let mut fences = Fences::default();
    let mut found = Vec::new();
    for (line, text) in lines.iter().map(|line| bare(line)).enumerate() {
        if fences.feed(text) != FenceLine::Outside {
            continue;
        }
        let below = lines.get(line + 1).and_then(|below| underline(bare(below)));
        let entry = |level, title, underlined| Entry {
            is_underlined: underlined,
            ..Entry::new(line, level, title)
        };
        let entry = match (Heading::parse(text), below) {
            (Some(heading), _) => Some(entry(heading.level, heading.title, false)),
            // Dashes below words may also be a rule, so the words must be those of a heading.
            (None, Some(level)) => {
                let entry = entry(level, text.trim(), true);
                (entry.part.is_some() || entry.task().is_some()).then_some(entry)
            }
            (None, None) => loose(text).map(|title| entry(LOOSE, title, false)),
        };
        found.extend(entry.filter(|entry| entry.level < LOOSE || is_meant(entry)));
    }
    found
}

/// Tells whether a line in bold or with a number may be a heading of a plan.
fn is_meant(entry: &Entry<'_>) -> bool {
    entry.part.is_some() || entry.task().is_some() || numbered(entry.title).is_some()
}

/// Reads a line that underlines words; returns the level that it makes them.
fn underline(line: &str) -> Option<usize> {
    let marks = line.trim_end();
    let all = |mark: char| marks.len() >= 2 && marks.chars().all(|c| c == mark);
    if all('=') {
        return Some(1);
    }
    all('-').then_some(2)
}

/// Reads `**Title**`, `1. **Title**`, `**1. Title**` or `1. Title`, alone on its line.
fn loose(line: &str) -> Option<&str> {
    let text = line.trim();
    let is_far_in = line.len() - line.trim_start().len() > 3;
    let after_number = numbered(text).map(|(_, rest)| rest.trim());
    let inner = after_number.unwrap_or(text);
    let is_bold = ["**", "__"].iter().any(|mark| {
        let inner =
            inner.strip_prefix(mark).and_then(|rest| rest.trim_end_matches(':').strip_suffix(mark));
        inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(mark))
    });
    (!is_far_in && (is_bold || after_number.is_some())).then_some(text)
}

/// Splits `1. Title` or `1) Title`; number and title may be in bold.
fn numbered(title: &str) -> Option<(&str, &str)> {
    let title = title.trim_start_matches(['*', '_']);
    let end = title.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|end| *end > 0)?;
    let number = title[..end].trim_end_matches('.');
    let rest = title[end..].strip_prefix([')', ':']).unwrap_or(&title[end..]);
    let is_marked = number.len() < end || rest.len() < title.len() - end;
    let is_number = number.split('.').all(|piece| !piece.is_empty());
    (is_marked && is_number && rest.starts_with([' ', '\t'])).then_some((number, rest))
}

/// Takes off numbers, emphasis and all else around the words of a title.
fn without_marks(title: &str) -> &str {
    let edges = |c: char| !c.is_alphanumeric();
    let title = title.trim_matches(edges);
    numbered(title).map_or(title, |(_, rest)| rest.trim_matches(edges))
}

/// Reads `Task 2: Title` in any case, with any separator between number and title.
pub(super) fn task_name(title: &str) -> Option<(&str, &str)> {
    let rest = title.get(..4).filter(|word| word.eq_ignore_ascii_case("task"))?;
    let rest = &title[rest.len()..];
    let number = rest.trim_start_matches([' ', '\t', '#', '-']);
    let end = number.find(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let (number, after) = number.split_at_checked(end.unwrap_or(number.len()))?;
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    let name = after.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '`' | '"'));
    (is_number && title.len() > 4).then(|| (number.trim_end_matches('.'), name))
}

/// Returns the level that most parts have; of equals the highest.
fn level_of_parts(entries: &[Entry<'_>]) -> usize {
    let count = |level: usize| {
        let of_level = entries.iter().filter(|entry| entry.level == level);
        let parts: Vec<_> = of_level.filter_map(|entry| entry.part).collect();
        PlanPart::ALL.iter().filter(|part| parts.contains(part)).count()
    };
    let best = (1..=LOOSE).rev().max_by_key(|level| count(*level));
    best.filter(|level| count(*level) > 0).unwrap_or(2)
}

/// Returns the entries that begin parts, by their places. A heading of another level is one only if
/// no heading of the right level is, and if it is not among the tasks.
fn chosen_parts(entries: &[Entry<'_>], level: usize) -> BTreeMap<usize, PlanPart> {
    let places = |part: PlanPart| -> Vec<usize> {
        let all = || entries.iter().enumerate().filter(|(_, entry)| entry.part == Some(part));
        let exact: Vec<_> =
            all().filter(|(_, entry)| entry.level == level).map(|(at, _)| at).collect();
        if exact.is_empty() { all().map(|(at, _)| at).collect() } else { exact }
    };
    let tasks = places(PlanPart::Tasks).first().copied().unwrap_or(entries.len());
    let mut chosen = BTreeMap::new();
    for part in PlanPart::ALL {
        let found = places(part);
        let is_exact = found.iter().all(|place| entries[*place].level == level);
        let is_alone = matches!(found.as_slice(), [place] if *place <= tasks);
        if is_exact || is_alone {
            chosen.extend(found.into_iter().map(|place| (place, part)));
        }
    }
    chosen
}

/// Writes a heading that begins no part one or more levels higher or lower, as the parts are.
fn shifted(entry: &Entry<'_>, parts: usize) -> Option<String> {
    if parts == 2 || parts == LOOSE || entry.level == LOOSE || entry.level < parts {
        return None;
    }
    let level = (entry.level + 2 - parts).clamp(2, 6);
    Some(format!("{} {}", "#".repeat(level), entry.title))
}

fn atx(entry: &Entry<'_>) -> String {
    format!("{} {}", "#".repeat(entry.level.min(6)), entry.title)
}

/// Returns the lines of the part that holds the tasks.
fn tasks_region(
    entries: &[Entry<'_>],
    parts: &BTreeMap<usize, PlanPart>,
    level: usize,
    count: usize,
) -> Option<Range<usize>> {
    let first = *parts.iter().find(|(_, part)| **part == PlanPart::Tasks)?.0;
    let ends = |(place, entry): &(usize, &Entry<'_>)| {
        let is_other = entry.level <= level.min(2) && entry.level < LOOSE;
        *place > first && (parts.contains_key(place) || is_other && entry.task().is_none())
    };
    let next = entries.iter().enumerate().find(ends);
    Some(entries[first].line + 1..next.map_or(count, |(_, entry)| entry.line))
}

/// Writes the headings of tasks: those that say `Task`, or where none does, those with a number.
fn task_headings(
    entries: &[Entry<'_>],
    region: &Range<usize>,
    level: usize,
) -> Vec<(usize, String)> {
    let inside = || entries.iter().filter(|entry| region.contains(&entry.line));
    let heading = |entry: &Entry<'_>, name: String| {
        let shift =
            if level == LOOSE { entry.level } else { (entry.level + 2).saturating_sub(level) };
        let marks = if shift == 4 { 4 } else { 3 };
        (entry.line, format!("{} {name}", "#".repeat(marks)))
    };
    let named: Vec<_> = inside()
        .filter_map(|entry| {
            let (number, name) = entry.task()?;
            let is_usual = entry.title.starts_with("Task ");
            let usual = || format!("Task {number}: {name}");
            Some(heading(entry, if is_usual { entry.title.to_owned() } else { usual() }))
        })
        .collect();
    if !named.is_empty() {
        return named;
    }
    let top =
        inside().filter(|entry| numbered(entry.title).is_some()).map(|entry| entry.level).min();
    let of_top = inside().filter(|entry| Some(entry.level) == top);
    let by_number = of_top.filter_map(|entry| {
        let (number, _) = numbered(entry.title)?;
        Some(heading(entry, format!("Task {number}: {}", without_marks(entry.title))))
    });
    by_number.collect()
}

/// Writes a task's label in the usual form; nothing if the line has none, or has it in that form.
pub(super) fn canonical_label(line: &str) -> Option<String> {
    let text = line.trim();
    let text = quote::after_list_mark(text).unwrap_or(text).trim_start();
    let words = text.trim_start_matches(['*', '_']);
    TaskPart::ALL.into_iter().filter(|part| !line.contains(part.label())).find_map(|part| {
        let name = part.name();
        let start = words.get(..name.len())?;
        let rest = words[name.len()..].trim_start_matches(['*', '_', ' ']);
        let value = rest.strip_prefix([':', '\u{ff1a}'])?.trim_start_matches(['*', '_', ' ']);
        let label = start.eq_ignore_ascii_case(name).then(|| part.label())?;
        Some(format!("{label} {value}").trim_end().to_owned())
    })
}
