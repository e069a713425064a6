//! Diagrams: whether a mermaid text is safe to publish.
//!
//! Only the kinds of text that broke published diagrams are refused. Whether a diagram is right is
//! for a parser to say, whose words a report can carry.

mod fences;

use std::collections::BTreeSet;
use std::fmt;

use self::fences::diagrams_of_markdown;
use super::quote::is_invisible;
use super::warning::DesignWarning;

/// Why a diagram is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A bar within a node's label.
    PipeInNodeLabel,
    /// A line break in a participant's other name.
    BrInParticipantAlias,
    /// A dollar sign in a participant's other name.
    DollarInParticipantAlias,
    /// Front matter without an end.
    UnclosedFrontmatter,
}

impl Reason {
    /// Returns the token that is reported.
    pub const fn token(self) -> &'static str {
        match self {
            Self::PipeInNodeLabel => "pipe-in-node-label",
            Self::BrInParticipantAlias => "br-in-participant-alias",
            Self::DollarInParticipantAlias => "dollar-in-participant-alias",
            Self::UnclosedFrontmatter => "unclosed-frontmatter",
        }
    }
}

/// The kind of a fence's diagram, by the heading above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Modules and how they relate.
    Architecture,
    /// The order of events.
    CodeFlow,
    /// Neither, or both unsaid.
    Unknown,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Architecture => "architecture",
            Self::CodeFlow => "code-flow",
            Self::Unknown => "unknown",
        })
    }
}

/// One reason to refuse a diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The forbidden construct.
    pub reason: Reason,
    /// In which fence, from 1.
    pub fence: usize,
    /// On which line of it, from 1.
    pub line: usize,
}

/// A diagram that a parser cannot make sense of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// In which fence, from 1.
    pub fence: usize,
    /// The diagram's line, from 1, if the parser names it.
    pub line: Option<usize>,
    /// The parser's words, on one line, with nothing in them that cannot be seen.
    pub words: String,
}

impl Fault {
    /// The token for logs; the parser's words could quote the text.
    const TOKEN: &str = "does-not-parse";
    /// How many characters of the parser's words are kept.
    const WORDS: usize = 300;

    /// Takes a parser's words down. They may quote the diagram, which is untrusted text.
    pub fn new(fence: usize, line: Option<usize>, words: &str) -> Self {
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let hidden = |c: char| c.is_control() || is_invisible(c);
        let mut shown = String::new();
        for (index, c) in words.chars().enumerate() {
            match c {
                _ if index == Self::WORDS => {
                    shown.push('…');
                    break;
                }
                _ if hidden(c) => shown.extend(c.escape_unicode()),
                _ => shown.push(c),
            }
        }
        Self { fence, line, words: shown }
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The reasons for refusing the text; empty if it is safe.
    pub hits: Vec<Hit>,
    /// The parser's findings, if a parser ran.
    pub faults: Vec<Fault>,
    /// How many diagrams there are.
    pub fences: usize,
    /// The kinds of the diagrams; empty for a bare diagram, which has no headings.
    pub kinds: Vec<Kind>,
    /// For every diagram, the line of the text that is its first one, from 1.
    pub first_lines: Vec<usize>,
}

/// A fence that opens a diagram.
const OPENING: &str = "```mermaid";

/// The part of a text to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiagramText {
    /// The diagrams in it if it begins with a diagram's fence, else all of it as one diagram.
    #[default]
    Guessed,
    /// The diagrams in it, which is Markdown.
    Markdown,
    /// The diagrams in it if it holds a diagram's fence anywhere, else all of it as one diagram,
    /// unless it is empty or begins with a mark that no diagram begins with, as a heading does.
    Detected,
}

/// Checks the diagrams of a text.
pub fn check(text: &str, form: DiagramText) -> Report {
    let diagrams = diagrams(text, form);
    let hits = |(index, diagram): (usize, &Diagram<'_>)| hits(&diagram.body, index + 1);
    Report {
        hits: diagrams.iter().enumerate().flat_map(hits).collect(),
        faults: Vec::new(),
        fences: diagrams.len(),
        kinds: diagrams.iter().filter_map(|diagram| diagram.kind).collect(),
        first_lines: diagrams.iter().map(|diagram| diagram.first_line).collect(),
    }
}

/// One diagram of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagram<'a> {
    /// The diagram's kind; `None` for a bare diagram.
    pub kind: Option<Kind>,
    /// Its lines, without those of the fence.
    pub body: Vec<&'a str>,
    /// The line of the text that is the first of them, from 1.
    pub first_line: usize,
}

/// Finds the diagrams of a text, which [`check`] checks.
pub fn diagrams(text: &str, form: DiagramText) -> Vec<Diagram<'_>> {
    let mut first = text.lines().filter(|line| !line.trim().is_empty());
    let bare = || Diagram { kind: None, body: text.lines().collect(), first_line: 1 };
    match form {
        DiagramText::Markdown => diagrams_of_markdown(text),
        DiagramText::Guessed if first.next() == Some(OPENING) => diagrams_of_markdown(text),
        DiagramText::Guessed => vec![bare()],
        DiagramText::Detected => {
            let fenced = diagrams_of_markdown(text);
            let is_bare = fenced.is_empty() && begins_as_diagram(text);
            if is_bare { vec![bare()] } else { fenced }
        }
    }
}

/// Tells whether a bare text can be a diagram: after comments and front matter, the name of a kind
/// of diagram comes first, which begins with a letter.
fn begins_as_diagram(text: &str) -> bool {
    let body: Vec<_> = text.lines().collect();
    let Some(start) = body_start(&body) else { return true };
    body.get(start).is_some_and(|line| line.trim_start().starts_with(char::is_alphabetic))
}

impl Report {
    /// Tells whether the text may be published.
    pub fn is_safe(&self) -> bool {
        self.hits.is_empty() && self.faults.is_empty()
    }

    /// Tells whether the text has the requested form: exactly one diagram.
    pub const fn is_one_diagram(&self) -> bool {
        self.fences == 1
    }

    /// Returns what the rules found as `KEY=VALUE` lines.
    pub fn lines(&self) -> Vec<String> {
        let status = if self.is_safe() { "ok" } else { "rejected" };
        let hit = |hit: &Hit| {
            format!("REASON_TOKEN={} fence={} line={}", hit.reason.token(), hit.fence, hit.line)
        };
        let kind = |(index, kind): (usize, &Kind)| format!("FENCE_{}_HEADING={kind}", index + 1);
        let mut lines = vec![format!("STATUS={status}")];
        lines.extend(self.hits.iter().map(hit));
        lines.push(format!("FENCE_COUNT={}", self.fences));
        lines.extend(self.kinds.iter().enumerate().map(kind));
        lines
    }

    /// Returns the reasons for a log, each once and sorted. Nothing of the text is ever logged.
    pub fn tokens(&self) -> String {
        let reasons = self.hits.iter().map(|hit| hit.reason.token());
        let tokens: BTreeSet<_> = reasons.chain(self.faults.iter().map(|_| Fault::TOKEN)).collect();
        tokens.into_iter().collect::<Vec<_>>().join(" ")
    }

    /// Returns the warning for a diagram that is not published, for the first of its reasons.
    pub fn rejection(&self) -> Option<DesignWarning> {
        let token = self.hits.first()?.reason.token();
        Some(DesignWarning::DiagramRejected { token })
    }

    /// Returns the line of the text that a diagram's line is, both from 1.
    pub fn line_of_text(&self, fence: usize, line: usize) -> Option<usize> {
        Some(self.first_lines.get(fence.checked_sub(1)?)? + line.checked_sub(1)?)
    }

    /// Returns the entry for a log of warnings.
    pub fn log_entry(&self, step: &str) -> Option<String> {
        (!self.is_safe()).then(|| log_entry(step, &self.tokens()))
    }
}

/// Returns the entry for a log of warnings about a text that has no diagram.
pub fn no_diagram_log_entry(step: &str) -> String {
    log_entry(step, "no-diagram")
}

/// Returns the entry for a log of warnings about a text that could not be checked.
pub fn unchecked_log_entry(step: &str) -> String {
    log_entry(step, "internal-error")
}

fn log_entry(step: &str, tokens: &str) -> String {
    // A control character must not forge a line of the log.
    let step = step.replace(char::is_control, " ");
    format!("- **Step {step} — mermaid sanitizer rejected:** {tokens}")
}

/// Checks one diagram.
fn hits(body: &[&str], fence: usize) -> Vec<Hit> {
    let Some(start) = body_start(body) else {
        let line = body.len();
        return vec![Hit { reason: Reason::UnclosedFrontmatter, fence, line }];
    };
    let Some(first) = body.get(start).map(|line| line.trim()) else { return Vec::new() };
    let numbered = body.iter().enumerate().skip(start).map(|(index, line)| (index + 1, *line));
    let is = |word: &str| {
        first
            .strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    };
    if is("flowchart") || is("graph") {
        let mut hit = numbered.filter(|(_, line)| has_pipe_in_label(line));
        let reason = Reason::PipeInNodeLabel;
        return hit.next().map(|(line, _)| Hit { reason, fence, line }).into_iter().collect();
    }
    if first == "sequenceDiagram" {
        let aliases = numbered.filter_map(|(line, text)| Some((line, alias(text)?)));
        return aliases.flat_map(|(line, alias)| alias_hits(alias, fence, line)).collect();
    }
    Vec::new()
}

/// Finds the first line that is neither blank, nor a comment, nor in the front matter; `None` if
/// front matter does not end.
fn body_start(body: &[&str]) -> Option<usize> {
    let skipped = |line: &str| line.trim().is_empty() || line.trim_start().starts_with("%%");
    let next = |from: usize| {
        body[from..].iter().position(|line| !skipped(line)).map_or(body.len(), |ahead| from + ahead)
    };
    let start = next(0);
    if body.get(start).is_none_or(|line| line.trim() != "---") {
        return Some(start);
    }
    let end = body[start + 1..].iter().position(|line| line.trim() == "---")?;
    Some(next(start + end + 2))
}

/// Tells whether a line has a bar within brackets that is not in quotation marks.
fn has_pipe_in_label(line: &str) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for c in line.chars() {
        if quoted {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            '"' if depth > 0 => quoted = true,
            '|' if depth > 0 => return true,
            _ => {}
        }
    }
    false
}

/// Returns a participant's other name: `participant id as alias`.
fn alias(line: &str) -> Option<&str> {
    let (keyword, rest) = line.trim_start().split_once(char::is_whitespace)?;
    let declares = ["participant", "actor"].iter().any(|word| word.eq_ignore_ascii_case(keyword));
    let (_, rest) = rest.trim_start().split_once(char::is_whitespace)?;
    let (word, alias) = rest.trim_start().split_once(char::is_whitespace)?;
    let alias = alias.trim();
    (declares && word.eq_ignore_ascii_case("as") && !alias.is_empty()).then_some(alias)
}

fn alias_hits(alias: &str, fence: usize, line: usize) -> Vec<Hit> {
    let lower = alias.to_ascii_lowercase();
    let broken = ["<br>", "<br/>", "<br />"].iter().any(|tag| lower.contains(tag));
    let broken = broken.then_some(Reason::BrInParticipantAlias);
    let dollar = lower.contains('$').then_some(Reason::DollarInParticipantAlias);
    broken.into_iter().chain(dollar).map(|reason| Hit { reason, fence, line }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::progress::Prefix;
    use super::*;
    use crate::design::progress::Breadcrumbs;
    use crate::design::render::sentence_in;

    fn found(body: &str) -> Vec<(&'static str, usize)> {
        let hits = check(body, DiagramText::Guessed).hits;
        hits.iter().map(|hit| (hit.reason.token(), hit.line)).collect()
    }

    // P-305, P-300, P-309
    #[test]
    fn a_bar_in_a_nodes_label_is_refused() {
        for body in
            ["A[a | b]", "A(a|b)", "A{a|b}", "A((a|b))", "A[\"x\" | b]", "A[a] --> B[[c|d]]"]
        {
            let text = format!("flowchart TD\n{body}\nB[x|y]\n");
            assert_eq!(found(&text), [("pipe-in-node-label", 2)], "{body}");
        }
        assert_eq!(found("graph[a|b]\nA[a|b]"), [], "another kind of diagram");
        assert_eq!(found("graph\nA[a|b]").len(), 1);
        for body in [
            "A -->|text| B",
            "A[\"a | b\"]",
            "A[\"a \\\" | b\"]",
            "A[one<br/>two]",
            "A[cost in $]",
            "A[[deep (er) {est}]] --> B",
            "A] | B",
            "A[open\nB | C",
        ] {
            assert_eq!(found(&format!("graph LR\n{body}\n")), [], "{body}");
        }
    }

    // P-306
    #[test]
    fn a_break_or_a_dollar_in_an_alias_is_refused() {
        let (br, dollar) = ("br-in-participant-alias", "dollar-in-participant-alias");
        for (line, expected) in [
            ("participant A as One<br/>Two", &[br][..]),
            ("participant A as One<BR>Two", &[br]),
            ("participant A as One<br />Two", &[br]),
            ("\tACTOR\tA  \t as\t$x<br>", &[br, dollar]),
            ("actor A as $cost", &[dollar]),
            ("participant A as Plain", &[]),
            ("participant $A", &[]),
            ("A->>B: costs $5<br/>", &[]),
            ("participants A as $x", &[]),
            ("participant A has $x", &[]),
        ] {
            let text = format!("sequenceDiagram\n{line}\n");
            let tokens: Vec<_> = found(&text).into_iter().map(|(token, _)| token).collect();
            assert_eq!(tokens, expected, "{line}");
        }
        let all = "sequenceDiagram\nparticipant A as $\nA->>B: x\nactor B as $\n";
        assert_eq!(found(all), [(dollar, 2), (dollar, 4)], "every hit is reported");
    }

    // P-304
    #[test]
    fn front_matter_hides_nothing() {
        let unsafe_body = "\n%% note\n---\ntitle: x\n---\n\n%% more\ngraph TD\nA[a|b]\n";
        assert_eq!(found(unsafe_body), [("pipe-in-node-label", 9)]);
        assert_eq!(found("---\ntitle: [a|b]\n---\ngraph TD\nA[a]\n"), []);
        assert_eq!(found("---\ntitle: x\ngraph TD\nA[a|b]\n"), [("unclosed-frontmatter", 4)]);
        assert_eq!(found("---"), [("unclosed-frontmatter", 1)]);
    }

    // P-307
    #[test]
    fn other_diagrams_pass_unread() {
        for text in [
            "classDiagram\nA[a|b]\n",
            "flowchartX\nA[a|b]\n",
            "sequenceDiagram x\nactor A as $\n",
            "",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
        assert_eq!(check("prose only\n", DiagramText::Markdown), Report::default());
        assert_eq!(
            check("prose only\n", DiagramText::Markdown).lines(),
            ["STATUS=ok", "FENCE_COUNT=0"]
        );
    }

    // P-298, P-299, P-303
    #[test]
    fn a_report_names_fences_and_reasons_and_no_text() {
        let text = "## Architecture Diagram\n\n```mermaid\ngraph TD\nA-->B\n```\n\n## code flow diagram\n\n\
                    ```mermaid\nsequenceDiagram\nparticipant A as Secret<br/>\n```\n";
        let report = check(text, DiagramText::Markdown);
        assert_eq!(
            report.lines(),
            [
                "STATUS=rejected",
                "REASON_TOKEN=br-in-participant-alias fence=2 line=2",
                "FENCE_COUNT=2",
                "FENCE_1_HEADING=architecture",
                "FENCE_2_HEADING=code-flow",
            ]
        );
        assert_eq!(
            report.log_entry("3b").unwrap(),
            "- **Step 3b — mermaid sanitizer rejected:** br-in-participant-alias"
        );
        assert!(!format!("{report:?}").contains("Secret"));
        let both = check("sequenceDiagram\nactor A as $\nactor B as $<br>\n", DiagramText::Guessed);
        assert_eq!(both.tokens(), "br-in-participant-alias dollar-in-participant-alias");
        assert_eq!(both.lines().len(), 5, "no heading for a bare diagram: {:?}", both.lines());
        assert_eq!(check("graph TD", DiagramText::Guessed).log_entry("3b"), None);
    }

    #[test]
    fn a_parsers_words_are_one_visible_line_and_are_not_logged() {
        let fault = Fault::new(2, None, "got\u{202e} 'Secret'\r\n\tsee \u{1b}[31m");
        assert_eq!(fault.words, r"got\u{202e} 'Secret' see \u{1b}[31m");
        assert_eq!(Fault::new(1, None, &"é".repeat(301)).words, "é".repeat(300) + "…");
        assert_eq!(Fault::new(1, None, &"é".repeat(300)).words, "é".repeat(300));
        let mut report = check("sequenceDiagram\nactor A as $\n", DiagramText::Guessed);
        report.faults.extend([fault.clone(), fault]);
        assert_eq!(report.tokens(), "does-not-parse dollar-in-participant-alias");
        report.hits.clear();
        assert!(!report.is_safe());
        let entry = report.log_entry("3b").unwrap();
        assert_eq!(entry, "- **Step 3b — mermaid sanitizer rejected:** does-not-parse");
    }

    // P-294: the warning names a reason and no text.
    #[test]
    fn a_refused_diagram_is_warned_of() {
        let report = check("graph TD\nA[secret|b]\n", DiagramText::Guessed);
        let rejection = report.rejection().unwrap();
        let alone = sentence_in(rejection.clone(), &Breadcrumbs::default());
        assert_eq!(
            alone,
            "**⚠ 3b: architecture diagram — rejected by mermaid sanitizer \
             (REASON_TOKEN=pipe-in-node-label); proceeding without diagram.**"
        );
        let inside = Breadcrumbs { prefix: Prefix::parse("1.::design plan") };
        let inside = sentence_in(rejection, &inside);
        assert!(inside.starts_with("**⚠ 1.3b: design plan | architecture diagram — "), "{inside}");
        assert_eq!(check("graph TD\n", DiagramText::Guessed).rejection(), None);
    }

    // P-303: the heading is searched in five lines that are not blank, and the later kind is tested
    // first.
    #[test]
    fn a_heading_is_looked_for_in_five_lines() {
        let kind = |before: &str| {
            check(&format!("{before}```mermaid\n```\n"), DiagramText::Markdown).kinds[0]
        };
        assert_eq!(kind("## Architecture Diagram\n\na\nb\n\nc\nd\n"), Kind::Architecture);
        assert_eq!(kind("## Architecture Diagram\na\nb\nc\nd\ne\n"), Kind::Unknown);
        assert_eq!(kind("## Code Flow Diagram\n## Architecture Diagram\n"), Kind::CodeFlow);
        assert_eq!(
            kind("```\n## Architecture Diagram\n```\n"),
            Kind::Unknown,
            "in code it is none"
        );
    }

    // P-301, P-302
    #[test]
    fn fences_are_those_of_back_ticks() {
        for (text, fences, hits) in [
            ("   ```mermaid\ngraph TD\nA[a|b]\n   ```\n", 1, 1),
            ("    ```mermaid\ngraph TD\nA[a|b]\n", 0, 0),
            ("````  mermaid \ngraph TD\n```\nA[a|b]\n````\n", 1, 1),
            ("```mermaid x\ngraph TD\nA[a|b]\n```\n", 0, 0),
            ("```text\n```mermaid\ngraph TD\nA[a|b]\n```\n", 0, 0),
            ("~~~\n```mermaid\ngraph TD\nA[a|b]\n```\n~~~\n", 1, 1),
            ("```mermaid\ngraph TD\nA[a|b]\n", 1, 1),
            ("``` mermaid`\ngraph TD\nA[a|b]\n", 0, 0),
        ] {
            let report = check(text, DiagramText::Markdown);
            assert_eq!((report.fences, report.hits.len()), (fences, hits), "{text}");
        }
        let bare = check("\n```mermaid\ngraph TD\nA[a|b]\n```\n", DiagramText::Guessed);
        assert_eq!((bare.fences, bare.kinds.len()), (1, 1), "Markdown by its first line");
        let other = check(" ```mermaid\ngraph TD\n```\n", DiagramText::Guessed);
        assert_eq!(other.kinds, [], "the line must be exactly that");
    }

    #[test]
    fn a_text_is_markdown_by_any_fence_and_no_diagram_without_a_kind() {
        let fences = |text| check(text, DiagramText::Detected).fences;
        for text in ["graph TD\n", "\n%% x\npie\n", "---\ntitle: x\n---\npie\n", "---\ntitle: x\n"]
        {
            assert_eq!(fences(text), 1, "{text}");
        }
        for text in ["", "\n \n", "# Title\n\nprose\n", "```sh\nls\n```\n", "%% only a comment\n"] {
            assert_eq!(fences(text), 0, "{text}");
        }
        assert_eq!(fences("Prose.\n\n```mermaid\npie\n```\n\n```mermaid\npie\n```\n"), 2);
    }

    #[test]
    fn a_line_of_a_diagram_is_a_line_of_the_text() {
        let text = "prose\n\n```mermaid\ngraph TD\n```\n\n```mermaid\n\ngraph TD\nA[a|b]\n```\n";
        let report = check(text, DiagramText::Detected);
        let hit = report.hits[0];
        let line = report.line_of_text(hit.fence, hit.line).unwrap();
        assert_eq!(text.lines().nth(line - 1), Some("A[a|b]"));
        assert_eq!(report.line_of_text(3, 1), None);
        assert_eq!(report.line_of_text(0, 1), None);
        assert_eq!(check("pie\n", DiagramText::Detected).line_of_text(1, 1), Some(1));
    }

    // P-308
    #[test]
    fn exactly_one_diagram_is_requested() {
        let one = "```mermaid\ngraph TD\n```\n";
        assert!(check(one, DiagramText::Markdown).is_one_diagram());
        assert!(!check("no diagram", DiagramText::Markdown).is_one_diagram());
        assert!(!check(&one.repeat(2), DiagramText::Markdown).is_one_diagram());
    }

    proptest! {
        #[test]
        fn any_text_is_checked(text in any::<String>(), known in "(graph TD|sequenceDiagram|actor A as |```mermaid|```|---|%%|\n|\n|[\\[\\](){}|\"$é\\\\ ]){0,20}") {
            for text in [text, known] {
                for form in [DiagramText::Markdown, DiagramText::Guessed, DiagramText::Detected] {
                    let report = check(&text, form);
                    let lines = text.lines().count();
                    prop_assert!(report.hits.iter().all(|hit| hit.line <= lines && hit.fence <= report.fences));
                    prop_assert!(report.kinds.is_empty() || report.kinds.len() == report.fences);
                }
            }
        }
    }

    #[test]
    fn a_long_diagram_costs_its_length() {
        let text = format!("```mermaid\ngraph TD\n{}```\n", "A[[[[ --> B\n".repeat(100_000));
        assert!(check(&text, DiagramText::Markdown).is_safe());
    }
}
