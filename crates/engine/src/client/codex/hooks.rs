//! Hooks of Codex. It runs only those that its user trusts ([`super::trust`]).

use crate::client::hook_wiring::{
    Compactions, EntryCount, HookWiring, START_AND_PROMPT, SettingsForm, additional_context,
    start_or_prompt,
};

pub(super) const WIRING: HookWiring = HookWiring {
    project_file: ".codex/hooks.json",
    user_file: ".codex/hooks.json",
    form: SettingsForm::Groups { name: None },
    events: START_AND_PROMPT,
    most_bytes: 9_900,
    entries: EntryCount::Several,
    compactions: Compactions::Announced,
    moment: start_or_prompt,
    answer: additional_context,
};
