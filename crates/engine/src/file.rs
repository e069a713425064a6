//! Reading one file of somebody else's, whatever it turns out to be.
//!
//! Nothing here can hang or fill the memory: only regular files are opened, and only up to a limit.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use convoke_domain::brief::candidate::{Finding, Unreadable};

/// Reads a file that must lie in `dir`. A link may point anywhere inside it.
pub fn read_inside(dir: &Path, path: &Path, max_bytes: u64) -> Finding {
    finding(fs::symlink_metadata(path).map_err(Refusal::from).and_then(|named| {
        if named.is_symlink() && !leads_inside(dir, path)? {
            return Err(Refusal::Unreadable(Unreadable::OutsideDir));
        }
        read_regular(path, max_bytes)
    }))
}

/// Reads a file wherever it lies.
pub fn read(path: &Path, max_bytes: u64) -> Finding {
    finding(read_regular(path, max_bytes))
}

enum Refusal {
    Absent,
    Unreadable(Unreadable),
}

fn finding(result: Result<String, Refusal>) -> Finding {
    match result {
        Ok(text) => Finding::Text(text),
        Err(Refusal::Absent) => Finding::Absent,
        Err(Refusal::Unreadable(reason)) => Finding::Unreadable(reason),
    }
}

fn read_regular(path: &Path, max_bytes: u64) -> Result<String, Refusal> {
    let metadata = fs::metadata(path)?;
    if let Some(reason) = unfit(&metadata, max_bytes) {
        return Err(Refusal::Unreadable(reason));
    }
    let bytes = read_at_most(path, &metadata, max_bytes)?;
    String::from_utf8(bytes).map_err(|_| Refusal::Unreadable(Unreadable::InvalidUtf8))
}

/// Tells from the outside why a file will not be opened.
fn unfit(metadata: &Metadata, max_bytes: u64) -> Option<Unreadable> {
    if metadata.is_dir() {
        Some(Unreadable::IsADirectory)
    } else if !metadata.is_file() {
        Some(Unreadable::NotARegularFile)
    } else if metadata.len() > max_bytes {
        Some(Unreadable::TooLarge)
    } else {
        None
    }
}

/// The file may have grown since its size was asked, so the limit holds while reading too.
fn read_at_most(path: &Path, metadata: &Metadata, max_bytes: u64) -> Result<Vec<u8>, Refusal> {
    // One byte more than expected, so that the end is seen without growing.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    File::open(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(Refusal::Unreadable(Unreadable::TooLarge));
    }
    Ok(bytes)
}

fn leads_inside(dir: &Path, link: &Path) -> Result<bool, Refusal> {
    // A link to nothing is a mistake worth a warning, not an absent file.
    let broken = |error: io::Error| match Refusal::from(error) {
        Refusal::Absent => Refusal::Unreadable(Unreadable::Io),
        refusal @ Refusal::Unreadable(_) => refusal,
    };
    let target = fs::canonicalize(link).map_err(broken)?;
    Ok(target.starts_with(fs::canonicalize(dir).map_err(broken)?))
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        let kind = error.kind();
        // No file can have a name that the system does not allow.
        if matches!(kind, ErrorKind::NotFound | ErrorKind::InvalidFilename) {
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

    const LIMIT: u64 = 100;

    #[track_caller]
    fn check(make: impl FnOnce(&Path), expected: &str) {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("elsewhere.md"), "secret").unwrap();
        let dir = top.path().join("design");
        fs::create_dir(&dir).unwrap();
        make(&dir);
        let found = match read_inside(&dir, &dir.join("spec.md"), LIMIT) {
            Finding::Absent => "absent".to_owned(),
            Finding::Unreadable(reason) => reason.to_string(),
            Finding::Text(text) => format!("text {text:?}"),
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

    // A limit that cannot be exceeded must not overflow.
    #[test]
    fn the_largest_limit_is_no_limit() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("a");
        fs::write(&path, "text").unwrap();
        assert_eq!(read(&path, u64::MAX), Finding::Text("text".to_owned()));
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
            assert_eq!(found, Finding::Text("x".to_owned()));
        }
    }
}
