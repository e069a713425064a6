//! A folder held open: operations reach the same folder even if its name changes.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, fsync, mkdirat,
    openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    handle: OwnedFd,
    /// Its path, without links.
    pub(super) path: PathBuf,
}

/// Why a file cannot be had.
#[derive(Debug)]
pub(super) enum Unusable {
    Absent,
    Link,
    NotRegular,
    Io(io::Error),
}

impl From<Errno> for Unusable {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Self::Absent,
            Errno::LOOP => Self::Link,
            other => Self::Io(other.into()),
        }
    }
}

impl Folder {
    /// Opens a folder, following links.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let handle = openat(CWD, &path, AS_FOLDER, Mode::empty())?;
        Ok(Self { handle, path })
    }

    /// Opens a folder in this one; not behind a link.
    pub(super) fn below(&self, name: &str) -> io::Result<Self> {
        let handle = openat(&self.handle, name, AS_FOLDER, Mode::empty())?;
        Ok(Self { handle, path: self.path.join(name) })
    }

    /// Opens a folder in this one, and creates it if it is missing.
    pub(super) fn below_or_made(&self, name: &str) -> io::Result<Self> {
        match mkdirat(&self.handle, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.below(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a private folder with a new name.
    pub(super) fn fresh(&self, prefix: &str) -> io::Result<(String, Self)> {
        let name = fresh_name(prefix);
        mkdirat(&self.handle, &name, Mode::from_raw_mode(0o700))?;
        let folder = self.below(&name)?;
        Ok((name, folder))
    }

    /// Opens a plain file, never behind a link. It is judged before it is opened, so that a pipe is
    /// not disturbed, and again afterwards, because only then it cannot be swapped any more.
    pub(super) fn file(&self, name: impl AsRef<Path>) -> Result<(File, Stat), Unusable> {
        let name = name.as_ref();
        judge(&statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?)?;
        let handle = openat(&self.handle, name, AS_FILE, Mode::empty())?;
        let stat = fstat(&handle)?;
        judge(&stat)?;
        Ok((handle.into(), stat))
    }

    /// Makes a new file.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.handle, name, flags, Mode::from_raw_mode(0o666))?.into())
    }

    /// Moves a file into another folder, replacing a file of the same name.
    pub(super) fn move_to(&self, name: &str, to: &Self, new: &str) -> io::Result<()> {
        Ok(renameat(&self.handle, name, &to.handle, new)?)
    }

    /// Removes a file or a link; there need not be one.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a folder in this one with the files in it. One that holds any file but `ours`
    /// belongs to another program, and stays unchanged.
    pub(super) fn remove_folder(&self, name: &str, ours: impl Fn(&str) -> bool) -> io::Result<()> {
        let folder = self.below(name)?;
        let mut files = Vec::new();
        for file in folder.names()? {
            match file.to_str().filter(|file| ours(file) && folder.file(file).is_ok()) {
                Some(file) => files.push(file.to_owned()),
                None => return Ok(()),
            }
        }
        files.iter().try_for_each(|file| folder.remove(file))?;
        Ok(unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Tells whether a name in this folder still leads to another one that is open.
    pub(super) fn still_has(&self, name: &str, other: &Self) -> bool {
        let found = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| fstat(&other.handle).is_ok_and(|open| is_same(&found, &open)))
    }

    /// Lists the folder's names.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        names.sort();
        Ok(names)
    }

    /// Takes it for this process alone, among all that ask; `false` if another has it.
    pub(super) fn hold(&self) -> io::Result<bool> {
        match flock(&self.handle, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until its changes are on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(fsync(&self.handle)?)
    }
}

const AS_FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const AS_FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Opens a plain file by its path, whose folders may be links; it may not.
pub(super) fn open_file(path: &Path) -> Result<(File, Stat), Unusable> {
    judge(&statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?)?;
    let handle = openat(CWD, path, AS_FILE, Mode::empty())?;
    let stat = fstat(&handle)?;
    judge(&stat)?;
    Ok((handle.into(), stat))
}

/// Tells whether a path still leads to a file that was opened.
pub(super) fn is_still(path: &Path, opened: &Stat) -> bool {
    statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|now| is_same(&now, opened))
}

/// Tells whether two are one file.
pub(super) fn is_same(one: &Stat, other: &Stat) -> bool {
    one.st_dev == other.st_dev && one.st_ino == other.st_ino
}

fn judge(stat: &Stat) -> Result<(), Unusable> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(Unusable::Link),
        FileType::Directory
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Err(Unusable::NotRegular),
    }
}

/// Tells whether a name was made by [`fresh_name`].
pub(super) fn is_fresh(name: &str, prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|letters| {
        letters.len() == 6 && letters.bytes().all(|letter| letter.is_ascii_lowercase())
    })
}

/// Adds six random letters.
pub(super) fn fresh_name(prefix: &str) -> String {
    let mut random = RandomState::new().hash_one(prefix);
    let mut name = prefix.to_owned();
    for _ in 0..6 {
        let letter = u8::try_from(random % 26).unwrap_or_default();
        name.push(char::from(b'a' + letter));
        random /= 26;
    }
    name
}
