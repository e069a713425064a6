//! The prompt of one task's implementer: the task, and of each document only what it refers to.

use super::prompt::join;
use super::required::{Reference, block};
use super::role::Noun;

/// The order in which sections appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskOrder {
    /// As it was designed.
    #[default]
    Seed,
    /// As it was shipped.
    Shipped,
}

impl TaskOrder {
    /// Both orders.
    pub const ALL: [Self; 2] = [Self::Seed, Self::Shipped];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::Shipped => "shipped",
        }
    }

    /// Returns the order that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }
}

/// The note if none of a task's references can be parsed.
pub const NO_REFERENCES: &str =
    "No parseable traceability references \u{2014} loading full artifacts.";

/// Everything the prompt is made of.
#[derive(Debug, Clone, Copy)]
pub struct TaskPromptParts<'a> {
    /// The task's text, as the list has it.
    pub task: &'a str,
    /// When it is done.
    pub done_when: Option<&'a str>,
    /// The relevant part of the design.
    pub design: Option<&'a str>,
    /// The relevant part of the plan.
    pub plan: Option<&'a str>,
    /// The relevant part of the PRD, where the prompt includes it instead of a reference.
    pub prd: Option<&'a str>,
    /// The required reading: the PRD, then the spec.
    pub references: &'a [Reference],
    /// The section about the project, if there is one.
    pub project: Option<&'a str>,
    /// The files to work on.
    pub files: &'a [String],
    /// The instructions for the work and the answer.
    pub instructions: &'a str,
}

/// Renders the prompt.
pub fn prompt(parts: &TaskPromptParts<'_>, order: TaskOrder) -> String {
    let section = |heading: &str, text: Option<&str>| {
        let text = text.map(|text| text.trim_matches(['\r', '\n'])).filter(|text| !text.is_empty());
        text.map(|text| format!("## {heading}\n{text}"))
    };
    let head = Some("Implement the following task:".to_owned());
    let task = section("Task", Some(parts.task));
    let done = section("Done When", parts.done_when);
    let design = section("Design Context (scoped)", parts.design);
    let plan = section("Plan Context (scoped)", parts.plan);
    let prd = section("PRD Context (scoped)", parts.prd);
    let project = section("Project Context", parts.project);
    let files = section("Files to Work On", Some(&parts.files.join("\n")));
    let instructions = Some(parts.instructions.to_owned());
    let sections = match order {
        TaskOrder::Seed => {
            let required = Some(block(parts.references, Noun::Work));
            vec![head, task, done, design, plan, prd, required, project, files, instructions]
        }
        TaskOrder::Shipped => {
            let reversed: Vec<_> = parts.references.iter().rev().cloned().collect();
            let required = Some(block(&reversed, Noun::Work));
            vec![head, task, done, project, required, prd, design, plan, files, instructions]
        }
    };
    join(sections)
}

#[cfg(test)]
mod tests {
    use super::super::artifact::FeatureArtifact;
    use super::super::required::Prd;
    use super::*;

    fn rendered(order: TaskOrder) -> String {
        let references = [FeatureArtifact::PRD, FeatureArtifact::SPEC].map(|artifact| {
            Reference::resolve(&artifact, "/repo/docs/features/031-x", &Prd::InFeature)
        });
        let parts = TaskPromptParts {
            task: "### Task 1: Log in\nDo it.\n\n",
            done_when: Some("it works"),
            design: Some("## I7\nhow\n"),
            plan: Some("## 1A\nsteps\n"),
            prd: None,
            references: &references,
            project: Some("**Project:** Shop"),
            files: &["src/login.rs".to_owned()],
            instructions: "Write tests first.",
        };
        prompt(&parts, order)
    }

    // D-37
    #[test]
    fn a_task_comes_with_what_it_needs() {
        assert_eq!(
            rendered(TaskOrder::Seed),
            "\
Implement the following task:

## Task
### Task 1: Log in
Do it.

## Done When
it works

## Design Context (scoped)
## I7
how

## Plan Context (scoped)
## 1A
steps

## Required Artifacts
You MUST read the following files before beginning your work.
After reading, confirm: \"Files read: {name} ({N} lines), ...\" in a single line.
- PRD: /repo/docs/features/031-x/prd.md
- Spec: /repo/docs/features/031-x/spec.md

## Project Context
**Project:** Shop

## Files to Work On
src/login.rs

Write tests first.
"
        );
    }

    // D-37: the order that was shipped.
    #[test]
    fn the_shipped_order_differs() {
        let shipped = rendered(TaskOrder::Shipped);
        let marks = ["## Task", "## Project Context", "- Spec:", "- PRD:", "## Design", "## Plan"];
        let places: Vec<_> = marks.iter().map(|mark| shipped.find(mark).unwrap()).collect();
        assert!(places.is_sorted(), "{shipped}");
    }
}
