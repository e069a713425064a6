//! The prompt of a fresh dispatch, section by section.

use super::issue_list::list;
use super::required::{Reference, block};
use super::resumed_prompt::Wording;
use super::review::Issue;
use super::role::{DispatchRole, PromptForm, PromptProfile};
use crate::dispatch::artifact::FeatureArtifact;

/// Returns the note for a new session that replaces one that could not be resumed.
pub fn note(wording: Wording, form: PromptForm) -> &'static str {
    match (wording, form) {
        (Wording::Seed, _) => "(Fresh dispatch \u{2014} prior session unavailable.)",
        (Wording::G2, PromptForm::Fix) => {
            "(Fresh dispatch \u{2014} prior fix session unavailable.)"
        }
        (Wording::G2, PromptForm::Review | PromptForm::PhaseReview) => {
            "(Fresh dispatch \u{2014} prior review session unavailable.)"
        }
    }
}

/// The round, and the open issues of the last one.
#[derive(Debug, Clone, Copy)]
pub struct Iteration<'a> {
    /// Its number, from one.
    pub number: u32,
    /// The highest number of rounds.
    pub max: u32,
    /// The issues of earlier rounds.
    pub issues: &'a [Issue],
    /// The note for a session that replaces one that could not be resumed.
    pub note: Option<&'static str>,
}

/// Everything a prompt is made of.
#[derive(Debug, Clone, Copy)]
pub struct PromptParts<'a> {
    /// The role that receives the prompt.
    pub role: &'a DispatchRole,
    /// Decides order and membership of sections.
    pub profile: PromptProfile,
    /// The role's task and the measure for its verdict.
    pub rubric: &'a str,
    /// The files that the role must read.
    pub references: &'a [Reference],
    /// The text of the artifact it reviews, where that is pasted.
    pub target: Option<&'a str>,
    /// Files that were changed.
    pub files: &'a [String],
    /// The earlier reviewer's result, for a phase's reviewer.
    pub outcome: Option<&'a str>,
    /// The next phase's expectations, for a phase's reviewer.
    pub next_phase: Option<&'a str>,
    /// The round, and what the rounds before it left to fix.
    pub iteration: Iteration<'a>,
    /// The form of the answer.
    pub returns: &'a str,
}

/// Renders the prompt: sections with one blank line between them, and one line ending at the end.
pub fn prompt(parts: &PromptParts<'_>) -> String {
    let rubric = Some(parts.rubric.to_owned());
    let required = Some(block(parts.references, parts.role.noun));
    let returns = Some(parts.returns.to_owned());
    let sections = match (parts.role.form, parts.profile) {
        (PromptForm::Fix, _) => {
            vec![
                Some(noted(FIX, &parts.iteration)),
                required,
                files(parts),
                issues_to_fix(parts),
                returns,
            ]
        }
        (PromptForm::Review | PromptForm::PhaseReview, PromptProfile::Seed) => {
            [vec![rubric, required], changing(parts), vec![returns]].concat()
        }
        (
            PromptForm::Review | PromptForm::PhaseReview,
            PromptProfile::StablePrefix | PromptProfile::AllReference,
        ) => [vec![rubric, required, returns], changing(parts)].concat(),
    };
    join(sections)
}

/// How a fix round begins.
const FIX: &str = "Fix the following review issues:";

/// Joins the sections that are there.
pub(super) fn join(sections: Vec<Option<String>>) -> String {
    let trimmed =
        sections.into_iter().flatten().map(|section| section.trim_matches('\n').to_owned());
    let kept: Vec<_> = trimmed.filter(|section| !section.is_empty()).collect();
    kept.join("\n\n") + "\n"
}

/// Renders the parts that differ from one round to the next.
fn changing(parts: &PromptParts<'_>) -> Vec<Option<String>> {
    let round = match parts.role.form {
        PromptForm::PhaseReview => vec![
            parts.outcome.map(|text| format!("## Domain Reviewer Outcome\n{text}")),
            parts.next_phase.map(|text| format!("## Next Phase Expectations\n{text}")),
            Some(phase_iteration(&parts.iteration)),
        ],
        PromptForm::Review | PromptForm::Fix => vec![Some(iteration(&parts.iteration))],
    };
    [vec![target(parts), files(parts)], round].concat()
}

fn target(parts: &PromptParts<'_>) -> Option<String> {
    let artifact = parts.role.pasted(parts.profile)?;
    // The odd pronoun is the original's.
    let whose = if *artifact == FeatureArtifact::DESIGN { "we're" } else { "you're" };
    let text = parts.target?.trim_end_matches(['\r', '\n']);
    if text.trim().is_empty() {
        return None;
    }
    Some(format!("## {} (what {whose} reviewing)\n{text}", artifact.label()))
}

/// Lists changed files, if there are any.
fn files(parts: &PromptParts<'_>) -> Option<String> {
    let listed = parts.role.takes_files && !parts.files.is_empty();
    listed.then(|| format!("## Implementation Files\n{}", parts.files.join("\n")))
}

fn iteration(iteration: &Iteration<'_>) -> String {
    let Iteration { number, max, .. } = iteration;
    let line = format!("## Iteration Context\nThis is iteration {number} of {max}.");
    with_issues(noted(&line, iteration), iteration)
}

fn phase_iteration(iteration: &Iteration<'_>) -> String {
    let Iteration { number, max, .. } = iteration;
    let line = noted(&format!("This is phase-review iteration {number}/{max}."), iteration);
    // A resumed session knows its own issues.
    if iteration.note.is_some() { with_issues(line, iteration) } else { line }
}

fn noted(line: &str, iteration: &Iteration<'_>) -> String {
    iteration.note.map_or(line.to_owned(), |note| format!("{line}\n{note}"))
}

fn with_issues(lines: String, iteration: &Iteration<'_>) -> String {
    if iteration.number <= 1 || iteration.issues.is_empty() {
        return lines;
    }
    format!("{lines}\nPrevious issues to re-evaluate:\n{}", list(iteration.issues))
}

fn issues_to_fix(parts: &PromptParts<'_>) -> Option<String> {
    let issues = parts.iteration.issues;
    let heading = "## Issues to fix (from failed reviewers only)";
    (!issues.is_empty()).then(|| format!("{heading}\n{}", list(issues)))
}

/// The result of an artifact's reviewer, as the prompt of a phase's reviewer shows it.
#[derive(Debug, Clone, Copy)]
pub struct ReviewerOutcome<'a> {
    /// The reviewer's name.
    pub reviewer: &'a str,
    /// Whether it approved in the end.
    pub approved: bool,
    /// The round's number.
    pub iteration: u32,
    /// The last round that there could be.
    pub max: u32,
    /// The issues that are still open.
    pub issues: &'a [Issue],
}

/// Renders the outcome's three bullets.
pub fn outcome(outcome: &ReviewerOutcome<'_>) -> String {
    let ReviewerOutcome { reviewer, approved, iteration, max, issues } = outcome;
    let result = if *approved {
        format!("APPROVED at iteration {iteration}/{max}")
    } else {
        format!("FAILED at iteration cap ({max}/{max})")
    };
    let unresolved =
        if issues.is_empty() { " none".to_owned() } else { format!("\n{}", list(issues)) };
    format!("- Reviewer: {reviewer}\n- Result: {result}\n- Unresolved issues:{unresolved}")
}

#[cfg(test)]
mod tests {
    use super::super::required::Prd;
    use super::super::review::Severity;
    use super::super::role::{RoleName, Roles};
    use super::*;

    const FEATURE: &str = "/repo/docs/features/031-example";

    fn first_round() -> Iteration<'static> {
        Iteration { number: 1, max: 5, issues: &[], note: None }
    }

    /// The inputs of a test beside role and profile.
    #[derive(Clone, Copy)]
    struct Given<'a> {
        target: &'a str,
        files: &'a [String],
        outcome: Option<&'a str>,
        next_phase: Option<&'a str>,
        iteration: Iteration<'a>,
        returns: &'a str,
    }

    fn usual() -> Given<'static> {
        Given {
            target: "# Target\n\nbody\n\n",
            files: &[],
            outcome: None,
            next_phase: None,
            iteration: first_round(),
            returns: "RETURNS",
        }
    }

    fn rendered(name: &str, profile: PromptProfile, given: Given<'_>) -> String {
        let roles = Roles::default();
        let role = roles.find(&RoleName::parse(name).unwrap()).unwrap();
        let reads = role.reads(profile);
        let references: Vec<_> = reads
            .iter()
            .map(|artifact| Reference::resolve(artifact, FEATURE, &Prd::None))
            .collect();
        let Given { target, files, outcome, next_phase, iteration, returns } = given;
        prompt(&PromptParts {
            role,
            profile,
            rubric: "RUBRIC",
            references: &references,
            target: Some(target),
            files,
            outcome,
            next_phase,
            iteration,
            returns,
        })
    }

    fn order(prompt: &str, marks: &[&str]) -> Vec<usize> {
        marks.iter().map(|mark| prompt.find(mark).unwrap_or(usize::MAX)).collect()
    }

    fn issue() -> Issue {
        let description = "No number".to_owned();
        let (category, location, suggestion) = (None, None, None);
        Issue { severity: Severity::Blocker, category, description, location, suggestion }
    }

    // D-20, D-21, D-23
    #[test]
    fn a_reviewer_reads_what_it_reviews_in_the_prompt() {
        assert_eq!(
            rendered("specify/spec-reviewer", PromptProfile::Seed, usual()),
            "\
RUBRIC

## Required Artifacts
You MUST read the following files before beginning your review.
After reading, confirm: \"Files read: {name} ({N} lines), ...\" in a single line.
- PRD: No PRD \u{2014} feature created without brainstorm

## Spec (what you're reviewing)
# Target

body

## Iteration Context
This is iteration 1 of 5.

RETURNS
"
        );
        for (name, heading) in [
            ("design/design-reviewer", "## Design (what we're reviewing)"),
            ("create-plan/plan-reviewer", "## Plan (what you're reviewing)"),
            ("create-tasks/task-reviewer", "## Tasks (what you're reviewing)"),
        ] {
            assert!(rendered(name, PromptProfile::Seed, usual()).contains(heading), "{name}");
        }
    }

    // D-22, D-23
    #[test]
    fn later_rounds_carry_files_and_issues() {
        let files = ["src/a.rs".to_owned(), "src/b.rs".to_owned()];
        let issues = [issue()];
        let iteration = Iteration { number: 2, issues: &issues, ..first_round() };
        let later = Given { files: &files, iteration, ..usual() };
        let prompt = rendered("implement/security-reviewer", PromptProfile::Seed, later);
        assert!(prompt.contains(
            "\n\n## Implementation Files\nsrc/a.rs\nsrc/b.rs\n\n## Iteration Context\n\
             This is iteration 2 of 5.\nPrevious issues to re-evaluate:\n- [blocker] No number\n\n"
        ));
        let phase = rendered("specify/spec-reviewer", PromptProfile::Seed, later);
        assert!(!phase.contains("Implementation Files"), "{phase}");
        let iteration = Iteration { issues: &issues, ..first_round() };
        let given = Given { iteration, ..usual() };
        let first = rendered("implement/security-reviewer", PromptProfile::Seed, given);
        assert!(!first.contains("Previous issues"), "{first}");
    }

    // D-64: a session that could not be resumed is noted, with its issues, in every form.
    #[test]
    fn a_lost_session_is_noted() {
        let issues = [issue()];
        let with = |name: &str, note: &'static str| {
            let iteration = Iteration { number: 3, max: 5, issues: &issues, note: Some(note) };
            rendered(name, PromptProfile::Seed, Given { iteration, ..usual() })
        };
        let seed = note(Wording::Seed, PromptForm::Review);
        let told = format!("{seed}\nPrevious issues to re-evaluate:\n- [blocker] No number\n");
        let review = with("specify/spec-reviewer", seed);
        assert!(review.contains(&format!("This is iteration 3 of 5.\n{told}")), "{review}");
        let phase = with("specify/phase-reviewer", seed);
        assert!(phase.contains(&format!("phase-review iteration 3/5.\n{told}")), "{phase}");
        let fix = with("implement/implementer", note(Wording::G2, PromptForm::Fix));
        let told = "issues:\n(Fresh dispatch \u{2014} prior fix session unavailable.)\n\n## Req";
        assert!(fix.contains(told), "{fix}");
        let empty = Given { target: " \n", ..usual() };
        let empty = rendered("specify/spec-reviewer", PromptProfile::Seed, empty);
        assert!(!empty.contains("what you're reviewing"), "{empty}");
    }

    // D-24
    #[test]
    fn a_phase_reviewers_prompt_has_the_earlier_result() {
        let issues = [issue()];
        let failed = ReviewerOutcome {
            reviewer: "spec-reviewer",
            approved: false,
            iteration: 5,
            max: 5,
            issues: &issues,
        };
        let approved = ReviewerOutcome { approved: true, iteration: 2, issues: &[], ..failed };
        assert_eq!(
            outcome(&failed),
            "- Reviewer: spec-reviewer\n- Result: FAILED at iteration cap (5/5)\n\
             - Unresolved issues:\n- [blocker] No number"
        );
        let text = outcome(&approved);
        let next_phase = Some("A design can start.");
        let given = Given { outcome: Some(&text), next_phase, ..usual() };
        let prompt = rendered("specify/phase-reviewer", PromptProfile::Seed, given);
        assert!(prompt.ends_with(
            "\n\n## Domain Reviewer Outcome\n- Reviewer: spec-reviewer\n\
             - Result: APPROVED at iteration 2/5\n- Unresolved issues: none\n\n\
             ## Next Phase Expectations\nA design can start.\n\n\
             This is phase-review iteration 1/5.\n\nRETURNS\n"
        ));
        assert!(!prompt.contains("Iteration Context") && !prompt.contains("# Target"));
    }

    // D-25: what changes comes last, so that rounds share their beginning.
    #[test]
    fn a_stable_prefix_is_the_same_in_every_round() {
        let issues = [issue()];
        for name in ["specify/spec-reviewer", "implement/security-reviewer"] {
            let first = rendered(name, PromptProfile::StablePrefix, usual());
            let iteration = Iteration { number: 2, issues: &issues, ..first_round() };
            let given = Given { target: "# Target\n\nrevised", iteration, ..usual() };
            let second = rendered(name, PromptProfile::StablePrefix, given);
            let changing = first.find("## Spec (what").or(first.find("## Iteration")).unwrap();
            assert_eq!(first[..changing], second[..changing], "{name}");
            let places = order(&second, &["RUBRIC", "## Required", "RETURNS", "## Iteration"]);
            assert!(places.is_sorted() && places[3] != usize::MAX, "{second}");
        }
    }

    // D-2: in `all-reference` nothing is pasted.
    #[test]
    fn by_reference_alone_the_target_is_listed() {
        let prompt = rendered("design/design-reviewer", PromptProfile::AllReference, usual());
        assert!(prompt.contains("- Design: /repo/docs/features/031-example/design.md\n"));
        assert!(!prompt.contains("# Target"), "{prompt}");
    }

    // D-27
    #[test]
    fn a_fix_round_lists_what_failed() {
        let (files, issues) = (["a.rs".to_owned()], [issue()]);
        let iteration = Iteration { issues: &issues, ..first_round() };
        let given = Given { files: &files, iteration, returns: "", ..usual() };
        let prompt = rendered("implement/implementer", PromptProfile::Seed, given);
        let places = order(
            &prompt,
            &[
                "Fix the following review issues:",
                "before beginning your work.",
                "## Implementation Files\na.rs",
                "## Issues to fix (from failed reviewers only)\n- [blocker] No number\n",
            ],
        );
        assert!(places.is_sorted() && places[3] != usize::MAX, "{prompt}");
        assert!(!prompt.contains("RUBRIC"), "{prompt}");
    }
}
