//! The feature's `.review-history.md`: the lines that Convoke adds, and how it reads them back.

use std::collections::BTreeMap;

use crate::text::fitting;

/// The file's name in a feature's folder.
pub const FILE: &str = ".review-history.md";

/// A line of a history is read by people, and an error may be a whole page; in columns.
const MAX_REASON: usize = 300;

const FALLBACK: &str = "RESUME-FALLBACK: ";
const WARNING: &str = "LAZY-LOAD-WARNING: ";
const UNCONFIRMED: &str = "did not confirm artifact reads";

/// Returns the line for a role that did not confirm its reading.
pub fn unconfirmed(role: &str) -> String {
    format!("{WARNING}{role} {UNCONFIRMED}\n")
}

/// The line for a session that could not be resumed. Of a long error the beginning is kept.
pub fn fallback(role: &str, iteration: u32, reason: &str) -> String {
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    let words: Vec<_> = reason.split(is_blank).filter(|word| !word.is_empty()).collect();
    let reason = fitting(&words.join(" "), MAX_REASON);
    format!("{FALLBACK}{role} iteration {iteration} \u{2014} {reason}\n")
}

/// Returns the roles of all warnings in a history, one for each. A line that only mentions warnings
/// does not count.
pub fn warnings(history: &str) -> Vec<&str> {
    history.lines().filter_map(warning).collect()
}

fn warning(line: &str) -> Option<&str> {
    let (role, rest) = marked(line, WARNING)?;
    rest.contains(UNCONFIRMED).then_some(role)
}

/// Returns the roles of all sessions that could not be resumed, one for each.
pub fn fallbacks(history: &str) -> Vec<&str> {
    let fallback = |line| {
        let (role, rest) = marked(line, FALLBACK)?;
        let number = rest.trim_start().strip_prefix("iteration ")?;
        number.starts_with(|c: char| c.is_ascii_digit()).then_some(role)
    };
    history.lines().filter_map(fallback).collect()
}

/// Returns the role that a marked line is about, and what follows it.
fn marked<'a>(line: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let line = line.trim_start();
    let listed = line.strip_prefix(['-', '*']).filter(|rest| rest.starts_with(char::is_whitespace));
    let bare = listed.map_or(line, str::trim_start).trim_start_matches('*');
    role(bare.strip_prefix(mark)?)
}

/// Reads a role's name, such as `spec-reviewer`, from the start of a text.
fn role(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(text.len());
    let role = text[..end].trim_end_matches('-');
    let rest = &text[role.len()..];
    let begins = role.starts_with(|c: char| c.is_ascii_lowercase());
    // A name that continues in other letters is another word.
    let ends = !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (begins && ends).then_some((role, rest))
}

/// One logged round of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRound<'a> {
    /// The stage before the number, if there is one.
    pub stage: Option<&'a str>,
    /// The round, as its heading numbers it.
    pub iteration: u32,
    /// The time as written; empty if the entry has none.
    pub at: &'a str,
    /// Whether it was the final round of an implementation.
    pub is_final: bool,
}

/// Returns the rounds that a history logs.
pub fn entries(history: &str) -> Vec<LoggedRound<'_>> {
    history.lines().filter_map(entry).collect()
}

/// Reads `## Design Review - Iteration 2 (cap) - 2026-02-28T10:00:00Z [FINAL VALIDATION]`. The stage,
/// the dash before the number, and remarks in brackets may be missing.
fn entry(line: &str) -> Option<LoggedRound<'_>> {
    const WORD: &str = "Iteration ";
    let title = line.strip_prefix("### ").or_else(|| line.strip_prefix("## "))?.trim();
    let start = title.find(WORD)?;
    let (stage, rest) = (&title[..start], &title[start + WORD.len()..]);
    if !stage.is_empty() && !stage.ends_with(char::is_whitespace) {
        return None;
    }
    let stage = stage.trim_end().trim_end_matches(['-', '\u{2013}', '\u{2014}']).trim_end();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let iteration = rest[..digits].parse().ok()?;
    let tagged = rest[digits..].trim_start();
    let rest = without_tags(tagged);
    let at = match rest.strip_prefix(['-', '\u{2013}', '\u{2014}']) {
        Some(at) => at.trim(),
        None if rest.is_empty() => "",
        // It only talks about a round.
        None => return None,
    };
    let at = at.split(['[', '(']).next().unwrap_or_default().trim();
    let is_final = title.to_ascii_uppercase().contains("[FINAL VALIDATION]");
    Some(LoggedRound {
        stage: Some(stage).filter(|stage| !stage.is_empty()),
        iteration,
        at,
        is_final,
    })
}

/// Takes off remarks in brackets.
fn without_tags(text: &str) -> &str {
    let mut rest = text;
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((_, behind)) =
            rest.strip_prefix(open).and_then(|inside| inside.split_once(close))
        {
            rest = behind.trim_start();
        }
    }
    rest
}

/// Totals of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HistoryCounts {
    /// Rounds that were logged.
    pub rounds: u64,
    /// Warnings that a role did not confirm.
    pub warnings: u64,
    /// Sessions that could not be resumed.
    pub fallbacks: u64,
}

impl HistoryCounts {
    /// Adds up.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            rounds: self.rounds + other.rounds,
            warnings: self.warnings + other.warnings,
            fallbacks: self.fallbacks + other.fallbacks,
        }
    }

    /// Returns the share of warnings in tenths of a percent of the rounds. Histories log mostly
    /// rounds that failed, so it is an upper bound.
    pub fn per_mille(self) -> Option<u64> {
        (self.warnings * 1000).checked_div(self.rounds)
    }
}

/// Counts a history, and each role in it. A round of an implementation has several roles.
pub fn count(history: &str) -> (HistoryCounts, BTreeMap<String, HistoryCounts>) {
    let mut roles: BTreeMap<String, HistoryCounts> = BTreeMap::new();
    let (warnings, fallbacks) = (warnings(history), fallbacks(history));
    for role in &warnings {
        roles.entry((*role).to_owned()).or_default().warnings += 1;
    }
    for role in &fallbacks {
        roles.entry((*role).to_owned()).or_default().fallbacks += 1;
    }
    let mut is_round = false;
    let mut rounds = 0;
    for line in history.lines() {
        if line.starts_with("## ") || line.starts_with("### ") {
            is_round = entry(line).is_some();
            rounds += u64::from(is_round);
        } else if let Some(role) = reviewer(line).filter(|_| is_round) {
            roles.entry(role.to_owned()).or_default().rounds += 1;
        }
    }
    let all = HistoryCounts {
        rounds,
        warnings: warnings.len() as u64,
        fallbacks: fallbacks.len() as u64,
    };
    (all, roles)
}

/// Returns the reviewer that a line of a round names, unless it was left out.
fn reviewer(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("**Reviewer:**") {
        return role(rest.trim_start()).map(|(role, _)| role);
    }
    let labels = [
        ("**Implementation Review:**", "implementation-reviewer"),
        ("**Quality Review:**", "code-quality-reviewer"),
        ("**Security Review:**", "security-reviewer"),
    ];
    labels.into_iter().find_map(|(label, role)| {
        let said = line.strip_prefix(label)?.trim_start();
        (!said.starts_with("Skipped")).then_some(role)
    })
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
        let long =
            fallback("spec-reviewer", 3, &format!("HTTP 400: {}\u{1b}[2J", "x ".repeat(9999)));
        assert!(long.contains("HTTP 400: x x") && long.len() < 400 && !long.contains('\u{1b}'));
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
            LoggedRound {
                stage: Some("Spec Review"),
                iteration: 2,
                at: "2026-02-28T10:00:00Z",
                is_final: false,
            },
            LoggedRound { stage: None, iteration: 3, at: "2026-03-01T10:00:00Z", is_final: true },
        );
        assert_eq!(entries(history), [spec, last]);
    }

    // D-54: the headings that real histories have, and some that only talk of rounds.
    #[test]
    fn a_heading_with_a_number_is_a_round() {
        for (line, stage, iteration, at, is_final) in [
            ("## Task Review Iteration 1 - T", Some("Task Review"), 1, "T", false),
            ("### Iteration 2 - T", None, 2, "T", false),
            (
                "## Step 2: Chain Review Iteration 5 (CAP REACHED) - T",
                Some("Step 2: Chain Review"),
                5,
                "T",
                false,
            ),
            ("## Iteration 3 (final validation) - T [FINAL VALIDATION]", None, 3, "T", true),
            ("## Iteration 3 [FINAL VALIDATION] - T", None, 3, "T", true),
            (
                "## Plan Review \u{2014} Iteration 4 \u{2014} T (opus)",
                Some("Plan Review"),
                4,
                "T",
                false,
            ),
            ("## Iteration 7", None, 7, "", false),
        ] {
            let expected = LoggedRound { stage, iteration, at, is_final };
            assert_eq!(entry(line), Some(expected), "{line}");
        }
        for line in [
            "## Why Iteration 2 failed",
            "## Final Validation \u{2014} Skipped (iteration cap reached)",
            "## Reiteration 2 - T",
            "Iteration 2 - T",
            "# Iteration 2 - T",
            "## Iteration two - T",
            "## Iteration 99999999999 - T",
        ] {
            assert_eq!(entry(line), None, "{line}");
        }
    }

    // D-53, D-54, D-68
    #[test]
    fn rounds_are_counted_by_role() {
        let history = "\
## Spec Review - Iteration 1 - T
**Reviewer:** spec-reviewer (skeptic)
LAZY-LOAD-WARNING: spec-reviewer did not confirm artifact reads
## Iteration 2 - T
**Implementation Review:** Approved
**Quality Review:** Issues found
**Security Review:** Skipped (passed iter 1)
RESUME-FALLBACK: code-quality-reviewer iteration 2 \u{2014} agent_id lost (context compaction)
- no RESUME-FALLBACK: x iteration 1 was written
RESUME-FALLBACK: y was not written
## Notes
**Reviewer:** phase-reviewer
";
        let (all, roles) = count(history);
        assert_eq!(all, HistoryCounts { rounds: 2, warnings: 1, fallbacks: 1 });
        assert_eq!(all.per_mille(), Some(500));
        let roles: Vec<_> = roles
            .iter()
            .map(|(role, counts)| {
                format!("{role} {} {} {}", counts.rounds, counts.warnings, counts.fallbacks)
            })
            .collect();
        let expected =
            ["code-quality-reviewer 1 0 1", "implementation-reviewer 1 0 0", "spec-reviewer 1 1 0"];
        assert_eq!(roles, expected);
    }
}
