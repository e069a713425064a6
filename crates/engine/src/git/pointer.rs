//! Files that Git LFS keeps elsewhere: the index has a pointer with the content's hash, so Convoke
//! can check such a file without the filter that would make a pointer of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use super::diff::run_under;
use crate::file;
use crate::lane::cancel::Cancel;

/// The beginning of every pointer.
const BEGINNING: &str = "version https://git-lfs.github.com/spec/v1\n";

/// No pointer is longer.
const LONGEST: u64 = 1024;

/// How much of a file is read at a time.
const CHUNK: usize = 64 * 1024;

/// Finds the files, among some with their objects, whose content is exactly what their pointers name.
/// `None` if git cannot tell.
pub(super) fn stored(
    top: &Path,
    git: &dyn Fn() -> Command,
    changed: &[(OsString, String)],
    cancel: &Cancel,
) -> Option<BTreeSet<OsString>> {
    let length = |name: &OsString| {
        let found = std::fs::symlink_metadata(top.join(name)).ok()?;
        found.is_file().then_some(found.len())
    };
    let there: Vec<_> =
        changed.iter().filter_map(|(name, blob)| Some((name, blob, length(name)?))).collect();
    let blobs: BTreeSet<_> = there.iter().map(|(_, blob, _)| blob.as_str()).collect();
    if blobs.is_empty() {
        return Some(BTreeSet::new());
    }
    let pointers = pointers(git, &blobs, cancel)?;
    let is_stored = |(name, blob, length): &(&OsString, &String, u64)| {
        let pointer = pointers.get(blob.as_str());
        pointer.is_some_and(|(hash, size)| {
            size == length && hash_of(&top.join(name), cancel).as_ref() == Some(hash)
        })
    };
    Some(there.into_iter().filter(is_stored).map(|(name, ..)| name.clone()).collect())
}

/// Reads the pointers among some objects: hash and size of the content.
fn pointers(
    git: &dyn Fn() -> Command,
    blobs: &BTreeSet<&str>,
    cancel: &Cancel,
) -> Option<BTreeMap<String, (String, u64)>> {
    let sizes = batch(git(), "--batch-check=%(objectname) %(objectsize)", blobs, cancel)?;
    let sizes = String::from_utf8_lossy(&sizes);
    let small = sizes.lines().filter_map(|line| {
        let (blob, size) = line.split_once(' ')?;
        (size.parse::<u64>().ok()? <= LONGEST).then_some(blob)
    });
    let small: BTreeSet<_> = small.collect();
    if small.is_empty() {
        return Some(BTreeMap::new());
    }
    let contents = batch(git(), "--batch=%(objectname) %(objectsize)", &small, cancel)?;
    let mut found = BTreeMap::new();
    let mut rest = &contents[..];
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let (blob, size) = head.split_once(' ')?;
        // An object that is missing has no size and no content.
        let Ok(size) = size.parse::<usize>() else {
            rest = &rest[end + 1..];
            continue;
        };
        let content = rest.get(end + 1..end + 1 + size)?;
        if let Some(pointer) = parse(&String::from_utf8_lossy(content)) {
            found.insert(blob.to_owned(), pointer);
        }
        rest = rest.get(end + 2 + size..).unwrap_or_default();
    }
    Some(found)
}

fn parse(text: &str) -> Option<(String, u64)> {
    let lines = text.strip_prefix(BEGINNING)?;
    let value = |key: &str| lines.lines().find_map(|line| line.strip_prefix(key));
    Some((value("oid sha256:")?.to_owned(), value("size ")?.parse().ok()?))
}

fn batch(mut git: Command, how: &str, blobs: &BTreeSet<&str>, cancel: &Cancel) -> Option<Vec<u8>> {
    use std::io::{Seek, Write};

    let mut asked = tempfile::tempfile().ok()?;
    for blob in blobs {
        writeln!(asked, "{blob}").ok()?;
    }
    asked.rewind().ok()?;
    let output = run_under(git.args(["cat-file", how]).stdin(asked), cancel)?;
    output.status.success().then_some(output.stdout)
}

/// Hashes a file's bytes; `None` if it cannot be read, or if the user stops Convoke.
pub(super) fn hash_of(path: &Path, cancel: &Cancel) -> Option<String> {
    let is_link = std::fs::symlink_metadata(path).ok()?.is_symlink();
    let mut file: File = file::open_regular(path).filter(|_| !is_link)?;
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        let read = file.read(&mut chunk).ok().filter(|_| !cancel.is_cancelled())?;
        if read == 0 {
            break;
        }
        hash.update(&chunk[..read]);
    }
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_pointers_are_read() {
        let pointer = format!("{BEGINNING}oid sha256:abc\nsize 12\n");
        assert_eq!(parse(&pointer), Some(("abc".to_owned(), 12)));
        for text in ["", BEGINNING, "oid sha256:abc\nsize 12\n", &pointer[..pointer.len() - 9]] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
