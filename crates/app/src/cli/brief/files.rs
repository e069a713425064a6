//! `convoke brief FILES`: documents that a person names.

use std::path::PathBuf;

use clap::ValueEnum;
use convoke_domain::brief::collection::BlockForm;
use convoke_domain::pack::PackPolicy;
use convoke_domain::token::{Budget, Tokens};
use convoke_engine::brief::collect::SecretHandling;
use convoke_engine::brief::selection::NamedBy;
use convoke_service::brief::files::{BriefDocumentReport, BriefFilesReport, BriefFilesRequest};

use super::explain::{Row, folded, render, share};
use crate::terminal::styled::{Ink, StyledLine};

/// Which documents, and how they are written.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct FilesArgs {
    /// Files, folders and patterns such as `'docs/**/*.md'`, most important first
    ///
    /// Folders and patterns leave out what a `.gitignore` excludes; a file that you name is taken.
    /// A file called `init` or `rest` is `./init` or `./rest`.
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Put the documents that match this pattern before all others; may be given several times
    #[arg(long, value_name = "GLOB", requires = "files")]
    first: Vec<String>,

    /// How the documents are written [default: markdown]
    #[arg(long, value_enum, requires = "files")]
    format: Option<DocumentFormat>,

    /// Leave out documents that hold a likely secret, instead of warning
    #[arg(long, requires = "files")]
    no_secrets: bool,
}

/// The forms that users can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DocumentFormat {
    /// `> source:` lines between the documents
    Markdown,
    /// One element for each document
    Xml,
    /// One JSON document, as with `--json`
    Json,
}

impl FilesArgs {
    pub(super) fn is_given(&self) -> bool {
        !self.files.is_empty()
    }

    pub(super) fn is_any(&self) -> bool {
        self.no_secrets || self.format.is_some() || !self.first.is_empty()
    }

    pub(super) fn is_json(&self) -> bool {
        self.format == Some(DocumentFormat::Json)
    }

    pub(super) fn request(&self, policy: Option<PackPolicy>) -> BriefFilesRequest {
        let form = match self.format {
            Some(DocumentFormat::Xml) => BlockForm::Xml,
            Some(DocumentFormat::Markdown | DocumentFormat::Json) | None => BlockForm::Markdown,
        };
        let secrets = if self.no_secrets { SecretHandling::LeaveOut } else { SecretHandling::Warn };
        let (named, first) = (self.files.clone(), self.first.clone());
        let named_by = NamedBy::Person;
        BriefFilesRequest { named, first, named_by, policy, form, secrets }
    }
}

pub(super) fn table(report: &BriefFilesReport, columns: usize) -> Vec<StyledLine> {
    let budget = Budget::at_least_one(report.budget);
    let used = Tokens::from_tenths(report.used_x10);
    let counted = if report.exact { "exact for" } else { "an" };
    let head = format!(
        "budget  {} tokens, policy {}\nused    {used} tokens ({}), {counted} {}\n",
        report.budget,
        report.policy,
        share(used, budget),
        report.tokenizer,
    );
    let rows = report.documents.iter().map(|document| row(document, budget));
    folded(&head, columns).into_iter().chain(render(rows, columns)).collect()
}

fn row(document: &BriefDocumentReport, budget: Budget) -> Row {
    let cost = Tokens::from_tenths(document.tokens_x10);
    let reason = document.reason.as_deref().unwrap_or_default();
    let (numbers, outcome, ink) = match (document.char_offset, document.file_chars) {
        (Some(at), Some(chars)) => (true, format!("cut at {at} of {chars} {reason}"), Ink::Caution),
        (None, Some(_)) if document.text.is_some() => (true, "kept whole".to_owned(), Ink::Good),
        (None, Some(_)) => (true, format!("dropped: {reason}"), Ink::Caution),
        (_, None) => (false, format!("omitted: {reason}"), Ink::Quiet),
    };
    let number = |text: String| if numbers { text } else { String::new() };
    let chars = document.file_chars.map(|chars| chars.to_string()).unwrap_or_default();
    let cells =
        [document.path.clone(), chars, number(cost.to_string()), number(share(cost, budget))];
    Row { cells, outcome, ink }
}
