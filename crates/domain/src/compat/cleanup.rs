//! A session's folder that a script wants removed, and why it may not be.

/// Files that mark a folder as removable: the original's mark, or that of a Convoke run.
pub const MARKERS: [&str; 2] = [".larch-keepalive", ".convoke-run"];

/// A folder that is not removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CleanupError {
    /// An option that the script does not have.
    #[error("Unknown option: {0}")]
    UnknownOption(String),
    /// None was named.
    #[error("ERROR: --dir is required and must be non-empty")]
    NoFolder,
    /// The folder is outside of the roots for sessions.
    #[error("ERROR: --dir must be under {roots} (got: {dir})")]
    NotUnder {
        /// The roots for sessions.
        roots: String,
        /// The refused folder.
        dir: String,
    },
    /// It is a link, or no folder.
    #[error("ERROR: --dir must be a folder and no link to one (got: {0})")]
    NoFolderItself(String),
    /// The folder has no session marker.
    #[error("ERROR: --dir must hold .larch-keepalive or .convoke-run (got: {0})")]
    NoMarker(String),
    /// The system refused to delete it.
    #[error("ERROR: --dir cannot be removed (got: {dir}): {why}")]
    Refused {
        /// The refused folder.
        dir: String,
        /// The system's message.
        why: String,
    },
}

impl CleanupError {
    /// The exit code.
    pub const CODE: u8 = 1;
}

/// Reads a script's words: `--dir PATH`, or a bare path.
pub fn folder(words: &[String]) -> Result<&str, CleanupError> {
    let mut folder = "";
    let mut words = words.iter();
    while let Some(word) = words.next() {
        folder = match word.as_str() {
            "--dir" => words.next().ok_or(CleanupError::NoFolder)?,
            flag if flag.starts_with('-') => {
                return Err(CleanupError::UnknownOption(word.clone()));
            }
            bare => bare,
        };
    }
    if folder.is_empty() { Err(CleanupError::NoFolder) } else { Ok(folder) }
}

/// Returns the line that says who removed what.
pub fn audit_line(now: &str, pid: u32, parent: i32, parent_name: &str, dir: &str) -> String {
    let name = parent_name.trim().replace(char::is_whitespace, "_");
    let name = if name.is_empty() { "?" } else { &name };
    let dir = dir.replace(char::is_control, "_");
    format!("{now} pid={pid} ppid={parent} parent={name} dir={dir}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-380
    #[test]
    fn a_folder_is_named_with_or_without_its_flag() {
        let parsed = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            folder(&words).map(str::to_owned).map_err(|error| error.to_string())
        };
        assert_eq!(parsed(&["--dir", "/tmp/a"]), Ok("/tmp/a".to_owned()));
        assert_eq!(parsed(&["/tmp/a"]), Ok("/tmp/a".to_owned()));
        let required = "ERROR: --dir is required and must be non-empty".to_owned();
        for words in [&[][..], &["--dir"], &["--dir", ""]] {
            assert_eq!(parsed(words), Err(required.clone()), "{words:?}");
        }
        assert_eq!(parsed(&["--force"]), Err("Unknown option: --force".to_owned()));
    }

    // P-381
    #[test]
    fn a_removal_is_logged_on_one_line() {
        let line = audit_line("2026-03-04T05:06:07Z", 7, 6, "my shell\n", "/tmp/a\nb");
        assert_eq!(line, "2026-03-04T05:06:07Z pid=7 ppid=6 parent=my_shell dir=/tmp/a_b\n");
        assert!(audit_line("t", 7, 6, "", "/x").contains(" parent=? "));
    }
}
