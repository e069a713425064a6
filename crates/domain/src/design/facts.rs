//! What is known of a design: its events, sorted by what they are about.

use std::collections::HashMap;

use super::event::{
    Boundary, Event, Health, LaneEnd, LaneId, Millis, Occasion, QuestionId, Recovery, Reply,
    Settings, Stamped, Tree,
};
use super::setup::SetUp;

/// What is known of a design.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    settings: Option<(Millis, Box<Settings>)>,
    set_up: Option<(Millis, SetUp)>,
    probes: HashMap<Occasion, (Millis, Health)>,
    lanes: HashMap<LaneId, Course>,
    replies: HashMap<QuestionId, (Millis, Reply)>,
    trees: HashMap<Boundary, Vec<(Millis, Tree)>>,
    recoveries: HashMap<Boundary, Vec<(Millis, Recovery)>>,
    budget: Option<(Millis, String)>,
    kept: Option<Vec<(String, String)>>,
    steps: u64,
}

/// A lane's way: when it was started and what came of it. `order` counts all events of lanes, so that
/// what happened at the same time still has an order.
#[derive(Debug, Clone, Default)]
pub struct Course {
    /// When it was last started.
    pub started: Option<(u64, Millis)>,
    /// When it ended, and how.
    pub ended: Option<(u64, Millis, Box<LaneEnd>)>,
}

impl Facts {
    /// Takes in events, the oldest first.
    pub fn fold(events: impl IntoIterator<Item = Stamped>) -> Self {
        let mut facts = Self::default();
        for event in events {
            facts.take(event);
        }
        facts
    }

    /// Takes in an event. What was said once is not said again: a second answer changes nothing.
    pub fn take(&mut self, Stamped { at, event }: Stamped) {
        self.steps += 1;
        let order = self.steps;
        match event {
            Event::Begun(settings) => {
                self.settings.get_or_insert((at, settings));
            }
            Event::SetUp(set_up) => {
                self.set_up.get_or_insert((at, set_up));
            }
            Event::Probed { occasion, health } => {
                self.probes.entry(occasion).or_insert((at, health));
            }
            Event::LaneStarted(id) => {
                let course = self.lanes.entry(id).or_default();
                // One that is started again was interrupted; its time begins anew.
                if course.ended.is_none() {
                    course.started.get_or_insert((order, at)).1 = at;
                }
            }
            Event::LaneEnded(id, end) => {
                let course = self.lanes.entry(id).or_default();
                course.ended.get_or_insert((order, at, end));
            }
            Event::Replied(id, reply) => {
                self.replies.entry(id).or_insert((at, reply));
            }
            Event::TreeChecked(boundary, tree) => {
                self.trees.entry(boundary).or_default().push((at, tree));
            }
            Event::TreeDecided(boundary, recovery) => {
                self.recoveries.entry(boundary).or_default().push((at, recovery));
            }
            Event::BudgetReached(text) => {
                self.budget.get_or_insert((at, text));
            }
            // Whoever resumes a run may spend again.
            Event::Resumed => {
                self.budget = None;
                self.kept = None;
            }
            Event::Kept(hashes) => self.kept = Some(hashes),
            Event::Interrupted(_) => {}
        }
    }

    /// Returns what was asked for, and when.
    pub fn settings(&self) -> Option<(Millis, &Settings)> {
        self.settings.as_ref().map(|(at, settings)| (*at, settings.as_ref()))
    }

    /// Returns how the beginning went.
    pub fn set_up(&self) -> Option<(Millis, &SetUp)> {
        self.set_up.as_ref().map(|(at, set_up)| (*at, set_up))
    }

    /// Returns who was there.
    pub fn probe(&self, occasion: Occasion) -> Option<(Millis, &Health)> {
        self.probes.get(&occasion).map(|(at, health)| (*at, health))
    }

    /// Returns a lane's way.
    pub fn lane(&self, id: &LaneId) -> Option<&Course> {
        self.lanes.get(id)
    }

    /// Returns what came of every lane that is over, in the order in which they ended.
    pub fn ended(&self) -> Vec<(&LaneId, &LaneEnd)> {
        let ended = self.lanes.iter().filter_map(|(id, course)| Some((id, course.ended.as_ref()?)));
        let mut ended: Vec<_> = ended.collect();
        ended.sort_by_key(|(_, (order, ..))| *order);
        ended.into_iter().map(|(id, (_, _, end))| (id, end.as_ref())).collect()
    }

    /// Returns what a person answered.
    pub fn reply(&self, id: &QuestionId) -> Option<(Millis, &Reply)> {
        self.replies.get(id).map(|(at, reply)| (*at, reply))
    }

    /// Returns how the tree was found each time that it was looked at.
    pub fn trees(&self, boundary: Boundary) -> &[(Millis, Tree)] {
        self.trees.get(&boundary).map_or(&[], Vec::as_slice)
    }

    /// Returns what was decided each time that it was found changed.
    pub fn recoveries(&self, boundary: Boundary) -> &[(Millis, Recovery)] {
        self.recoveries.get(&boundary).map_or(&[], Vec::as_slice)
    }

    /// Returns the hashes of what it ended with, by name.
    pub fn kept(&self) -> Option<&[(String, String)]> {
        self.kept.as_deref()
    }

    /// Returns why nothing more may be spent.
    pub fn budget(&self) -> Option<(Millis, &str)> {
        self.budget.as_ref().map(|(at, text)| (*at, text.as_str()))
    }
}
