//! Whether git is there, is new enough, and works in this project.

use convoke_engine::git::refusal;
use convoke_engine::surroundings::{git_version, skipped_git};

use super::DoctorCheck;
use crate::hooks::git_remedy;
use crate::session::Session;

/// The oldest git with all the output that Convoke reads.
const OLDEST_GIT: (u32, u32) = (2, 31);

pub(super) fn git(session: &Session) -> Vec<DoctorCheck> {
    vec![match git_version(&session.project) {
        None => {
            let skipped = skipped_git(&session.project).map(|why| format!(" ({why})"));
            let skipped = skipped.unwrap_or_default();
            let why =
                format!("not found, so Convoke cannot notice changes to a working tree{skipped}");
            DoctorCheck::warn("git", why, "install git")
        }
        Some((said, Some(numbers))) if numbers < OLDEST_GIT => {
            let (major, minor) = OLDEST_GIT;
            DoctorCheck::warn(
                "git",
                format!("{said} is too old"),
                format!("update to {major}.{minor}"),
            )
        }
        Some((said, _)) => match refusal(&session.project) {
            Some(refused) => {
                let why = format!("{said} refuses to work here: {}", refused.why);
                DoctorCheck::fail("git", why, git_remedy(&refused))
            }
            None => DoctorCheck::ok("git", said),
        },
    }]
}
