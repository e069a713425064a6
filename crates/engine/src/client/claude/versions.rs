//! The version of Claude Code that `cargo xtask clients` installs and drives.

use crate::client::ClientRelease;

/// Convoke's tests drive this version.
pub(super) const TESTED: ClientRelease = ClientRelease::new(2, 1, 325);
