//! The `[health]` section.

use std::time::Duration;

use super::files::settle_once;
use super::{Key, number, read_layers, whole};
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "health";

/// Everything decided about asking agents whether they answer.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How long a probe's result stays valid.
    pub remember: Duration,
    /// How long Convoke waits before it probes an agent again.
    pub pause: Duration,
}

/// One place's opinion on these settings.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    remember: Option<Duration>,
    pause: Option<Duration>,
}

/// Every setting of health.
pub const KEYS: [Key<Layer>; 2] = [
    Key {
        name: "remember_minutes",
        expected: "a whole number from 0 up",
        default: "10",
        meaning: "how long Convoke reuses the result of a probe",
        from_text: number,
        set: |layer, value| {
            layer.remember = Some(Duration::from_secs(whole(value)?.checked_mul(60)?));
            Some(())
        },
    },
    Key {
        name: "pause_seconds",
        expected: "a whole number from 0 up",
        default: "10",
        meaning: "how long Convoke waits before it probes an agent again that did not answer",
        from_text: number,
        set: |layer, value| {
            layer.pause = Some(Duration::from_secs(whole(value)?));
            Some(())
        },
    },
];

/// Collects what environment and files say about health.
pub fn settings(session: &Session) -> Result<Settings, Failure> {
    settle_once(&session.settings.files().health, || settle(session))
}

fn settle(session: &Session) -> Result<Settings, Failure> {
    let layers = read_layers(session, SECTION, &KEYS)?;
    let remember = layers.iter().find_map(|layer| layer.remember);
    let pause = layers.iter().find_map(|layer| layer.pause);
    Ok(Settings {
        remember: remember.unwrap_or(Duration::from_mins(10)),
        pause: pause.unwrap_or(Duration::from_secs(10)),
    })
}
