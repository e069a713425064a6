//! The export of a design to the workflow that requested it.

use std::fmt;

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Export {
    /// The manifest was written.
    Written {
        /// The manifest's path.
        manifest: String,
    },
    /// The manifest could not be written.
    Failed {
        /// The folder that keeps the design's files.
        folder: String,
        /// The reason for the failure.
        why: ExportFailure,
    },
}

/// Why a design's files could not be exported. Paths are as they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportFailure {
    /// The run was begun without a calling workflow that takes the files.
    NoCaller,
    /// The manifest is not where it was written.
    ManifestMissing(String),
    /// This folder cannot be used.
    Folder(String),
    /// An artifact is invalid.
    Artifact {
        /// The artifact's file name.
        file: String,
        /// The defect.
        why: String,
    },
    /// This artifact cannot be read or written.
    File(String),
    /// The session could not be determined.
    NoSession,
    /// A manifest cannot hold the path of this folder.
    Path(String),
    /// This folder holds other files.
    Occupied(String),
    /// Another process writes to this folder.
    Busy(String),
    /// The files could not be put into this folder.
    Publish(String),
    /// The sentence of a journal from before journals held facts.
    Sentence(String),
}

impl fmt::Display for ExportFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCaller => f.write_str("no calling workflow asked for the files"),
            Self::ManifestMissing(path) => write!(f, "cannot find {path}"),
            Self::Folder(path) => write!(f, "cannot use folder `{path}`"),
            Self::Artifact { file, why } => write!(f, "cannot export `{file}`: {why}"),
            Self::File(file) => write!(f, "cannot export `{file}`"),
            Self::NoSession => f.write_str("cannot export a design without a session id"),
            Self::Path(path) => write!(f, "cannot export into `{path}`"),
            Self::Occupied(path) => {
                write!(f, "cannot write into `{path}`: it contains other files")
            }
            Self::Busy(path) => {
                write!(f, "cannot export into `{path}`: another process is writing to it")
            }
            Self::Publish(path) => write!(f, "cannot put the bundle in `{path}`"),
            Self::Sentence(sentence) => f.write_str(sentence),
        }
    }
}
