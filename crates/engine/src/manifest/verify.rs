//! Comparing files with the record of what they were.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use convoke_domain::manifest::MANIFEST_FILE;
use sha2::{Digest, Sha256};

use super::folder::{Folder, Unusable, open_file};
use super::record::{RecordFormError, RecordedFile, RunRecord};
use crate::batch::in_parallel;

/// No record is longer.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// How much of a file is hashed at a time.
const PIECE: usize = 256 * 1024;

/// The result of verifying files.
#[derive(Debug)]
pub struct RecordVerdict {
    /// The record that the files were compared with.
    pub record: RunRecord,
    /// Those that are not as they were.
    pub changed: Vec<String>,
    /// Those that are not there.
    pub missing: Vec<String>,
    /// Those that were not there.
    pub extra: Vec<String>,
}

/// Why files cannot be verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// There is no record.
    #[error("cannot find `{}`", path.display())]
    Absent {
        /// The path of the missing record.
        path: PathBuf,
    },
    /// The record cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// The record's path.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// The file is not a record.
    #[error("cannot use `{}`", path.display())]
    Bad {
        /// The path of the file.
        path: PathBuf,
        /// The defect.
        source: RecordFormError,
    },
    /// A file cannot be read.
    #[error("cannot read `{name}`")]
    File {
        /// The file's name.
        name: String,
        /// The system's message.
        source: io::Error,
    },
}

enum Fate {
    Same,
    Changed,
    Missing,
}

impl RecordVerdict {
    /// Tells whether all files are unchanged.
    pub const fn is_same(&self) -> bool {
        self.changed.is_empty() && self.missing.is_empty() && self.extra.is_empty()
    }
}

/// Compares the files beside a record with it.
pub fn verify(path: &Path) -> Result<RecordVerdict, VerifyError> {
    let record = read_record(path)?;
    let around =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unreadable = |source| VerifyError::Unreadable { path: around.to_owned(), source };
    let folder = Folder::open(around).map_err(unreadable)?;
    let fates = in_parallel(&record.files, |entry| fate(&folder, entry));
    let (mut changed, mut missing) = (Vec::new(), Vec::new());
    for (entry, fate) in record.files.iter().zip(fates) {
        match fate? {
            Fate::Same => {}
            Fate::Changed => changed.push(entry.name.clone()),
            Fate::Missing => missing.push(entry.name.clone()),
        }
    }
    let mut extra = Vec::new();
    if record.exclusive {
        let own = [path.file_name().unwrap_or_default(), OsStr::new(MANIFEST_FILE)];
        for name in folder.names().map_err(unreadable)? {
            let is_known = record.files.iter().any(|entry| *entry.name == *name);
            if !is_known && !own.contains(&name.as_os_str()) {
                extra.push(name.to_string_lossy().into_owned());
            }
        }
    }
    Ok(RecordVerdict { record, changed, missing, extra })
}

/// Reads a record of a form that this program knows.
pub fn read_record(path: &Path) -> Result<RunRecord, VerifyError> {
    let unreadable = |source| VerifyError::Unreadable { path: path.to_owned(), source };
    let (file, _) = open_file(path).map_err(|error| match error {
        Unusable::Absent => VerifyError::Absent { path: path.to_owned() },
        Unusable::Link => unreadable(io::Error::other("it is a symbolic link")),
        Unusable::NotRegular => unreadable(io::Error::other("it is not a regular file")),
        Unusable::Io(source) => unreadable(source),
    })?;
    let mut text = String::new();
    let length = file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if length as u64 > MAX_BYTES {
        return Err(unreadable(io::ErrorKind::FileTooLarge.into()));
    }
    RunRecord::parse(&text).map_err(|source| VerifyError::Bad { path: path.to_owned(), source })
}

fn fate(folder: &Folder, entry: &RecordedFile) -> Result<Fate, VerifyError> {
    let failed = |source| VerifyError::File { name: entry.name.clone(), source };
    let (mut file, stat) = match folder.file(&entry.name) {
        Ok(opened) => opened,
        Err(Unusable::Absent) => return Ok(Fate::Missing),
        Err(Unusable::Link | Unusable::NotRegular) => return Ok(Fate::Changed),
        Err(Unusable::Io(source)) => return Err(failed(source)),
    };
    if u64::try_from(stat.st_size) != Ok(entry.bytes) {
        return Ok(Fate::Changed);
    }
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece).map_err(failed)? {
            0 => break,
            length => hash.update(&piece[..length]),
        }
    }
    let digits = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
    Ok(if digits.concat() == entry.sha256 { Fate::Same } else { Fate::Changed })
}
