//! Rule numbers: every citation in code or documents is defined in the reference, once.
#![expect(clippy::unwrap_used, reason = "a test that cannot read the repository should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The series of rules: briefs, dispatches, wake-ups, designs, packs, fan-outs, and the cases of tests.
const SERIES: [char; 8] = ['B', 'D', 'W', 'P', 'K', 'F', 'T', 'N'];

/// The text between the two ends of a range of rules.
const RANGES: [&str; 2] = ["..", " to "];

/// A rule's number, such as `P-228`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RuleNumber {
    series: char,
    number: u16,
}

impl RuleNumber {
    /// Reads a number at the start of a text and returns what follows it.
    fn split(text: &str) -> Option<(Self, &str)> {
        let mut letters = text.chars();
        let series = letters.next().filter(|letter| SERIES.contains(letter))?;
        let digits = letters.as_str().strip_prefix('-')?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let number = digits[..end].parse().ok().filter(|_| end <= 3)?;
        let rest = &digits[end..];
        let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        (!rest.starts_with(goes_on)).then_some((Self { series, number }, rest))
    }

    /// Returns every rule of the series from this one up to a number.
    fn through(self, last: u16) -> impl Iterator<Item = Self> {
        (self.number..=last).map(move |number| Self { number, ..self })
    }
}

impl fmt::Display for RuleNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.series, self.number)
    }
}

/// Returns the rules that a line cites; a range cites all that are in it.
fn cited(line: &str) -> BTreeSet<RuleNumber> {
    let mut found = BTreeSet::new();
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        let begins = !before.is_alphanumeric() && !matches!(before, '-' | '_');
        before = letter;
        let Some((first, rest)) = RuleNumber::split(&line[at..]).filter(|_| begins) else {
            continue;
        };
        let range = RANGES.iter().find_map(|between| rest.strip_prefix(between));
        let last = range.and_then(RuleNumber::split).map(|(last, _)| last);
        let last = last.filter(|last| last.series == first.series).unwrap_or(first);
        found.extend(first.through(last.number));
    }
    found
}

/// Returns the rules that a line of the reference defines: those in bold at the start of an item.
fn defined(line: &str) -> Vec<RuleNumber> {
    let mut found = Vec::new();
    let mut rest = line.trim_start().strip_prefix("- ").unwrap_or_default();
    while let Some((rule, after)) = bold(rest) {
        found.push(rule);
        rest = after.strip_prefix(", ").unwrap_or_default();
    }
    found
}

fn bold(text: &str) -> Option<(RuleNumber, &str)> {
    let (rule, rest) = RuleNumber::split(text.strip_prefix("**")?)?;
    Some((rule, rest.strip_prefix("**")?))
}

/// Returns how many rules a line has in bold.
fn in_bold(line: &str) -> usize {
    line.match_indices("**").filter(|(at, _)| bold(&line[*at..]).is_some()).count()
}

fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | "node_modules" | ".git") {
                found.extend(files(&path, endings));
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns where each rule is defined, as `page:line`.
fn definitions() -> BTreeMap<RuleNumber, Vec<String>> {
    let mut places: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for page in files(&xtask::root().join("docs/reference"), &[".md"]) {
        let text = fs::read_to_string(&page).unwrap();
        for (index, line) in text.lines().enumerate() {
            for rule in defined(line) {
                places.entry(rule).or_default().push(format!("{}:{}", page.display(), index + 1));
            }
        }
    }
    places
}

#[test]
fn every_cited_rule_is_defined_in_the_reference() {
    let defined: BTreeSet<_> = definitions().into_keys().collect();
    let mut dangling = BTreeMap::new();
    for path in files(&xtask::root(), &[".rs", ".md", ".toml", ".sql"]) {
        let text = fs::read_to_string(&path).unwrap();
        for (index, line) in text.lines().enumerate() {
            for rule in cited(line).into_iter().filter(|rule| !defined.contains(rule)) {
                let place = format!("{}:{}", path.display(), index + 1);
                dangling.entry(rule.to_string()).or_insert(place);
            }
        }
    }
    assert!(dangling.is_empty(), "not defined in docs/reference: {dangling:#?}");
}

#[test]
fn no_rule_is_defined_twice() {
    let mut places = definitions();
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "defined more than once: {places:#?}");
}

// A number in bold is a definition, so that a search for it finds one place.
#[test]
fn only_definitions_have_their_numbers_in_bold() {
    for page in files(&xtask::root(), &[".md"]) {
        let is_reference = page.starts_with(xtask::root().join("docs/reference"));
        let text = fs::read_to_string(&page).unwrap();
        for (index, line) in text.lines().enumerate() {
            let expected = if is_reference { defined(line).len() } else { 0 };
            assert_eq!(in_bold(line), expected, "{}:{}", page.display(), index + 1);
        }
    }
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let text = |rules: Vec<RuleNumber>| {
        rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    for (line, expected) in [
        ("// P-228, N-8: why", "N-8 P-228"),
        ("// B-30..B-33, B-50", "B-30 B-31 B-32 B-33 B-50"),
        ("as the [plumbing](x) does (P-24 to P-26)", "P-24 P-25 P-26"),
        ("`UTF-8`, SPEC-DESIGN-DOCS-001, x86-P-1, MIT-0, B-1-2, D-12x, W-1234", ""),
    ] {
        assert_eq!(text(cited(line).into_iter().collect()), expected, "{line}");
    }
    for (line, expected) in [
        ("- **W-2** A task", "W-2"),
        ("  - **P-36**, **P-37** The **P-38** branch", "P-36 P-37"),
        ("A lane (**P-149**) ends", ""),
        ("- P-129: replaced", ""),
    ] {
        assert_eq!(text(defined(line)), expected, "{line}");
    }
}
