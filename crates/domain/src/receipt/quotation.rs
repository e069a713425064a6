//! Checks a review's quotations against the files that it cites.
//!
//! A quotation is text in back-ticks or double quotes, or lines behind `>`. It belongs to the file
//! that is named nearest to it in its paragraph, else to the file that the review is about, else to
//! the file that was named last. A quotation without a file does not count.

mod excerpt;

use self::excerpt::{Excerpt, excerpts};
use super::Span;
use super::path::base_name;
use super::shell::places;

/// Shorter texts in quotes are names and words, not quotations.
const FEWEST_CHARACTERS: usize = 12;

/// A file that a review may quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotableFile<'a> {
    /// The name or path that reviews use.
    pub name: &'a str,
    /// The file's text.
    pub text: &'a str,
}

/// A quotation, and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quotation {
    /// The quoted words, without their quotation marks.
    pub text: String,
    /// The name of the cited file.
    pub source: String,
    /// The cited lines, if the review names any.
    pub cited: Option<Span>,
    /// Where they are.
    pub found: QuotationPlace,
}

/// Where quoted words are in their file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotationPlace {
    /// On this line, as cited, or no line was cited.
    There {
        /// The line on which the quotation begins.
        line: usize,
    },
    /// Not on the cited lines, but here.
    Moved {
        /// The line on which the quotation begins.
        line: usize,
    },
    /// Nowhere in the file.
    NotThere,
}

/// Looks up every quotation of a review. `location` is the subject of the review, as `design.md` or
/// `design.md:40-44`.
pub fn quotations(
    text: &str,
    location: Option<&str>,
    sources: &[QuotableFile<'_>],
) -> Vec<Quotation> {
    let citations = citations(text, sources);
    let about = location.and_then(|place| citation_in(place, sources));
    let excerpts = excerpts(text).into_iter().filter(|excerpt| !is_citation(excerpt, &citations));
    excerpts
        .filter_map(|excerpt| quotation(&excerpt, text, &citations, about.as_ref(), sources))
        .collect()
}

/// Words between quotation marks, or behind `>`, that are long enough to be a quotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotedPart {
    /// Where they begin, the mark included.
    pub start: usize,
    /// Where they end, the mark included.
    pub end: usize,
    /// The words.
    pub text: String,
}

/// Finds the quoted parts of a text, in order.
pub fn quoted_parts(text: &str) -> Vec<QuotedPart> {
    let part = |Excerpt { start, end, text }| QuotedPart { start, end, text };
    excerpts(text).into_iter().map(part).collect()
}

/// Looks for quoted words in a file, first on the cited lines. White space, emphasis and the shape of
/// quotes do not matter; `…` matches any text.
pub fn find_words(words: &str, text: &str, cited: Option<Span>) -> QuotationPlace {
    excerpt::find(words, text, cited)
}

/// A place where a file is named.
#[derive(Debug, Clone)]
struct Citation {
    start: usize,
    end: usize,
    /// Which source.
    source: usize,
    lines: Option<Span>,
}

/// Finds every place where a source is named, by its whole name where that is there.
fn citations(text: &str, sources: &[QuotableFile<'_>]) -> Vec<Citation> {
    let mut found: Vec<Citation> = Vec::new();
    for (source, file) in sources.iter().enumerate() {
        for name in [file.name, base_name(file.name)] {
            for start in places(text, name) {
                let end = start + name.len();
                let (length, lines) = cited_lines(text.get(end..).unwrap_or_default());
                found.push(Citation { start, end: end + length, source, lines });
            }
        }
    }
    // At one place, the longer name says more.
    found.sort_by_key(|citation| (citation.start, std::cmp::Reverse(citation.end)));
    found.dedup_by(|next, kept| next.start < kept.end);
    found
}

fn citation_in(location: &str, sources: &[QuotableFile<'_>]) -> Option<Citation> {
    citations(location, sources).into_iter().next()
}

/// Where a reviewer says that a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CitedPlace<'a> {
    /// The path in the reviewer's words: it may lead anywhere.
    pub path: &'a str,
    /// The lines, if any are named.
    pub lines: Option<Span>,
}

/// Reads the first place that a location names, such as `design.md:40-44`; nothing if it begins
/// with no word.
pub fn cited_place(location: &str) -> Option<CitedPlace<'_>> {
    let marks = ['`', '"', '\'', '(', ')', '[', ']', '<', '>', ',', ';'];
    let ends = |c: char| c.is_whitespace() || marks.contains(&c);
    let text = location.trim_start_matches(ends);
    let borders = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let is_end = |at: &usize| {
        let rest = text.get(*at..).unwrap_or_default();
        rest.starts_with(ends) || rest.is_empty() || cited_lines(rest).1.is_some()
    };
    let end = borders.into_iter().find(is_end)?;
    let (path, rest) = text.split_at_checked(end)?;
    (!path.is_empty()).then(|| CitedPlace { path, lines: cited_lines(rest).1 })
}

/// Reads `:12`, `:40-44`, `#L12` or ` line 12` behind a name; returns its length too.
fn cited_lines(rest: &str) -> (usize, Option<Span>) {
    let marks =
        ["`:", "#L", ":L", ":", " (lines ", " (line ", ", lines ", ", line ", " lines ", " line "];
    let Some(mark) = marks.iter().find(|mark| rest.starts_with(**mark)) else { return (0, None) };
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let numbers = rest.get(mark.len()..).unwrap_or_default();
    let first_end = digits(numbers);
    let Some(Ok(first)) = numbers.get(..first_end).map(str::parse) else { return (0, None) };
    let after = numbers.get(first_end..).unwrap_or_default();
    let dash = ["-L", "-", "–"].iter().find(|dash| after.starts_with(**dash));
    let second = dash.and_then(|dash| after.get(dash.len()..)).unwrap_or_default();
    let second_end = digits(second);
    let last = second.get(..second_end).and_then(|digits| digits.parse().ok()).unwrap_or(first);
    let dashed = dash.filter(|_| second_end > 0).map_or(0, |dash| dash.len() + second_end);
    (mark.len() + first_end + dashed, Some(Span { first, last: last.max(first) }))
}

/// A name in quotes cites, and quotes nothing.
fn is_citation(excerpt: &Excerpt, citations: &[Citation]) -> bool {
    let rest = |citation: &Citation| {
        citation.start.abs_diff(excerpt.start) + citation.end.abs_diff(excerpt.end)
    };
    citations.iter().any(|citation| {
        citation.start < excerpt.end && excerpt.start < citation.end && rest(citation) < 24
    })
}

fn quotation(
    excerpt: &Excerpt,
    text: &str,
    citations: &[Citation],
    about: Option<&Citation>,
    sources: &[QuotableFile<'_>],
) -> Option<Quotation> {
    let near = nearest(excerpt, text, citations);
    let earlier = || citations.iter().rfind(|citation| citation.start < excerpt.start);
    let citation = near.or(about).or_else(earlier)?;
    let source = sources.get(citation.source)?;
    // The review's own lines are as good as any for the file it is about.
    let of_review = about
        .filter(|location| location.source == citation.source)
        .and_then(|location| location.lines);
    let lines = citation.lines.or(of_review);
    let found = excerpt::find(&excerpt.text, source.text, lines);
    Some(Quotation {
        text: excerpt.text.clone(),
        source: source.name.to_owned(),
        cited: lines,
        found,
    })
}

/// Returns the citation in the same paragraph that an excerpt belongs to: the one in brackets behind
/// it, else the last before it, else the next.
fn nearest<'a>(excerpt: &Excerpt, text: &str, citations: &'a [Citation]) -> Option<&'a Citation> {
    let start = text.get(..excerpt.start).and_then(|start| start.rfind("\n\n")).unwrap_or(0);
    let rest = text.get(excerpt.end..).unwrap_or_default();
    let end = rest.find("\n\n").map_or(text.len(), |at| excerpt.end + at);
    let before =
        citations.iter().rfind(|citation| start <= citation.start && citation.end <= excerpt.start);
    let after =
        citations.iter().find(|citation| excerpt.end <= citation.start && citation.end <= end);
    let is_attached = |citation: &&Citation| {
        let between = text.get(excerpt.end..citation.start).unwrap_or_default().trim();
        matches!(between, "(" | "[" | "(`" | "[`" | "—" | "–")
    };
    after.filter(is_attached).or(before).or(after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SPEC: &str = "# Spec\n\nEvery token is *signed* with the\nserver's key.\n\nA token lives for one hour.\nA token lives for one hour.\n";
    const DESIGN: &str = "The cache keeps a thousand entries.\n";

    fn sources() -> Vec<QuotableFile<'static>> {
        vec![
            QuotableFile { name: "docs/spec.md", text: SPEC },
            QuotableFile { name: "design.md", text: DESIGN },
        ]
    }

    /// Summarizes the found quotations.
    fn told(text: &str, location: Option<&str>) -> String {
        let found = quotations(text, location, &sources()).into_iter().map(|quotation| {
            let found = match quotation.found {
                QuotationPlace::There { line } => format!("at {line}"),
                QuotationPlace::Moved { line } => format!("moved to {line}"),
                QuotationPlace::NotThere => "not there".to_owned(),
            };
            format!("{} {found}", quotation.source)
        });
        found.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn quotations_are_looked_up_in_the_cited_file() {
        for (text, expected) in [
            ("spec.md:3 says \"Every token is signed\".", "docs/spec.md at 3"),
            ("`docs/spec.md:3` says `Every token is signed`.", "docs/spec.md at 3"),
            ("spec.md:3-4: \"signed with the server's key\"", "docs/spec.md at 3"),
            ("spec.md:4: \"signed with the server's key\"", "docs/spec.md at 3"),
            ("spec.md:1 says \"Every token is signed\".", "docs/spec.md moved to 3"),
            ("spec.md line 7: \"A token lives for one hour\"", "docs/spec.md at 7"),
            ("spec.md#L1: \"A token lives for one hour\"", "docs/spec.md moved to 6"),
            ("spec.md says \"Every   token\n is signed\".", "docs/spec.md at 3"),
            ("spec.md says \u{201c}Every token is signed\u{201d}.", "docs/spec.md at 3"),
            ("spec.md says \"Every token … server's key\".", "docs/spec.md at 3"),
            ("spec.md says \"A token lives for one hour,\" but", "docs/spec.md at 6"),
            ("spec.md says \"A token lives for one day\".", "docs/spec.md not there"),
            ("\"The cache keeps a thousand\" (design.md:1)", "design.md at 1"),
            (
                "spec.md:3\n\n> Every token is signed with the\n> server's key.\n",
                "docs/spec.md at 3",
            ),
            (
                "design.md:1 has \"a thousand entries\", spec.md:6 has \"lives for one hour\".",
                "design.md at 1, docs/spec.md at 6",
            ),
            (
                "\"Every token is signed\" (spec.md:3), \"a thousand entries\" (`design.md:1`)",
                "docs/spec.md at 3, design.md at 1",
            ),
            // Too short, or without a file.
            ("spec.md says \"token\".", ""),
            ("It says \"Every token is signed\".", ""),
            ("see `docs/spec.md:3-4`", ""),
            ("spec.md:\n```\nlet answer = \"not a quotation at all\";\n```\n", ""),
            ("", ""),
        ] {
            assert_eq!(told(text, None), expected, "{text}");
        }
    }

    #[test]
    fn a_place_is_the_first_path_with_its_lines() {
        let place = |location: &'static str| {
            cited_place(location)
                .map(|place| (place.path, place.lines.map(|span| (span.first, span.last))))
        };
        for (location, path, lines) in [
            ("spec.md:3", "spec.md", Some((3, 3))),
            ("`src/a.rs`:10-20", "src/a.rs", Some((10, 20))),
            ("src/a.rs#L10-L20", "src/a.rs", Some((10, 20))),
            ("spec.md, line 7", "spec.md", Some((7, 7))),
            ("spec.md line 7 and design.md:9", "spec.md", Some((7, 7))),
            ("spec.md (section 3)", "spec.md", None),
            ("https://example.org/a:80", "https://example.org/a", Some((80, 80))),
            ("größe.md:2", "größe.md", Some((2, 2))),
        ] {
            assert_eq!(place(location), Some((path, lines)), "{location}");
        }
        assert_eq!(place(""), None);
        assert_eq!(place("`` ()"), None);
        assert_eq!(place(":12"), None);
    }

    #[test]
    fn the_location_is_where_unnamed_quotations_are_from() {
        let text = "It says \"Every token is signed\".";
        assert_eq!(told(text, Some("docs/spec.md:3")), "docs/spec.md at 3");
        assert_eq!(told(text, Some("spec.md:1-2")), "docs/spec.md moved to 3");
        assert_eq!(told(text, Some("design.md")), "design.md not there");
        assert_eq!(told(text, Some("elsewhere.md:3")), "");
        let named = "spec.md says \"Every token is signed\".";
        assert_eq!(told(named, Some("spec.md:1")), "docs/spec.md moved to 3");
        // The nearer file counts.
        assert_eq!(
            told("In spec.md: \"Every token is signed\"", Some("design.md:1")),
            "docs/spec.md at 3"
        );
    }

    proptest! {
        #[test]
        fn any_review_is_read(text in any::<String>(), quotes in "(spec\\.md|:[0-9-]{0,3}|[\"`>“” \n…]|[a-zé]{1,9}){0,20}") {
            for text in [text, quotes] {
                quotations(&text, Some(&text), &[QuotableFile { name: "spec.md", text: &text }]);
            }
        }

        // Text copied from a line is found on a line that contains it.
        #[test]
        fn a_copied_text_is_found(line in 0_usize..5, words in prop::collection::vec("[a-z]{4,8} [a-z]{4,8} [a-z]{4,8}", 5)) {
            let file = words.join("\n");
            let text = format!("a.md:{} says \"{}\"", line + 1, words[line]);
            let found = quotations(&text, None, &[QuotableFile { name: "a.md", text: &file }]);
            prop_assert_eq!(found[0].found, QuotationPlace::There { line: line + 1 });
        }
    }
}
