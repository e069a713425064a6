//! Shows use cases' messages as lines on stderr.

use convoke_service::observer::{Observer, Progress};

use super::Voice;
use crate::app::Format;
use crate::cli::lane::progress_line;

/// Shows what use cases tell while they run, on stderr.
pub struct TerminalObserver {
    voice: Voice,
    format: Format,
}

impl TerminalObserver {
    /// Shows progress through a voice; beside JSON it leaves out notes.
    pub const fn new(voice: Voice, format: Format) -> Self {
        Self { voice, format }
    }
}

impl Observer for TerminalObserver {
    fn observe(&self, source: Option<&str>, progress: &Progress) {
        let is_text = self.format == Format::Text;
        let line = match progress {
            Progress::Message(text) => Some(text.clone()),
            Progress::Warning(text) => Some(format!("warning: {text}")),
            Progress::Hint(text) => Some(format!("hint: {text}")),
            Progress::Note(text) => is_text.then(|| text.clone()),
            Progress::Lane(event) => progress_line(event).filter(|_| is_text),
        };
        if let Some(line) = line {
            self.voice.say_as(source, &line);
        }
    }
}
