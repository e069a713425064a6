//! Git under a guardian, so that it ends with Convoke, even if Convoke is killed.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use convoke_domain::lane::outcome::ProcessEnd;
use convoke_guard::{GuardCommand, end_strays, read_report};

use super::diff::run_under;
use crate::file::create_private;
use crate::lane::cancel::Cancel;
use crate::process::guardian;

/// Runs git until it ends or the user stops Convoke, and tells whether it succeeded; `None` if
/// unknown. Git reads `feed`. If Convoke disappears, the guardian ends git and removes the folder.
pub(super) fn succeeds(
    git: &mut Command,
    feed: &Path,
    convoke: &Path,
    folder: &Path,
    cancel: &Cancel,
) -> Option<bool> {
    if cancel.is_cancelled() {
        return None;
    }
    let path = folder.join("end");
    let report = create_private(&path).ok()?;
    let Ok(mut guardian) = guarded(git, feed, convoke, &path).spawn() else {
        // Convoke's program may have been replaced or removed since it started. Git works without
        // the guardian.
        return run_under(git, cancel).map(|output| output.status.success());
    };
    // Closing its stdin tells the guardian to stop everything.
    let stdin = Mutex::new(guardian.stdin.take());
    let watch =
        cancel.watch(move || drop(stdin.lock().unwrap_or_else(PoisonError::into_inner).take()));
    let status = guardian.wait().ok()?;
    drop(watch);
    // A killed guardian guards no process; its client has the folder in its environment.
    if !status.success() {
        end_strays(folder);
    }
    (!cancel.is_cancelled()).then(|| read_report(report) == Some(ProcessEnd::Exited(0)))
}

/// Prepares a guardian that does in git's place, with its folder and its environment, what git does.
fn guarded(git: &Command, feed: &Path, convoke: &Path, report: &Path) -> Command {
    let guarded = GuardCommand {
        program: git.get_program().into(),
        arguments: git.get_args().map(OsString::from).collect(),
        stdin: Some(feed.to_owned()),
        grace: Duration::ZERO,
        report: report.to_owned(),
        owner: std::process::id(),
    };
    let folder = git.get_current_dir().unwrap_or(Path::new("."));
    let mut guardian = guardian(convoke, &guarded, folder);
    for (name, value) in git.get_envs() {
        match value {
            Some(value) => guardian.env(name, value),
            None => guardian.env_remove(name),
        };
    }
    guardian.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    guardian
}
