//! Returns the text that a cut left out.

use std::path::Path;

use convoke_domain::brief::collection::DocumentPath;
use convoke_domain::brief::name::{BriefName, DocumentPriority};
use convoke_domain::brief::rest::{Rest, RestError};
use convoke_domain::brief::settings::BriefSettings;
use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::text::{CharOffset, Text};
use convoke_engine::brief::collect::read_document;
use convoke_engine::brief::{leads_out, read};
use serde::Serialize;

use super::files::places;
use super::open_tokenizer;
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::session::Session;

#[derive(Debug, thiserror::Error)]
enum RestReadError {
    #[error("cannot read `{given}`: it is neither in the priority list nor a file")]
    NotListed { given: String },
    #[error("cannot read `{name}`: no such file in `{dir}`")]
    Absent { name: BriefName, dir: String },
    #[error("cannot read `{name}`: {reason}")]
    Unreadable { name: String, reason: Unreadable },
}

/// A document from an offset on.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefRestReport {
    /// The document's name.
    pub token: String,
    /// The offset at which reading continued, in characters.
    pub from: usize,
    /// The offset at which to continue, if it was cut again.
    pub next: Option<usize>,
    /// Characters of the text.
    pub chars: usize,
    /// Its cost, in tenths of a token.
    pub tokens_x10: u64,
    /// The name of the tokenizer that counted the tokens.
    pub tokenizer: &'static str,
    /// Whether that count is a real model's or an estimate.
    pub exact: bool,
    /// The untouched text.
    pub text: String,
    /// The text between its citation and, if it was cut, the marker of the cut.
    #[serde(skip)]
    pub cited: String,
}

/// Reads a document, of the priority list or by its path, from a character offset on, cut and marked as in the block.
pub fn read_rest(
    session: &Session,
    settings: &BriefSettings,
    name: &str,
    from: usize,
) -> Result<BriefRestReport, Failure> {
    let document = find_document(session, settings, name)?;
    let content = Text::new(&document.content);
    let tokenizer = open_tokenizer(settings.tokenizer)?;
    let rest = Rest::read(content, CharOffset::new(from), settings.budget, &*tokenizer)
        .map_err(refused)?;
    let (token, cited) = match &document.name {
        DocumentName::Listed(name) => (name.as_str(), rest.cited(settings, name)),
        DocumentName::Path(path) => (path.as_str(), rest.cited_by_path(path)),
    };
    Ok(BriefRestReport {
        token: token.to_owned(),
        from,
        next: rest.next.map(CharOffset::get),
        chars: rest.text.chars(),
        tokens_x10: tokenizer.count(rest.text).tenths(),
        tokenizer: tokenizer.vocabulary().name(),
        exact: tokenizer.vocabulary().is_exact(),
        text: rest.text.as_str().to_owned(),
        cited: cited.to_string(),
    })
}

struct OpenDocument {
    name: DocumentName,
    content: String,
}

enum DocumentName {
    Listed(BriefName),
    Path(DocumentPath),
}

/// Finds a document of the priority list, or else a file that `convoke brief FILES` would cite so.
fn find_document(
    session: &Session,
    settings: &BriefSettings,
    given: &str,
) -> Result<OpenDocument, Failure> {
    if let Some(name) = settings.priority.find(given) {
        let content = document(&session.project, name, settings)?;
        return Ok(OpenDocument { name: DocumentName::Listed(name.clone()), content });
    }
    let (project, folder) = places(session);
    // Citations name paths below the project; a person may also mean the current folder.
    let there = [project.join(given), folder.join(given)];
    let Some(path) = there.into_iter().find(|path| path.is_file()) else {
        return Err(not_listed(given, &settings.priority));
    };
    let boundary = path.starts_with(&project).then_some(project.as_path());
    let name = path.strip_prefix(&project).map_or(given.into(), Path::to_string_lossy);
    let name = DocumentPath::new(&name);
    match read_document(&path, boundary, settings.max_file_bytes) {
        FileFinding::Text(content) => Ok(OpenDocument { name: DocumentName::Path(name), content }),
        FileFinding::Absent => Err(not_listed(given, &settings.priority)),
        FileFinding::Unreadable(reason) => {
            let name = name.to_string();
            Err(Failure::new(ErrorClass::Prerequisite, RestReadError::Unreadable { name, reason }))
        }
    }
}

fn not_listed(given: &str, priority: &DocumentPriority) -> Failure {
    let known: Vec<_> = priority.names().iter().map(BriefName::as_str).collect();
    let error = RestReadError::NotListed { given: given.to_owned() };
    Failure::new(ErrorClass::Usage, error)
        .maybe_hint(did_you_mean(given, known.iter().copied()))
        .hint(format!("listed: {}", known.join(", ")))
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
                .hint("run `convoke brief --explain` to list the documents"))
        }
        FileFinding::Unreadable(reason) => {
            let name = name.to_string();
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
