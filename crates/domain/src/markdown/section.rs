//! A document as a run of sections that loses nothing.
//!
//! Joining the texts of all sections gives back the document, byte for byte.

use super::comment::Comments;
use super::fence::{FenceLine, Fences};
use super::heading::Heading;
use super::{bare, front_matter, lines, without_mark};
use crate::text::CharOffset;

/// The beginning of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead<'a> {
    /// The document's front matter; nothing else is in this section.
    FrontMatter,
    /// Text before the first heading.
    Preamble,
    /// A heading outside code fences.
    Heading(Heading<'a>),
}

/// A heading with everything up to the next heading of any level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// The section's beginning.
    pub lead: Lead<'a>,
    /// Where it begins in the document.
    pub start: CharOffset,
    /// All of it: heading line, body, line endings.
    pub text: &'a str,
}

/// Splits a document, lazily: a caller that needs only the first sections does not pay for the
/// others.
pub fn sections(document: &str) -> Sections<'_> {
    Sections {
        document,
        rest: document,
        front_matter_lines: front_matter::line_count(document),
        start: CharOffset::START,
        last_close: None,
    }
}

/// The iterator behind [`sections`].
#[derive(Debug, Clone)]
pub struct Sections<'a> {
    document: &'a str,
    rest: &'a str,
    front_matter_lines: usize,
    start: CharOffset,
    /// The end of the document's last comment, once a call needed it.
    last_close: Option<usize>,
}

impl<'a> Iterator for Sections<'a> {
    type Item = Section<'a>;

    fn next(&mut self) -> Option<Section<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (lead, length) = self.measure();
        let (text, rest) = self.rest.split_at(length);
        let section = Section { lead, start: self.start, text };
        self.rest = rest;
        self.start = self.start.plus(text.chars().count());
        Some(section)
    }
}

impl<'a> Sections<'a> {
    /// Returns how the section at the front begins, and its length in bytes.
    ///
    /// A section never ends inside a fence or a comment, so every section starts outside both.
    fn measure(&mut self) -> (Lead<'a>, usize) {
        let front_matter_lines = std::mem::take(&mut self.front_matter_lines);
        if front_matter_lines > 0 {
            let length = lines(self.rest).take(front_matter_lines).map(str::len).sum();
            return (Lead::FrontMatter, length);
        }
        let mut fences = Fences::default();
        let mut comments = Comments::default();
        let mut lead = Lead::Preamble;
        let mut length = 0;
        for line in lines(self.rest) {
            let visible = bare(if self.at_mark(length) { without_mark(line) } else { line });
            let commented = comments.inside();
            let place = if commented { FenceLine::Outside } else { fences.feed(visible) };
            if place == FenceLine::Outside && (commented || self.opens_a_comment(line, length)) {
                comments.visible(visible);
            }
            let heading = match place {
                FenceLine::Outside if !commented => Heading::parse(visible),
                FenceLine::Outside | FenceLine::Opens | FenceLine::Body | FenceLine::Closes => None,
            };
            match heading {
                Some(heading) if length == 0 => lead = Lead::Heading(heading),
                Some(_) => break,
                None => {}
            }
            length += line.len();
        }
        (lead, length)
    }

    /// Tells whether a comment begins on a line and ends anywhere after it. An unclosed one is a
    /// slip in the prose and must not hide the rest of the document.
    fn opens_a_comment(&mut self, line: &str, length: usize) -> bool {
        let Some(at) = line.rfind("<!--") else { return false };
        let document = self.document;
        let close = *self.last_close.get_or_insert_with(|| document.rfind("-->").unwrap_or(0));
        document.len() - self.rest.len() + length + at < close
    }

    /// A byte-order mark is only a mark at the very start of the document.
    fn at_mark(&self, length: usize) -> bool {
        self.start == CharOffset::START && length == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Renders sections as `start lead | text` lines, so that a case can be read.
    fn outline(document: &str) -> String {
        let line = |section: Section<'_>| {
            let lead = match section.lead {
                Lead::FrontMatter => "front matter".to_owned(),
                Lead::Preamble => "preamble".to_owned(),
                Lead::Heading(heading) => format!("h{} {}", heading.level, heading.title),
            };
            format!("{} {lead} | {:?}\n", section.start, section.text)
        };
        sections(document).map(line).collect()
    }

    #[test]
    fn a_document_is_split_at_its_headings() {
        let cases = [
            ("", ""),
            ("text\n", "0 preamble | \"text\\n\"\n"),
            ("# A\none\n## B\n", "0 h1 A | \"# A\\none\\n\"\n8 h2 B | \"## B\\n\"\n"),
            ("é\n# A", "0 preamble | \"é\\n\"\n2 h1 A | \"# A\"\n"),
            ("# A\r\n\r\n# B\r\n", "0 h1 A | \"# A\\r\\n\\r\\n\"\n7 h1 B | \"# B\\r\\n\"\n"),
            ("```\n# no\n```\n# A", "0 preamble | \"```\\n# no\\n```\\n\"\n13 h1 A | \"# A\"\n"),
            ("~~~\n# no\n```\n", "0 preamble | \"~~~\\n# no\\n```\\n\"\n"),
            (
                "---\na: 1\n# no\n---\n# A",
                "0 front matter | \"---\\na: 1\\n# no\\n---\\n\"\n18 h1 A | \"# A\"\n",
            ),
            ("\u{feff}# A\n# B", "0 h1 A | \"\\u{feff}# A\\n\"\n5 h1 B | \"# B\"\n"),
            ("<!-- open\n# A", "0 preamble | \"<!-- open\\n\"\n10 h1 A | \"# A\"\n"),
            ("<!--\n# no\n-->\n# A", "0 preamble | \"<!--\\n# no\\n-->\\n\"\n14 h1 A | \"# A\"\n"),
            ("<!--\n```\n-->\n# A", "0 preamble | \"<!--\\n```\\n-->\\n\"\n13 h1 A | \"# A\"\n"),
            (
                "```\n<!--\n```\n# A\n-->",
                "0 preamble | \"```\\n<!--\\n```\\n\"\n13 h1 A | \"# A\\n-->\"\n",
            ),
        ];
        for (document, expected) in cases {
            assert_eq!(outline(document), expected, "{document:?}");
        }
    }

    /// Lines made of what the splitter cares about.
    const MARKDOWN: &str =
        "(\u{feff}?(-{3}|[#`~]{0,4}|\\.{3}|<!--|-->|\\| ?)[ \t]?[a-zé:가]{0,4}\r?\n?){0,16}";

    proptest! {
        #[test]
        fn joining_gives_back_the_document(document in MARKDOWN) {
            let joined: String = sections(&document).map(|section| section.text).collect();
            prop_assert_eq!(joined, document);
        }

        #[test]
        fn joining_gives_back_any_text(document in any::<String>()) {
            let joined: String = sections(&document).map(|section| section.text).collect();
            prop_assert_eq!(joined, document);
        }

        #[test]
        fn every_start_is_the_characters_before_it(document in MARKDOWN) {
            let mut before = 0;
            for section in sections(&document) {
                prop_assert_eq!(section.start.get(), before);
                before += section.text.chars().count();
            }
        }
    }
}
