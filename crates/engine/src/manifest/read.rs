//! Reading a bundle: its manifest is believed only after every file it names was opened and judged.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use convoke_domain::manifest::{
    EXPORT_DIR, MANIFEST_FILE, MAX_BYTES, Manifest, ManifestArtifact, Rejection, has_control,
};
use rustix::fs::Stat;

use super::folder::{Folder, Unusable, is_same, is_still, open_file};

/// How often a bundle is read again if it is replaced meanwhile.
const ROUNDS: u32 = 4;

/// A bundle that was found in order.
#[derive(Debug)]
pub struct Bundle {
    /// The parsed manifest, with paths without links.
    pub manifest: Manifest,
    /// The folder of the bundle's files.
    pub folder: PathBuf,
    /// The open files, in the same order. Reading them gives the checked content.
    pub files: Vec<File>,
}

/// Reads the bundle in the folder of the calling workflow; its manifest may be elsewhere.
pub fn read(parent: &Path, manifest: Option<&Path>) -> Result<Bundle, Rejection> {
    let export = parent.join(EXPORT_DIR);
    read_export(&export, manifest.unwrap_or(&export.join(MANIFEST_FILE)))
}

/// Reads the bundle whose files are in a folder.
pub fn read_export(export: &Path, manifest: &Path) -> Result<Bundle, Rejection> {
    for _ in 0..ROUNDS {
        let (file, stat) = open_file(manifest).map_err(|error| no_manifest(&error))?;
        let bundle = read_once(export, &file, &stat);
        // A writer removes the manifest before it changes anything. If the manifest is still this
        // one, the files opened since belong to it; and while it is open no other file can have its
        // inode.
        if is_still(manifest, &stat) {
            return bundle;
        }
    }
    Err(Rejection::Internal)
}

fn no_manifest(error: &Unusable) -> Rejection {
    match error {
        Unusable::Absent | Unusable::NotRegular => Rejection::NotFound,
        Unusable::Link => Rejection::Link,
        Unusable::Io(_) => Rejection::Internal,
    }
}

fn read_once(export: &Path, file: &File, stat: &Stat) -> Result<Bundle, Rejection> {
    if stat.st_size == 0 {
        return Err(Rejection::NotFound);
    }
    let folder = Folder::open(export).map_err(|_| Rejection::NoExportDir)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|_| Rejection::Internal)?;
    let mut manifest = Manifest::parse(&bytes)?;
    let mut opened: Vec<(File, Stat)> = Vec::new();
    for (artifact, path) in &mut manifest.paths {
        let (canonical, file, stat) = open_named(&folder, path)?;
        if opened.iter().any(|(_, other)| is_same(other, &stat)) {
            return Err(Rejection::DuplicateFile(artifact.key()));
        }
        if artifact.is_filled() && stat.st_size == 0 {
            return Err(Rejection::RequiredEmpty);
        }
        *path = canonical;
        opened.push((file, stat));
    }
    let files = opened.into_iter().map(|(file, _)| file).collect();
    Ok(Bundle { manifest, folder: folder.path, files })
}

/// Opens what a path names, if it is a plain file below a folder.
fn open_named(folder: &Folder, path: &str) -> Result<(String, File, Stat), Rejection> {
    let (parent, name) = path
        .rsplit_once('/')
        .filter(|_| path.starts_with('/'))
        .ok_or(Rejection::PathNotAbsolute)?;
    let kind = fs::symlink_metadata(path).map_err(|_| Rejection::NotRegular)?.file_type();
    if kind.is_symlink() {
        return Err(Rejection::Link);
    }
    if !kind.is_file() {
        return Err(Rejection::NotRegular);
    }
    let parent = if parent.is_empty() { "/" } else { parent };
    let parent = fs::canonicalize(parent).map_err(|_| Rejection::NotRegular)?;
    let below = parent.strip_prefix(&folder.path).map_err(|_| Rejection::Escaped)?;
    let canonical = parent.join(name);
    // It is printed, and a line end in it would be a line of its own.
    let canonical = canonical.to_str().filter(|path| !has_control(path.as_bytes()));
    let canonical = canonical.ok_or(Rejection::ControlChar)?.to_owned();
    // From here on only open handles count.
    let mut inner: Option<Folder> = None;
    for part in below {
        let part = part.to_str().ok_or(Rejection::ControlChar)?;
        let next = inner.as_ref().unwrap_or(folder).below(part);
        inner = Some(next.map_err(|_| Rejection::NotRegular)?);
    }
    let (file, stat) =
        inner.as_ref().unwrap_or(folder).file(name).map_err(|error| match error {
            Unusable::Absent | Unusable::NotRegular => Rejection::NotRegular,
            Unusable::Link => Rejection::Link,
            Unusable::Io(_) => Rejection::Internal,
        })?;
    Ok((canonical, file, stat))
}

impl Bundle {
    /// Returns the artifacts with their open files.
    pub fn artifacts(&self) -> impl Iterator<Item = (ManifestArtifact, &str, &File)> {
        let paths = self.manifest.paths.iter().zip(&self.files);
        paths.map(|((artifact, path), file)| (*artifact, path.as_str(), file))
    }
}
