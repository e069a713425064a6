//! Two texts line by line, and which finding a change belongs to.

use convoke_service::run::PlanVersionReport;
use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use crate::markdown::plain;

/// How many lines around a change are shown.
const CONTEXT: usize = 3;

/// The most lines of a text that is compared. The time grows with the square of the differences.
const MOST_LINES: usize = 4000;

/// A changed place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffHunk {
    /// The lines of the place.
    pub lines: Vec<DiffLine>,
}

/// A line of a changed place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// What happened to it.
    pub change: LineChange,
    /// Its number in the text before, from 1.
    pub before: Option<usize>,
    /// Its number in the text after.
    pub after: Option<usize>,
    /// The line without its end.
    pub text: String,
}

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineChange {
    /// It is in both texts.
    Kept,
    /// It is only in the text before.
    Removed,
    /// It is only in the text after.
    Added,
}

/// Compares two texts; nothing if one is too long for it.
pub fn hunks(before: &str, after: &str) -> Option<Vec<DiffHunk>> {
    let is_long = |text: &str| text.lines().nth(MOST_LINES).is_some();
    if is_long(before) || is_long(after) {
        return None;
    }
    let diff = TextDiff::from_lines(before, after);
    let line = |change: similar::Change<&str>| DiffLine {
        change: match change.tag() {
            ChangeTag::Equal => LineChange::Kept,
            ChangeTag::Delete => LineChange::Removed,
            ChangeTag::Insert => LineChange::Added,
        },
        before: change.old_index().map(|index| index + 1),
        after: change.new_index().map(|index| index + 1),
        text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
    };
    let groups = diff.grouped_ops(CONTEXT);
    let hunk = |group: &Vec<similar::DiffOp>| DiffHunk {
        lines: group.iter().flat_map(|op| diff.iter_changes(op)).map(line).collect(),
    };
    Some(groups.iter().map(hunk).collect())
}

/// The finding or decision that a change belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeLink {
    /// The plan was revised for this alone.
    Only(String),
    /// The changed lines name these.
    Named(Vec<String>),
    /// The plan was revised for all of these, and no fact says which of them changed this place.
    NotLinked(Vec<String>),
    /// A person's answers about the plan.
    Interview,
}

impl ChangeLink {
    /// Links a change, as far as the facts say: the reason of the revision, and ids in its lines.
    pub fn of(hunk: &DiffHunk, version: &PlanVersionReport) -> Self {
        if version.cause == "interview" {
            return Self::Interview;
        }
        if let [only] = version.matters.as_slice() {
            return Self::Only(only.clone());
        }
        let is_named = |id: &&String| hunk.lines.iter().any(|line| line.names(id));
        let named: Vec<_> = version.matters.iter().filter(is_named).cloned().collect();
        if named.is_empty() { Self::NotLinked(version.matters.clone()) } else { Self::Named(named) }
    }

    fn words(&self) -> Markup {
        let list = |ids: &[String]| {
            html! {
                @for (place, id) in ids.iter().enumerate() {
                    @if place > 0 { ", " }
                    (matter_link(id))
                }
            }
        };
        match self {
            Self::Only(id) => {
                html! { "for " (matter_link(id)) ", the only reason of this revision" }
            }
            Self::Named(ids) => html! { "for " (list(ids)) ", which the changed lines name" },
            Self::NotLinked(ids) if ids.is_empty() => html! { "not linked to a finding" },
            Self::NotLinked(ids) => html! { "not linked: the revision was for " (list(ids)) },
            Self::Interview => html! { "for a person's answers about the plan" },
        }
    }
}

impl DiffLine {
    /// Tells whether an added line names an id.
    fn names(&self, id: &str) -> bool {
        self.change == LineChange::Added && names_id(&self.text, id)
    }
}

/// Tells whether a text names an id, and not only a longer one.
pub(crate) fn names_id(text: &str, id: &str) -> bool {
    let is_whole =
        |(at, _): (usize, &str)| !text[at + id.len()..].starts_with(|c: char| c.is_ascii_digit());
    text.match_indices(id).any(is_whole)
}

/// The words in place of findings that a report leaves out.
pub(crate) const WITHHELD: &str = "a withheld finding";

/// Returns a link to a finding or decision on the same page; what is left out has no place there.
pub fn matter_link(id: &str) -> Markup {
    html! { @if id == WITHHELD { (id) } @else { a href={ "#" (id) } { (id) } } }
}

/// Shows how a plan became the next one.
pub fn changes(before: &str, version: &PlanVersionReport) -> Markup {
    let Some(hunks) = hunks(before, &version.text) else {
        return html! {
            p.soft { "The plan has more than " (MOST_LINES) " lines, so Convoke does not compare it." }
        };
    };
    html! {
        @if hunks.is_empty() { p.soft { "No line changed." } }
        @for hunk in &hunks {
            figure.change {
                figcaption { "Change " (ChangeLink::of(hunk, version).words()) }
                (table(hunk))
            }
        }
    }
}

fn table(hunk: &DiffHunk) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Changed lines" {
            table.diff {
                thead.hidden {
                    tr {
                        th scope="col" { "line before" }
                        th scope="col" { "line after" }
                        th scope="col" { "change" }
                        th scope="col" { "text" }
                    }
                }
                tbody {
                    @for line in &hunk.lines {
                        tr class=(class(line.change)) {
                            td.number { (count(line.before)) }
                            td.number { (count(line.after)) }
                            td.sign { (sign(line.change)) }
                            td.line { (plain(&line.text)) }
                        }
                    }
                }
            }
        }
    }
}

fn count(number: Option<usize>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

const fn class(change: LineChange) -> &'static str {
    match change {
        LineChange::Kept => "kept",
        LineChange::Removed => "removed",
        LineChange::Added => "added",
    }
}

/// Returns the mark of a change, for readers who do not see its colour.
fn sign(change: LineChange) -> Markup {
    match change {
        LineChange::Kept => html! { span.hidden { "unchanged" } },
        LineChange::Removed => html! { span aria-hidden="true" { "−" } span.hidden { "removed" } },
        LineChange::Added => html! { span aria-hidden="true" { "+" } span.hidden { "added" } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(cause: &'static str, matters: &[&str], text: &str) -> PlanVersionReport {
        let matters = matters.iter().map(|&id| id.to_owned()).collect();
        PlanVersionReport { cause, matters, text: text.to_owned() }
    }

    fn shown(hunks: &[DiffHunk]) -> String {
        let line = |line: &DiffLine| {
            let mark = match line.change {
                LineChange::Kept => ' ',
                LineChange::Removed => '-',
                LineChange::Added => '+',
            };
            format!("{mark}{}\n", line.text)
        };
        let hunk = |hunk: &DiffHunk| hunk.lines.iter().map(line).collect::<String>();
        hunks.iter().map(hunk).collect::<Vec<_>>().join("…\n")
    }

    #[test]
    fn changes_have_context_and_line_numbers() {
        let before = (1..=30).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat();
        let after = before.replace("line 3\n", "line three\n").replace("line 25\n", "");
        let hunks = hunks(&before, &after).unwrap();
        assert_eq!(
            shown(&hunks),
            " line 1\n line 2\n-line 3\n+line three\n line 4\n line 5\n line 6\n…\n \
             line 22\n line 23\n line 24\n-line 25\n line 26\n line 27\n line 28\n"
        );
        let removed =
            hunks[1].lines.iter().find(|line| line.change == LineChange::Removed).unwrap();
        assert_eq!((removed.before, removed.after), (Some(25), None));
    }

    // Only the facts of the run and an id in the changed text link a change.
    #[test]
    fn a_change_is_linked_only_where_facts_say_so() {
        let link = |version: &PlanVersionReport| {
            let hunks = hunks("a\nb\n", &version.text).unwrap();
            ChangeLink::of(&hunks[0], version)
        };
        let only = version("accepted", &["FINDING_2"], "a\nc\n");
        assert_eq!(link(&only), ChangeLink::Only("FINDING_2".to_owned()));
        let many = version("accepted", &["FINDING_1", "FINDING_12"], "a\nc\n");
        assert_eq!(link(&many), ChangeLink::NotLinked(many.matters.clone()));
        let named = version("accepted", &["FINDING_1", "FINDING_12"], "a\nc (FINDING_12)\n");
        assert_eq!(link(&named), ChangeLink::Named(vec!["FINDING_12".to_owned()]));
        assert_eq!(link(&version("interview", &[], "a\nc\n")), ChangeLink::Interview);
    }

    #[test]
    fn a_very_long_plan_is_not_compared() {
        assert!(hunks(&"x\n".repeat(MOST_LINES + 1), "").is_none());
        assert!(hunks(&"x\n".repeat(MOST_LINES), "").is_some());
    }
}
