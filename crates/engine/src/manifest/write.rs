//! Writing a bundle.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_domain::design::export::ExportFailure;
use convoke_domain::manifest::{
    EXPORT_DIR, MANIFEST_FILE, Manifest, ManifestArtifact, Unspeakable, session_id,
};
use jiff::Timestamp;

use super::folder::{Folder, Unusable};
use super::publish::{Seal, Stage, sweep};
use super::record::{RECORD_FILE, RunRecord};
use super::verify::read_record;

/// No artifact is longer.
const MAX_BYTES: u64 = 1 << 30;

/// No name of a session is longer.
const MAX_SESSION: u64 = 4096;

/// The file with the caller's session id, in the caller's folder.
const SESSION_FILE: &str = "session-id";

/// Where the files of a bundle come from.
#[derive(Debug, Clone, Copy)]
pub enum ArtifactSource<'a> {
    /// From a folder.
    Folder(&'a Path),
    /// From a run, by name.
    Texts(&'a BTreeMap<String, Arc<str>>),
}

/// A request to write a bundle.
#[derive(Debug, Clone, Copy)]
pub struct BundleOrder<'a> {
    /// The source of its files.
    pub source: ArtifactSource<'a>,
    /// The folder of the calling workflow.
    pub parent: &'a Path,
    /// The session id from the environment.
    pub session_id: Option<&'a str>,
    /// When it is written.
    pub now: Timestamp,
    /// The record of the run, if the files come from one. It is written beside them.
    pub record: Option<&'a RunRecord>,
}

/// Why no bundle was written. The earlier bundle is still there, unless moving failed; then there
/// is no manifest.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A folder cannot be used.
    Folder {
        /// The path of the folder.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// An artifact is invalid.
    Artifact {
        /// The artifact's file name.
        file: String,
        /// The defect.
        why: &'static str,
    },
    /// An artifact cannot be read or written.
    File {
        /// The artifact's file name.
        file: String,
        /// The system's message.
        source: io::Error,
    },
    /// The session could not be determined.
    NoSession,
    /// A manifest cannot hold the folder's path.
    Path {
        /// The path of the folder.
        path: PathBuf,
        /// The reason.
        source: Unspeakable,
    },
    /// The folder holds other files.
    Occupied {
        /// The path of the folder.
        path: PathBuf,
    },
    /// Another process writes there.
    Busy {
        /// The path of the folder.
        path: PathBuf,
    },
    /// The files could not be put in place.
    Publish {
        /// The path of the folder.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
}

/// Returns the fact that a journal keeps, without the system's message.
impl From<&WriteError> for ExportFailure {
    fn from(error: &WriteError) -> Self {
        let shown = |path: &Path| path.display().to_string();
        match error {
            WriteError::Folder { path, .. } => Self::Folder(shown(path)),
            WriteError::Artifact { file, why } => {
                Self::Artifact { file: file.clone(), why: (*why).to_owned() }
            }
            WriteError::File { file, .. } => Self::File(file.clone()),
            WriteError::NoSession => Self::NoSession,
            WriteError::Path { path, .. } => Self::Path(shown(path)),
            WriteError::Occupied { path } => Self::Occupied(shown(path)),
            WriteError::Busy { path } => Self::Busy(shown(path)),
            WriteError::Publish { path, .. } => Self::Publish(shown(path)),
        }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ExportFailure::from(self).fmt(f)
    }
}

/// Writes a bundle, and returns where its manifest is.
pub fn write(order: &BundleOrder<'_>) -> Result<PathBuf, WriteError> {
    let store = Store::open(order.source)?;
    let parent = opened(order.parent)?;
    let export = parent
        .below_or_made(EXPORT_DIR)
        .map_err(|source| WriteError::Folder { path: parent.path.join(EXPORT_DIR), source })?;
    let publish = |source| WriteError::Publish { path: export.path.clone(), source };
    if !export.hold().map_err(publish)? {
        return Err(WriteError::Busy { path: export.path });
    }
    let prefix = format!("{EXPORT_DIR}.stage.");
    let is_ours = |name: &str| {
        name == RECORD_FILE || ManifestArtifact::ALL.iter().any(|artifact| artifact.file() == name)
    };
    sweep(&parent, &prefix, &export, MANIFEST_FILE, is_ours).map_err(publish)?;
    let mut stage = Stage::set(&parent, &prefix).map_err(publish)?;
    let mut artifacts = Vec::new();
    for artifact in ManifestArtifact::ALL {
        if store.put_on(&mut stage, artifact)? {
            artifacts.push(artifact);
        }
    }
    if let Some(record) = order.record {
        let is_here = |name: &str| artifacts.iter().any(|artifact| artifact.file() == name);
        let text = record.clone().only(is_here).text();
        stage.put(RECORD_FILE, &mut text.as_bytes()).map_err(publish)?;
    }
    let manifest = describe(order, &parent, &export, &artifacts)?;
    let seal = Seal { name: MANIFEST_FILE, text: &manifest.text() };
    let optional = [ManifestArtifact::Diagram.file(), RECORD_FILE];
    stage.publish(&export, &seal, &optional).map_err(publish)?;
    if !parent.still_has(EXPORT_DIR, &export) {
        return Err(publish(io::ErrorKind::NotFound.into()));
    }
    Ok(export.path.join(MANIFEST_FILE))
}

/// Writes all files of a run into a folder of their own, with its record, and returns the record's
/// path. It leaves a folder with other files alone.
pub fn write_all(
    folder: &Path,
    files: &BTreeMap<String, Arc<str>>,
    record: &RunRecord,
) -> Result<PathBuf, WriteError> {
    let unusable = |source| WriteError::Folder { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(unusable)?;
    let folder = opened(folder)?;
    let publish = |source| WriteError::Publish { path: folder.path.clone(), source };
    if !folder.hold().map_err(publish)? {
        return Err(WriteError::Busy { path: folder.path });
    }
    let older = earlier(&folder).map_err(publish)?;
    let Some(older) = older else { return Err(WriteError::Occupied { path: folder.path }) };
    let prefix = format!("{RECORD_FILE}.stage.");
    sweep(&folder, &prefix, &folder, RECORD_FILE, |_| true).map_err(publish)?;
    let mut stage = Stage::set(&folder, &prefix).map_err(publish)?;
    for (name, text) in files {
        let failed = |source| WriteError::File { file: name.clone(), source };
        stage.put(name, &mut text.as_bytes()).map_err(failed)?;
    }
    let older: Vec<_> = older.iter().map(String::as_str).collect();
    let seal = Seal { name: RECORD_FILE, text: &record.text() };
    stage.publish(&folder, &seal, &older).map_err(publish)?;
    Ok(folder.path.join(RECORD_FILE))
}

/// Names the files of earlier runs in a folder, whose writers may have been killed; `None` if there
/// is a file that no record names.
fn earlier(folder: &Folder) -> io::Result<Option<Vec<String>>> {
    let names = folder.names()?;
    let is_ours = |name: &OsString| name.to_str().is_some_and(|name| name.starts_with(RECORD_FILE));
    let (ours, others): (Vec<_>, Vec<_>) = names.into_iter().partition(is_ours);
    let records = ours.iter().filter_map(|name| read_record(&folder.path.join(name)).ok());
    let known: Vec<_> = records.flat_map(|record| record.files).map(|file| file.name).collect();
    let is_known = |name: &OsString| known.iter().any(|file| **file == **name);
    Ok(others.iter().all(is_known).then_some(known))
}

fn opened(path: &Path) -> Result<Folder, WriteError> {
    Folder::open(path).map_err(|source| WriteError::Folder { path: path.to_owned(), source })
}

fn describe(
    order: &BundleOrder<'_>,
    parent: &Folder,
    export: &Folder,
    artifacts: &[ManifestArtifact],
) -> Result<Manifest, WriteError> {
    let unspeakable = |source| WriteError::Path { path: export.path.clone(), source };
    let path = export.path.to_str().ok_or(Unspeakable).map_err(unspeakable)?;
    let written = parent.file(SESSION_FILE).ok().and_then(|(file, _)| {
        let mut text = Vec::new();
        file.take(MAX_SESSION).read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    });
    let name = parent.path.file_name().unwrap_or_default().to_string_lossy();
    let session = session_id(order.session_id, written.as_deref(), &name);
    let session = session.ok_or(WriteError::NoSession)?;
    let timestamp = format!("{:.0}", order.now);
    Manifest::of_folder(path, artifacts, &timestamp, &session).map_err(unspeakable)
}

/// The source of artifacts.
enum Store<'a> {
    Folder(Folder),
    Texts(&'a BTreeMap<String, Arc<str>>),
}

impl<'a> Store<'a> {
    fn open(source: ArtifactSource<'a>) -> Result<Self, WriteError> {
        Ok(match source {
            ArtifactSource::Folder(path) => Self::Folder(opened(path)?),
            ArtifactSource::Texts(texts) => Self::Texts(texts),
        })
    }

    /// Puts an artifact on the stage; `false` if it is missing and optional.
    fn put_on(
        &self,
        stage: &mut Stage<'_>,
        artifact: ManifestArtifact,
    ) -> Result<bool, WriteError> {
        let file = artifact.file().to_owned();
        let found = match self {
            Self::Folder(folder) => match folder.file(&file) {
                Ok((opened, _)) => return put(stage, artifact, opened).map(|()| true),
                Err(error) => error,
            },
            Self::Texts(texts) => match texts.get(&file) {
                Some(text) => return put(stage, artifact, text.as_bytes()).map(|()| true),
                None => Unusable::Absent,
            },
        };
        let why = match found {
            Unusable::Absent if artifact.is_optional() => return Ok(false),
            Unusable::Absent => "it is missing",
            Unusable::Link => "it is a symbolic link",
            Unusable::NotRegular => "it is not a regular file",
            Unusable::Io(source) => return Err(WriteError::File { file, source }),
        };
        Err(WriteError::Artifact { file, why })
    }
}

fn put(
    stage: &mut Stage<'_>,
    artifact: ManifestArtifact,
    content: impl Read,
) -> Result<(), WriteError> {
    let file = || artifact.file().to_owned();
    let length = stage
        .put(artifact.file(), &mut content.take(MAX_BYTES + 1))
        .map_err(|source| WriteError::File { file: file(), source })?;
    if length > MAX_BYTES {
        Err(WriteError::Artifact { file: file(), why: "it is too large" })
    } else if length == 0 && artifact.is_filled() {
        Err(WriteError::Artifact { file: file(), why: "it is empty" })
    } else {
        Ok(())
    }
}
