//! The headings of a review: which of its chapters hold findings.

use crate::design::finding::FindingScope;
use crate::markdown::heading::Heading;

/// The content of a review's chapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chapter {
    /// Findings of this scope.
    Findings(FindingScope),
    /// Words about them: a summary, praise. Its lists repeat or add nothing.
    Remaining,
}

/// Follows a review from chapter to chapter.
pub(super) struct Chapters {
    current: Chapter,
    /// The scope of the list that was open before words about it began.
    scope: FindingScope,
    /// The level of the heading that such words began with.
    level: usize,
}

impl Default for Chapters {
    fn default() -> Self {
        Self { current: Chapter::Findings(FindingScope::In), scope: FindingScope::In, level: LOOSE }
    }
}

/// The level of a title that is no heading but a line in bold or with a colon.
const LOOSE: usize = 7;

/// Titles of chapters that add no finding, in lower case: their first words.
const WORDS_ABOUT: [&str; 32] = [
    "summary",
    "in summary",
    "to summarize",
    "to summarise",
    "conclusion",
    "overall",
    "recap",
    "tl dr",
    "tldr",
    "verdict",
    "final verdict",
    "final assessment",
    "final thoughts",
    "key takeaways",
    "takeaways",
    "closing",
    "strengths",
    "positives",
    "what works",
    "what is good",
    "what i checked",
    "what i looked at",
    "checked",
    "praise",
    "zusammenfassung",
    "fazit",
    "stärken",
    "résumé",
    "synthèse",
    "resumen",
    "riepilogo",
    "まとめ",
];

impl Chapters {
    /// Returns the chapter that the last line belongs to.
    pub(super) const fn current(&self) -> Chapter {
        self.current
    }

    /// Reads a line outside of code; returns the chapter that it begins, if it is such a heading.
    pub(super) fn turn(&mut self, line: &str) -> Option<Chapter> {
        let (level, title) = titled(line)?;
        let title = title.to_lowercase().replace(['-', '_'], " ");
        let words: Vec<_> =
            title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if let Some(scope) = scope_of_list(&title, &words) {
            (self.current, self.scope) = (Chapter::Findings(scope), scope);
            return Some(self.current);
        }
        if is_about(&words) {
            (self.current, self.level) = (Chapter::Remaining, level);
            return Some(self.current);
        }
        let is_higher = level < LOOSE && level <= self.level;
        let ends = self.current == Chapter::Remaining && (is_higher || is_of_findings(&words));
        if ends {
            self.current = Chapter::Findings(self.scope);
        }
        // Such a heading may be an entry itself.
        None
    }
}

/// Reads a heading, a line in bold, or a line that ends in a colon.
fn titled(line: &str) -> Option<(usize, &str)> {
    if let Some(heading) = Heading::parse(line) {
        return Some((heading.level, heading.title));
    }
    let text = line.trim();
    let bold = text.strip_prefix("**").filter(|rest| rest.ends_with("**") || rest.ends_with("**:"));
    let label = || line.strip_suffix([':', '：']).filter(|rest| !rest.starts_with([' ', '-', '*']));
    bold.or_else(label).map(|title| (LOOSE, title))
}

/// Reads the heading of one of the two lists of a host's review.
fn scope_of_list(title: &str, words: &[&str]) -> Option<FindingScope> {
    let mut words: Vec<_> = words.iter().take(6).copied().collect();
    words.retain(|word| !word.chars().all(|c| c.is_ascii_digit()));
    match words.as_slice() {
        _ if title.contains('[') => None,
        ["out", "of", "scope"] | ["out", "of", "scope", _] => Some(FindingScope::Out),
        ["in", "scope"] | ["in", "scope", _] => Some(FindingScope::In),
        _ => None,
    }
}

/// Reads the title of a list of findings that has no scope.
fn is_of_findings(words: &[&str]) -> bool {
    const NAMES: [&str; 7] =
        ["findings", "issues", "concerns", "problems", "befunde", "constats", "hallazgos"];
    words.first().is_some_and(|word| NAMES.contains(word))
}

fn is_about(words: &[&str]) -> bool {
    const LONGEST: usize = 6;
    let title = words.join(" ");
    let about = WORDS_ABOUT.iter().any(|start| {
        title.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    about && words.len() <= LONGEST
}
