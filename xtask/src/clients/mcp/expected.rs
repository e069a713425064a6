//! What the conformance suite checks and the server does not do, each with its reason. The suite fails
//! when an entry is out of date.

/// The versions of the protocol that the suite checks.
pub(super) const SUITE_VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// A check that does not apply.
pub(super) struct NotOurs {
    /// The scenario, or one check of it: `SCENARIO:CHECK`.
    pub(super) check: &'static str,
    /// The versions for which it fails.
    pub(super) versions: &'static [&'static str],
    /// Why it does not apply.
    #[expect(dead_code, reason = "it is for readers")]
    pub(super) why: &'static str,
}

pub(super) const NOT_OURS: [NotOurs; 0] = [];
