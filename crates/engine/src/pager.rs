//! Letting a person read a long text in a pager of their own.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::Stdio;

use crate::process::command;

/// A shell's exit codes if it cannot start a program.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Shows a text in the user's pager, and returns when the person has read enough. Tells whether the
/// pager could be started.
pub fn page(pager: &OsStr, text: &str) -> io::Result<bool> {
    // A pager may be named with flags, so a shell reads it, as git's does.
    let mut shell = command("sh", Path::new("."));
    shell.arg("-c").arg(pager).stdin(Stdio::piped()).stdout(Stdio::inherit());
    shell.stderr(Stdio::inherit());
    let mut child = shell.spawn()?;
    if let Some(mut keyboard) = child.stdin.take() {
        // A person who has read enough ends the pager before it has read all.
        keyboard.write_all(text.as_bytes()).ok();
    }
    let ended = child.wait()?;
    Ok(ended.code().is_none_or(|code| !NOT_STARTED.contains(&code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_reads_all_or_as_much_as_it_wants() {
        let top = tempfile::tempdir().unwrap();
        let kept = top.path().join("kept");
        let pager = format!("cat > '{}'", kept.display());
        assert!(page(OsStr::new(&pager), "a text\n").unwrap());
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "a text\n");
        assert!(page(OsStr::new("true"), &"x".repeat(1 << 20)).unwrap());
        assert!(!page(OsStr::new("no-such-pager 2> /dev/null"), "x").unwrap());
    }
}
