//! Reading a text in blocks of whole lines, for a reader who needs little of it. A program's memory is
//! handed out page by page when it is first used, which takes longer than to read a large file.

use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use convoke_domain::finding::{FileFinding, Unreadable};

use super::{Refusal, finding, inside, open_judged};

/// How many bytes Convoke reads in one go.
const BLOCK: usize = 64 * 1024;

/// A file that is open to be read.
#[derive(Debug)]
pub struct OpenedFile {
    /// Its path, without any link.
    pub path: PathBuf,
    file: File,
    max_bytes: u64,
}

impl OpenedFile {
    /// Opens a file that must be below `dir`, as [`read_below`](super::read_below) does. The error is what
    /// was found instead of a file that can be read.
    pub fn below(dir: &Path, path: &Path, max_bytes: u64) -> Result<Self, FileFinding> {
        let named = fs::symlink_metadata(path).map_err(Refusal::from);
        let opened = named.and_then(|_| {
            let path = inside(dir, path)?;
            let (file, _) = open_judged(&path, max_bytes)?;
            Ok(Self { path, file, max_bytes })
        });
        opened.map_err(|refusal| finding(Err(refusal)))
    }

    /// Returns what the system knows of the open file now.
    pub fn metadata(&self) -> Option<Metadata> {
        self.file.metadata().ok()
    }

    /// Gives the text to `take_in` in blocks of whole lines. The error is what was found instead of a text;
    /// blocks that were taken in before it belong to no text.
    pub fn read_blocks(&self, take_in: &mut dyn FnMut(&str)) -> Result<(), FileFinding> {
        read_blocks(&self.file, self.max_bytes, take_in).map_err(|refusal| finding(Err(refusal)))
    }
}

fn read_blocks(
    mut file: &File,
    max_bytes: u64,
    take_in: &mut dyn FnMut(&str),
) -> Result<(), Refusal> {
    let mut buffer = vec![0; BLOCK];
    // How many bytes of a line that is not complete are at the buffer's start.
    let mut rest = 0;
    let mut total = 0_u64;
    loop {
        if rest == buffer.len() {
            buffer.resize(rest + BLOCK, 0);
        }
        let count = match file.read(&mut buffer[rest..]) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        total += count as u64;
        // The file may grow while it is read.
        if total > max_bytes {
            return Err(Refusal::Unreadable(Unreadable::TooLarge));
        }
        let end = rest + count;
        let Some(feed) = buffer[rest..end].iter().rposition(|byte| *byte == b'\n') else {
            rest = end;
            continue;
        };
        let complete = rest + feed + 1;
        take_in(text(&buffer[..complete])?);
        buffer.copy_within(complete..end, 0);
        rest = end - complete;
    }
    if rest > 0 {
        take_in(text(&buffer[..rest])?);
    }
    Ok(())
}

fn text(bytes: &[u8]) -> Result<&str, Refusal> {
    str::from_utf8(bytes).map_err(|_| Refusal::Unreadable(Unreadable::InvalidUtf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_blocks_below(
        dir: &Path,
        path: &Path,
        max_bytes: u64,
        take_in: &mut dyn FnMut(&str),
    ) -> Result<(), FileFinding> {
        OpenedFile::below(dir, path, max_bytes)?.read_blocks(take_in)
    }

    #[test]
    fn a_text_comes_in_whole_lines_and_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.md");
        let long = "é".repeat(BLOCK);
        for text in [
            String::new(),
            "a".to_owned(),
            "a\n".to_owned(),
            format!("{long}\n{long}"),
            format!("a\n{long}\r\n\n"),
            "ab\n".repeat(BLOCK),
        ] {
            fs::write(&path, &text).unwrap();
            let mut blocks = Vec::new();
            let mut take_in = |lines: &str| blocks.push(lines.to_owned());
            let length = text.len() as u64;
            assert_eq!(read_blocks_below(folder.path(), &path, length, &mut take_in), Ok(()));
            assert_eq!(blocks.concat(), text);
            let (_, before) = blocks.split_last().map_or((None, &[][..]), |(l, b)| (Some(l), b));
            assert!(before.iter().all(|block| block.ends_with('\n')));
            if length > 0 {
                let refused = read_blocks_below(folder.path(), &path, length - 1, &mut |_| ());
                assert_eq!(refused, Err(FileFinding::Unreadable(Unreadable::TooLarge)));
            }
        }
        fs::write(&path, b"a\n\xff\n").unwrap();
        let refused = read_blocks_below(folder.path(), &path, 99, &mut |_| ());
        assert_eq!(refused, Err(FileFinding::Unreadable(Unreadable::InvalidUtf8)));
        let absent = read_blocks_below(folder.path(), &folder.path().join("x"), 99, &mut |_| ());
        assert_eq!(absent, Err(FileFinding::Absent));
    }
}
