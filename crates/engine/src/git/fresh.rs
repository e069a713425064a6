//! A repository that begins with what lies in a folder.

use std::io;
use std::path::Path;

use crate::process::command;

/// Makes a folder a repository of its own, with one commit of everything in it. Nobody's settings
/// decide how, and nobody's name is used.
pub fn begin_repository(folder: &Path) -> io::Result<()> {
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all"],
        &["commit", "--quiet", "--message=The example project"],
    ] {
        let mut git = command("git", folder);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        git.args(["-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost"]);
        git.args(["-c", "core.autocrlf=false", "-c", "commit.gpgsign=false"]);
        let ended = git.args(arguments).output()?;
        if !ended.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&ended.stderr).into_owned()));
        }
    }
    Ok(())
}
