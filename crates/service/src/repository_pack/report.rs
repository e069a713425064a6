//! The result for programs and tables.

use convoke_domain::repository_pack::{InclusionReason, PackLayout, PackedFile, RepositoryPack};
use convoke_domain::token::{Budget, Vocabulary};
use convoke_engine::repository_pack::RepositorySurvey;
use serde::Serialize;

/// So many files without a text are named, the most important first.
const MOST_LEFT_OUT: usize = 50;

/// A repository within a budget. Fields are only ever added.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepositoryPackReport {
    /// Files whose lines are in the pack, the most important first.
    pub files: Vec<PackFileReport>,
    /// Files that matter and give no text, the most important first; at most 50.
    pub left_out: Vec<LeftOutReport>,
    /// Files of the project.
    pub known_files: usize,
    /// `texts` for agents without tools, `pointers` for those who read files themselves.
    pub layout: &'static str,
    /// The most tokens that the pack may cost, with headings and marks.
    pub budget: u64,
    /// The pack's cost, in tenths of a token.
    pub used_x10: u64,
    /// The name of the tokenizer that counted the tokens.
    pub tokenizer: &'static str,
    /// Whether token counts are a real model's or an estimate.
    pub exact: bool,
    /// The pack, as it is printed.
    pub text: String,
}

/// A file of the repository, with what the pack has of it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackFileReport {
    /// Its path below the project.
    pub path: String,
    /// Its place in the ranking, counted from 1.
    pub rank: usize,
    /// How much it matters, in percent of the first one.
    pub score: u32,
    /// Why it is in.
    pub reasons: Vec<PackReasonReport>,
    /// Lines whose text is in the pack.
    pub ranges: Vec<PackRangeReport>,
    /// Other lines that are in the pack, as an outline.
    pub outline: Vec<usize>,
    /// Lines of the whole file.
    pub lines: usize,
}

/// Why a file is in a pack.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackReasonReport {
    /// `named`, `defines`, `holds`, `similar_commits`, `changed_with`, `beside` or `recent`.
    pub kind: &'static str,
    /// The reason in words.
    pub words: String,
}

/// Lines of a file.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackRangeReport {
    /// The first line, counted from 1.
    pub first: usize,
    /// The last line.
    pub last: usize,
}

/// A file that gives no text.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutReport {
    /// Its path below the project.
    pub path: String,
    /// Why.
    pub reason: String,
}

impl RepositoryPackReport {
    pub(super) fn new(
        survey: &RepositorySurvey,
        pack: &RepositoryPack,
        layout: PackLayout,
        budget: Budget,
        tokenizer: Vocabulary,
    ) -> Self {
        let left_out = survey.ranked.iter().filter_map(|ranked| {
            let file = &survey.files[ranked.index];
            let reason = file.text.as_ref().err().filter(|_| !ranked.reasons.is_empty())?;
            Some(LeftOutReport { path: file.path.clone(), reason: reason.words() })
        });
        Self {
            files: pack.files.iter().map(|file| file_report(survey, file)).collect(),
            left_out: left_out.take(MOST_LEFT_OUT).collect(),
            known_files: survey.files.len(),
            layout: layout.name(),
            budget: budget.get(),
            used_x10: pack.used.tenths(),
            tokenizer: tokenizer.name(),
            exact: tokenizer.is_exact(),
            text: pack.block.clone(),
        }
    }
}

fn file_report(survey: &RepositorySurvey, file: &PackedFile) -> PackFileReport {
    let ranges = file.ranges.iter();
    PackFileReport {
        path: survey.files[file.index].path.clone(),
        rank: file.rank,
        score: file.percent(),
        reasons: file.reasons.iter().map(reason_report).collect(),
        ranges: ranges
            .map(|range| PackRangeReport { first: range.first, last: range.last })
            .collect(),
        outline: file.outline.clone(),
        lines: file.lines,
    }
}

fn reason_report(reason: &InclusionReason) -> PackReasonReport {
    PackReasonReport { kind: reason.name(), words: reason.to_string() }
}
