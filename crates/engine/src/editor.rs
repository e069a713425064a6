//! Letting a person write in an editor of their own.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Stdio;

use crate::process::command;
use crate::scratch;

/// Opens a text in the user's editor, and returns the text after the editor exits; `None` if the
/// editor fails, which is how a person cancels.
pub fn edit(editor: &OsStr, text: &str) -> io::Result<Option<String>> {
    let folder = scratch::look()?;
    let path = folder.path().join("TASK.md");
    fs::write(&path, text)?;
    // An editor may be named with flags, so a shell reads it, as git's does.
    let mut line = editor.to_owned();
    line.push(" \"$@\"");
    let mut shell = command("sh", Path::new("."));
    shell.arg("-c").arg(line).arg(editor).arg(&path).stdin(Stdio::inherit());
    let ended = shell.status()?;
    if !ended.success() {
        return Ok(None);
    }
    fs::read_to_string(&path).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_editor_leaves_is_returned() {
        let said = edit(OsStr::new("sed -i s/old/new/"), "old title\n").unwrap();
        assert_eq!(said.as_deref(), Some("new title\n"));
        assert_eq!(edit(OsStr::new("false"), "old").unwrap(), None);
    }
}
