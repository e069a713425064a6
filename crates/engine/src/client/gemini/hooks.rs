//! Hooks of Gemini CLI.

use convoke_domain::hook::Moment;

use crate::client::hook_wiring::{
    Compactions, EntryCount, HookWiring, SettingsForm, additional_context,
};

pub(super) const WIRING: HookWiring = HookWiring {
    project_file: ".gemini/settings.json",
    user_file: ".gemini/settings.json",
    // Gemini lists hooks by their names.
    form: SettingsForm::Groups { name: Some("convoke") },
    events: &["BeforeAgent"],
    most_bytes: 200_000,
    entries: EntryCount::One,
    compactions: Compactions::Silent,
    moment,
    answer: additional_context,
};

/// The start of a session is no moment to answer: Gemini drops what it is given then when the
/// session is cleared or resumed. Before the agent works, Convoke hears of it for the first time.
fn moment(event: &str, _: Option<&str>) -> Option<Moment> {
    (event == "BeforeAgent").then_some(Moment::Resumed)
}
