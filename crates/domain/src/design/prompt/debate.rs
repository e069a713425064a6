//! The prompts for the two sides of a debate.

use super::super::quote::{self, Tag};
use super::super::seat::Side;
use super::template::fill;
use super::{EFFORT, data, settled};

/// The material of a debate.
#[derive(Debug, Clone, Copy)]
pub struct Debate<'a> {
    /// The feature to build.
    pub feature: &'a str,
    /// The author's answers; may be empty.
    pub discussion: &'a str,
    /// The synthesis of the sketches.
    pub synthesis: &'a str,
    /// The decision as its file has it.
    pub decision_block: &'a str,
    /// The option that the synthesis chose.
    pub chosen: &'a str,
    /// The strongest alternative.
    pub alternative: &'a str,
    /// Why the sketches differ.
    pub tension: &'a str,
    /// The files that the decision affects.
    pub affected_files: &'a str,
}

/// Returns a debater's prompt. The material comes last, after all instructions.
pub fn debate(side: Side, debate: &Debate<'_>) -> String {
    let role = match side {
        Side::Thesis => include_str!("debate/thesis.md"),
        Side::Antithesis => include_str!("debate/antithesis.md"),
    };
    let role = fill(
        role,
        &[
            ("CHOSEN", &quote::phrase(debate.chosen)),
            ("ALTERNATIVE", &quote::phrase(debate.alternative)),
            ("TENSION", &quote::phrase(debate.tension)),
            ("AFFECTED_FILES", &quote::phrase(debate.affected_files)),
        ],
    );
    fill(
        include_str!("debate/debate.md"),
        &[
            ("ROLE", &role),
            ("DATA", data()),
            ("TOKEN", side.token()),
            ("EFFORT", EFFORT),
            ("FEATURE_DESCRIPTION", &quote::delimited(Tag::Feature, debate.feature)),
            ("SETTLED", &settled(debate.discussion)),
            ("SYNTHESIS_TEXT", &quote::delimited(Tag::DebaterSynthesis, debate.synthesis)),
            ("DECISION_BLOCK", &quote::delimited(Tag::DebaterDecision, debate.decision_block)),
        ],
    )
}
