//! Creates a repository from the content of a folder.

use std::io;
use std::path::Path;

use super::repository::{not_started, question};

/// Makes a folder a repository of its own, with one commit of everything in it. It ignores the
/// user's settings and name. It refuses a folder that is already a repository, whose settings would
/// count.
pub fn begin_repository(folder: &Path) -> io::Result<()> {
    if folder.join(".git").symlink_metadata().is_ok() {
        return Err(io::Error::other("it is already a repository"));
    }
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all"],
        &["commit", "--quiet", "--message=The example project"],
    ] {
        let mut git = question(folder);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TEMPLATE_DIR", "");
        git.args(["-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost"]);
        git.args(["-c", "core.autocrlf=false", "-c", "commit.gpgsign=false"]);
        git.args(["-c", "core.hooksPath=/dev/null", "-c", "core.attributesFile=/dev/null"]);
        let ended = git.args(arguments).output();
        let ended = ended.map_err(|error| not_started(error, Some(folder)))?;
        if !ended.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&ended.stderr).into_owned()));
        }
    }
    Ok(())
}
