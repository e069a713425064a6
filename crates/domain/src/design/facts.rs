//! The facts of a design: its events, sorted by subject.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::citation::{Citation, CitedIn, CitedPassage, Missing, PlaceFinding};
use super::event::{
    Boundary, Event, Export, Health, Kept, LaneEnd, LaneId, Millis, Occasion, PanelVerdict,
    ParkedHolder, QuestionId, Recovery, Reply, Settings, Stamped, Tree,
};
use super::heavy::{GiveUpReason, WorkerResult};
use super::lane_id::LaneKind;
use super::matter::Ruling;
use super::notice::Notice;
use super::progress::Step;
use super::rules::RulesVersion;
use super::seat::Holder;
use super::setup::SetUp;
use super::voting_block::{MarkerWord, Poll};
use super::walk::{DesignWalk, FailedStep};
use super::warning::DesignWarning;
use crate::lane::budget_stop::BudgetStop;

/// The facts of a design.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    settings: Option<(Millis, Box<Settings>)>,
    set_up: Option<(Millis, SetUp)>,
    probes: HashMap<Occasion, (Millis, Health)>,
    words: HashMap<Poll, Vec<(Millis, MarkerWord)>>,
    lanes: IndexMap<LaneId, Course>,
    replies: HashMap<QuestionId, (Millis, Reply)>,
    trees: HashMap<Boundary, Vec<(Millis, Tree)>>,
    recoveries: HashMap<Boundary, Vec<(Millis, Recovery)>>,
    citations: Option<(Millis, Vec<(Citation, Missing)>)>,
    looked_up: HashMap<CitedIn, (Millis, Vec<(CitedPassage, PlaceFinding)>)>,
    budget: Option<(Millis, BudgetStop)>,
    /// The limits that were met since the run began or was resumed last, by their holders.
    parked: HashMap<Holder, Millis>,
    is_parked: bool,
    workers: Vec<FinishedWorker>,
    is_worker_due: bool,
    rulings: Vec<RecordedRuling>,
    exports: Vec<(Millis, Export)>,
    is_export_due: bool,
    kept: Option<Kept>,
    again: HashSet<Step>,
    earlier: Option<EarlierNotices>,
    steps: u64,
}

/// A process that did the heavy part, or failed at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedWorker {
    /// When it ended.
    pub at: Millis,
    /// The worker's result.
    pub worked: WorkerResult,
    /// The folder that the worker left.
    pub folder: String,
    /// The warnings until the worker failed. A worker shows nothing itself.
    pub warnings: Vec<DesignWarning>,
}

/// A person's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRuling {
    /// When it was made.
    pub at: Millis,
    /// The person's decision.
    pub ruling: Ruling,
    /// How many exports came before, including failed ones.
    pub exports: usize,
}

/// The output that was shown before a step was repeated.
#[derive(Debug, Clone, Default)]
pub struct EarlierNotices {
    /// All shown notices.
    pub notices: Vec<Notice>,
    /// How many notices of the next walk repeat them.
    pub repeated: usize,
}

/// A lane's start and end. `order` counts all events of lanes, so that simultaneous events still
/// have an order.
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
        DesignWalk::fold(events).into_facts()
    }

    /// Takes in an event. A second answer to the same request changes nothing.
    pub(super) fn take(&mut self, Stamped { at, event }: Stamped) {
        self.steps += 1;
        let order = self.steps;
        // A run waits until it asks again, or another process goes on with it.
        if matches!(event, Event::LaneStarted(_) | Event::Resumed) {
            self.is_parked = false;
            self.parked.retain(|_, until| *until > at);
        }
        match event {
            Event::Begun(settings) => {
                self.settings.get_or_insert((at, settings));
            }
            Event::SetUp(set_up) => {
                self.set_up.get_or_insert((at, *set_up));
            }
            Event::Probed { occasion, health } => {
                self.probes.entry(occasion).or_insert((at, health));
            }
            Event::WordDrawn(poll, word) => self.words.entry(poll).or_default().push((at, word)),
            Event::LaneStarted(id) => self.start_lane(id, order, at),
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
            Event::CitationsChecked(missing) => {
                self.citations.get_or_insert((at, missing));
            }
            Event::CitationsLookedUp(moment, results) => {
                self.looked_up.entry(moment).or_insert((at, results));
            }
            Event::BudgetReached(stop) => {
                self.budget.get_or_insert((at, stop));
            }
            Event::Resumed => self.resume(),
            Event::Parked(ParkedHolder { holder, until }) => {
                self.parked.insert(holder, until);
                self.is_parked = true;
            }
            Event::Worked { worked, folder } => {
                self.workers.push(FinishedWorker { at, worked, folder, warnings: Vec::new() });
                self.is_worker_due = false;
            }
            Event::Decided(ruling) => self.rule(at, ruling),
            Event::Exported(export) => {
                self.exports.push((at, export));
                self.is_export_due = false;
            }
            Event::Kept(kept) => self.kept = Some(kept),
            Event::Interrupted(_) => {}
        }
    }

    /// Takes in the start of a lane. One that is started again was interrupted; its time begins anew.
    fn start_lane(&mut self, id: LaneId, order: u64, at: Millis) {
        let course = self.lanes.entry(id).or_default();
        if course.ended.is_none() {
            course.started.get_or_insert((order, at)).1 = at;
        }
    }

    /// Takes in a person's decision. Files that tell of it are other files.
    fn rule(&mut self, at: Millis, ruling: Ruling) {
        self.rulings.push(RecordedRuling { at, ruling, exports: self.exports.len() });
        self.kept = None;
        self.is_export_due = true;
    }

    /// Takes in that the run is resumed: it may then spend again.
    fn resume(&mut self) {
        self.budget = None;
        self.parked.clear();
        self.kept = None;
        self.is_export_due = true;
        self.is_worker_due = true;
    }

    /// Keeps the warnings of the last worker, which failed.
    pub(super) fn keep_warnings_of_worker(&mut self, warnings: Vec<DesignWarning>) {
        if let Some(worker) = self.workers.last_mut() {
            worker.warnings = warnings;
        }
    }

    /// Forgets all agents without a usable answer, so that Convoke asks them again. Returns the
    /// output that earlier repeats had shown.
    pub(super) fn forget(&mut self, failed: &FailedStep) -> EarlierNotices {
        for lane in &failed.lanes {
            self.lanes.swap_remove(lane);
        }
        // An agent that works again may change the tree again.
        if failed.step == Step::Sketches {
            self.trees.remove(&Boundary::Sketches);
            self.recoveries.remove(&Boundary::Sketches);
        }
        self.again.insert(failed.step);
        self.earlier.take().unwrap_or_default()
    }

    /// Keeps the output from before a step was repeated.
    pub(super) fn begin_again(&mut self, earlier: EarlierNotices) {
        self.earlier = Some(earlier);
    }

    /// Returns the output from before a step was repeated.
    pub const fn earlier(&self) -> Option<&EarlierNotices> {
        self.earlier.as_ref()
    }

    /// Tells whether a step is repeated because no agent had completed it.
    pub fn is_begun_again(&self, step: Step) -> bool {
        self.again.contains(&step)
    }

    /// Returns the request and its time.
    pub fn settings(&self) -> Option<(Millis, &Settings)> {
        self.settings.as_ref().map(|(at, settings)| (*at, settings.as_ref()))
    }

    /// Returns the rules that the run began under.
    pub fn rules(&self) -> RulesVersion {
        self.settings().map_or(RulesVersion::PRESENT, |(_, settings)| settings.rules)
    }

    /// Returns how the beginning went.
    pub fn set_up(&self) -> Option<(Millis, &SetUp)> {
        self.set_up.as_ref().map(|(at, set_up)| (*at, set_up))
    }

    /// Returns the availability at a probe.
    pub fn probe(&self, occasion: Occasion) -> Option<(Millis, &Health)> {
        self.probes.get(&occasion).map(|(at, health)| (*at, health))
    }

    /// Returns the words that were drawn for a ballot, and when. The last one holds.
    pub fn words(&self, poll: Poll) -> &[(Millis, MarkerWord)] {
        self.words.get(&poll).map_or(&[], Vec::as_slice)
    }

    /// Returns a lane's way.
    pub fn lane(&self, id: &LaneId) -> Option<&Course> {
        self.lanes.get(id)
    }

    /// Tells whether a lane of this kind was started.
    pub fn has_started(&self, kind: LaneKind) -> bool {
        self.lanes.keys().any(|id| id.kind() == kind)
    }

    /// Returns the end of every finished lane, in the order of their ends.
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

    /// Returns the state of the tree at each check.
    pub fn trees(&self, boundary: Boundary) -> &[(Millis, Tree)] {
        self.trees.get(&boundary).map_or(&[], Vec::as_slice)
    }

    /// Returns a person's decisions about changes to the tree, in order.
    pub fn recoveries(&self, boundary: Boundary) -> &[(Millis, Recovery)] {
        self.recoveries.get(&boundary).map_or(&[], Vec::as_slice)
    }

    /// Returns the citations that are no evidence, if they were checked.
    pub fn citations(&self) -> Option<(Millis, &[(Citation, Missing)])> {
        self.citations.as_ref().map(|(at, missing)| (*at, missing.as_slice()))
    }

    /// Returns what Convoke found at cited places, if it looked them up at that moment.
    pub fn looked_up(&self, moment: CitedIn) -> Option<(Millis, &[(CitedPassage, PlaceFinding)])> {
        self.looked_up.get(&moment).map(|(at, results)| (*at, results.as_slice()))
    }

    /// Returns how each process ended that did the heavy part, and what folder it left.
    pub fn workers(&self) -> &[FinishedWorker] {
        &self.workers
    }

    /// Returns why the last worker failed, unless a user resumed the run since.
    pub fn worker_failure(&self) -> Option<&GiveUpReason> {
        match self.workers.last() {
            Some(FinishedWorker { worked: WorkerResult::Failed(reason), .. })
                if !self.is_worker_due =>
            {
                Some(reason)
            }
            _ => None,
        }
    }

    /// Returns what people decided, in order.
    pub fn rulings(&self) -> &[RecordedRuling] {
        &self.rulings
    }

    /// Returns the result of each attempt to export.
    pub fn exports(&self) -> &[(Millis, Export)] {
        &self.exports
    }

    /// Tells whether the export may be tried: it never was, or a user resumed the run since.
    pub const fn is_export_due(&self) -> bool {
        self.exports.is_empty() || self.is_export_due
    }

    /// Returns the hashes of what it ended with, by name.
    pub fn kept(&self) -> Option<&[(String, String)]> {
        self.kept.as_ref().map(|kept| kept.files.as_slice())
    }

    /// Returns what the panel had decided when it ended; nothing if the journal does not say.
    pub fn kept_verdicts(&self) -> Option<&[PanelVerdict]> {
        self.kept.as_ref().and_then(|kept| kept.verdicts.as_deref())
    }

    /// Returns when the limit of an agent ends that a lane of this process met.
    pub fn limited_until(&self, holder: Holder) -> Option<Millis> {
        self.parked.get(&holder).copied()
    }

    /// Returns until when the run waits for the end of a limit; nothing if it does not wait.
    pub fn parked_until(&self) -> Option<Millis> {
        self.parked.values().copied().filter(|_| self.is_parked).min()
    }

    /// Returns why nothing more may be spent.
    pub fn budget(&self) -> Option<(Millis, &BudgetStop)> {
        self.budget.as_ref().map(|(at, stop)| (*at, stop))
    }
}
