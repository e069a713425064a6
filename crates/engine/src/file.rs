//! Reading one file of another program safely, and replacing one in one step.
//!
//! Nothing here can hang or fill the memory: only regular files are opened, and only up to a limit.

mod blocks;
mod draft;
mod edit;

use std::borrow::Cow;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

use convoke_domain::finding::{FileFinding, Unreadable};

pub use self::blocks::OpenedFile;
pub use self::draft::{DraftReaders, draft, sweep_drafts};
pub use self::edit::{EditError, EditTerms, FileEdit, edit};

/// Reads a file that must be inside `dir`. A link may point anywhere inside it.
///
/// It opens what it checked: it resolves the path first, and the last step of opening follows no
/// link, so a file that is swapped meanwhile is refused. Only a parent folder swapped at that
/// moment could still mislead it.
pub fn read_inside(dir: &Path, path: &Path, max_bytes: u64) -> FileFinding {
    finding(fs::symlink_metadata(path).map_err(Refusal::from).and_then(|named| {
        if named.is_symlink() {
            read_regular(&inside(dir, path)?, max_bytes)
        } else {
            read_regular(path, max_bytes)
        }
    }))
}

/// Reads a file at any place.
pub fn read(path: &Path, max_bytes: u64) -> FileFinding {
    match unlinked(path) {
        Ok(path) => finding(read_regular(&path, max_bytes)),
        Err(error) => finding(Err(error.into())),
    }
}

/// Returns a path that leads to the same file and whose last part is no link. Resolving every part
/// asks the system about each, which costs more than reading a small file.
fn unlinked(path: &Path) -> io::Result<Cow<'_, Path>> {
    if fs::symlink_metadata(path)?.is_symlink() {
        fs::canonicalize(path).map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(path))
    }
}

/// Reads a file that must be below `dir`, through any links on the way.
pub fn read_below(dir: &Path, path: &Path, max_bytes: u64) -> FileFinding {
    let named = fs::symlink_metadata(path).map_err(Refusal::from);
    finding(named.and_then(|_| read_regular(&inside(dir, path)?, max_bytes)))
}

/// Tells whether a path, relative to `dir`, stays inside `dir`: it neither begins at a root, nor
/// leads out by `..`, nor by a link. A missing path is judged by its existing parents.
pub fn stays_inside(dir: &Path, path: &Path) -> bool {
    let mut depth = 0_usize;
    for part in path.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    let Ok(root) = fs::canonicalize(dir) else { return false };
    let full = dir.join(path);
    // A link to nothing is there, and where it leads is unknown.
    let there = full.ancestors().find(|folder| fs::symlink_metadata(folder).is_ok());
    there
        .and_then(|folder| fs::canonicalize(folder).ok())
        .is_some_and(|real| real.starts_with(root))
}

/// Reads a text file at any place.
pub fn text(path: &Path, max_bytes: u64) -> Option<String> {
    match read(path, max_bytes) {
        FileFinding::Text(text) => Some(text),
        FileFinding::Absent | FileFinding::Unreadable(_) => None,
    }
}

/// Reads a file of any bytes.
pub fn bytes(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    read_bytes(&unlinked(path).ok()?, max_bytes).ok()
}

/// Reads a file of any bytes; invalid UTF-8 is replaced.
pub fn lossy_text(path: &Path, max_bytes: u64) -> Option<String> {
    Some(String::from_utf8_lossy(&bytes(path, max_bytes)?).into_owned())
}

/// Reads a file below `dir`, if it gives a text.
pub fn text_below(dir: &Path, path: &Path, max_bytes: u64) -> Option<String> {
    match read_below(dir, path, max_bytes) {
        FileFinding::Text(text) => Some(text),
        FileFinding::Absent | FileFinding::Unreadable(_) => None,
    }
}

/// Replaces a file in one step, so that no reader sees half of it. A read-only file stays
/// unchanged.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    replace_bytes(path, text.as_bytes())
}

/// Replaces a file that need not be text, as [`replace`] does.
pub fn replace_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Replaces the target of a link, not the link; a dangling link is an error.
    if path.is_symlink() { put(&path.canonicalize()?, bytes) } else { put(path, bytes) }
}

/// Puts a file at a path, in one step. It replaces a link itself: a file put among other programs'
/// files must not change a link's target.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put_in_one_step(path, bytes).map_err(without_path)
}

/// Returns an error without the name of a temporary file, which tells a user nothing: the caller names
/// the file that it wanted to write.
fn without_path(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() { error } else { error.kind().into() }
}

fn put_in_one_step(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let before = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
    if before.as_ref().is_some_and(|before| before.permissions().readonly()) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let mut file = draft(folder, DraftReaders::Everyone)?;
    file.write_all(bytes)?;
    if let Some(before) = before {
        file.as_file().set_permissions(before.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Puts a file that only its user can read where a path says, as [`put`] does.
pub fn put_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || {
        let mut file = draft(folder, DraftReaders::User)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(without_path)
}

/// Opens a private file for appending, and creates it if it is missing. It checks the kind before
/// opening, so as not to wait for a pipe, and again afterwards, because only then it cannot change
/// any more.
pub fn append_private(path: &Path) -> io::Result<File> {
    let regular = |found: &fs::Metadata| {
        if found.is_file() { Ok(()) } else { Err(io::Error::from(ErrorKind::InvalidInput)) }
    };
    fs::symlink_metadata(path).map_or(Ok(()), |found| regular(&found))?;
    let mut options = OpenOptions::new();
    options.create(true).read(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = without_waiting(&mut options).open(path)?;
    regular(&file.metadata()?)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

/// Creates a file, or empties one, for its user alone.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Opens a file for writing over what it holds, for its user alone, and creates it if it is missing.
pub fn open_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    without_waiting(&mut options).open(path)
}

/// Opens a regular file for reading, however long it is; `None` for any other kind.
pub fn open_regular(path: &Path) -> Option<File> {
    let path = unlinked(path).ok()?;
    judge(&fs::symlink_metadata(&path).ok()?, u64::MAX).ok()?;
    let file = open(&path).ok()?;
    judge(&file.metadata().ok()?, u64::MAX).ok()?;
    Some(file)
}

enum Refusal {
    Absent,
    Unreadable(Unreadable),
}

fn finding(result: Result<String, Refusal>) -> FileFinding {
    match result {
        Ok(text) => FileFinding::Text(text),
        Err(Refusal::Absent) => FileFinding::Absent,
        Err(Refusal::Unreadable(reason)) => FileFinding::Unreadable(reason),
    }
}

fn read_bytes(path: &Path, max_bytes: u64) -> Result<Vec<u8>, Refusal> {
    let (file, length) = open_judged(path, max_bytes)?;
    read_at_most(file, length, max_bytes)
}

/// Opens a path that is no link, and returns the file's length. It is judged before it is opened, so
/// that a pipe is not disturbed, and again afterwards, because only then it cannot change any more.
fn open_judged(path: &Path, max_bytes: u64) -> Result<(File, u64), Refusal> {
    judge(&fs::symlink_metadata(path)?, max_bytes)?;
    let file = open(path)?;
    let metadata = file.metadata()?;
    judge(&metadata, max_bytes)?;
    Ok((file, metadata.len()))
}

fn read_regular(path: &Path, max_bytes: u64) -> Result<String, Refusal> {
    let bytes = read_bytes(path, max_bytes)?;
    String::from_utf8(bytes).map_err(|_| Refusal::Unreadable(Unreadable::InvalidUtf8))
}

fn open(path: &Path) -> io::Result<File> {
    without_waiting(OpenOptions::new().read(true)).open(path)
}

/// A file is opened without following a link and without waiting for the other end of a pipe.
fn without_waiting(options: &mut OpenOptions) -> &OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;

        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

/// Refuses everything but a regular file of an acceptable size.
fn judge(metadata: &Metadata, max_bytes: u64) -> Result<(), Refusal> {
    let reason = if metadata.is_dir() {
        Unreadable::IsADirectory
    } else if !metadata.is_file() {
        Unreadable::NotARegularFile
    } else if metadata.len() > max_bytes {
        Unreadable::TooLarge
    } else {
        return Ok(());
    };
    Err(Refusal::Unreadable(reason))
}

/// The file may grow while it is read, so the limit holds here too.
fn read_at_most(file: File, expected: u64, max_bytes: u64) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    // One byte more than expected, so that the end is seen without growing.
    let room = usize::try_from(expected.saturating_add(1)).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(room).map_err(|_| Refusal::Unreadable(Unreadable::TooLarge))?;
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(Refusal::Unreadable(Unreadable::TooLarge));
    }
    Ok(bytes)
}

/// Follows a link to a file in `dir`.
fn inside(dir: &Path, link: &Path) -> Result<PathBuf, Refusal> {
    // A link to nothing is a mistake worth a warning, not an absent file.
    let broken = |error: io::Error| match Refusal::from(error) {
        Refusal::Absent => Refusal::Unreadable(Unreadable::Io),
        refusal @ Refusal::Unreadable(_) => refusal,
    };
    let target = fs::canonicalize(link).map_err(broken)?;
    if target.starts_with(fs::canonicalize(dir).map_err(broken)?) {
        Ok(target)
    } else {
        Err(Refusal::Unreadable(Unreadable::OutsideDir))
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        let kind = error.kind();
        // No file can have a name that the system does not allow, or be below another file.
        let nowhere = [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::InvalidFilename];
        if nowhere.contains(&kind) {
            Self::Absent
        } else if kind == ErrorKind::PermissionDenied {
            Self::Unreadable(Unreadable::PermissionDenied)
        } else {
            Self::Unreadable(Unreadable::Io)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Such a name tells a user nothing: the caller names the file that it wanted to write.
    #[test]
    fn an_error_does_not_name_a_temporary_file() {
        for write in [put, put_private] {
            let error = write(Path::new("/proc/self/x.txt"), b"x").unwrap_err();
            assert!(!error.to_string().contains(".tmp"), "{error}");
        }
    }

    const LIMIT: u64 = 100;

    #[track_caller]
    fn check(make: impl FnOnce(&Path), expected: &str) {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("elsewhere.md"), "secret").unwrap();
        let dir = top.path().join("design");
        fs::create_dir(&dir).unwrap();
        make(&dir);
        let found = match read_inside(&dir, &dir.join("spec.md"), LIMIT) {
            FileFinding::Absent => "absent".to_owned(),
            FileFinding::Unreadable(reason) => reason.to_string(),
            FileFinding::Text(text) => format!("text {text:?}"),
        };
        assert_eq!(found, expected);
    }

    fn write(name: &'static str, bytes: &'static [u8]) -> impl FnOnce(&Path) {
        move |dir| fs::write(dir.join(name), bytes).unwrap()
    }

    // B-14, B-15: exactly that name.
    #[test]
    fn only_the_exact_name_is_found() {
        check(|_| {}, "absent");
        #[cfg(target_os = "linux")] // Elsewhere file systems may fold case.
        check(write("Spec.md", b"x"), "absent");
        check(write("spec.md", b"x"), "text \"x\"");
    }

    // B-18
    #[test]
    fn what_cannot_be_text_has_a_reason() {
        check(write("spec.md", b"a\xffb"), "invalid utf-8");
        check(write("spec.md", b"\xff\xfea\0"), "invalid utf-8");
        check(write("spec.md", b"a\0b"), "text \"a\\0b\"");
        check(|dir| fs::create_dir(dir.join("spec.md")).unwrap(), "is a directory");
        check(|dir| fs::write(dir.join("spec.md"), [b'a'; 101]).unwrap(), "too large");
        check(
            |dir| fs::write(dir.join("spec.md"), [b'a'; 100]).unwrap(),
            &format!("text {:?}", "a".repeat(100)),
        );
    }

    // The kernel's files report a size of zero, so only reading shows their size.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_limit_holds_while_reading() {
        let found = read(Path::new("/proc/cpuinfo"), 10);
        assert_eq!(found, FileFinding::Unreadable(Unreadable::TooLarge));
    }

    // No memory can hold this file, and it is refused instead of tried.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_beyond_all_memory_is_too_large_for_any_limit() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("a");
        let made = File::create(&path).unwrap().set_len(1 << 43);
        if made.is_ok() {
            assert_eq!(read(&path, u64::MAX), FileFinding::Unreadable(Unreadable::TooLarge));
        }
    }

    // A limit that cannot be exceeded must not overflow.
    #[test]
    fn the_largest_limit_is_no_limit() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("a");
        fs::write(&path, "text").unwrap();
        assert_eq!(read(&path, u64::MAX), FileFinding::Text("text".to_owned()));
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::symlink;
        use std::os::unix::net::UnixListener;

        use super::*;

        // B-16
        #[test]
        fn a_link_may_not_lead_out_of_the_folder() {
            check(|dir| symlink("../elsewhere.md", dir.join("spec.md")).unwrap(), "outside dir");
            check(|dir| symlink("/dev/null", dir.join("spec.md")).unwrap(), "outside dir");
            check(|dir| symlink("..", dir.join("spec.md")).unwrap(), "outside dir");
            let inside = |dir: &Path| {
                fs::write(dir.join("other.md"), "x").unwrap();
                symlink("other.md", dir.join("spec.md")).unwrap();
            };
            check(inside, "text \"x\"");
        }

        // The judgement and the opening must be about the same file: swap it all the time.
        #[test]
        fn a_file_that_is_swapped_for_a_link_never_leaks() {
            let top = tempfile::tempdir().unwrap();
            let (dir, secret) = (top.path().join("design"), top.path().join("secret"));
            fs::create_dir(&dir).unwrap();
            fs::write(&secret, "secret").unwrap();
            let path = dir.join("spec.md");
            fs::write(&path, "mine").unwrap();
            let done = std::sync::atomic::AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        symlink(&secret, dir.join("link")).unwrap();
                        fs::rename(dir.join("link"), &path).unwrap();
                        fs::write(dir.join("file"), "mine").unwrap();
                        fs::rename(dir.join("file"), &path).unwrap();
                    }
                });
                let leaks = (0..20_000).filter(|_| {
                    read_inside(&dir, &path, LIMIT) == FileFinding::Text("secret".to_owned())
                });
                let leaks = leaks.count();
                done.store(true, std::sync::atomic::Ordering::Relaxed);
                assert_eq!(leaks, 0);
            });
        }

        #[test]
        fn a_link_in_a_loop_or_to_nothing_is_an_error_and_not_absent() {
            check(|dir| symlink("spec.md", dir.join("spec.md")).unwrap(), "i/o error");
            check(|dir| symlink("nothing.md", dir.join("spec.md")).unwrap(), "i/o error");
        }

        #[test]
        fn a_socket_is_not_opened() {
            let make = |dir: &Path| drop(UnixListener::bind(dir.join("spec.md")).unwrap());
            check(make, "not a regular file");
        }

        #[test]
        fn a_folder_behind_a_link_is_still_its_own_inside() {
            let top = tempfile::tempdir().unwrap();
            fs::create_dir(top.path().join("real")).unwrap();
            fs::write(top.path().join("real/a.md"), "x").unwrap();
            symlink("a.md", top.path().join("real/spec.md")).unwrap();
            symlink("real", top.path().join("design")).unwrap();
            let dir = top.path().join("design");
            let found = read_inside(&dir, &dir.join("spec.md"), LIMIT);
            assert_eq!(found, FileFinding::Text("x".to_owned()));
        }
    }
}
