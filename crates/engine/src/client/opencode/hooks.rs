//! Hooks of opencode: a plugin calls Convoke.

use convoke_domain::hook::{Moment, SAVED};
use serde_json::{Value, json};

use super::plugin;
use crate::client::UserFile;
use crate::client::hook_wiring::{Compactions, EntryCount, HookWiring, PluginFile, SettingsForm};

const PLUGIN: PluginFile = PluginFile {
    text: plugin::plugin,
    is_ours: plugin::is_our_plugin,
    program: plugin::plugin_program,
};

pub(super) const WIRING: HookWiring = HookWiring {
    project_file: ".opencode/plugins/convoke.js",
    user_file: UserFile::moved_by(
        ".config/opencode/plugins/convoke.js",
        "XDG_CONFIG_HOME",
        "opencode/plugins/convoke.js",
    ),
    form: SettingsForm::Plugin(&PLUGIN),
    events: &[],
    before_prompt: &[],
    most_bytes: 200_000,
    entries: EntryCount::One,
    compactions: Compactions::Announced,
    moment,
    answer,
};

fn moment(event: &str, cause: Option<&str>) -> Option<Moment> {
    match event {
        "session.created" => Some(Moment::of_start(cause)),
        "session.compacted" => Some(Moment::Compacted),
        SAVED => Some(Moment::Prompted),
        _ => None,
    }
}

fn answer(_: &str, text: &str) -> Value {
    json!({ "context": text })
}
