//! Hooks of Codex. It runs only those that its user trusts ([`super::trust`]), and that of a session's
//! start with the first prompt.

use crate::client::UserFile;
use crate::client::hook_wiring::HookWiring;

pub(super) const WIRING: HookWiring = HookWiring::like_claude(
    ".codex/hooks.json",
    UserFile::moved_by(".codex/hooks.json", "CODEX_HOME", "hooks.json"),
);
