//! The feature's `.review-history.md`: lines that are added to it, and what is read back.

/// The file's name in a feature's folder.
pub const FILE: &str = ".review-history.md";

const WARNING: &str = "LAZY-LOAD-WARNING: ";
const UNCONFIRMED: &str = "did not confirm artifact reads";

/// The line for a role that did not say that it read.
pub fn unconfirmed(role: &str) -> String {
    format!("{WARNING}{role} {UNCONFIRMED}\n")
}

/// The line for a session that could not be resumed.
pub fn fallback(role: &str, iteration: u32, reason: &str) -> String {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("RESUME-FALLBACK: {role} iteration {iteration} \u{2014} {reason}\n")
}

/// Returns the roles of all warnings in a history, one for each. A line that only talks about
/// warnings is none.
pub fn warnings(history: &str) -> Vec<&str> {
    history.lines().filter_map(warning).collect()
}

fn warning(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let listed = line.strip_prefix(['-', '*']).filter(|rest| rest.starts_with(char::is_whitespace));
    let marked = listed.map_or(line, str::trim_start).trim_start_matches('*');
    let rest = marked.strip_prefix(WARNING)?;
    let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
    let role = rest[..end].trim_end_matches('-');
    let begins = role.starts_with(|c: char| c.is_ascii_lowercase());
    // A name that goes on in other letters is another word.
    let ends = !rest[role.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (begins && ends && rest[role.len()..].contains(UNCONFIRMED)).then_some(role)
}

/// One logged round of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What stands before the number, if anything: the stage.
    pub stage: Option<&'a str>,
    /// Which round.
    pub iteration: u32,
    /// When, as written.
    pub at: &'a str,
    /// Whether it was the final round of an implementation.
    pub is_final: bool,
}

/// Returns the rounds that a history logs.
pub fn entries(history: &str) -> Vec<Entry<'_>> {
    history.lines().filter_map(entry).collect()
}

fn entry(line: &str) -> Option<Entry<'_>> {
    const FINAL: &str = "[FINAL VALIDATION]";
    let title = line.strip_prefix("## ")?.trim();
    let (title, is_final) = match title.strip_suffix(FINAL) {
        Some(rest) => (rest.trim_end(), true),
        None => (title, false),
    };
    let (before, rest) = match title.strip_prefix("Iteration ") {
        Some(rest) => (None, rest),
        None => title.split_once(" - Iteration ").map(|(stage, rest)| (Some(stage), rest))?,
    };
    let (number, at) = rest.split_once(" - ")?;
    let iteration = number.trim().parse().ok()?;
    Some(Entry { stage: before, iteration, at: at.trim(), is_final })
}

#[cfg(test)]
mod tests {
    use super::*;

    // D-50
    #[test]
    fn a_warning_is_one_line() {
        assert_eq!(
            unconfirmed("spec-reviewer"),
            "LAZY-LOAD-WARNING: spec-reviewer did not confirm artifact reads\n"
        );
        assert_eq!(
            fallback("spec-reviewer", 3, "agent_id lost\n(context compaction)"),
            "RESUME-FALLBACK: spec-reviewer iteration 3 \u{2014} agent_id lost (context compaction)\n"
        );
    }

    // D-51
    #[test]
    fn only_genuine_warnings_are_counted() {
        let history = "\
LAZY-LOAD-WARNING: spec-reviewer did not confirm artifact reads
  - LAZY-LOAD-WARNING: plan-reviewer did not confirm artifact reads (iteration 1, fresh dispatch)
* **LAZY-LOAD-WARNING: task-reviewer** did not confirm artifact reads
**LAZY-LOAD-WARNING: phase-reviewer (iteration 2) did not confirm artifact reads**
No LAZY-LOAD-WARNING: x did not confirm artifact reads
The LAZY-LOAD-WARNING count is zero
LAZY-LOAD-WARNING: Spec did not confirm artifact reads
LAZY-LOAD-WARNING: a_b did not confirm artifact reads
LAZY-LOAD-WARNING: implementer confirmed late
-LAZY-LOAD-WARNING: no-blank did not confirm artifact reads
";
        assert_eq!(
            warnings(history),
            ["spec-reviewer", "plan-reviewer", "task-reviewer", "phase-reviewer"]
        );
        assert_eq!(warnings(&unconfirmed("implementer")), ["implementer"]);
    }

    // D-54
    #[test]
    fn rounds_are_read_back() {
        let history = "\
## Spec Review - Iteration 2 - 2026-02-28T10:00:00Z
**Reviewer:** spec-reviewer
---
## Iteration 3 - 2026-03-01T10:00:00Z [FINAL VALIDATION]
## Notes
## Iteration x - y
";
        let (spec, last) = (
            Entry {
                stage: Some("Spec Review"),
                iteration: 2,
                at: "2026-02-28T10:00:00Z",
                is_final: false,
            },
            Entry { stage: None, iteration: 3, at: "2026-03-01T10:00:00Z", is_final: true },
        );
        assert_eq!(entries(history), [spec, last]);
    }
}
