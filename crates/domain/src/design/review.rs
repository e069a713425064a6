//! Parses a plan reviewer's answer into remarks.
//!
//! The prompt requests one numbered list; hosts use two lists under headings. Agents deviate from
//! both, so a number may be in a heading or in bold, tags may come in any order, and labels may be
//! bullets. All text after a number belongs to it until the next: a remark may come out clumsy, but
//! it cannot get lost. A table of findings is read if its columns leave no doubt. Thoughts,
//! quotations, fenced examples, repetitions in a summary and copies of the prompt are no remarks.
//! Any other answer is no review, and Convoke requests it once more.

mod concern;
mod heading;
mod label;
mod table;
mod tags;

use self::heading::{Chapter, Chapters};
use self::label::{Part, labelled, split_at_revision, title, without_emphasis};
use self::tags::Tags;
use super::aside::without_asides;
use super::finding::{FindingScope, FocusArea, Remark};
use super::parts::document;
use super::policy::Policy;
use super::quote;
use super::rules::RulesVersion;
use crate::lane::substance::{Measure, NO_ISSUES, substance};
use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::heading::Heading;
use crate::markdown::{bare, lines};

/// Why an answer is no review.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAReview {
    /// Nothing in it is a finding.
    #[error("the answer holds no numbered finding, and does not say `{NO_ISSUES}`")]
    NoFinding,
    /// It reports no issues below a list that is not marked as one of findings.
    #[error("the answer says `{NO_ISSUES}` beside a list without focus areas")]
    Contradiction,
    /// It reports no issues, and raises a concern in plain words.
    #[error("the answer says `{NO_ISSUES}` and raises a concern: \"{0}\"")]
    Concern(String),
    /// It reports no issues beside other words, which may say otherwise.
    #[error("the answer says `{NO_ISSUES}` beside other words: \"{0}\"")]
    Beside(String),
    /// A table holds more than the list.
    #[error("the answer holds {listed} findings in a list and {rows} in a table")]
    Mixed {
        /// How many findings the list has.
        listed: usize,
        /// How many findings the table has.
        rows: usize,
    },
    /// A table with ambiguous columns.
    #[error("the answer holds a table whose columns or focus areas are not clear")]
    UnclearTable,
}

/// The text of a reviewer after its statement that it has nothing to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondThoughts {
    /// How many remarks are marked as such, by a tag or by their list, and count.
    pub counted: usize,
    /// How many are not findings, and may only describe the reviewer's checks.
    pub passed_over: usize,
}

/// Returns why an answer cannot be used as a review: it has no substance, or cannot be read. By the
/// original's rules every list of findings needs substance, and words behind the word for no issues
/// do not count. By the safe rules findings in the wanted form are complete at any length, and a
/// review without findings is the word for no issues alone.
pub fn flaw(answer: &str, policy: Policy, rules: RulesVersion) -> Option<String> {
    let (spoken, _) = without_asides(answer);
    let text = document(&spoken);
    let read = remarks(text);
    // P-161: a reviewer without findings need not write more.
    let is_whole = match (says_none(text), policy) {
        (Some(Said::First), _) | (Some(Said::Later), Policy::Safe) => true,
        (Some(Said::Later) | None, Policy::Seed) => false,
        (None, Policy::Safe) => read.as_ref().is_ok_and(|found| is_in_form(found)),
    };
    let thin = if is_whole { None } else { substance(text, Measure::Review).err() };
    if let Some(thin) = thin {
        return Some(thin.to_string());
    }
    match read {
        Err(error) => Some(error.to_string()),
        Ok(found) if found.is_empty() && policy == Policy::Safe => {
            let raised = concern::concern(beside_none(text));
            let raised = raised.map(|words| NotAReview::Concern(quote::line(words)));
            let is_strict = rules >= RulesVersion::NO_ISSUES_ALONE;
            let beside = || other_words(text).filter(|_| is_strict);
            let flaw =
                raised.or_else(|| beside().map(|line| NotAReview::Beside(quote::line(line))));
            flaw.map(|flaw| flaw.to_string())
        }
        Ok(_) => None,
    }
}

/// Tells whether findings have the requested form: each has its tag.
fn is_in_form(found: &[Remark]) -> bool {
    !found.is_empty() && found.iter().all(is_marked)
}

/// Reads a reviewer's answer. An empty list means that the reviewer has nothing to report.
pub fn remarks(answer: &str) -> Result<Vec<Remark>, NotAReview> {
    let (spoken, _) = without_asides(answer);
    let text = document(&spoken);
    let found = all(text);
    match says_none(text) {
        Some(Said::First) => return Ok(found.into_iter().filter(is_marked).collect()),
        Some(Said::Later) if found.is_empty() => return Ok(found),
        Some(Said::Later) => {
            let marked: Vec<_> = found.into_iter().filter(is_marked).collect();
            return if marked.is_empty() { Err(NotAReview::Contradiction) } else { Ok(marked) };
        }
        None => {}
    }
    let in_table = table::remarks(text);
    match (found.len(), in_table) {
        (0, in_table) => in_table.ok_or(NotAReview::UnclearTable).and_then(|rows| {
            let rows: Vec<_> = rows.into_iter().filter(|remark| !is_of_prompt(remark)).collect();
            if rows.is_empty() { Err(NotAReview::NoFinding) } else { Ok(rows) }
        }),
        (listed, Some(rows)) if rows.len() > listed => {
            Err(NotAReview::Mixed { listed, rows: rows.len() })
        }
        (_, _) => Ok(found),
    }
}

/// Tells what follows where a reviewer has nothing to report.
pub fn second_thoughts(answer: &str) -> Option<SecondThoughts> {
    let (spoken, _) = without_asides(answer);
    let text = document(&spoken);
    let found = if says_none(text).is_some() { all(text) } else { Vec::new() };
    let counted = found.iter().filter(|remark| is_marked(remark)).count();
    let passed_over = found.len() - counted;
    (!found.is_empty()).then_some(SecondThoughts { counted, passed_over })
}

/// The position of a reviewer's statement that it has nothing to report.
enum Said {
    First,
    Later,
}

/// Returns the filled lines outside of code.
fn filled(answer: &str) -> impl Iterator<Item = &str> {
    let mut fences = Fences::default();
    let outside = move |line: &&str| fences.feed(line) == FenceLine::Outside;
    lines(answer).map(bare).filter(outside).filter(|line| !plain(line).is_empty())
}

/// Tells whether a line is the word for nothing.
fn is_none(line: &str) -> bool {
    plain(plain(line).trim_end_matches('.')) == NO_ISSUES
}

/// Returns the other lines of an answer that reports no issues.
fn beside_none(answer: &str) -> impl Iterator<Item = &str> {
    filled(answer).filter(|line| !is_none(line))
}

/// Returns the first words of an answer beside the word for no issues, also those in code.
fn other_words(answer: &str) -> Option<&str> {
    lines(answer).map(bare).find(|line| !is_none(line) && !plain(line).is_empty())
}

/// Finds the word for nothing, alone on a line outside of code.
fn says_none(answer: &str) -> Option<Said> {
    let mut said = filled(answer).map(is_none);
    match said.next() {
        Some(true) => Some(Said::First),
        _ => said.any(|is_none| is_none).then_some(Said::Later),
    }
}

fn is_marked(remark: &Remark) -> bool {
    remark.focus.is_some() || remark.scope == FindingScope::Out
}

fn all(answer: &str) -> Vec<Remark> {
    let remarks = items(answer).into_iter().filter_map(|item| item.remark());
    remarks.filter(|remark| !is_of_prompt(remark)).collect()
}

/// The prompt's own lists, which some reviewers repeat before they answer.
const PROMPT: [&str; 4] = [
    include_str!("prompt/review/findings.md"),
    include_str!("prompt/review/focus-areas.md"),
    include_str!("prompt/review/notice.md"),
    include_str!("prompt/review/host.md"),
];

/// Tells whether a remark repeats the prompt: its example, or its list of focus areas. Words of a
/// reviewer's own below such a line are a remark.
fn is_of_prompt(remark: &Remark) -> bool {
    const SHORTEST: usize = 20;
    const FEWEST_OWN_WORDS: usize = 5;
    let (first, rest) = remark.concern.split_once('\n').unwrap_or((&remark.concern, ""));
    let first = quote::line(first);
    let is_short = rest.split_whitespace().count() < FEWEST_OWN_WORDS;
    is_short && first.len() >= SHORTEST && PROMPT.iter().any(|text| text.contains(&first))
}

/// Takes off blanks and the marks of emphasis on both sides.
fn plain(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'))
}

/// One entry of a list: the scope of the list, and its lines.
struct Item<'a> {
    scope: FindingScope,
    lines: Vec<&'a str>,
}

/// How the entries of a list begin; all of one list begin alike.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Form {
    heading: bool,
    indent: usize,
}

fn items(answer: &str) -> Vec<Item<'_>> {
    let mut fences = Fences::default();
    let mut found: Vec<Item<'_>> = Vec::new();
    let (mut chapters, mut lists) = (Chapters::default(), Lists::default());
    for line in lines(answer).map(bare) {
        let outside = fences.feed(line) == FenceLine::Outside;
        let turned = if outside { chapters.turn(line) } else { None };
        let Chapter::Findings(scope) = chapters.current() else {
            lists = Lists::default();
            continue;
        };
        if turned.is_some() {
            lists = Lists::default();
        } else if let Some(rest) = outside.then(|| lists.entry(line)).flatten() {
            found.push(Item { scope, lines: vec![rest] });
        } else if lists.open.is_some()
            && let Some(item) = found.last_mut()
        {
            item.lines.push(line);
        }
    }
    found
}

/// The kind of mark of the current entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Number,
    Bullet,
}

/// The lists of an answer so far. Reviewers mix numbers and bullets, and every entry counts.
#[derive(Default)]
struct Lists {
    numbers: Option<Form>,
    bullets: Option<Form>,
    open: Option<Mark>,
}

impl Lists {
    /// Returns what an entry begins with, if one begins on this line.
    fn entry<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        if let Some((form, rest)) = number(line).filter(|(form, _)| self.is_next_number(*form)) {
            self.numbers = self.numbers.or(Some(form));
            self.open = Some(Mark::Number);
            return Some(rest);
        }
        let (form, rest) =
            tagged_bullet(line).filter(|(form, rest)| self.is_next_bullet(*form, rest))?;
        self.bullets = self.bullets.or(Some(form));
        self.open = Some(Mark::Bullet);
        Some(rest)
    }

    /// Numbers at a deeper level belong to the entry around them.
    fn is_next_number(&self, new: Form) -> bool {
        let within = self.bullets.filter(|_| self.open == Some(Mark::Bullet) && !new.heading);
        begins(self.numbers, new) && begins(within, new)
    }

    /// Below a number, a bullet is another entry only if its tag is in brackets before words; all
    /// others are part of the numbered entry. Below a heading they all are.
    fn is_next_bullet(&self, new: Form, text: &str) -> bool {
        match self.numbers.filter(|_| self.open == Some(Mark::Number)) {
            Some(list) => {
                let is_bracketed = text.trim_start_matches([' ', '*', '_', '`']).starts_with('[');
                let says_something = !plain(Tags::peel(text).rest).is_empty();
                begins(Some(list), new) && is_bracketed && says_something
            }
            None => begins(self.bullets, new),
        }
    }
}

/// Tells whether an entry of this form begins another one, or belongs to the one before.
fn begins(list: Option<Form>, new: Form) -> bool {
    list.is_none_or(|list| list.heading == new.heading && new.indent <= list.indent + 1)
}

/// Reads `1. …`, `2) …`, `**3.** …`, `### 4. …` or `Finding 5: …`.
fn number(line: &str) -> Option<(Form, &str)> {
    let (form, text) = opening(line);
    let text = text.trim_start_matches(['*', '_']);
    let named = ["finding", "issue"].iter().find_map(|word| after_word(text, word));
    let digits = named.unwrap_or(text).trim_start_matches([' ', '#']);
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    let (number, rest) = digits.split_at(end);
    let dotted = rest.strip_prefix(['.', ')']);
    let rest = dotted.or_else(|| rest.strip_prefix(':').filter(|_| named.is_some()))?;
    let rest = rest.trim_start_matches(['*', '_']);
    let counts = (1..=6).contains(&number.len());
    (counts && (rest.is_empty() || rest.starts_with([' ', '\t']))).then_some((form, rest))
}

/// Reads `- [correctness] …`: a bullet is an entry only if it has a tag.
fn tagged_bullet(line: &str) -> Option<(Form, &str)> {
    let (form, text) = opening(line);
    let rest = text.strip_prefix("- ").or_else(|| text.strip_prefix("* "))?;
    let tags = Tags::peel(rest);
    (tags.focus.is_some() || tags.out_of_scope).then_some((form, rest))
}

fn opening(line: &str) -> (Form, &str) {
    if let Some(heading) = Heading::parse(line) {
        return (Form { heading: true, indent: 0 }, heading.title);
    }
    let text = line.trim_start();
    (Form { heading: false, indent: line.len() - text.len() }, text)
}

fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let start = text.get(..word.len())?;
    start.eq_ignore_ascii_case(word).then(|| &text[word.len()..])
}

impl Item<'_> {
    /// Puts the lines where their labels say. An entry without words says nothing.
    fn remark(&self) -> Option<Remark> {
        let (first, rest) = self.lines.split_first()?;
        let tags = Tags::peel(first);
        let mut focus = tags.focus;
        let mut parts: [Vec<&str>; 3] = Default::default();
        let mut at = 0;
        for line in std::iter::once(&tags.rest).chain(rest) {
            let line = match labelled(line) {
                Some((Part::Focus, word)) => {
                    focus = focus.or_else(|| FocusArea::parse(plain(word)));
                    continue;
                }
                Some((Part::Concern, text)) => {
                    at = at.max(1);
                    text
                }
                Some((Part::Revision, text)) => {
                    at = 2;
                    text
                }
                None => line,
            };
            let (before, revision) = if at < 2 { split_at_revision(line) } else { (line, None) };
            parts[at].push(before);
            if let Some(revision) = revision {
                at = 2;
                parts[at].push(revision);
            }
        }
        let [lead, concern, revision] = parts.map(|lines| lines.join("\n").trim().to_owned());
        let title = title(if plain(&lead).is_empty() { &concern } else { &lead });
        let concern = match (plain(&lead).is_empty(), concern.is_empty()) {
            (true, _) => concern,
            (false, true) => lead,
            // The first line is the title; all other text before the label is kept.
            (false, false) if !lead.contains('\n') && title == without_emphasis(&lead) => concern,
            (false, false) => format!("{lead}\n{concern}"),
        };
        let scope = if tags.out_of_scope { FindingScope::Out } else { self.scope };
        let said = !plain(&concern).is_empty() || !plain(&revision).is_empty();
        let revision = Some(revision).filter(|text| !plain(text).is_empty());
        said.then_some(Remark { scope, focus, title, concern, revision })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // Reviewers like to put the point in bold, or to begin with a name in code.
    #[test]
    fn emphasis_after_a_tag_belongs_to_the_words() {
        for (line, concern) in [
            ("1. [security] **`export` leaks.** It does.", "**`export` leaks.** It does."),
            ("1. **[security]** `export` leaks.", "`export` leaks."),
            ("1. `[security]`: **It leaks**", "**It leaks**"),
        ] {
            let found = remarks(line).unwrap();
            assert_eq!(found[0].concern, concern);
            assert_eq!(found[0].focus, Some(FocusArea::Security));
        }
    }

    /// Scope, focus area, title, concern, revision; `-` for a missing value.
    fn shown(answer: &str) -> Vec<String> {
        let show = |remark: &Remark| {
            format!(
                "{:?} {} | {} | {} | {}",
                remark.scope,
                remark.focus.map_or("-", FocusArea::word),
                remark.title,
                remark.concern.replace('\n', "/"),
                remark.revision.as_deref().unwrap_or("-").replace('\n', "/")
            )
        };
        remarks(answer).unwrap().iter().map(show).collect()
    }

    // P-252
    #[test]
    fn a_numbered_list_is_a_list_of_remarks() {
        let answer = "I read the plan.\n\n\
            1. [correctness] A cap of zero is undefined. Suggested revision: add a rule.\n\
            2. [OUT_OF_SCOPE] [architecture] The downloader has none, src/d.rs:4-9.\n\
            3. **[security] [OUT_OF_SCOPE]** Tokens are logged.\n";
        assert_eq!(
            shown(answer),
            [
                "In correctness | A cap of zero is undefined | A cap of zero is undefined. | add a \
                 rule.",
                "Out architecture | The downloader has none, src/d.rs:4-9 | The downloader has \
                 none, src/d.rs:4-9. | -",
                "Out security | Tokens are logged | Tokens are logged. | -",
            ]
        );
    }

    // P-252: agents take liberties with the form.
    #[test]
    fn numbers_tags_and_labels_are_found_however_they_are_written() {
        for (answer, expected) in [
            ("1) correctness: x", "In correctness | x | x | -"),
            ("**1.** (Risk/Integration) x", "In risk-integration | x | x | -"),
            ("1. **correctness** — x", "In correctness | x | x | -"),
            ("1. focus-area=security x", "In security | x | x | -"),
            ("1. [focus-area: security] x", "In security | x | x | -"),
            ("1. [OUT_OF_SCOPE, security] x", "Out security | x | x | -"),
            ("1. [P1] x", "In - | [P1] x | [P1] x | -"),
            (
                "### Finding 1: [correctness] Zero\nThe cap.",
                "In correctness | Zero | Zero/The cap. | -",
            ),
            (
                "1. **Zero cap**\n   - **Focus area**: correctness\n   - **Concern**: It is \
                 undefined.\n   - **Suggested revision**: Say so.\n",
                "In correctness | Zero cap | It is undefined. | Say so.",
            ),
            ("1. Concern: x\n   Suggestion: y\n   more", "In - | x | x | y/   more"),
            (
                "1. x\n\n```\n2. code\n```\n   3. sub\n",
                "In - | x | x//```/2. code/```/   3. sub | -",
            ),
            ("1. x\n#### Why\n because", "In - | x | x/#### Why/ because | -"),
            ("- [correctness] x\n  more", "In correctness | x | x/  more | -"),
        ] {
            assert_eq!(shown(answer), [expected], "{answer}");
        }
    }

    // P-254
    #[test]
    fn a_host_has_two_lists() {
        let answer = "## In-scope findings\n\n1. [correctness] a\n2. b\n\n\
                      ## 2. Out-of-Scope Observations\n\n1. c\n";
        assert_eq!(
            shown(answer),
            ["In correctness | a | a | -", "In - | b | b | -", "Out - | c | c | -"]
        );
        let only_out = "**In-scope findings:**\nNone.\n\n**Out-of-scope observations:**\n1. c";
        assert_eq!(shown(only_out), ["Out - | c | c | -"]);
    }

    // P-259
    #[test]
    fn only_exact_words_report_no_issues() {
        for answer in [
            "NO_ISSUES_FOUND",
            "\n  NO_ISSUES_FOUND\n",
            "**NO_ISSUES_FOUND**",
            "`NO_ISSUES_FOUND`.",
            "NO_ISSUES_FOUND\n\nI looked at:\n1. src/a.rs\n2. src/b.rs\n",
        ] {
            assert_eq!(remarks(answer), Ok(Vec::new()), "{answer}");
        }
        for answer in
            ["", "The plan is fine.", "no issues found", "- a bullet\n- another", "1.\n2. **\n"]
        {
            assert_eq!(remarks(answer), Err(NotAReview::NoFinding), "{answer}");
        }
    }

    // P-252: a finding in any kind of list is voted on.
    #[test]
    fn bullets_and_numbers_in_one_answer_all_count() {
        let titles = |answer: &str| -> Vec<String> {
            remarks(answer).unwrap().into_iter().map(|remark| remark.title).collect()
        };
        for (answer, expected) in [
            ("- [correctness] a\n- **[security]** b\n\n1. [code-quality] c\n2. d", "abcd"),
            ("1. [correctness] a\n2. b\n\n- [security] c\n- [OUT_OF_SCOPE] d", "abcd"),
            ("- [correctness] a\n### 1. b\n### 2. c", "abc"),
            ("- correctness: a\n1. b\n- [security] c\n2. d", "abcd"),
            ("- [correctness] a\n  1. first\n  2. second\n- [security] b", "ab"),
        ] {
            assert_eq!(titles(answer).concat(), expected, "{answer}");
        }
        for (answer, expected) in [
            ("1. a\n- b\n- [x] c", "In - | a | a/- b/- [x] c | -"),
            ("1. a\n   - [security] b", "In - | a | a/   - [security] b | -"),
            ("1. a\n- [security]\n- Concern: b", "In - | a | a/- [security]/b | -"),
            ("1. a\n- Focus area: security\n- Concern: b", "In security | a | b | -"),
            ("### 1. a\n- [security] b", "In - | a | a/- [security] b | -"),
        ] {
            assert_eq!(shown(answer), [expected], "{answer}");
        }
    }

    // Text that only resembles a finding does not count.
    #[test]
    fn asides_summaries_and_the_prompt_hold_no_findings() {
        let real = "1. [correctness] The cap of zero is undefined.\n";
        let example = include_str!("prompt/review/findings.md");
        let areas = include_str!("prompt/review/focus-areas.md");
        for answer in [
            format!("<think>\n1. [security] Perhaps it leaks.\n</think>\n{real}"),
            format!("<!--\n1. [security] Perhaps it leaks.\n-->\n{real}"),
            format!("{example}\n{real}"),
            format!("{areas}\n{real}"),
            format!("> 1. [security] As the plan says.\n\n{real}"),
            format!("```\n1. [security] An example.\n```\n{real}"),
            format!("{real}\n## Summary\n\n1. [correctness] The cap is undefined.\n2. Fine.\n"),
            format!("{real}\n**Zusammenfassung**\n- [correctness] Die Grenze null fehlt.\n"),
            format!("## Summary\n1. Zero.\n\n## Findings\n{real}"),
            format!("## Strengths\n1. Good tests.\n\n## Findings\n{real}"),
            format!("What I checked:\n1. src/a.rs\n2. src/b.rs\n\nFindings:\n{real}"),
        ] {
            let found = remarks(&answer).unwrap().into_iter();
            let titles: Vec<_> = found.map(|remark| remark.title).collect();
            assert_eq!(titles, ["The cap of zero is undefined"], "{answer}");
        }
        assert_eq!(remarks(example), Err(NotAReview::NoFinding));
        assert_eq!(remarks(&format!("```markdown\n{real}```\n")).unwrap().len(), 1);
    }

    #[test]
    fn a_table_is_read_if_its_columns_are_clear() {
        let table = "| # | Focus area | Concern | Where | Suggested revision |\n\
                     |---|---|---|---|---|\n\
                     | 1 | correctness | Zero \\| none is undefined. | src/a.rs:4 | Say so. |\n\
                     | 2 | [OUT_OF_SCOPE] security | Tokens are logged. | | |\n";
        assert_eq!(
            shown(table),
            [
                "In correctness | Zero | none is undefined | Zero | none is undefined. (Where: \
                 src/a.rs:4) | Say so.",
                "Out security | Tokens are logged | Tokens are logged. | -",
            ]
        );
        for unclear in [
            "| a | b |\n|---|---|\n| x | y |\n",
            "| Focus | Concern |\n|---|---|\n| great | y |\n",
            "| Concern | Issue | Focus |\n|---|---|---|\n| x | y | security |\n",
        ] {
            assert_eq!(remarks(unclear), Err(NotAReview::UnclearTable), "{unclear}");
        }
        let both = format!("1. [correctness] One.\n\n{table}");
        assert_eq!(remarks(&both), Err(NotAReview::Mixed { listed: 1, rows: 2 }));
        let recap = format!("1. [correctness] One.\n2. Two.\n\n{table}");
        assert_eq!(remarks(&recap).unwrap().len(), 2);
    }

    #[test]
    fn nothing_to_report_may_be_said_last_if_nothing_contradicts() {
        assert_eq!(remarks("I read src/a.rs.\n\nNO_ISSUES_FOUND"), Ok(Vec::new()));
        let looked_at = "I looked at:\n1. src/a.rs\n2. src/b.rs\n\nNO_ISSUES_FOUND\n";
        assert_eq!(remarks(looked_at), Err(NotAReview::Contradiction));
        let marked = "1. [correctness] Zero.\n\nNO_ISSUES_FOUND\n";
        assert_eq!(remarks(marked).unwrap().len(), 1);
        assert!(second_thoughts(marked).is_some());
        assert_eq!(remarks("```\nNO_ISSUES_FOUND\n```\nwords"), Err(NotAReview::NoFinding));
    }

    #[test]
    fn a_title_is_short() {
        let long = format!("1. {}", "word ".repeat(100));
        let title = &remarks(&long).unwrap()[0].title;
        assert!(title.chars().count() <= 81 && title.ends_with("word\u{2026}"), "{title}");
        assert_eq!(remarks("1. **Zero: cap.** Is undefined. So.").unwrap()[0].title, "Zero: cap");
    }

    #[test]
    fn a_hundred_thousand_findings_are_read() {
        let answer = "1. [correctness] x Suggested revision: y\n".repeat(100_000);
        assert_eq!(remarks(&answer).unwrap().len(), 100_000);
        let one = format!("1. {}", "[(*_`: ".repeat(100_000));
        assert_eq!(remarks(&one).unwrap().len(), 1);
    }

    // A marked finding counts, regardless of the text before it.
    #[test]
    fn findings_after_all_are_findings() {
        let answer = "NO_ISSUES_FOUND\n\nBut:\n1. [correctness] It is not synced.\n2. I like it.\n\
                      \n### Out-of-Scope Observations\n1. The log grows.\n";
        let titles: Vec<_> =
            remarks(answer).unwrap().into_iter().map(|remark| remark.title).collect();
        assert_eq!(titles, ["It is not synced", "The log grows"]);
        let found = second_thoughts(answer);
        assert_eq!(found, Some(SecondThoughts { counted: 2, passed_over: 1 }));
        assert_eq!(second_thoughts("NO_ISSUES_FOUND"), None);
        assert_eq!(second_thoughts("1. [correctness] It is not synced."), None);
    }

    proptest! {
        // No word of an entry gets lost on the way.
        #[test]
        fn every_word_of_an_entry_is_kept(
            words in prop::collection::vec("[a-z]{6,9}", 1..12),
            breaks in prop::collection::vec(
                prop::sample::select(vec![" ", "\n", "\n\n", "\n- ", " **", "\n   1. ", " Suggested revision: ", "\nConcern: "]),
                12,
            ),
        ) {
            let pieces = words.iter().zip(&breaks).flat_map(|(word, gap)| [word.as_str(), gap]);
            let text: String = pieces.collect();
            let found = remarks(&format!("1. [correctness] {text}")).unwrap();
            prop_assert_eq!(found.len(), 1);
            let remark = &found[0];
            let all = format!("{}\n{}\n{:?}", remark.title, remark.concern, remark.revision);
            for word in &words {
                prop_assert!(all.contains(word), "{word} in {remark:?}");
            }
        }

        #[test]
        fn any_answer_can_be_read(
            answer in "(([0-9]\\.|#{1,3}|[-*]|```|\\[[a-z]{0,8}\\]?|\\[OUT_OF_SCOPE\\]|[a-z:é]{0,5})[ \n]){0,20}|\\PC*",
        ) {
            for remark in remarks(&answer).unwrap_or_default() {
                prop_assert!(!plain(&remark.concern).is_empty() || remark.revision.is_some());
            }
        }
    }
}
