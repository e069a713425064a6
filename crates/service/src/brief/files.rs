//! Documents that a person names, as one block under a token budget.

mod report;

use std::path::{Component, Path, PathBuf};

use convoke_domain::brief::collection::{
    BlockForm, Collection, CollectionSettings, FrameTooLarge, unreadable_words,
};
use convoke_domain::brief::settings::BriefSettings;
use convoke_domain::finding::FileFinding;
use convoke_domain::pack::PackPolicy;
use convoke_engine::brief::collect::{Collected, ReadLimits, SecretHandling, collect};
use convoke_engine::brief::secrets::SecretRules;
use convoke_engine::brief::selection::{
    MOST_DOCUMENTS, NamedBy, SelectionError, SelectionNote, SelectionRequest, select,
};

pub use self::report::{BriefDocumentReport, BriefFilesReport, BriefSecretReport};
use super::open_tokenizer;
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::observer::Reporter;
use crate::session::Session;

/// Which documents, and how they are packed.
#[derive(Debug, Clone)]
pub struct BriefFilesRequest {
    /// Files, folders and patterns, most important first.
    pub named: Vec<PathBuf>,
    /// Patterns of documents that come before all others.
    pub first: Vec<String>,
    /// Who names them: an agent does not get what git keeps to this machine.
    pub named_by: NamedBy,
    /// Which documents are cut or dropped; the setting for the design folder does not apply here.
    pub policy: Option<PackPolicy>,
    /// How the block is written.
    pub form: BlockForm,
    /// How to handle documents with a likely secret.
    pub secrets: SecretHandling,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read any document: {reasons}")]
struct NothingReadable {
    reasons: String,
}

/// Packs the documents. The block keeps the budget, and each document is whole, cut and marked, or
/// named with the reason why it is omitted.
pub fn brief_files(
    session: &Session,
    settings: &BriefSettings,
    request: &BriefFilesRequest,
) -> Result<BriefFilesReport, Failure> {
    let (project, folder) = places(session);
    let (named, first) = (&request.named, &request.first);
    let cancel = session.cancel();
    let wanted = SelectionRequest {
        project: &project,
        folder: &folder,
        named,
        first,
        named_by: request.named_by,
        cancel: cancel.clone(),
    };
    let (selected, notes) = select(wanted).map_err(refused)?;
    let rules = SecretRules::load().map_err(|error| Failure::new(ErrorClass::Bug, error))?;
    let limits = ReadLimits { max_file_bytes: settings.max_file_bytes, cancel: cancel.clone() };
    let collected = collect(&selected, &limits, &rules, request.secrets);
    if cancel.is_cancelled() {
        return Err(refused(SelectionError::Stopped));
    }
    require_text(&collected)?;
    let tokenizer = open_tokenizer(settings.tokenizer)?;
    let packing = CollectionSettings {
        budget: settings.budget,
        policy: request.policy.unwrap_or(PackPolicy::Fill),
        form: request.form,
    };
    let packed = Collection::pack(&collected.documents, packing, &*tokenizer).map_err(too_small)?;
    let report = BriefFilesReport::new(&packed, &collected, packing, settings.tokenizer);
    tell(&session.reporter(), &notes, &report);
    Ok(report)
}

/// Returns the project's root and the folder that names begin at: the current one, or the project
/// if the current one is outside of it.
pub(crate) fn places(session: &Session) -> (PathBuf, PathBuf) {
    let here = session.environment.current_dir().unwrap_or_default();
    let project = absolute(&here, &session.project);
    let folder = if here.starts_with(&project) { here } else { project.clone() };
    (project, folder)
}

fn absolute(here: &Path, project: &Path) -> PathBuf {
    let joined = here.join(project);
    let is_plain = |part: Component<'_>| !matches!(part, Component::CurDir | Component::ParentDir);
    if joined.components().all(is_plain) { joined } else { joined.canonicalize().unwrap_or(joined) }
}

fn require_text(collected: &Collected) -> Result<(), Failure> {
    let documents = &collected.documents;
    let is_text = |finding: &FileFinding| matches!(finding, FileFinding::Text(_));
    if documents.iter().any(|document| is_text(&document.finding)) {
        return Ok(());
    }
    let unread = documents.iter().take(5).filter_map(|document| match &document.finding {
        FileFinding::Unreadable(reason) => {
            Some(format!("`{}`: {}", document.path, unreadable_words(*reason)))
        }
        FileFinding::Absent => Some(format!("`{}`: no such file", document.path)),
        FileFinding::Text(_) => None,
    });
    let binaries = collected.binaries.iter().take(5).map(|path| format!("`{path}`: a binary file"));
    let reasons = unread.chain(binaries).collect::<Vec<_>>().join("; ");
    Err(Failure::new(ErrorClass::Prerequisite, NothingReadable { reasons }))
}

fn refused(error: SelectionError) -> Failure {
    if matches!(error, SelectionError::Stopped) {
        return Failure::new(ErrorClass::Interrupted, error);
    }
    if matches!(error, SelectionError::Withheld { .. }) {
        return Failure::new(ErrorClass::Refused, error)
            .hint("the user can give you the text, or take the file into the project");
    }
    let hint = match &error {
        SelectionError::Missing { path, beside } => {
            let folder = path.parent().unwrap_or(Path::new(""));
            let known: Vec<_> =
                beside.iter().map(|name| folder.join(name).display().to_string()).collect();
            did_you_mean(&path.display().to_string(), known.iter().map(String::as_str))
        }
        SelectionError::NothingMatches { ignored: 0, .. } => Some(
            "`*` stays within one folder, `**` does not; quote a pattern that the shell must not \
             expand: `convoke brief 'docs/**/*.md'`"
                .to_owned(),
        ),
        SelectionError::NothingMatches { ignored, .. } => Some(format!(
            "a `.gitignore` excludes what matches ({}); name a file itself to take it",
            files(*ignored)
        )),
        SelectionError::TooMany => Some("name a narrower folder or pattern".to_owned()),
        SelectionError::Pattern { .. }
        | SelectionError::Withheld { .. }
        | SelectionError::Stopped => None,
    };
    Failure::new(ErrorClass::Usage, error).maybe_hint(hint)
}

fn files(count: usize) -> String {
    match count {
        1 => "1 file".to_owned(),
        MOST_DOCUMENTS.. => format!("{MOST_DOCUMENTS} files or more"),
        _ => format!("{count} files"),
    }
}

fn too_small(error: FrameTooLarge) -> Failure {
    Failure::new(ErrorClass::Usage, error).hint("raise `--budget`, or name fewer documents")
}

fn tell(reporter: &Reporter, notes: &[SelectionNote], report: &BriefFilesReport) {
    for note in notes {
        match note {
            SelectionNote::Ignored { path } => {
                reporter.aside(format!("`{path}` is in a .gitignore; taken because you named it"));
            }
            SelectionNote::NoMatch { pattern } => {
                reporter.warn(format!("no document matches `{pattern}`"));
            }
            SelectionNote::NoneFirst { pattern } => {
                reporter.warn(format!("none of the documents matches `--first {pattern}`"));
            }
        }
    }
    if let [first, ..] = report.binaries.as_slice() {
        let count = files(report.binaries.len());
        reporter.aside(format!("left out what is binary ({count}), such as `{first}`"));
    }
    tell_secrets(reporter, report);
}

/// Warns of likely secrets by place and kind, and never shows one.
fn tell_secrets(reporter: &Reporter, report: &BriefFilesReport) {
    const MOST: usize = 10;
    for secret in report.secrets.iter().take(MOST) {
        let BriefSecretReport { path, line, kind } = secret;
        reporter.warn(format!("{path}:{line} looks like a secret ({kind})"));
    }
    if report.secrets.len() > MOST {
        reporter.warn(format!("{} more places look like secrets", report.secrets.len() - MOST));
    }
    if !report.secrets.is_empty() {
        reporter.hint("leave such files out with `--no-secrets`");
    }
}
