//! Hooks of Claude Code.

use crate::client::UserFile;
use crate::client::hook_wiring::HookWiring;

pub(super) const WIRING: HookWiring = HookWiring {
    before_prompt: &["SessionStart"],
    ..HookWiring::like_claude(
        ".claude/settings.json",
        UserFile::moved_by(".claude/settings.json", "CLAUDE_CONFIG_DIR", "settings.json"),
    )
};
