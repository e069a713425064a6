//! The `[task]` section.

use super::files::settle_once;
use super::{Key, read_layers, truth};
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "task";

/// Everything decided about tasks.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Whether a task is completed with its last part.
    pub close_parent: bool,
}

/// One place's opinion on these settings.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    close_parent: Option<bool>,
}

/// Every setting of tasks.
pub const KEYS: [Key<Layer>; 1] = [Key {
    name: "close_parent",
    expected: "true or false",
    default: "false",
    meaning: "complete a task with its last subtask, unless a recorded verdict rejects it",
    from_text: truth,
    set: |layer, value| {
        layer.close_parent = Some(value.as_bool()?);
        Some(())
    },
}];

/// Collects what environment and files say about tasks.
pub fn settings(session: &Session) -> Result<Settings, Failure> {
    settle_once(&session.settings.files().task, || {
        let layers = read_layers(session, SECTION, &KEYS)?;
        let close_parent = layers.into_iter().find_map(|layer| layer.close_parent);
        Ok(Settings { close_parent: close_parent.unwrap_or(false) })
    })
}
