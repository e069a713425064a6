//! The text that a cut left out.

use std::path::Path;

use convoke_domain::brief::name::{BriefName, DocumentPriority};
use convoke_domain::brief::rest::{Rest, RestError};
use convoke_domain::brief::settings::BriefSettings;
use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::text::{CharOffset, Text};
use convoke_engine::brief::{leads_out, read};
use serde::Serialize;

use super::open_tokenizer;
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::session::Session;

#[derive(Debug, thiserror::Error)]
enum RestReadError {
    #[error("cannot read on in `{given}`: it is not in the priority list")]
    NotListed { given: String },
    #[error("cannot read on in `{name}`: there is no such file in `{dir}`")]
    Absent { name: BriefName, dir: String },
    #[error("cannot read on in `{name}`: {reason}")]
    Unreadable { name: BriefName, reason: Unreadable },
}

/// A document from an offset on.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefRestReport {
    /// The document's name.
    pub token: String,
    /// Where it was read on from, in characters.
    pub from: usize,
    /// Where to go on reading, if it was cut again.
    pub next: Option<usize>,
    /// Characters of the text.
    pub chars: usize,
    /// What it costs, in tenths of a token.
    pub tokens_x10: u64,
    /// What tokens were counted by.
    pub tokenizer: &'static str,
    /// Whether that count is a real model's or an estimate.
    pub exact: bool,
    /// The untouched text.
    pub text: String,
    /// The text between its citation and, if it was cut, the marker of the cut.
    #[serde(skip)]
    pub cited: String,
}

/// Reads a document of the priority list from a character offset on, cut and marked as in the block.
pub fn read_rest(
    session: &Session,
    settings: &BriefSettings,
    name: &str,
    from: usize,
) -> Result<BriefRestReport, Failure> {
    let name = listed(name, &settings.priority)?;
    let content = document(&session.project, name, settings)?;
    let tokenizer = open_tokenizer(settings.tokenizer)?;
    let rest = Rest::read(Text::new(&content), CharOffset::new(from), settings.budget, &*tokenizer)
        .map_err(refused)?;
    Ok(BriefRestReport {
        token: name.as_str().to_owned(),
        from,
        next: rest.next.map(CharOffset::get),
        chars: rest.text.chars(),
        tokens_x10: tokenizer.count(rest.text).tenths(),
        tokenizer: tokenizer.vocabulary().name(),
        exact: tokenizer.vocabulary().is_exact(),
        text: rest.text.as_str().to_owned(),
        cited: rest.cited(settings, name).to_string(),
    })
}

fn listed<'p>(given: &str, priority: &'p DocumentPriority) -> Result<&'p BriefName, Failure> {
    priority.find(given).ok_or_else(|| {
        let known: Vec<_> = priority.names().iter().map(BriefName::as_str).collect();
        let error = RestReadError::NotListed { given: given.to_owned() };
        Failure::new(ErrorClass::Usage, error)
            .maybe_hint(did_you_mean(given, known.iter().copied()))
            .hint(format!("listed: {}", known.join(", ")))
    })
}

fn document(project: &Path, name: &BriefName, settings: &BriefSettings) -> Result<String, Failure> {
    let dir = project.join(settings.dir.as_str());
    let name = name.clone();
    let found = if leads_out(project, settings) {
        FileFinding::Unreadable(Unreadable::OutsideDir)
    } else {
        read(&dir, &name, settings)
    };
    match found {
        FileFinding::Text(content) => Ok(content),
        FileFinding::Absent => {
            let dir = dir.display().to_string();
            Err(Failure::new(ErrorClass::Prerequisite, RestReadError::Absent { name, dir })
                .hint("run `convoke brief --explain` to see what there is"))
        }
        FileFinding::Unreadable(reason) => {
            Err(Failure::new(ErrorClass::Prerequisite, RestReadError::Unreadable { name, reason }))
        }
    }
}

fn refused(error: RestError) -> Failure {
    let hint = match error {
        RestError::BeyondEnd { .. } => "the document may have changed; run `convoke brief` again",
        RestError::NothingFits { .. } => "raise `--budget`",
    };
    Failure::new(ErrorClass::Usage, error).hint(hint)
}
