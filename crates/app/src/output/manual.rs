//! Manual pages at a terminal.

use convoke_engine::pager;

use super::Output;

/// Reads a manual page from its input; 127 says that this did not work.
const MANUAL: &str = "man -l - 2>/dev/null || exit 127";

impl Output {
    /// Opens a manual page in `man`. Tells whether that worked.
    pub fn manual(&self, page: &str) -> bool {
        pager::page(MANUAL.as_ref(), page).unwrap_or(false)
    }
}
