//! The file that gets the line for agents, and whether it may be written.

use std::path::{Path, PathBuf};

use convoke_domain::finding::FileFinding;
use convoke_domain::setup::guidance::add;
use convoke_engine::file::{read, stays_inside};

use super::findings::GUIDANCE;

/// No guidance that a person writes is longer.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The result of writing the line into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Guidance {
    /// The file would hold this instead.
    Write {
        /// The file's text; `None` if there is no file.
        original: Option<String>,
        /// The file's new text.
        written: String,
    },
    /// The line is there.
    Present,
    /// The file is left alone, for this reason.
    Refused(String),
}

/// Returns which file gets the line: the first that is there, else a new AGENTS.md.
pub(super) fn guidance_file(project: &Path) -> &'static str {
    let is_there = |name: &&str| project.join(name).symlink_metadata().is_ok();
    GUIDANCE.into_iter().find(is_there).unwrap_or(GUIDANCE[0])
}

/// Checks the present file.
pub(super) fn look(project: &Path, name: &str) -> Guidance {
    let path = project.join(name);
    if let Some(why) = refusal(project, name) {
        return Guidance::Refused(why);
    }
    let original = match read(&path, MAX_BYTES) {
        FileFinding::Absent => None,
        FileFinding::Text(text) => Some(text),
        FileFinding::Unreadable(reason) => {
            return Guidance::Refused(format!("{name} cannot be read: {reason}"));
        }
    };
    with_guidance(original.as_deref())
}

/// Returns what the line makes of a file's text.
pub(super) fn with_guidance(original: Option<&str>) -> Guidance {
    match add(original) {
        Some(written) => Guidance::Write { original: original.map(str::to_owned), written },
        None => Guidance::Present,
    }
}

/// Returns why a file of the project must not be written, if it must not.
pub(super) fn refusal(project: &Path, name: &str) -> Option<String> {
    let path: PathBuf = project.join(name);
    if path.is_symlink() && !path.exists() {
        return Some(format!("{name} is a link that leads nowhere"));
    }
    if !stays_inside(project, Path::new(name)) {
        return Some(format!("{name} leads out of the project"));
    }
    None
}
