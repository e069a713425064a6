//! The result of a brief for programs.

use convoke_domain::brief::block::warnings;
use convoke_domain::brief::diagnostic::Diagnostic;
use convoke_domain::brief::{Brief, BriefEntry, DocumentOutcome};
use convoke_domain::text::CharOffset;
use convoke_domain::token::Estimate;
use convoke_engine::brief::{LoadedBrief, ReadTrace};
use serde::Serialize;

/// The result of a brief. Fields are only ever added.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefReport {
    /// The text for the prompt, with all included documents.
    pub block: String,
    /// Documents that were left out or cut, in the contract's lines.
    pub logs: Vec<String>,
    /// The lines among them that warn.
    pub warnings: Vec<String>,
    /// The outcome of every name of the priority list.
    pub candidates: Vec<BriefCandidateReport>,
    /// The documents in the block.
    pub included: Vec<BriefIncludedReport>,
    /// Documents that hold no line of a person yet.
    pub skipped_tbd: Vec<String>,
    /// Documents that the budget has no room for.
    pub dropped: Vec<String>,
    /// Names without a file.
    pub absent: Vec<String>,
    /// The most tokens that the documents may cost.
    pub budget: u64,
    /// Their cost, in tenths of a token.
    pub used_x10: u64,
    /// Which documents are cut or dropped when not all fit.
    pub policy: &'static str,
    /// The name of the tokenizer that counted the tokens.
    pub tokenizer: &'static str,
    /// Whether token counts are a real model's or an estimate.
    pub exact: bool,
    /// The files that Convoke tried to read.
    pub reads: Vec<BriefReadReport>,
    /// Remarks about configuration and documents.
    pub diagnostics: Vec<BriefDiagnosticReport>,
}

/// The outcome of one name of the priority list.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefCandidateReport {
    /// The name in the priority list.
    pub token: String,
    /// `absent`, `unreadable`, `scaffold`, `whole`, `cut` or `dropped`.
    pub fate: &'static str,
    /// Why, where the outcome does not show it.
    pub reason: Option<String>,
}

/// One document of the block.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefIncludedReport {
    /// The document's name.
    pub token: String,
    /// Characters in the block, before trailing line endings are trimmed.
    pub chars: usize,
    /// A quarter of them, rounded up.
    pub q: u64,
    /// Its cost, in tenths of a token.
    pub tokens_x10: u64,
    /// Whether it was cut.
    pub truncated: bool,
    /// Where it was cut, in characters.
    pub char_offset: Option<usize>,
    /// Characters of the whole document.
    pub file_chars: usize,
}

/// One file that Convoke tried to read.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefReadReport {
    /// The file's path.
    pub path: String,
    /// Files with the same number were read together.
    pub batch_id: u32,
}

/// A remark about configuration or documents.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefDiagnosticReport {
    /// The kind of remark.
    pub code: String,
    /// The remark's text.
    pub message: String,
}

impl BriefReport {
    /// Reports on a brief.
    pub fn new(loaded: &LoadedBrief, brief: &Brief<'_>) -> Self {
        let settings = &loaded.settings;
        let names = |wanted: fn(&DocumentOutcome<'_>) -> bool| {
            let entries = brief.entries().iter().filter(|entry| wanted(&entry.fate));
            entries.map(|entry| entry.name.to_string()).collect()
        };
        Self {
            block: brief.block().to_string(),
            logs: brief.log().iter().map(ToString::to_string).collect(),
            warnings: warnings(brief.entries()),
            candidates: brief.entries().iter().map(candidate).collect(),
            included: brief.entries().iter().filter_map(included).collect(),
            skipped_tbd: names(|fate| matches!(fate, DocumentOutcome::Scaffold(_))),
            dropped: names(|fate| matches!(fate, DocumentOutcome::Dropped(..))),
            absent: names(|fate| matches!(fate, DocumentOutcome::Absent)),
            budget: settings.budget.get(),
            used_x10: brief.used().tenths(),
            policy: settings.policy.name(),
            tokenizer: settings.tokenizer.name(),
            exact: settings.tokenizer.is_exact(),
            reads: loaded.reads.iter().map(read).collect(),
            diagnostics: loaded.diagnostics.iter().map(diagnostic).collect(),
        }
    }
}

fn candidate(entry: &BriefEntry<'_>) -> BriefCandidateReport {
    let (fate, reason) = match entry.fate {
        DocumentOutcome::Absent => ("absent", None),
        DocumentOutcome::Unreadable(reason) => ("unreadable", Some(reason.to_string())),
        DocumentOutcome::Scaffold(_) => ("scaffold", None),
        DocumentOutcome::Whole(_) => ("whole", None),
        DocumentOutcome::Cut(_, cut) => ("cut", Some(cut.border.to_string())),
        DocumentOutcome::Dropped(_, why) => ("dropped", Some(why.to_string())),
    };
    BriefCandidateReport { token: entry.name.to_string(), fate, reason }
}

fn included(entry: &BriefEntry<'_>) -> Option<BriefIncludedReport> {
    let text = entry.included()?;
    let (file_chars, cut) = if let DocumentOutcome::Cut(whole, cut) = entry.fate {
        (whole.chars(), Some(cut.at))
    } else {
        (text.chars(), None)
    };
    Some(BriefIncludedReport {
        token: entry.name.to_string(),
        chars: text.chars(),
        q: Estimate::quarters(text.chars()),
        tokens_x10: entry.cost.tenths(),
        truncated: cut.is_some(),
        char_offset: cut.map(CharOffset::get),
        file_chars,
    })
}

fn read(trace: &ReadTrace) -> BriefReadReport {
    BriefReadReport { path: trace.path.display().to_string(), batch_id: trace.batch_id }
}

fn diagnostic(diagnostic: &Diagnostic) -> BriefDiagnosticReport {
    BriefDiagnosticReport { code: diagnostic.code(), message: diagnostic.message() }
}
