//! The prompt of a subagent: its own task, and nothing of the orchestrator's.

use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::{bare, lines};

/// A subagent's part in a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentRole(String);

/// A text that is not a role's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot take `{given}` for a role")]
pub struct InvalidRole {
    given: String,
}

impl SubagentRole {
    /// Reads a role such as `implementer` or `spec-reviewer`.
    pub fn parse(given: &str) -> Result<Self, InvalidRole> {
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let usable = given.chars().all(word) && given.starts_with(|c: char| c.is_ascii_lowercase());
        if usable {
            Ok(Self(given.to_owned()))
        } else {
            Err(InvalidRole { given: given.to_owned() })
        }
    }

    /// Returns the role as it is typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the file with its instructions, in the skill's folder.
    pub fn template_file(&self) -> String {
        format!("{}-prompt.md", self.0)
    }

    /// Tells whether it works on the task instead of judging it.
    pub fn is_implementer(&self) -> bool {
        self.0 == "implementer"
    }

    /// Returns the role as a title: `Spec Reviewer`.
    pub fn title(&self) -> String {
        let capital = |word: &str| {
            let mut letters = word.chars();
            let first = letters.next().map(|c| c.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        };
        self.0.split('-').map(capital).collect::<Vec<_>>().join(" ")
    }
}

/// The facts in a subagent's prompt.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    /// The part that the subagent plays in the task, such as `spec-reviewer`.
    pub role: &'a SubagentRole,
    /// The task's words.
    pub task: &'a str,
    /// The text of this role's file in the skill's folder.
    pub instructions: &'a str,
    /// The plan's path.
    pub plan_file: &'a str,
    /// The task's section of the plan.
    pub section: &'a str,
    /// The orchestrator's addition.
    pub context: Option<&'a str>,
}

/// Renders the prompt.
pub fn prompt(assignment: &Assignment<'_>) -> String {
    let Assignment { role, task, instructions, plan_file, section, context } = assignment;
    let verb = if role.is_implementer() { "implementing" } else { "reviewing" };
    let context = context.filter(|text| !text.trim().is_empty()).unwrap_or("(none)");
    let mut sections = vec![
        format!("# {} Subagent", role.title()),
        format!("You are {verb} {task}."),
        format!("## Your Instructions\n{instructions}"),
        format!("## The Task\n**From plan:** {plan_file}\n\n{section}"),
        format!("## Context from Orchestrator\n{context}"),
    ];
    if role.is_implementer() {
        sections.push(
            "## Guidelines\n- Follow TDD strictly (superpowers:test-driven-development)\n\
             - Self-review before completing\n- Commit after each step"
                .to_owned(),
        );
    }
    sections.join("\n\n") + "\n"
}

/// Takes the prompt out of a template file.
///
/// If the file wraps it in a fenced block after a line that ends in `prompt: |`, it is the indented
/// text after that line; otherwise it is the whole file.
pub fn instructions(template: &str) -> String {
    let all: Vec<_> = lines(template).map(bare).collect();
    let mut fences = Fences::default();
    let places: Vec<_> = all.iter().map(|line| fences.feed(line)).collect();
    let starts = |(line, place): (&&str, &FenceLine)| {
        *place == FenceLine::Body && line.trim_end().ends_with("prompt: |")
    };
    match all.iter().zip(&places).position(starts) {
        Some(at) => {
            let rest = all[at + 1..].iter().zip(&places[at + 1..]);
            let body = rest.take_while(|(_, place)| **place == FenceLine::Body);
            deindented(&body.map(|(line, _)| *line).collect::<Vec<_>>())
        }
        None => template.trim_end_matches(['\r', '\n']).to_owned(),
    }
}

fn deindented(lines: &[&str]) -> String {
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let indent = filled.map(|line| line.len() - line.trim_start_matches(' ').len()).min();
    let cut = |line: &&str| line.get(indent.unwrap_or(0)..).unwrap_or_default().to_owned();
    lines.iter().map(cut).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment<'a>(role: &'a SubagentRole, context: Option<&'a str>) -> Assignment<'a> {
        Assignment {
            role,
            task: "Task 2: Add login endpoint",
            instructions: "[Contents of implementer-prompt.md]",
            plan_file: "docs/plans/auth.md",
            section: "### Task 2: Add login endpoint\n\n**Step 1:** test",
            context,
        }
    }

    // W-70, W-72, W-73
    #[test]
    fn an_implementer_gets_its_task_and_guidelines() {
        let role = SubagentRole::parse("implementer").unwrap();
        assert_eq!(
            prompt(&assignment(&role, Some("Task 1 is complete."))),
            "# Implementer Subagent\n\nYou are implementing Task 2: Add login endpoint.\n\n\
             ## Your Instructions\n[Contents of implementer-prompt.md]\n\n\
             ## The Task\n**From plan:** docs/plans/auth.md\n\n\
             ### Task 2: Add login endpoint\n\n**Step 1:** test\n\n\
             ## Context from Orchestrator\nTask 1 is complete.\n\n\
             ## Guidelines\n- Follow TDD strictly (superpowers:test-driven-development)\n\
             - Self-review before completing\n- Commit after each step\n"
        );
    }

    // W-70
    #[test]
    fn a_reviewer_gets_no_guidelines() {
        let role = SubagentRole::parse("code-quality-reviewer").unwrap();
        let text = prompt(&assignment(&role, None));
        assert!(text.starts_with(
            "# Code Quality Reviewer Subagent\n\nYou are reviewing Task 2: Add login endpoint.\n"
        ));
        assert!(text.ends_with("## Context from Orchestrator\n(none)\n"));
        assert!(SubagentRole::parse("../x").is_err() && SubagentRole::parse("").is_err());
    }

    // W-71
    #[test]
    fn a_wrapped_template_is_unwrapped() {
        let wrapped = "# How\n\n```\nTask tool:\n  description: \"x\"\n  prompt: |\n    You are\n\n      deep\n    done\n```\n\nafter\n";
        assert_eq!(instructions(wrapped), "You are\n\n  deep\ndone");
        let nested = "````\nprompt: |\n  a\n  ```\n  b\n  ```\n````\nafter\n";
        assert_eq!(instructions(nested), "a\n```\nb\n```");
        assert_eq!(instructions("~~~\nprompt: |\n  a\n~~~\nafter\n"), "a");
        assert_eq!(instructions("plain\n\ntext\n"), "plain\n\ntext");
        assert_eq!(instructions("prompt: |\n  not fenced\n"), "prompt: |\n  not fenced");
    }
}
