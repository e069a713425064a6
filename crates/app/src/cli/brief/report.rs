//! The result of a brief for programs.

use convoke_domain::brief::block::warnings;
use convoke_domain::brief::{Brief, BriefEntry, DocumentOutcome};
use convoke_domain::text::CharOffset;
use convoke_domain::token::Estimate;
use convoke_engine::brief::Loaded;
use serde::Serialize;

/// The one document that `--json` prints. Fields are only ever added.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    block: String,
    logs: Vec<String>,
    warnings: Vec<String>,
    /// What became of every name of the priority list.
    candidates: Vec<Fated>,
    included: Vec<Included>,
    skipped_tbd: Vec<String>,
    dropped: Vec<String>,
    absent: Vec<String>,
    budget: u64,
    used_x10: u64,
    policy: &'static str,
    tokenizer: &'static str,
    /// Whether token counts are a real model's or an estimate.
    exact: bool,
    reads: Vec<Read>,
    diagnostics: Vec<Remark>,
}

#[derive(Debug, Serialize)]
struct Fated {
    token: String,
    fate: &'static str,
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct Included {
    token: String,
    /// Characters in the block, before trailing line endings are trimmed.
    chars: usize,
    /// A quarter of them, rounded up.
    q: u64,
    tokens_x10: u64,
    truncated: bool,
    char_offset: Option<usize>,
    /// Characters of the whole document.
    file_chars: usize,
}

#[derive(Debug, Serialize)]
struct Read {
    path: String,
    batch_id: u32,
}

#[derive(Debug, Serialize)]
struct Remark {
    code: String,
    message: String,
}

pub(super) fn report(loaded: &Loaded, brief: &Brief<'_>) -> Report {
    let settings = &loaded.settings;
    let names = |wanted: fn(&DocumentOutcome<'_>) -> bool| {
        let entries = brief.entries().iter().filter(|entry| wanted(&entry.fate));
        entries.map(|entry| entry.name.to_string()).collect()
    };
    Report {
        block: brief.block().to_string(),
        logs: brief.log().iter().map(ToString::to_string).collect(),
        warnings: warnings(brief.entries()),
        candidates: brief.entries().iter().map(fated).collect(),
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
        diagnostics: loaded.diagnostics.iter().map(remark).collect(),
    }
}

fn fated(entry: &BriefEntry<'_>) -> Fated {
    let (fate, reason) = match entry.fate {
        DocumentOutcome::Absent => ("absent", None),
        DocumentOutcome::Unreadable(reason) => ("unreadable", Some(reason.to_string())),
        DocumentOutcome::Scaffold(_) => ("scaffold", None),
        DocumentOutcome::Whole(_) => ("whole", None),
        DocumentOutcome::Cut(_, cut) => ("cut", Some(cut.border.to_string())),
        DocumentOutcome::Dropped(_, why) => ("dropped", Some(why.to_string())),
    };
    Fated { token: entry.name.to_string(), fate, reason }
}

fn included(entry: &BriefEntry<'_>) -> Option<Included> {
    let text = entry.included()?;
    let (file_chars, cut) = if let DocumentOutcome::Cut(whole, cut) = entry.fate {
        (whole.chars(), Some(cut.at))
    } else {
        (text.chars(), None)
    };
    Some(Included {
        token: entry.name.to_string(),
        chars: text.chars(),
        q: Estimate::quarters(text.chars()),
        tokens_x10: entry.cost.tenths(),
        truncated: cut.is_some(),
        char_offset: cut.map(CharOffset::get),
        file_chars,
    })
}

fn read(trace: &convoke_engine::brief::ReadTrace) -> Read {
    Read { path: trace.path.display().to_string(), batch_id: trace.batch_id }
}

fn remark(diagnostic: &convoke_domain::brief::diagnostic::Diagnostic) -> Remark {
    Remark { code: diagnostic.code(), message: diagnostic.message() }
}
