//! A design's files for the workflow that implements it, and whether they are still the same.

mod verify;

use std::path::{Path, PathBuf};

use convoke_domain::design::facts::Facts;
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::manifest::{EXPORT_DIR, MANIFEST_FILE};
use convoke_domain::run::RunId;
use convoke_engine::manifest::read::read_export;
use convoke_engine::manifest::record::{RecordError, RunRecord};
use convoke_engine::manifest::write::{ArtifactSource, BundleOrder, WriteError, write, write_all};
use convoke_store::journal::{Integrity, Run};
use serde::Serialize;

pub use self::verify::{ManifestVerifyReport, verify_manifest};
use crate::failure::{ErrorClass, Failure};
use crate::run::KnownRun;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// Where a design's files come from.
#[derive(Debug, Clone)]
pub enum ManifestSource {
    /// A folder that holds them.
    Folder(PathBuf),
    /// A finished run, named by the beginning of its name or all of it.
    Run(RunId),
}

/// Which files of a design to write.
#[derive(Debug, Clone)]
pub enum ManifestWriteRequest {
    /// All files of a run and `manifest.json`, into a folder that holds nothing else.
    RunFiles {
        /// The run, named by the beginning of its name or all of it.
        run: RunId,
        /// The path of the folder.
        folder: PathBuf,
    },
    /// A bundle in `design-export`, for the workflow that works in the folder around it.
    Bundle {
        /// The source of its files.
        source: ManifestSource,
        /// The path of the folder around it.
        parent: PathBuf,
    },
}

/// A manifest that was written.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManifestWriteReport {
    /// The manifest's path.
    pub manifest: String,
}

/// A bundle's content, or why Convoke refuses it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManifestReadReport {
    /// Whether all of it is in order.
    pub ok: bool,
    /// Why it is refused.
    pub error: Option<String>,
    /// When it was written.
    pub timestamp: Option<String>,
    /// The session that wrote it.
    pub session_id: Option<String>,
    /// The bundle's files.
    pub files: Vec<ManifestFileReport>,
}

/// One file of a bundle.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManifestFileReport {
    /// The key in the manifest.
    pub key: &'static str,
    /// The file's path.
    pub path: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot use the bundle `{}`: {rejection}", path.display())]
struct BundleRefused {
    path: PathBuf,
    rejection: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot export the files of `{run}`: its journal was changed at event {event}")]
struct JournalChanged {
    run: RunId,
    event: u64,
}

/// Makes the record of a run whose journal is sound.
pub fn run_record(
    workspace: &Workspace,
    run: &Run,
    facts: &Facts,
    progress: &DesignOutline,
) -> Result<RunRecord, Failure> {
    let Workspace { store, scope } = workspace;
    if let Integrity::BrokenAt(event) = store.verify(&scope.project, &run.id).map_err(refused)? {
        let error = JournalChanged { run: run.id.clone(), event };
        let failure = Failure::new(ErrorClass::Refused, error);
        return Err(failure.hint(format!("compare the journal: `convoke recount {}`", run.id)));
    }
    RunRecord::of_run(run, facts, progress).map_err(|error| {
        let hint = match &error {
            RecordError::Unfinished { run } => format!("resume it: `convoke resume {run}`"),
            RecordError::Differs { run, .. }
            | RecordError::OtherRules { run, .. }
            | RecordError::Reworded { run, .. } => {
                format!("compare the journal: `convoke recount {run}`")
            }
        };
        Failure::new(ErrorClass::Refused, error).hint(hint)
    })
}

/// Writes a design's files with a manifest that describes them.
pub fn write_manifest(
    session: &Session,
    request: &ManifestWriteRequest,
) -> Result<ManifestWriteReport, Failure> {
    let manifest = match request {
        ManifestWriteRequest::RunFiles { run, folder } => {
            let (known, record) = vouched_run(session, run)?;
            write_all(folder, &known.artifacts(), &record).map_err(not_written)?
        }
        ManifestWriteRequest::Bundle { source: ManifestSource::Folder(folder), parent } => {
            write_bundle(session, ArtifactSource::Folder(folder), None, parent)?
        }
        ManifestWriteRequest::Bundle { source: ManifestSource::Run(run), parent } => {
            let (known, record) = vouched_run(session, run)?;
            let files = known.artifacts();
            write_bundle(session, ArtifactSource::Texts(&files), Some(&record), parent)?
        }
    };
    Ok(ManifestWriteReport { manifest: manifest.display().to_string() })
}

/// Opens a run and makes its record.
fn vouched_run(session: &Session, run: &RunId) -> Result<(KnownRun, RunRecord), Failure> {
    let known = KnownRun::open(session, run)?;
    let record = run_record(&known.workspace, &known.run, &known.facts, &known.progress)?;
    Ok((known, record))
}

fn write_bundle(
    session: &Session,
    source: ArtifactSource<'_>,
    record: Option<&RunRecord>,
    parent: &Path,
) -> Result<PathBuf, Failure> {
    let session_id = session.environment.session_id();
    let session_id = session_id.as_deref();
    let order = BundleOrder { source, parent, session_id, now: session.now(), record };
    write(&order).map_err(not_written)
}

/// Adds what can be done about it.
fn not_written(error: WriteError) -> Failure {
    let (class, hint) = match &error {
        WriteError::Artifact { .. } => {
            (ErrorClass::Refused, "a bundle needs all files of a finished design")
        }
        WriteError::Occupied { .. } => (ErrorClass::Refused, "name an empty or new folder"),
        WriteError::NoSession => (ErrorClass::Refused, "name it with SESSION_ID"),
        WriteError::Busy { .. } => (ErrorClass::Prerequisite, "try again when it has ended"),
        WriteError::Path { .. } => (ErrorClass::Usage, "name another folder"),
        WriteError::Folder { .. } | WriteError::File { .. } | WriteError::Publish { .. } => {
            (ErrorClass::Prerequisite, "both folders must exist and be writable")
        }
    };
    Failure::new(class, error).hint(hint)
}

/// Opens and checks every file that a bundle's manifest names. The bundle is named by its manifest, its
/// folder, or the folder that holds `design-export`.
pub fn read_manifest(path: &Path) -> ManifestReadReport {
    let (export, manifest) = place(path);
    let bundle = match read_export(&export, &manifest) {
        Ok(bundle) => bundle,
        Err(rejection) => {
            return ManifestReadReport {
                ok: false,
                error: Some(rejection.to_string()),
                timestamp: None,
                session_id: None,
                files: Vec::new(),
            };
        }
    };
    let files = bundle.artifacts().map(|(artifact, path, _)| ManifestFileReport {
        key: artifact.key(),
        path: path.to_owned(),
    });
    ManifestReadReport {
        ok: true,
        error: None,
        timestamp: Some(bundle.manifest.timestamp.clone()),
        session_id: Some(bundle.manifest.session_id.clone()),
        files: files.collect(),
    }
}

impl ManifestReadReport {
    /// Returns the refusal of the bundle at this place as an error; `None` if it is in order.
    pub fn refusal(&self, path: &Path) -> Option<Failure> {
        let rejection = self.error.clone()?;
        let error = BundleRefused { path: path.to_owned(), rejection };
        let failure = Failure::new(ErrorClass::Refused, error);
        Some(failure.hint("write it again: `convoke manifest write`"))
    }
}

/// Returns the folder and the manifest of a bundle; the path may name either.
fn place(path: &Path) -> (PathBuf, PathBuf) {
    let folder = if path.is_file() {
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    } else {
        path
    };
    let inner = folder.join(EXPORT_DIR);
    let is_around = !folder.join(MANIFEST_FILE).exists() && inner.is_dir();
    let folder = if is_around { inner } else { folder.to_owned() };
    let manifest = if path.is_file() { path.to_owned() } else { folder.join(MANIFEST_FILE) };
    (folder, manifest)
}
