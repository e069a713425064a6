//! The result for programs and tables.

use convoke_domain::brief::DocumentOutcome;
use convoke_domain::brief::collection::{
    Collection, CollectionEntry, CollectionSettings, cut_at, omission,
};
use convoke_domain::text::{CharOffset, Text};
use convoke_domain::token::Vocabulary;
use convoke_engine::brief::collect::Collected;
use serde::Serialize;

/// The result of packing named documents. Fields are only ever added.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefFilesReport {
    /// Every document, most important first.
    pub documents: Vec<BriefDocumentReport>,
    /// Binary files that only a folder or pattern named.
    pub binaries: Vec<String>,
    /// Likely secrets in the texts below.
    pub secrets: Vec<BriefSecretReport>,
    /// The most tokens that the block may cost, with citations and marks.
    pub budget: u64,
    /// The block's cost, in tenths of a token.
    pub used_x10: u64,
    /// Which documents are cut or dropped when not all fit.
    pub policy: &'static str,
    /// The name of the tokenizer that counted the tokens.
    pub tokenizer: &'static str,
    /// Whether token counts are a real model's or an estimate.
    pub exact: bool,
    /// The block, as it is printed.
    #[serde(skip)]
    pub block: String,
}

/// One of the requested documents, and how much of it fits.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefDocumentReport {
    /// Its path below the project; outside of it, as it was named.
    pub path: String,
    /// `whole`, `cut`, `dropped` or `unreadable`.
    pub fate: &'static str,
    /// Why, where the outcome does not show it.
    pub reason: Option<String>,
    /// The cost of its text in the block, or of the dropped text, in tenths of a token.
    pub tokens_x10: u64,
    /// Where it was cut, in characters.
    pub char_offset: Option<usize>,
    /// Characters of the whole document, if it was read.
    pub file_chars: Option<usize>,
    /// The text that is in the block, untouched.
    pub text: Option<String>,
}

/// A place that looks like a secret.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefSecretReport {
    /// The document's path.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The rule of gitleaks that it matches.
    pub kind: String,
}

impl BriefFilesReport {
    pub(super) fn new(
        packed: &Collection<'_>,
        collected: &Collected,
        packing: CollectionSettings,
        tokenizer: Vocabulary,
    ) -> Self {
        let secrets = packed.exposed_secrets().map(|(path, secret)| BriefSecretReport {
            path: path.to_string(),
            line: secret.line,
            kind: secret.kind.clone(),
        });
        Self {
            documents: packed.entries().iter().map(document).collect(),
            binaries: collected.binaries.clone(),
            secrets: secrets.collect(),
            budget: packing.budget.get(),
            used_x10: packed.used().tenths(),
            policy: packing.policy.name(),
            tokenizer: tokenizer.name(),
            exact: tokenizer.is_exact(),
            block: packed.block().to_owned(),
        }
    }
}

fn document(entry: &CollectionEntry<'_>) -> BriefDocumentReport {
    let (fate, whole) = match entry.fate {
        DocumentOutcome::Absent | DocumentOutcome::Unreadable(_) => ("unreadable", None),
        DocumentOutcome::Scaffold(text) => ("scaffold", Some(text)),
        DocumentOutcome::Whole(text) => ("whole", Some(text)),
        DocumentOutcome::Cut(text, _) => ("cut", Some(text)),
        DocumentOutcome::Dropped(text, _) => ("dropped", Some(text)),
    };
    let reason = match entry.fate {
        DocumentOutcome::Cut(_, cut) => Some(cut.border.to_string()),
        DocumentOutcome::Dropped(_, why) => Some(why.to_string()),
        DocumentOutcome::Absent
        | DocumentOutcome::Unreadable(_)
        | DocumentOutcome::Scaffold(_)
        | DocumentOutcome::Whole(_) => omission(entry),
    };
    BriefDocumentReport {
        path: entry.name.to_string(),
        fate,
        reason,
        tokens_x10: entry.cost.tenths(),
        char_offset: cut_at(entry).map(CharOffset::get),
        file_chars: whole.map(Text::chars),
        text: entry.included().map(|text| text.as_str().to_owned()),
    }
}
