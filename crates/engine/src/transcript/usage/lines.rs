//! The lines of a record that can hold usage.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use aho_corasick::AhoCorasick;

use crate::file;

/// The longest line that is read; a longer one is skipped and counted. An answer with its usage takes
/// kilobytes; megabytes are output of tools, which has none.
const LONGEST_LINE: u64 = 32 * 1024 * 1024;

/// Words of which one is in every line that matters.
pub(crate) struct LineMarks(Option<AhoCorasick>);

impl LineMarks {
    pub(crate) fn new(words: &[&str]) -> Self {
        Self(AhoCorasick::new(words).ok())
    }

    /// Tells whether a line may matter. Without a searcher every line may.
    fn are_in(&self, line: &[u8]) -> bool {
        self.0.as_ref().is_none_or(|words| words.is_match(line))
    }
}

/// A line of a record.
pub(super) enum RecordLine<'a> {
    /// A line with a mark.
    Whole(&'a str),
    /// A line that has no end of a JSON object.
    Broken,
    /// A line that is too long to read.
    TooLong,
}

/// Calls `each` for every line that has a mark or that cannot be read; `None` if the file cannot be.
pub(super) fn each_marked(
    path: &Path,
    marks: &LineMarks,
    mut each: impl FnMut(RecordLine<'_>),
) -> Option<()> {
    let mut reader = BufReader::with_capacity(256 * 1024, file::open_regular(path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return Some(());
        }
        if !line.ends_with(b"\n") && u64::try_from(read).is_ok_and(|read| read == LONGEST_LINE) {
            each(RecordLine::TooLong);
            reader.skip_until(b'\n').ok()?;
            // A single long line must not hold its memory until the end.
            line = Vec::new();
            continue;
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        if !text.ends_with(b"}") {
            each(RecordLine::Broken);
        } else if marks.are_in(text) {
            each(RecordLine::Whole(&String::from_utf8_lossy(text)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn lines(bytes: &[u8]) -> Option<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, bytes).unwrap();
        let mut found = Vec::new();
        each_marked(&path, &LineMarks::new(&["\"a\"", "\"b\""]), |line| {
            found.push(match line {
                RecordLine::Whole(text) => text.to_owned(),
                RecordLine::Broken => "broken".to_owned(),
                RecordLine::TooLong => "too long".to_owned(),
            });
        })?;
        Some(found)
    }

    #[test]
    fn only_lines_with_a_mark_or_a_fault_are_passed_on() {
        let text = b"{\"a\":1}\n\n{\"c\":1}\r\n{\"b\":\"\xff\"}\r\n{\"a\":\n{\"b\":2}\n{\"c\"";
        let expected = ["{\"a\":1}", "{\"b\":\"\u{fffd}\"}", "broken", "{\"b\":2}", "broken"];
        assert_eq!(lines(text).unwrap(), expected);
        assert_eq!(lines(b"").unwrap(), Vec::<String>::new());
        let none = each_marked(Path::new("/dev/null"), &LineMarks::new(&["a"]), |_| ());
        assert_eq!(none, None, "a device is no record");
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_to_its_end() {
        let long = usize::try_from(LONGEST_LINE).unwrap();
        let mut bytes = b"{\"a\":0}\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'a', long + 70_000));
        bytes.extend(b"}\n{\"a\":2}\n");
        assert_eq!(lines(&bytes).unwrap(), ["{\"a\":0}", "too long", "{\"a\":2}"]);
    }
}
