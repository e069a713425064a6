//! Hooks of Gemini CLI.

use convoke_domain::hook::Moment;

use super::USER_SETTINGS;
use crate::client::hook_wiring::{
    Compactions, EntryCount, HookWiring, SettingsForm, additional_context,
};

pub(super) const WIRING: HookWiring = HookWiring {
    project_file: ".gemini/settings.json",
    user_file: USER_SETTINGS,
    // Gemini lists hooks by their names.
    form: SettingsForm::Groups { name: Some("convoke") },
    events: &["BeforeAgent"],
    before_prompt: &[],
    most_bytes: 200_000,
    entries: EntryCount::One,
    compactions: Compactions::Silent,
    moment,
    answer: additional_context,
};

/// Convoke does not answer the start of a session: Gemini drops a text from that event when the
/// session is cleared or resumed. The event before the agent works is the first one with an answer.
fn moment(event: &str, _: Option<&str>) -> Option<Moment> {
    (event == "BeforeAgent").then_some(Moment::Resumed)
}
