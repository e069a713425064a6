//! The prompt of a resumed session: what changed, and nothing that it already has.

use super::issue_list::list;
use super::review::Issue;

/// The wording of a resumed prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wording {
    /// As it was designed.
    #[default]
    Seed,
    /// As it was built later.
    G2,
}

impl Wording {
    /// Both wordings.
    pub const ALL: [Self; 2] = [Self::Seed, Self::G2];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::G2 => "g2",
        }
    }

    /// Returns the wording that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wording| wording.name() == name)
    }
}

/// Everything a resumed prompt is made of.
#[derive(Debug, Clone, Copy)]
pub struct ResumedPromptParts<'a> {
    /// The round that the prompt begins, from one.
    pub iteration: u32,
    /// The last round that there may be.
    pub max: u32,
    /// What the author did about the issues.
    pub summary: &'a str,
    /// The changes, file by file; empty where only one file counts.
    pub stat: &'a str,
    /// The changes.
    pub diff: &'a str,
    /// The form of the answer.
    pub returns: &'a str,
}

const SUMMARY_MISSING: &str = "(none given)";

/// Renders the prompt of a reviewer's next round.
pub fn review(parts: &ResumedPromptParts<'_>, wording: Wording) -> String {
    let ResumedPromptParts { iteration, max, returns, .. } = parts;
    let (summary, changes) = (summary(parts), changes(parts));
    let returns = returns.trim_matches('\n');
    match wording {
        Wording::Seed => format!(
            "Review iteration {iteration} of {max}. You already have the upstream artifacts\n\
             in context from your previous review.\n\n\
             ## Changes Since Last Review\n\
             The following changes were made to address your previous issues:\n\n\
             ### Fix Summary\n{summary}\n\n### Diff\n{}\n\n\
             Review ONLY the changes above. Assess whether your previous issues\n\
             are resolved and check for new issues introduced by the fixes.\n\n{returns}\n",
            fenced(&changes)
        ),
        Wording::G2 => format!(
            "You already have the upstream artifacts in context from your previous review.\n\n\
             ## Delta\n{changes}\n\n## Fix Summary\n{summary}\n\n\
             Review the changes above. Assess whether your previous issues\n\
             are resolved and check for new issues introduced by the fixes.\n\n\
             This is iteration {iteration} of {max}.\n\n{returns}\n"
        ),
    }
}

/// Renders the prompt of the final round, for a reviewer that has passed before.
pub fn final_validation(parts: &ResumedPromptParts<'_>) -> String {
    let ResumedPromptParts { iteration, max, returns, .. } = parts;
    let changes = changes(parts);
    let changes =
        if changes.is_empty() { "Nothing has changed.".to_owned() } else { fenced(&changes) };
    format!(
        "You already have the upstream artifacts in context from your previous review.\n\n\
         ## Changes Since Your Last Review\n{changes}\n\n\
         Do a full regression check: look at everything you approved before in the light of\n\
         these changes, not only at the changes themselves.\n\n\
         This is the final validation round (iteration {iteration} of {max}).\n\n{}\n",
        returns.trim_matches('\n')
    )
}

/// Renders the prompt of an implementer's next fix round.
pub fn fix(issues: &[Issue], changed: &[String], files: &[String]) -> String {
    let section = |heading: &str, lines: &str| {
        if lines.is_empty() { String::new() } else { format!("\n\n## {heading}\n{lines}") }
    };
    format!(
        "Fix the following review issues. You already have the upstream artifacts in context.{}{}{}\n",
        section("Issues to fix (from failed reviewers only)", &list(issues)),
        section("Changed files to re-read", &changed.join("\n")),
        section("Implementation Files", &files.join("\n")),
    )
}

fn summary<'a>(parts: &ResumedPromptParts<'a>) -> &'a str {
    let summary = parts.summary.trim_matches(['\r', '\n']);
    if summary.is_empty() { SUMMARY_MISSING } else { summary }
}

fn changes(parts: &ResumedPromptParts<'_>) -> String {
    let both = [parts.stat, parts.diff].map(|text| text.trim_end_matches(['\r', '\n']));
    both.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Puts a text into a fence that nothing in it can close.
pub(super) fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::super::review::Severity;
    use super::*;

    fn parts() -> ResumedPromptParts<'static> {
        ResumedPromptParts {
            iteration: 2,
            max: 5,
            summary: "Named a number.\n",
            stat: " spec.md | 2 +-\n",
            diff: "-old\n+new\n",
            returns: "RETURNS\n",
        }
    }

    // D-65
    #[test]
    fn a_reviewers_prompt_shows_the_changes() {
        assert_eq!(
            review(&parts(), Wording::Seed),
            "\
Review iteration 2 of 5. You already have the upstream artifacts
in context from your previous review.

## Changes Since Last Review
The following changes were made to address your previous issues:

### Fix Summary
Named a number.

### Diff
```
 spec.md | 2 +-
-old
+new
```

Review ONLY the changes above. Assess whether your previous issues
are resolved and check for new issues introduced by the fixes.

RETURNS
"
        );
    }

    // D-65: nothing in a diff closes its fence.
    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let diff = "+```rust\n+````\n";
        let prompt = review(&ResumedPromptParts { diff, stat: "", ..parts() }, Wording::Seed);
        assert!(prompt.contains("### Diff\n`````\n+```rust\n+````\n`````\n\n"), "{prompt}");
    }

    // D-65: the later wording.
    #[test]
    fn the_later_wording_puts_the_delta_first() {
        let prompt = review(&parts(), Wording::G2);
        let marks =
            ["## Delta\n spec.md", "## Fix Summary\n", "This is iteration 2 of 5.\n\nRETURNS\n"];
        let places: Vec<_> = marks.iter().map(|mark| prompt.find(mark).unwrap()).collect();
        assert!(places.is_sorted() && !prompt.contains("ONLY") && !prompt.contains("```"));
    }

    // D-65: the final round.
    #[test]
    fn the_final_round_asks_for_everything_again() {
        let prompt = final_validation(&parts());
        assert!(prompt.contains("## Changes Since Your Last Review\n```\n"), "{prompt}");
        let line = "This is the final validation round (iteration 2 of 5).\n\nRETURNS\n";
        assert!(prompt.ends_with(line), "{prompt}");
        let same = final_validation(&ResumedPromptParts { stat: "", diff: "", ..parts() });
        assert!(same.contains("Nothing has changed."), "{same}");
    }

    // D-66
    #[test]
    fn a_fix_round_has_no_artifacts() {
        let issue = Issue {
            severity: Severity::Warning,
            category: None,
            description: "x".to_owned(),
            location: None,
            suggestion: None,
        };
        let prompt = fix(&[issue], &["a.rs".to_owned()], &["a.rs".to_owned(), "b.rs".to_owned()]);
        assert!(
            prompt.contains("\n\n## Issues to fix (from failed reviewers only)\n- [warning] x\n")
        );
        assert!(prompt.ends_with(
            "## Changed files to re-read\na.rs\n\n## Implementation Files\na.rs\nb.rs\n"
        ));
        assert!(!prompt.contains("Required Artifacts"), "{prompt}");
    }
}
