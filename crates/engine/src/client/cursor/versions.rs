//! Cursor's CLI is not on a registry that the tests can install it from, so no version was driven.

use crate::client::ClientRelease;

/// No version is tested.
pub(super) const TESTED: Option<ClientRelease> = None;
