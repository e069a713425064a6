//! Manifests: what a finished design passes to the workflow that requested it.
//!
//! A manifest is a file of `KEY=value` lines beside copies of the artifacts. It is only data:
//! Convoke never runs a line of it, and refuses every deviation with a word that the reader's
//! caller knows ([`Rejection`]). Another module opens the files; this one parses the lines.

use std::fmt::Write;

/// The longest manifest that is read.
pub const MAX_BYTES: u64 = 64 * 1024;

/// The most lines that a manifest has.
pub const MAX_LINES: usize = 256;

/// The folder of a bundle, in the folder of the calling workflow.
pub const EXPORT_DIR: &str = "design-export";

/// The manifest, in that folder.
pub const MANIFEST_FILE: &str = "manifest.env";

const VERSION: &str = "1";

/// A file that a manifest names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ManifestArtifact {
    /// The plan that the run ended with.
    Plan,
    /// How the reviewers' findings were voted on.
    Tally,
    /// The contested decisions.
    Decisions,
    /// Observations left for later.
    OutOfScope,
    /// Findings that were voted down.
    Rejected,
    /// Findings that were voted in.
    Accepted,
    /// The diagram; there need not be one.
    Diagram,
}

impl ManifestArtifact {
    /// All of them, in the order of their lines.
    pub const ALL: [Self; 7] = [
        Self::Plan,
        Self::Tally,
        Self::Decisions,
        Self::OutOfScope,
        Self::Rejected,
        Self::Accepted,
        Self::Diagram,
    ];

    /// Returns the key of its line.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Plan => "PLAN_FILE",
            Self::Tally => "PLAN_REVIEW_TALLY_FILE",
            // Version 1 calls the decisions criteria.
            Self::Decisions => "CONTESTED_CRITERIA_FILE",
            Self::OutOfScope => "OOS_FILE",
            Self::Rejected => "REJECTED_FINDINGS_FILE",
            Self::Accepted => "ACCEPTED_PLAN_FINDINGS_FILE",
            Self::Diagram => "ARCHITECTURE_DIAGRAM_FILE",
        }
    }

    /// Returns the file's name.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Plan => "plan.txt",
            Self::Tally => "voting-tally.md",
            Self::Decisions => "contested-decisions.md",
            Self::OutOfScope => "oos.md",
            Self::Rejected => "rejected-findings.md",
            Self::Accepted => "accepted-plan-findings.md",
            Self::Diagram => "architecture-diagram.md",
        }
    }

    /// Tells whether it must not be empty.
    pub const fn is_filled(self) -> bool {
        matches!(self, Self::Plan | Self::Tally)
    }

    /// Tells whether a bundle can do without it.
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::Diagram)
    }
}

/// Why a manifest is refused, in the words that its reader prints.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The reader does not know a flag.
    #[error("unknown-flag")]
    UnknownFlag,
    /// No folder was given.
    #[error("missing-implement-tmpdir")]
    NoFolder,
    /// There is no manifest, or nothing in it.
    #[error("manifest-not-found")]
    NotFound,
    /// It is longer than any manifest.
    #[error("manifest-too-large")]
    TooLarge,
    /// There is no folder of artifacts.
    #[error("export-dir-not-found")]
    NoExportDir,
    /// A line is empty, has no `=`, or is not text.
    #[error("malformed-line")]
    MalformedLine,
    /// A key is not made of capitals, digits and `_`.
    #[error("invalid-key")]
    InvalidKey,
    /// A value, or the place that it leads to, has a control character.
    #[error("control-char")]
    ControlChar,
    /// A known key occurs twice.
    #[error("duplicate-key:{0}")]
    DuplicateKey(String),
    /// It is of another version.
    #[error("unsupported-version")]
    UnsupportedVersion,
    /// A key is not there, or has no value.
    #[error("missing-{}", .0.to_lowercase().replace('_', "-"))]
    Missing(&'static str),
    /// A path does not begin at the root.
    #[error("path-not-absolute")]
    PathNotAbsolute,
    /// A path is a link, or the manifest is.
    #[error("symlink-rejected")]
    Link,
    /// A path leads to nothing, or to no plain file.
    #[error("path-not-regular")]
    NotRegular,
    /// A path leads out of the folder of artifacts.
    #[error("path-escaped-export-dir")]
    Escaped,
    /// Two keys mean the same file; with the second key.
    #[error("duplicate-file:{0}")]
    DuplicateFile(&'static str),
    /// A file has nothing in it that must have.
    #[error("required-empty")]
    RequiredEmpty,
    /// Something that should not happen.
    #[error("internal-error")]
    Internal,
}

/// A parsed manifest. Its files have not been checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The artifacts' paths, in the order of their lines.
    pub paths: Vec<(ManifestArtifact, String)>,
    /// When it was written.
    pub timestamp: String,
    /// The session that it belongs to.
    pub session_id: String,
}

/// A path that a manifest cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot name the folder in a manifest: its path has control characters")]
pub struct Unspeakable;

impl Manifest {
    /// Reads a manifest.
    pub fn parse(bytes: &[u8]) -> Result<Self, Rejection> {
        if bytes.is_empty() {
            return Err(Rejection::NotFound);
        }
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        if bytes.len() as u64 > MAX_BYTES || text.split(|byte| *byte == b'\n').count() > MAX_LINES {
            return Err(Rejection::TooLarge);
        }
        let mut known: Vec<(&str, &str)> = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            let (key, value) = pair(line)?;
            if !is_known(key) {
                continue;
            }
            if known.iter().any(|(other, _)| *other == key) {
                return Err(Rejection::DuplicateKey(key.to_owned()));
            }
            known.push((key, value));
        }
        Self::of(&known)
    }

    fn of(known: &[(&str, &str)]) -> Result<Self, Rejection> {
        let value = |key: &str| {
            let found = known.iter().find(|(other, _)| *other == key);
            found.map(|(_, value)| (*value).to_owned()).filter(|value| !value.is_empty())
        };
        if value("MANIFEST_VERSION").as_deref() != Some(VERSION) {
            return Err(Rejection::UnsupportedVersion);
        }
        let mut paths = Vec::new();
        for artifact in ManifestArtifact::ALL {
            match value(artifact.key()) {
                Some(path) => paths.push((artifact, path)),
                None if artifact.is_optional() => {}
                None => return Err(Rejection::Missing(artifact.key())),
            }
        }
        let timestamp = value("TIMESTAMP").ok_or(Rejection::Missing("TIMESTAMP"))?;
        let session_id = value("SESSION_ID").ok_or(Rejection::Missing("SESSION_ID"))?;
        Ok(Self { paths, timestamp, session_id })
    }

    /// Makes the manifest of a bundle whose artifacts are in one folder.
    pub fn of_folder(
        folder: &str,
        artifacts: &[ManifestArtifact],
        timestamp: &str,
        session_id: &str,
    ) -> Result<Self, Unspeakable> {
        if has_control(folder.as_bytes()) || !folder.starts_with('/') {
            return Err(Unspeakable);
        }
        let folder = folder.trim_end_matches('/');
        let path =
            |artifact: &ManifestArtifact| (*artifact, format!("{folder}/{}", artifact.file()));
        Ok(Self {
            paths: artifacts.iter().map(path).collect(),
            timestamp: timestamp.to_owned(),
            session_id: session_id.to_owned(),
        })
    }

    /// Returns the manifest's text.
    pub fn text(&self) -> String {
        format!("MANIFEST_VERSION={VERSION}\n{}", self.lines())
    }

    /// Returns what the reader prints of a manifest whose paths were all found in order.
    pub fn accepted(&self) -> String {
        format!("MANIFEST_OK=true\n{}", self.lines())
    }

    /// Returns the line that names the loaded plan. It follows [`Self::accepted`] on request.
    pub fn breadcrumb(&self) -> String {
        let plan = self.paths.first().map_or("", |(_, path)| path);
        let name = plan.rsplit('/').next().unwrap_or_default();
        format!("📥 1: design plan — manifest loaded (plan={name})\n")
    }

    fn lines(&self) -> String {
        let mut text = String::new();
        for (artifact, path) in &self.paths {
            writeln!(text, "{}={path}", artifact.key()).ok();
        }
        write!(text, "TIMESTAMP={}\nSESSION_ID={}\n", self.timestamp, self.session_id).ok();
        text
    }
}

impl Rejection {
    /// Returns what the reader prints.
    pub fn refused(&self) -> String {
        format!("MANIFEST_FAILED=true\nERROR={self}\n")
    }
}

/// No name of a session is longer, so that a manifest with it is still read.
const MAX_SESSION: usize = 1024;

/// Chooses the session of a manifest: the environment's, else the one in the caller's folder, else
/// that folder's name. `None` if no readable character is left.
pub fn session_id(said: Option<&str>, written: Option<&str>, folder: &str) -> Option<String> {
    let written = written.map(|text| text.replace(['\r', '\n'], ""));
    let first = [said, written.as_deref()].into_iter().flatten().find(|text| !text.is_empty());
    let chosen: String = first
        .unwrap_or(folder)
        .chars()
        .filter(|c| !c.is_ascii_control())
        .take(MAX_SESSION)
        .collect();
    (!chosen.is_empty()).then_some(chosen)
}

/// Tells whether a text has a control character of ASCII, which no value may have.
pub fn has_control(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_control)
}

/// Splits a line into key and value.
fn pair(line: &[u8]) -> Result<(&str, &str), Rejection> {
    // A shell would pass over these, so that two readers saw different lines.
    if line.contains(&0) {
        return Err(Rejection::ControlChar);
    }
    let line = std::str::from_utf8(line).map_err(|_| Rejection::MalformedLine)?;
    let (key, value) = line.split_once('=').ok_or(Rejection::MalformedLine)?;
    let mut letters = key.bytes();
    let is_key = letters.next().is_some_and(|first| first.is_ascii_uppercase())
        && letters.all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_key {
        Err(Rejection::InvalidKey)
    } else if has_control(value.as_bytes()) {
        Err(Rejection::ControlChar)
    } else {
        Ok((key, value))
    }
}

fn is_known(key: &str) -> bool {
    ["MANIFEST_VERSION", "TIMESTAMP", "SESSION_ID"].contains(&key)
        || ManifestArtifact::ALL.iter().any(|artifact| artifact.key() == key)
}

#[cfg(test)]
mod tests;
