//! Citations: places in files that reviewers point to, and which of them do not exist.
//!
//! A place that does not exist proves nothing, however exact it looks. This module finds citations
//! in a text and marks those that are missing; the engine checks which exist.

mod book;
mod claim;
mod forms;
mod listed;
mod readings;

pub use self::book::{CheckedCitation, CitationBook, CitationVerdict, CitedIn, PlaceFinding};
pub use self::claim::{CitedPassage, cited_places, cited_places_under};
pub use self::listed::cited_in_plan;
pub use self::readings::other_spellings;
use super::finding::{Finding, Remark};
use super::quote::line as quote_line;

/// The most citations of one ballot that are checked.
pub const MOST: usize = 200;

/// So many of one text are marked.
const MOST_MARKS: usize = 20;

/// Ends of names that are addresses rather than files.
const ADDRESSES: [&str; 10] =
    ["com", "org", "net", "io", "dev", "ai", "app", "local", "localhost", "invalid"];

/// A place in a file, as a text names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Citation {
    /// The file's path as cited.
    pub path: String,
    /// The first line, from one.
    pub first: u32,
    /// The last line; the same for a single one.
    pub last: u32,
}

/// Which citations of a run Convoke looks up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CitationRule {
    /// Those of findings; only missing ones are marked. The rule of earlier runs and of the original.
    #[default]
    Findings,
    /// Those that are written as one word (`path:12`), with the words that are quoted; each is shown
    /// with its verdict.
    Everywhere,
    /// All of them, also `path` line 12, `path` (L12), `path:1,12` and `Makefile:12`.
    EveryForm,
}

impl CitationRule {
    /// Tells whether each citation is shown with its verdict.
    pub const fn shows_verdicts(self) -> bool {
        match self {
            Self::Findings => false,
            Self::Everywhere | Self::EveryForm => true,
        }
    }
}

/// Why a citation is no evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// There is no such file.
    NoFile,
    /// The file has only so many lines.
    Lines(u32),
    /// It leads out of the project, or to something that is no text.
    Unchecked,
}

impl Missing {
    fn words(self) -> String {
        match self {
            Self::NoFile => "this citation does not exist: no such file".to_owned(),
            Self::Lines(1) => "this citation does not exist: the file has 1 line".to_owned(),
            Self::Lines(lines) => {
                format!("this citation does not exist: the file has {lines} lines")
            }
            Self::Unchecked => "this citation could not be checked".to_owned(),
        }
    }
}

impl Citation {
    /// Tells whether the path can be nothing but a file's: `a/b:3` may be a ratio.
    pub fn is_certain(&self) -> bool {
        extension(&self.path).is_some()
    }

    /// Tells whether the path is one name without an end, which begins as `Makefile` does. Other words
    /// before a number are ratios, ports and times, unless the file has the line.
    pub fn is_named_like_a_file(&self) -> bool {
        self.path.starts_with(|c: char| c.is_ascii_uppercase()) && !self.path.contains('/')
    }

    /// Judges it by the number of lines that its file has.
    pub const fn judge(&self, lines: u32) -> Option<Missing> {
        let is_there = self.first >= 1 && self.last <= lines;
        if is_there { None } else { Some(Missing::Lines(lines)) }
    }

    fn shown(&self) -> String {
        let Self { path, first, last } = self;
        if first == last { format!("`{path}:{first}`") } else { format!("`{path}:{first}-{last}`") }
    }
}

/// Finds the citations of a text, each once: `path:12`, `path:12-20`, `path#L12`, `path#L12-L20`.
pub fn find(text: &str) -> Vec<Citation> {
    let mut found: Vec<Citation> = Vec::new();
    for word in text.split(|c: char| !is_of_path(c)) {
        if let Some(citation) = parse(word).filter(|citation| !found.contains(citation)) {
            found.push(citation);
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// Finds the citations of everything that is voted on.
pub fn of_findings(findings: &[Finding]) -> Vec<Citation> {
    let remarks =
        findings.iter().flat_map(|finding| [&finding.remark].into_iter().chain(&finding.others));
    let mut found: Vec<_> = remarks.flat_map(|remark| find(&whole(remark))).collect();
    found.sort();
    found.dedup();
    found.truncate(MOST);
    found
}

/// Marks the citations of findings that are missing, behind the words that cite them.
pub fn mark(findings: &mut [Finding], missing: &[(Citation, Missing)]) {
    if missing.is_empty() {
        return;
    }
    for finding in findings {
        let Finding { remark, others, .. } = finding;
        for remark in [remark].into_iter().chain(others) {
            let found = find(&whole(remark));
            let marked = found.iter().filter_map(|citation| {
                let (_, why) = missing.iter().find(|(known, _)| known == citation)?;
                Some(format!(" [{}: {}; it is no evidence]", citation.shown(), why.words()))
            });
            let marks = marked.take(MOST_MARKS).collect::<String>();
            remark.concern.push_str(&marks);
        }
    }
}

/// Returns all that a finding says, for its citations.
pub fn text_of(finding: &Finding) -> String {
    let remarks = [&finding.remark].into_iter().chain(&finding.others);
    remarks.map(whole).collect::<Vec<_>>().join("\n\n")
}

fn whole(remark: &Remark) -> String {
    let revision = remark.revision.as_deref().unwrap_or_default();
    format!("{}\n{}\n{revision}", remark.title, remark.concern)
}

fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || "._-/\\:#~+@$%=\u{2013}".contains(c)
}

/// Reads a word that cites; `None` if it may be anything else.
fn parse(word: &str) -> Option<Citation> {
    let (path, first, last) = split(word)?;
    let is_address =
        !path.contains('/') && extension(path).is_some_and(|ending| ADDRESSES.contains(&ending));
    let is_path = extension(path).is_some() || path.contains('/');
    (is_path && !is_address).then(|| citation(path, first, last))
}

fn citation(path: &str, first: u32, last: u32) -> Citation {
    let path = path.strip_prefix("./").unwrap_or(path);
    Citation { path: path.to_owned(), first: first.min(last), last: first.max(last) }
}

/// Splits a word into the name before a place and the lines.
fn split(word: &str) -> Option<(&str, u32, u32)> {
    if word.contains("://") || word.starts_with("//") {
        return None;
    }
    let at = word.find("#L").or_else(|| {
        let colons = word.match_indices(':').map(|(at, _)| at);
        let mut before_digits =
            colons.filter(|at| word[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        before_digits.next()
    })?;
    let path = &word[..at];
    let (first, last, rest) = lines(word[at + 1..].trim_start_matches('L'))?;
    // Version numbers, times and names that contain a colon go on behind the number.
    let is_number = !goes_on(rest);
    let is_name =
        path.contains(char::is_alphanumeric) && !path.contains([':', '#']) && !path.ends_with('/');
    (is_number && is_name).then_some((path, first, last))
}

/// Reads a line or a range of lines, with columns; returns what follows, too.
fn lines(text: &str) -> Option<(u32, u32, &str)> {
    let (first, rest) = number(text)?;
    let rest = without_column(rest);
    let range = rest.strip_prefix(['-', '\u{2013}']).map(|rest| rest.trim_start_matches('L'));
    let last = range.and_then(number).map(|(last, rest)| (last, without_column(rest)));
    let (last, rest) = last.filter(|(_, rest)| !goes_on(rest)).unwrap_or((first, rest));
    Some((first, last, rest))
}

/// Tells whether a number is only the beginning of something else.
fn goes_on(rest: &str) -> bool {
    let mut rest = rest.chars();
    let next = rest.next();
    next.is_some_and(char::is_alphanumeric)
        || matches!(next, Some('.' | '-' | '\u{2013}' | '/' | '%' | '+' | '='))
            && rest.next().is_some_and(char::is_alphanumeric)
        || next == Some('%')
}

/// Skips the column in `L12C3`.
fn without_column(text: &str) -> &str {
    text.strip_prefix('C').and_then(number).map_or(text, |(_, rest)| rest)
}

/// Reads a number; one that is too large for any file stays too large.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].parse().unwrap_or(u32::MAX), &text[end..]))
}

/// Returns what follows the last dot of a file's name, if that can be an extension.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    let is_word = extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric());
    let is_extension = is_word && extension.len() <= 10 && !stem.ends_with('.');
    (is_extension && (!stem.is_empty() || path.len() > 1)).then_some(extension)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::finding::{FindingId, FindingScope};
    use super::*;

    fn finding(concern: &str) -> Finding {
        let remark = Remark {
            scope: FindingScope::In,
            focus: None,
            title: String::new(),
            concern: concern.to_owned(),
            revision: None,
        };
        let id = FindingId { scope: FindingScope::In, number: 1 };
        Finding { id, proposers: Vec::new(), focus: None, remark, others: Vec::new() }
    }

    #[test]
    fn missing_citations_are_marked_in_their_place() {
        let mut findings = [finding("See src/a.rs:7 and `b.md#L2`."), finding("See src/a.rs:8.")];
        let citations = of_findings(&findings);
        assert_eq!(citations.len(), 3);
        let missing = [(citations[1].clone(), citations[1].judge(3).unwrap())];
        assert_eq!(missing[0].0.path, "src/a.rs");
        mark(&mut findings, &missing);
        assert_eq!(
            findings[0].remark.concern,
            "See src/a.rs:7 and `b.md#L2`. [`src/a.rs:7`: this citation does not exist: the file \
             has 3 lines; it is no evidence]"
        );
        assert_eq!(findings[1].remark.concern, "See src/a.rs:8.");
    }

    #[test]
    fn a_place_is_judged_by_the_lines_of_its_file() {
        let judged = |text: &str, lines| find(text)[0].judge(lines);
        assert_eq!(judged("a.rs:3", 3), None);
        assert_eq!(judged("a.rs:3-4", 3), Some(Missing::Lines(3)));
        assert_eq!(judged("a.rs:0", 3), Some(Missing::Lines(3)));
        assert_eq!(judged("a.rs:4-2", 3), Some(Missing::Lines(3)));
        assert_eq!(judged("a.rs:99999999999999", 3), Some(Missing::Lines(3)));
    }

    proptest! {
        // A mark adds no line and closes no other mark, for any cited text.
        #[test]
        fn any_text_can_be_searched_and_marked(text in "([a-z]{1,3}|[./:#L\\-]|[0-9]{1,3}|[`\\]\n ]){0,30}|\\PC*") {
            let mut findings = [finding(&text)];
            let missing: Vec<_> = find(&text).into_iter().map(|citation| (citation, Missing::NoFile)).collect();
            mark(&mut findings, &missing);
            let added = findings[0].remark.concern.strip_prefix(text.as_str()).unwrap();
            prop_assert!(!added.contains('\n'));
            prop_assert_eq!(added.matches('[').count(), missing.len().min(MOST_MARKS));
            prop_assert_eq!(added.matches(']').count(), missing.len().min(MOST_MARKS));
        }
    }

    // A remark merged into a finding is marked like the finding itself.
    #[test]
    fn citations_of_merged_remarks_are_marked_too() {
        let remark = |concern: &str| Remark {
            scope: FindingScope::In,
            focus: None,
            title: "t".to_owned(),
            concern: concern.to_owned(),
            revision: None,
        };
        let mut findings = [Finding {
            id: FindingId { scope: FindingScope::In, number: 1 },
            focus: None,
            remark: remark("see a.rs:1"),
            others: vec![remark("see b.rs:9")],
            proposers: Vec::new(),
        }];
        let missing = (find("b.rs:9").remove(0), Missing::NoFile);
        mark(&mut findings, &[missing]);
        assert_eq!(findings[0].remark.concern, "see a.rs:1");
        let other = &findings[0].others[0].concern;
        assert!(other.contains("`b.rs:9`: this citation does not exist"), "{other}");
    }
}
