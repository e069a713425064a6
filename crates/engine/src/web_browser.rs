//! Opening the user's browser.

use std::path::Path;
use std::process::Stdio;

use crate::process::command;

/// The programs that open an address in the user's browser.
pub const OPENERS: &[&str] = if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open"] };

/// Has a program open an address, and does not wait for it. Tells whether it started.
pub fn open_browser(opener: &Path, address: &str, folder: &Path) -> bool {
    let mut opener = command(opener, folder);
    opener.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    opener.spawn().is_ok()
}
