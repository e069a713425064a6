//! The next action of the orchestrator: by deeds, or from a message as the original does.

use super::WakeFacts;
use super::deeds::{self, NextActionRule};
use crate::skill::SkillId;
use crate::task::outline::{TaskOutline, reviewer};
use crate::task::tree::TaskNode;

/// The result of the work that a message reports on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkOutcome {
    /// It has to be done again.
    Fail,
    /// It is done.
    Pass,
    /// The message does not tell.
    Unknown,
}

impl WorkOutcome {
    /// Reads a message. Bad news wins over good: "approved" beside "not compliant" is no approval.
    pub fn of(message: &str) -> Self {
        const BAD: [&str; 8] = [
            "issue found",
            "issues found",
            "❌",
            "not compliant",
            "not spec compliant",
            "needs revision",
            "needs changes",
            "needs work",
        ];
        const GOOD: [&str; 6] =
            ["approved", "all requirements met", "no issues", "✅", "passed", "compliant"];
        let words = message.to_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
        if says(&BAD) || has_word_starting(&words, "fail") || has_word_starting(&words, "reject") {
            Self::Fail
        } else if says(&GOOD) {
            Self::Pass
        } else {
            Self::Unknown
        }
    }
}

fn has_word_starting(words: &str, start: &str) -> bool {
    words
        .match_indices(start)
        .any(|(at, _)| !words[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Renders the text below "Your Next Action".
pub(super) fn render(facts: &WakeFacts<'_>) -> String {
    match facts.known.rule {
        NextActionRule::Deeds => deeds::render(facts),
        NextActionRule::Seed => by_words(facts),
    }
}

/// Renders the line under the task list.
pub(super) fn line(facts: &WakeFacts<'_>, outline: &TaskOutline<'_>) -> Option<String> {
    match facts.known.rule {
        NextActionRule::Deeds => deeds::line(facts, outline),
        NextActionRule::Seed => outline.next_action(),
    }
}

/// Renders the original's sentence and numbered list, by the words of the message.
fn by_words(facts: &WakeFacts<'_>) -> String {
    let skill = facts.skill.id.as_ref().map_or("current", |id| id.bare());
    let go_on = format!("Continue with the {skill} workflow");
    let outline = facts.outline.as_ref();
    let leaf = outline.and_then(TaskOutline::leaf);
    let (sentence, mut steps) = match (&facts.message, outline.zip(leaf)) {
        (Some(message), Some((outline, leaf))) => {
            after_message(WorkOutcome::of(&message.content), outline, leaf, facts)
        }
        (Some(_), None) => ("Read the new message and decide.".to_owned(), Vec::new()),
        (None, Some((outline, _))) => {
            let action = outline.next_action().unwrap_or_default();
            let action = action.trim_end_matches('.').to_owned();
            ("There is no new message.".to_owned(), vec![action])
        }
        (None, None) => ("There is no new message and no open task.".to_owned(), Vec::new()),
    };
    steps.push(go_on);
    let numbered = steps.iter().zip(1..).map(|(step, number)| format!("\n{number}. {step}"));
    numbered.fold(format!("{sentence} You should:"), |list, line| list + &line)
}

fn after_message(
    outcome: WorkOutcome,
    outline: &TaskOutline<'_>,
    leaf: &TaskNode,
    facts: &WakeFacts<'_>,
) -> (String, Vec<String>) {
    let work = leaf.task.content.to_lowercase();
    let label = outline.label().unwrap_or_default();
    match outcome {
        WorkOutcome::Pass => {
            let next = match (outline.next_part(), outline.next_top_task()) {
                (Some(part), _) => {
                    format!("Dispatch {} subagent for {label}", role(&part.task.content))
                }
                (None, Some(top)) => format!("Start {}", top.task.label()),
                (None, None) => {
                    let skill = facts.skill.id.as_ref().and_then(SkillId::next);
                    let last = "finishing-a-development-branch";
                    format!("Use {}", skill.as_ref().map_or(last, |skill| skill.bare()))
                }
            };
            (format!("The {work} passed."), vec![format!("Mark {work} subtask complete"), next])
        }
        WorkOutcome::Fail => (
            format!("The {work} found issues."),
            vec![
                format!("Send the issues to the implementer of {label}"),
                format!("Dispatch {} subagent again for {label}", role(&leaf.task.content)),
            ],
        ),
        WorkOutcome::Unknown => (
            "Read the new message and decide.".to_owned(),
            vec![format!("Update {work} if its state changed")],
        ),
    }
}

/// Names the subagent for a piece of work: `Code quality review` is for a `code-quality-reviewer`.
pub fn role(work: &str) -> String {
    let work = work.to_lowercase();
    if work == "implementation" {
        return "implementer".to_owned();
    }
    reviewer(&work).replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-38
    #[test]
    fn a_message_passes_fails_or_says_nothing() {
        use WorkOutcome::{Fail, Pass, Unknown};
        let cases = [
            ("Spec review complete. All requirements met, no extras added.", Pass),
            ("Review complete, approved with no issues", Pass),
            ("✅", Pass),
            ("Issues found: missing rate limit", Fail),
            ("1 issue found", Fail),
            ("Not spec compliant, otherwise approved", Fail),
            ("NOT COMPLIANT", Fail),
            ("spec compliant", Pass),
            ("The test failed", Fail),
            ("It was rejected", Fail),
            ("no unfailing habits", Unknown),
            ("needs work", Fail),
            ("I am looking at it", Unknown),
            ("", Unknown),
        ];
        for (message, expected) in cases {
            assert_eq!(WorkOutcome::of(message), expected, "{message}");
        }
    }

    // W-38
    #[test]
    fn a_role_is_named_after_its_work() {
        for (work, expected) in [
            ("Implementation", "implementer"),
            ("Spec review", "spec-reviewer"),
            ("Code quality review", "code-quality-reviewer"),
            ("Write docs", "write-docs"),
        ] {
            assert_eq!(role(work), expected);
        }
    }
}
