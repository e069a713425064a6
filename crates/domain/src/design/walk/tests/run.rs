//! What a run in a world of tables came to.

use super::super::*;
use crate::design::outline::DesignOutline;
use crate::design::render::Line;

#[derive(Clone)]
pub(super) struct Run {
    pub(super) facts: Facts,
    pub(super) progress: DesignOutline,
    pub(super) ending: DesignEnding,
    pub(super) asked: Vec<(String, Holder)>,
    pub(super) prompts: Vec<(String, String)>,
}

impl Run {
    pub(super) fn shown(&self) -> String {
        let lines = self.progress.lines.iter().map(Line::text);
        lines.collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    pub(super) fn shows(&self, text: &str) {
        assert!(self.shown().contains(text), "{text}\nis not in\n{}", self.shown());
    }

    pub(super) fn file(&self, name: &str) -> &str {
        self.progress.files.get(name).map_or("(none)", |text| &**text)
    }

    /// Returns what lanes were asked whose names begin so.
    pub(super) fn prompts(&self, start: &str) -> Vec<&str> {
        let asked = self.prompts.iter().filter(|(id, _)| id.starts_with(start));
        asked.map(|(_, prompt)| prompt.as_str()).collect()
    }

    pub(super) fn lanes(&self, start: &str) -> Vec<(&str, Holder)> {
        let lanes = self.asked.iter().filter(|(id, _)| id.starts_with(start));
        lanes.map(|(id, holder)| (id.as_str(), *holder)).collect()
    }
}
