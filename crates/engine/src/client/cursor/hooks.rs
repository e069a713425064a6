//! Hooks of Cursor's CLI.

use convoke_domain::hook::Moment;
use serde_json::{Value, json};

use crate::client::UserFile;
use crate::client::hook_wiring::{Compactions, EntryCount, HookWiring, SettingsForm};

pub(super) const WIRING: HookWiring = HookWiring {
    project_file: ".cursor/hooks.json",
    user_file: UserFile::below_home(".cursor/hooks.json"),
    form: SettingsForm::Entries,
    events: &["sessionStart", "beforeSubmitPrompt", "preCompact"],
    before_prompt: &["sessionStart"],
    most_bytes: 9_900,
    entries: EntryCount::Several,
    compactions: Compactions::Announced,
    moment,
    answer,
};

fn moment(event: &str, cause: Option<&str>) -> Option<Moment> {
    match event {
        "sessionStart" => Some(Moment::of_start(cause)),
        "beforeSubmitPrompt" => Some(Moment::Prompted),
        // Nothing says afterwards that it is done.
        "preCompact" => Some(Moment::Compacting),
        _ => None,
    }
}

fn answer(_: &str, text: &str) -> Value {
    json!({ "additional_context": text })
}
