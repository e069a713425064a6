//! The prompts of every seat. The texts are files beside this one; this module combines them, and
//! puts everything from outside between delimiters that it cannot close.

use super::finding::FOCUS_AREAS;
use super::quote::{self, Tag};
use super::seat::Personality;

mod chair;
mod debate;
mod template;
mod vote;

pub use chair::{
    DIAGRAM_SKELETON, GROUPS_SKELETON, Interview, PLAN_SKELETON, PlanMaterial, PlanUpdate,
    QUESTIONS_SKELETON, REVISION_SKELETON, Revision, SYNTHESIS_SKELETON, ShownSketch, diagram,
    interview, merge, plan, questions, revision, ruling, scope, synthesis, update, with_complaints,
};
pub use debate::{Debate, debate};
pub use vote::{Decided, VoterRole, judge, voter};

use template::fill;

/// The line that asks a lane for its highest effort.
pub const EFFORT: &str = "Work at your maximum reasoning effort level.";

/// The reader of a prompt. A host is part of the run and already works at its configured effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// An agent with its own lane.
    Vendor,
    /// The host, sitting in.
    Host,
}

impl Reader {
    const fn effort(self) -> &'static str {
        match self {
            Self::Vendor => EFFORT,
            Self::Host => "",
        }
    }
}

/// Returns the paragraph that calls text between tags data, not instructions.
fn data() -> &'static str {
    include_str!("prompt/data.md").trim_end()
}

/// Shows the answers of the feature's author; empty without answers.
fn settled(discussion: &str) -> String {
    if discussion.trim().is_empty() {
        return String::new();
    }
    let answers = quote::voteless(Tag::Discussion, discussion);
    format!("What its author settled, which binds everybody:\n\n{answers}")
}

/// Puts the pack of the repository before a prompt, for an agent that cannot read files.
pub fn with_repository(pack: &str, prompt: &str) -> String {
    after_repository(include_str!("prompt/repository.md"), pack, prompt)
}

/// Puts the map of the repository before a prompt, for an agent that reads files itself.
pub fn with_pointers(map: &str, prompt: &str) -> String {
    after_repository(include_str!("prompt/pointers.md"), map, prompt)
}

fn after_repository(template: &str, repository: &str, prompt: &str) -> String {
    let repository = quote::voteless(Tag::Repository, repository);
    fill(template, &[("REPOSITORY", &repository), ("PROMPT", prompt.trim_end())])
}

/// Puts the brief and the names of the feature's documents before a prompt.
pub fn with_material(brief: Option<&str>, documents: &[String], prompt: &str) -> String {
    let list = |paths: &[String]| {
        let paths: Vec<_> = paths.iter().map(|path| quote::line(path)).collect();
        format!("Documents about the feature, to be read:\n- {}", paths.join("\n- "))
    };
    let values = [
        ("BRIEF", brief.map(|brief| quote::voteless(Tag::Brief, brief)).unwrap_or_default()),
        ("DOCUMENTS", if documents.is_empty() { String::new() } else { list(documents) }),
        ("PROMPT", prompt.trim_end().to_owned()),
    ];
    let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fill(include_str!("prompt/material.md"), &values)
}

/// Returns the prompt of a seat that sketches.
pub fn sketch(personality: Personality, feature: &str, reader: Reader) -> String {
    let emphasis = match personality {
        Personality::Arch => include_str!("prompt/sketch/arch.md"),
        Personality::Edge => include_str!("prompt/sketch/edge.md"),
        Personality::Innovation => include_str!("prompt/sketch/innovation.md"),
        Personality::Pragmatic => include_str!("prompt/sketch/pragmatic.md"),
        Personality::Generic => "",
    };
    let task = "Sketch an approach to the feature below: direction and reasons, not a full plan.";
    let opening = match personality.role() {
        Some(role) => format!("You are the {role} engineer of a design panel. {task}"),
        None => task.to_owned(),
    };
    fill(
        include_str!("prompt/sketch/sketch.md"),
        &[
            ("OPENING", &opening),
            ("FEATURE_DESCRIPTION", &quote::delimited(Tag::Feature, feature)),
            ("DATA", data()),
            ("EMPHASIS", emphasis),
            ("EFFORT", reader.effort()),
        ],
    )
}

/// Returns the second prompt of a seat that gave no sketch.
pub fn sketch_again(prompt: &str, flaw: &str) -> String {
    let flaw = quote::line(flaw);
    let again = fill(include_str!("prompt/sketch/again.md"), &[("FLAW", &flaw)]);
    format!("{}\n\n{again}", prompt.trim_end())
}

/// How much of its own answer a repeated prompt shows an agent, in bytes.
const SHOWN_AGAIN: usize = 64 * 1024;

/// Returns the second prompt of a reviewer whose answer could not be parsed.
pub fn review_again(prompt: &str, answer: &str, flaw: &str) -> String {
    let findings = fill(include_str!("prompt/review/findings.md"), &[("FOCUS_ENUM", FOCUS_AREAS)]);
    let shown = if answer.len() <= SHOWN_AGAIN { answer } else { "" };
    let values = [
        ("FLAW", quote::line(flaw)),
        ("ANSWER", quote::delimited(Tag::Findings, shown)),
        ("FINDINGS", findings),
    ];
    let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let again = fill(include_str!("prompt/review/again.md"), &values);
    format!("{}\n\n{again}", prompt.trim_end())
}

/// Returns the prompt of an agent that reviews the plan.
pub fn review(personality: Personality, feature: &str, plan: &str) -> String {
    let findings = fill(include_str!("prompt/review/findings.md"), &[("FOCUS_ENUM", FOCUS_AREAS)]);
    fill(
        include_str!("prompt/review/review.md"),
        &[
            ("ROLE", reviewer(personality)),
            ("FEATURE_DESCRIPTION", &quote::delimited(Tag::ReviewerFeature, feature)),
            ("DATA", data()),
            ("EMPHASIS", review_emphasis(personality)),
            ("FOCUS_AREAS", include_str!("prompt/review/focus-areas.md")),
            ("FINDINGS", &findings),
            ("NOTICE", include_str!("prompt/review/notice.md")),
            ("EFFORT", EFFORT),
            ("PLAN_TEXT", &quote::delimited(Tag::ReviewerPlan, plan)),
        ],
    )
}

/// Returns the prompt of the host when it replaces a reviewer: the same task, answered in two
/// lists.
pub fn host_review(personality: Personality, feature: &str, plan: &str) -> String {
    fill(
        include_str!("prompt/review/host.md"),
        &[
            ("ROLE", reviewer(personality)),
            ("EMPHASIS", review_emphasis(personality)),
            ("FOCUS_AREAS", include_str!("prompt/review/focus-areas.md")),
            ("FOCUS_ENUM", FOCUS_AREAS),
            ("NOTICE", include_str!("prompt/review/notice.md")),
            ("DATA", data()),
            ("FEATURE_DESCRIPTION", &quote::delimited(Tag::ReviewerFeature, feature)),
            ("PLAN_TEXT", &quote::delimited(Tag::ReviewerPlan, plan)),
        ],
    )
}

fn reviewer(personality: Personality) -> &'static str {
    personality.role().unwrap_or("general")
}

fn review_emphasis(personality: Personality) -> &'static str {
    match personality {
        Personality::Arch => include_str!("prompt/review/arch.md"),
        Personality::Edge => include_str!("prompt/review/edge.md"),
        Personality::Innovation => include_str!("prompt/review/innovation.md"),
        Personality::Pragmatic => include_str!("prompt/review/pragmatic.md"),
        Personality::Generic => "",
    }
}

#[cfg(test)]
mod tests;
