//! Hooks of Claude Code.

use crate::client::hook_wiring::HookWiring;

pub(super) const WIRING: HookWiring = HookWiring::like_claude(".claude/settings.json");
