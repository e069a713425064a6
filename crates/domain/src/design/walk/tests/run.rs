//! The result of a run in a world of tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::*;
use crate::design::event::Stamped;
use crate::design::outline::DesignOutline;
use crate::design::render;

#[derive(Clone)]
pub(super) struct Run {
    pub(super) facts: Facts,
    /// What happened since the run began or was resumed.
    pub(super) events: Vec<Stamped>,
    pub(super) progress: DesignOutline,
    pub(super) ending: DesignEnding,
    pub(super) asked: Vec<(String, Holder)>,
    pub(super) prompts: Vec<(String, String)>,
}

impl Run {
    pub(super) fn lines(&self) -> Vec<String> {
        render::lines(&self.progress).iter().map(|line| line.text().into_owned()).collect()
    }

    pub(super) fn files(&self) -> BTreeMap<String, Arc<str>> {
        render::artifacts(&self.progress)
    }

    pub(super) fn shown(&self) -> String {
        self.lines().join("\n")
    }

    #[track_caller]
    pub(super) fn shows(&self, text: &str) {
        assert!(self.shown().contains(text), "{text}\nis not in\n{}", self.shown());
    }

    pub(super) fn file(&self, name: &str) -> String {
        self.files().get(name).map_or("(none)", |text| &**text).to_owned()
    }

    /// Returns the prompts of lanes whose names begin so.
    pub(super) fn prompts(&self, start: &str) -> Vec<&str> {
        let asked = self.prompts.iter().filter(|(id, _)| id.starts_with(start));
        asked.map(|(_, prompt)| prompt.as_str()).collect()
    }

    pub(super) fn lanes(&self, start: &str) -> Vec<(&str, Holder)> {
        let lanes = self.asked.iter().filter(|(id, _)| id.starts_with(start));
        lanes.map(|(id, holder)| (id.as_str(), *holder)).collect()
    }
}
