//! Shows use cases' messages as lines on stderr.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use convoke_service::observer::{Observer, Progress};

use super::{Voice, width};
use crate::app::Format;
use crate::terminal::repeats::LaneLines;

/// Shows what use cases tell while they run, on stderr.
pub struct TerminalObserver {
    voice: Voice,
    format: Format,
    /// The lanes that report now, by their source.
    lanes: Mutex<BTreeMap<Option<String>, LaneLines>>,
}

impl TerminalObserver {
    /// Shows progress through a voice; beside JSON it leaves out notes.
    pub const fn new(voice: Voice, format: Format) -> Self {
        Self { voice, format, lanes: Mutex::new(BTreeMap::new()) }
    }

    /// Draws a line that the next one takes the place of, where a person sees it.
    fn draw(&self, source: Option<&str>, text: &str) {
        if self.format == Format::Text && width().is_some() {
            self.voice.draw_as(source, text);
        }
    }
}

impl Observer for TerminalObserver {
    fn observe(&self, source: Option<&str>, progress: &Progress) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let lane_lines = lanes.entry(source.map(str::to_owned)).or_default();
        let shown = match progress {
            Progress::Message(text) | Progress::Note(text) => vec![text.clone()],
            Progress::Remark(text) | Progress::Aside(text) => vec![format!("note: {text}")],
            Progress::Warning(text) | Progress::TelemetryLost(text) => {
                vec![format!("warning: {text}")]
            }
            Progress::Hint(text) => vec![format!("hint: {text}")],
            Progress::Lane(event) => lane_lines.take(event),
            Progress::LaneOver => lane_lines.end().into_iter().collect(),
            Progress::Waiting(text) => return self.draw(source, text),
        };
        let is_shown = match progress {
            Progress::Message(_)
            | Progress::Remark(_)
            | Progress::Warning(_)
            | Progress::TelemetryLost(_)
            | Progress::Hint(_) => true,
            Progress::Note(_)
            | Progress::Aside(_)
            | Progress::Lane(_)
            | Progress::LaneOver
            | Progress::Waiting(_) => self.format == Format::Text,
        };
        for line in shown.iter().filter(|_| is_shown) {
            self.voice.say_as(source, line);
        }
    }
}
