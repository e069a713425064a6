//! Appends lines to a feature's review history, and reads it.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use convoke_domain::dispatch::history::FILE;

use super::feature::{Feature, FeatureNotes, MAX_BYTES, folders};
use crate::file;

/// Appends one line to a feature's history; a dispatch without a feature has none. Several
/// processes may append in parallel; each line stays complete.
pub fn append(feature: &Feature, line: &str) -> io::Result<()> {
    if feature.beside == FeatureNotes::Nothing {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.create(true).read(true).append(true);
    // A feature may have any author; its links must not lead Convoke elsewhere.
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;

        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let mut file = options.open(feature.dir.join(FILE))?;
    let open_ended = ends_open(&mut file)?;
    let text = if open_ended { format!("\n{line}") } else { line.to_owned() };
    file.write_all(text.as_bytes())
}

/// Reads the history of every feature below a folder that has one, by feature.
pub fn histories(features: &Path) -> Vec<(String, String)> {
    let read = |name: String| {
        let text = file::text(&features.join(&name).join(FILE), MAX_BYTES)?;
        Some((name, text))
    };
    folders(features).into_iter().filter_map(read).collect()
}

/// Tells whether the last line has no ending.
fn ends_open(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    // D-50: created if absent, a line of its own, nothing else changed.
    #[test]
    fn a_line_is_added_on_its_own() {
        let feature = tempfile::tempdir().unwrap();
        let path = feature.path().join(FILE);
        let add = |line: &str| append(&Feature::at(feature.path()), line);
        add("one\n").unwrap();
        add("two\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        fs::write(&path, "## Notes").unwrap();
        add("three\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "## Notes\nthree\n");
        assert!(append(&Feature::at(&feature.path().join("gone")), "x\n").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let feature = tempfile::tempdir().unwrap();
        let elsewhere = feature.path().join("bashrc");
        fs::write(&elsewhere, "mine\n").unwrap();
        std::os::unix::fs::symlink(&elsewhere, feature.path().join(FILE)).unwrap();
        assert!(append(&Feature::at(feature.path()), "x\n").is_err());
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine\n");
    }
}
