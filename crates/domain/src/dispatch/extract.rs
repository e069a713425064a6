//! Taking sections out of a document by the ids that a task refers to.

use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::heading::Heading;
use crate::markdown::{bare, lines};

/// Where a section ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EndRule {
    /// At the next heading of exactly its own level, as the original has it: a section may swallow
    /// the chapter after it.
    #[default]
    SameLevel,
    /// At the next heading of its own level or a higher one.
    SameOrHigher,
}

impl EndRule {
    /// Both rules.
    pub const ALL: [Self; 2] = [Self::SameLevel, Self::SameOrHigher];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameLevel => "same_level",
            Self::SameOrHigher => "same_or_higher",
        }
    }

    /// Returns the rule that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

/// Which heading an id means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatchRule {
    /// The first that contains it, as the original has it: that may be one that only mentions it.
    #[default]
    First,
    /// The first that begins with it, else the first that contains it as a word, else the first.
    DefinitionFirst,
}

impl MatchRule {
    /// Both rules.
    pub const ALL: [Self; 2] = [Self::First, Self::DefinitionFirst];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::DefinitionFirst => "definition_first",
        }
    }

    /// Returns the rule that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

/// How to select sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    /// Where they end.
    pub end: EndRule,
    /// Which headings match an id.
    pub heading: MatchRule,
}

/// The section that an id refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundSection<'a> {
    /// Where its heading begins, in bytes.
    pub offset: usize,
    /// Its heading's words.
    pub title: &'a str,
    /// Its text, from the heading on.
    pub text: &'a str,
    /// Whether the id had to lose its last part to be found.
    pub shortened: bool,
}

/// Finds the section that an id refers to. If no section has an id with a dot, the part behind its
/// last dot is dropped.
pub fn extract<'a>(document: &'a str, id: &str, rules: Rules) -> Option<FoundSection<'a>> {
    let headings = headings(document);
    let shorter = || {
        let (before, _) = id.rsplit_once('.')?;
        Some(FoundSection { shortened: true, ..section(document, &headings, before, rules)? })
    };
    section(document, &headings, id, rules).or_else(shorter)
}

/// Finds the section with exactly this title; other headings that mention the words do not match.
pub fn titled<'a>(document: &'a str, title: &str) -> Option<&'a str> {
    let headings = headings(document);
    let is_it = |place: &Place<'_>| place.heading.title.eq_ignore_ascii_case(title);
    let index = headings.iter().position(is_it)?;
    let Place { offset, heading } = &headings[index];
    let ends = |other: &&Place<'_>| other.heading.level <= heading.level;
    let end =
        headings[index + 1..].iter().find(ends).map_or(document.len(), |heading| heading.offset);
    Some(&document[*offset..end])
}

struct Place<'a> {
    offset: usize,
    heading: Heading<'a>,
}

/// Lists the headings outside of code.
fn headings(document: &str) -> Vec<Place<'_>> {
    let mut fences = Fences::default();
    let mut offset = 0;
    let mut found = Vec::new();
    for line in lines(document) {
        let visible = bare(line);
        if fences.feed(visible) == FenceLine::Outside
            && let Some(heading) = Heading::parse(visible)
        {
            found.push(Place { offset, heading });
        }
        offset += line.len();
    }
    found
}

fn section<'a>(
    document: &'a str,
    headings: &[Place<'a>],
    id: &str,
    rules: Rules,
) -> Option<FoundSection<'a>> {
    let index = meant(headings, &id.to_lowercase(), rules.heading)?;
    let Place { offset, heading } = &headings[index];
    let ends = |other: &&Place<'_>| match rules.end {
        EndRule::SameLevel => other.heading.level == heading.level,
        EndRule::SameOrHigher => other.heading.level <= heading.level,
    };
    let end =
        headings[index + 1..].iter().find(ends).map_or(document.len(), |heading| heading.offset);
    let text = &document[*offset..end];
    Some(FoundSection { offset: *offset, title: heading.title, text, shortened: false })
}

fn meant(headings: &[Place<'_>], id: &str, rule: MatchRule) -> Option<usize> {
    let titles: Vec<_> =
        headings.iter().map(|heading| heading.heading.title.to_lowercase()).collect();
    let first = || titles.iter().position(|title| title.contains(id));
    if id.is_empty() {
        return None;
    }
    match rule {
        MatchRule::First => first(),
        MatchRule::DefinitionFirst => {
            let begins = |title: &String| word_at(title, id).is_some_and(|at| at == 0);
            let holds = |title: &String| word_at(title, id).is_some();
            let begins = titles.iter().position(begins);
            begins.or_else(|| titles.iter().position(holds)).or_else(first)
        }
    }
}

/// Returns the position of an id that is a whole word of the title.
fn word_at(title: &str, id: &str) -> Option<usize> {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    title.match_indices(id).map(|(at, _)| at).find(|at| {
        let (before, after) = (&title[..*at], &title[at + id.len()..]);
        !before.ends_with(inside) && !after.starts_with(inside)
    })
}

/// The part of a document that a task receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scoped<'a> {
    /// These sections, in the order they were referred to.
    Sections(Vec<(String, FoundSection<'a>)>),
    /// All of it, because nothing was referred to.
    WholeUnreferenced,
    /// The whole document, because no section has this id.
    WholeNotFound(String),
}

/// Decides which part of a document a prompt gives for some ids. A single id without a section
/// selects the whole document.
pub fn scope<'a>(document: &'a str, ids: &[String], rules: Rules) -> Scoped<'a> {
    if ids.is_empty() {
        return Scoped::WholeUnreferenced;
    }
    let mut found = Vec::new();
    for id in ids {
        match extract(document, id, rules) {
            Some(section) => found.push((id.clone(), section)),
            None => return Scoped::WholeNotFound(id.clone()),
        }
    }
    Scoped::Sections(found)
}

impl Scoped<'_> {
    /// Renders the selected text: sections with a blank line between them, each once.
    pub fn text(&self, document: &str) -> String {
        let trimmed = |text: &str| text.trim_end_matches(['\r', '\n']).to_owned();
        let Self::Sections(found) = self else { return trimmed(document) };
        let mut shown: Vec<usize> = Vec::new();
        let mut texts = Vec::new();
        for (_, section) in found {
            if !shown.contains(&section.offset) {
                shown.push(section.offset);
                texts.push(trimmed(section.text));
            }
        }
        texts.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DESIGN: &str = "\
# Design

### TD5: Consistent language in I7
mention

### TD6
more

## Interfaces

### I7: Hybrid dispatch
body

#### Detail
deep

# Appendix
end

### I8: After
last
";

    fn text<'a>(id: &str, rules: Rules) -> Option<&'a str> {
        extract(DESIGN, id, rules).map(|found| found.text)
    }

    // D-33: the first heading that contains the id, up to the next of exactly its level.
    #[test]
    fn a_section_is_found_with_the_originals_quirks() {
        let quirky = Rules::default();
        assert_eq!(text("I7", quirky), Some("### TD5: Consistent language in I7\nmention\n\n"));
        assert_eq!(text("i7", quirky), text("I7", quirky));
        assert!(text("hybrid", quirky).unwrap().ends_with("# Appendix\nend\n\n"), "it swallows");
        assert_eq!(text("nowhere", quirky), None);
        assert_eq!(text("", quirky), None);
    }

    // D-33: the two better rules.
    #[test]
    fn the_better_rules_find_the_definition_and_its_end() {
        let better = Rules { end: EndRule::SameOrHigher, heading: MatchRule::DefinitionFirst };
        let defined = "### I7: Hybrid dispatch\nbody\n\n#### Detail\ndeep\n\n";
        assert_eq!(text("I7", better), Some(defined));
        let only_heading = Rules { heading: MatchRule::DefinitionFirst, ..Rules::default() };
        let swallowed = "### I7: Hybrid dispatch\nbody\n\n#### Detail\ndeep\n\n# Appendix\nend\n\n";
        assert_eq!(text("I7", only_heading), Some(swallowed));
        // No heading defines it, so the first that has it in it is taken after all.
        assert_eq!(
            text("nterf", better).map(|section| section.lines().next()),
            Some(Some("## Interfaces"))
        );
    }

    // D-33: a heading inside code does not count.
    #[test]
    fn code_holds_no_headings() {
        let document = "```\n# A1\n```\n\n## A1 real\ntext\n";
        let found = extract(document, "A1", Rules::default()).unwrap();
        assert_eq!((found.text, found.title), ("## A1 real\ntext\n", "A1 real"));
    }

    #[test]
    fn a_title_is_a_title_and_not_a_mention() {
        let prd =
            "# Savings Goals App\n\n## Non-Goals\nno\n\n## Goals\nyes\n\n### More\nz\n\n## Risks\n";
        assert_eq!(titled(prd, "goals"), Some("## Goals\nyes\n\n### More\nz\n\n"));
        assert_eq!(titled(prd, "Problem Statement"), None);
    }

    // D-34
    #[test]
    fn an_id_may_lose_its_last_part() {
        let plan = "## Phase 1A: Start\nx\n";
        let found = extract(plan, "1A.1", Rules::default()).unwrap();
        assert_eq!((found.title, found.shortened), ("Phase 1A: Start", true));
        assert_eq!(extract(plan, "1A.1.2", Rules::default()), None, "only once");
        assert_eq!(extract(plan, ".1", Rules::default()), None);
    }

    // D-35
    #[test]
    fn one_id_that_leads_nowhere_spoils_the_rest() {
        let document = "# D\n\n## A\none\n\n\n## B\ntwo\n";
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let both = scope(document, &ids(&["B", "A", "b"]), Rules::default());
        assert_eq!(both.text(document), "## B\ntwo\n\n## A\none");
        let spoilt = scope(document, &ids(&["A", "Z9"]), Rules::default());
        assert_eq!(spoilt, Scoped::WholeNotFound("Z9".to_owned()));
        assert_eq!(spoilt.text(document), document.trim_end());
        assert_eq!(scope(document, &[], Rules::default()), Scoped::WholeUnreferenced);
    }

    proptest! {
        // Ids may hold any text, including patterns of other programs.
        #[test]
        fn any_id_is_looked_for(document in "(#{0,4} ?[a-zA-Z.*+(\\[é ]{0,8}\r?\n){0,9}", id in any::<String>()) {
            for end in EndRule::ALL {
                for heading in MatchRule::ALL {
                    if let Some(found) = extract(&document, &id, Rules { end, heading }) {
                        prop_assert!(document[found.offset..].starts_with(found.text));
                    }
                }
            }
        }
    }
}
