//! A design in progress: each need is satisfied, recorded in the journal, and only then shown.

mod journal;
mod kept;

pub use journal::Journal;
pub use kept::hashes;

use std::collections::BTreeMap;
use std::sync::Arc;

use convoke_domain::design::citation::{Citation, Missing};
use convoke_domain::design::event::{
    Boundary, Event, Export, Health, LaneEnd, LaneId, Occasion, Recovery, Reply, Settings, Stamped,
    Tree,
};
use convoke_domain::design::heavy::{GiveUpReason, Worked};
use convoke_domain::design::notice::Notice;
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::render;
use convoke_domain::design::setup::SetUp;
use convoke_domain::design::walk::{
    DesignEnding, DesignWalk, LaneNeed, Need, Next, PersonQuestion,
};
use convoke_domain::run::RunState;
use convoke_store::error::StoreError;
use jiff::Timestamp;

use self::journal::stamped;
use self::kept::kept;
use super::codec::CodecError;
use super::word::marker_word;

/// The effects that a design needs from outside.
pub trait DesignWorld {
    /// An error of the surroundings.
    type Error;

    /// Gets the branch and the folder ready.
    fn set_up(&mut self, settings: &Settings) -> Result<SetUp, Self::Error>;

    /// Finds out which agents are available.
    fn probe(&mut self, settings: &Settings, occasion: Occasion) -> Result<Health, Self::Error>;

    /// Runs lanes in parallel, and reports the events of each. A lane without an end was stopped
    /// because the user stopped Convoke.
    fn lanes(
        &mut self,
        settings: &Settings,
        requests: &[LaneNeed],
        tell: &mut OnLaneNews<'_, Self, Self::Error>,
    ) -> Result<(), Self::Error>;

    /// Asks a person; `None` if the person went away.
    fn ask(&mut self, question: &PersonQuestion) -> Result<Option<Reply>, Self::Error>;

    /// Compares the working tree with what it was.
    fn tree(&mut self, boundary: Boundary) -> Result<Tree, Self::Error>;

    /// Asks a person what to do about a changed tree; `None` if there is no person.
    fn recover(
        &mut self,
        boundary: Boundary,
        detail: &str,
    ) -> Result<Option<Recovery>, Self::Error>;

    /// Has another process do the heavy part, and returns the judged result; `None` if the user
    /// stopped Convoke meanwhile.
    fn work(&mut self) -> Result<Option<Worked>, Self::Error>;

    /// Returns the folder that keeps the design's files.
    fn folder(&self) -> String;

    /// Exports the design to the workflow that requested it.
    fn export(
        &mut self,
        settings: &Settings,
        outline: &DesignOutline,
    ) -> Result<Export, Self::Error>;

    /// Shows a new notice.
    fn show(&mut self, settings: &Settings, notice: &Notice) -> Result<(), Self::Error>;

    /// Looks up what reviewers cite, and returns what does not exist.
    fn citations(
        &mut self,
        settings: &Settings,
        cited: &[Citation],
    ) -> Result<Vec<(Citation, Missing)>, Self::Error>;

    /// Keeps artifacts where people find them, by file name.
    fn keep(&mut self, files: &BTreeMap<String, Arc<str>>) -> Result<(), Self::Error>;

    /// Returns the time.
    fn now(&self) -> Timestamp;
}

/// Receives the events of lanes.
pub type OnLaneNews<'t, W, E> = dyn FnMut(&mut W, LaneNews) -> Result<(), E> + 't;

/// An event of a lane.
#[derive(Debug, Clone)]
pub enum LaneNews {
    /// It begins.
    Started(LaneId),
    /// It is over.
    Ended(LaneId, Box<LaneEnd>),
    /// Nothing more may be spent, so it was not started.
    OverBudget(String),
}

/// Why a design stopped.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// The journal cannot be read or written.
    #[error("cannot use the run's journal")]
    Store(#[from] StoreError),
    /// The journal holds an event that Convoke does not understand.
    #[error("cannot read the run's journal")]
    Codec(#[from] CodecError),
    /// Something out there.
    #[error("cannot continue")]
    World(E),
}

/// How far a design came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DesignOutcome {
    /// It has ended.
    Ended(DesignEnding),
    /// It was stopped, and can be resumed.
    Interrupted,
    /// The working tree was changed, and there is no person to decide.
    TreeNeedsAPerson,
    /// The heavy part is done, and that was all.
    HeavyDone,
}

/// How much of a design this process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of it; another process may do the heavy part.
    Whole,
    /// The heavy part.
    Heavy,
}

/// A design in progress.
struct Course<'s, 'w, W: DesignWorld> {
    part: Part,
    journal: Journal<'s>,
    design: DesignWalk,
    /// How many notices were shown.
    shown: usize,
    world: &'w mut W,
}

/// Goes on with a design until it ends or is stopped.
pub fn run<W: DesignWorld>(
    journal: Journal<'_>,
    events: Vec<Stamped>,
    world: &mut W,
) -> Result<DesignOutcome, RunError<W::Error>> {
    let is_resumed = events.len() > 1;
    // Lines that an earlier process showed are not shown again. A decision was only recorded.
    let is_decision = |stamped: &Stamped| matches!(stamped.event, Event::Decided(_));
    let told = events.iter().rposition(|stamped| !is_decision(stamped)).map_or(0, |last| last + 1);
    let mut events = events.into_iter();
    let mut design = DesignWalk::fold(events.by_ref().take(told));
    let shown = if is_resumed { design.notice_count() } else { 0 };
    for decision in events {
        design.take(decision);
    }
    let mut course = Course { part: Part::Whole, journal, design, shown, world };
    if is_resumed {
        course.take(Event::Resumed)?;
    }
    let outcome = course.go()?;
    let can_go_on = matches!(
        outcome,
        DesignOutcome::Ended(
            DesignEnding::OverBudget(_)
                | DesignEnding::Failed(_)
                | DesignEnding::HeavyFailed(_)
                | DesignEnding::NotExported(_)
        )
    );
    if !can_go_on
        && matches!(outcome, DesignOutcome::Ended(_))
        && course.design.facts().kept().is_none()
    {
        let kept = kept(&course.design.outline());
        course.take(Event::Kept(kept))?;
    }
    let state = match &outcome {
        DesignOutcome::Ended(
            DesignEnding::OverBudget(_)
            | DesignEnding::Failed(_)
            | DesignEnding::HeavyFailed(_)
            | DesignEnding::NotExported(_),
        )
        | DesignOutcome::Interrupted
        | DesignOutcome::TreeNeedsAPerson
        | DesignOutcome::HeavyDone => RunState::Stopped,
        DesignOutcome::Ended(DesignEnding::Refused(_)) => RunState::Refused,
        DesignOutcome::Ended(_) => RunState::Ended,
    };
    course.journal.store.mark_run(&course.journal.run, state, course.world.now())?;
    Ok(outcome)
}

/// Does the heavy part of a design that another process began, and returns its result. It asks no
/// person: the process that began the design does that.
pub fn work<W: DesignWorld>(
    journal: Journal<'_>,
    events: Vec<Stamped>,
    world: &mut W,
) -> Result<Worked, RunError<W::Error>> {
    let mut design = DesignWalk::fold(events);
    let shown = design.notice_count();
    let mut course = Course { part: Part::Heavy, journal, design, shown, world };
    Ok(match course.go()? {
        DesignOutcome::HeavyDone => Worked::Complete,
        DesignOutcome::TreeNeedsAPerson => Worked::gave_up(GiveUpReason::DIRTY_TREE),
        DesignOutcome::Interrupted => Worked::gave_up("interrupted"),
        DesignOutcome::Ended(DesignEnding::OverBudget(_)) => Worked::gave_up("over-budget"),
        DesignOutcome::Ended(DesignEnding::Failed(_)) => Worked::gave_up("plan-missing"),
        DesignOutcome::Ended(_) => Worked::gave_up("internal-error"),
    })
}

impl<W: DesignWorld> Course<'_, '_, W> {
    fn go(&mut self) -> Result<DesignOutcome, RunError<W::Error>> {
        loop {
            self.show()?;
            self.keep()?;
            let is_heavy = self.design.is_heavy();
            if self.part == Part::Heavy && !is_heavy {
                return Ok(DesignOutcome::HeavyDone);
            }
            let need = match self.design.upcoming() {
                Next::End(ending) => return Ok(DesignOutcome::Ended(ending)),
                Next::Need(need) => need,
            };
            match (self.part, &need) {
                (Part::Heavy, Need::Recover(..)) => return Ok(DesignOutcome::TreeNeedsAPerson),
                (Part::Whole, Need::Recover(..)) | (Part::Heavy, _) => {}
                (Part::Whole, _) if is_heavy => {
                    if let Some(outcome) = self.delegated()? {
                        return Ok(outcome);
                    }
                    continue;
                }
                (Part::Whole, _) => {}
            }
            if let Some(outcome) = self.find_out(need)? {
                return Ok(outcome);
            }
        }
    }

    /// Has another process go on in the same journal, and takes in what it wrote there.
    fn delegated(&mut self) -> Result<Option<DesignOutcome>, RunError<W::Error>> {
        let worked = self.world.work().map_err(RunError::World)?;
        let entries = self.journal.store.events(&self.journal.run)?;
        self.journal.next = entries.last().map_or(1, |entry| entry.seq + 1);
        self.design = DesignWalk::fold(stamped(&entries)?);
        let Some(worked) = worked else { return self.interrupted() };
        let needs_a_person = matches!(self.design.upcoming(), Next::Need(Need::Recover(..)));
        if worked.is_dirty_tree() && needs_a_person {
            return Ok(None);
        }
        // A finished worker has come to the end of its part, regardless of the files in its folder.
        let is_done = worked == Worked::Complete && !self.design.is_heavy();
        let is_honest = is_done || matches!(worked, Worked::Failed(_));
        let worked = if is_honest { worked } else { Worked::nothing_made() };
        self.take(Event::Worked { worked, folder: self.world.folder() })?;
        Ok(None)
    }

    /// Shows new notices.
    fn show(&mut self) -> Result<(), RunError<W::Error>> {
        show_new(&mut self.design, &mut self.shown, self.world).map_err(RunError::World)
    }

    /// Keeps the artifacts as they are now.
    fn keep(&mut self) -> Result<(), RunError<W::Error>> {
        let settings = self.design.facts().settings().map(|(_, settings)| settings.clone());
        let files = match (settings, self.design.results()) {
            (Some(settings), Some(results)) => render::files(results, &settings),
            _ => BTreeMap::new(),
        };
        self.world.keep(&files).map_err(RunError::World)
    }

    /// Records an event before any action follows from it.
    fn take(&mut self, event: Event) -> Result<(), RunError<W::Error>> {
        let at = self.world.now().as_millisecond();
        self.journal.append(at, &event)?;
        self.design.take(Stamped { at, event });
        Ok(())
    }

    /// Satisfies a need; returns the ending if the design cannot go on.
    fn find_out(&mut self, need: Need) -> Result<Option<DesignOutcome>, RunError<W::Error>> {
        let settings = self.design.facts().settings().map(|(_, settings)| settings.clone());
        let Some(settings) = settings else { return Ok(Some(DesignOutcome::Interrupted)) };
        let event = match need {
            Need::SetUp => {
                Event::SetUp(Box::new(self.world.set_up(&settings).map_err(RunError::World)?))
            }
            Need::Probe(occasion) => {
                let health = self.world.probe(&settings, occasion).map_err(RunError::World)?;
                Event::Probed { occasion, health }
            }
            Need::Word(poll) => {
                let drawn = self.design.facts().words(poll).len();
                Event::WordDrawn(poll, marker_word(&settings.agents, drawn))
            }
            Need::Lanes(requests) => return self.lanes(&settings, &requests),
            Need::Ask(question) => match self.world.ask(&question).map_err(RunError::World)? {
                Some(reply) => Event::Replied(question.id, reply),
                None => return self.interrupted(),
            },
            Need::Tree(boundary) => {
                Event::TreeChecked(boundary, self.world.tree(boundary).map_err(RunError::World)?)
            }
            Need::Citations(cited) => {
                let missing = self.world.citations(&settings, &cited).map_err(RunError::World)?;
                Event::CitationsChecked(missing)
            }
            Need::Export => {
                let outline = self.design.outline();
                Event::Exported(self.world.export(&settings, &outline).map_err(RunError::World)?)
            }
            Need::Recover(boundary, detail) => {
                match self.world.recover(boundary, &detail).map_err(RunError::World)? {
                    Some(recovery) => Event::TreeDecided(boundary, recovery),
                    None => return Ok(Some(DesignOutcome::TreeNeedsAPerson)),
                }
            }
        };
        self.take(event)?;
        Ok(None)
    }

    fn lanes(
        &mut self,
        settings: &Settings,
        requests: &[LaneNeed],
    ) -> Result<Option<DesignOutcome>, RunError<W::Error>> {
        let mut open = requests.len();
        let mut failed = None;
        let Self { journal, design, shown, world, .. } = self;
        let mut tell = |world: &mut W, news: LaneNews| {
            let event = match news {
                LaneNews::Started(id) => Event::LaneStarted(id),
                LaneNews::Ended(id, end) => {
                    open -= 1;
                    Event::LaneEnded(id, end)
                }
                LaneNews::OverBudget(text) => Event::BudgetReached(text),
            };
            let at = world.now().as_millisecond();
            if let Err(error) = journal.append(at, &event) {
                failed.get_or_insert(error);
                return Ok(());
            }
            design.take(Stamped { at, event });
            show_new(design, shown, world)
        };
        world.lanes(settings, requests, &mut tell).map_err(RunError::World)?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        let is_over_budget = self.design.facts().budget().is_some();
        if open > 0 && !is_over_budget { self.interrupted() } else { Ok(None) }
    }

    fn interrupted(&mut self) -> Result<Option<DesignOutcome>, RunError<W::Error>> {
        self.take(Event::Interrupted("stopped by a signal".to_owned()))?;
        Ok(Some(DesignOutcome::Interrupted))
    }
}

/// Shows new notices of a design.
fn show_new<W: DesignWorld>(
    design: &mut DesignWalk,
    shown: &mut usize,
    world: &mut W,
) -> Result<(), W::Error> {
    let notices = design.notices_after(*shown);
    if let Some((_, settings)) = design.facts().settings() {
        for notice in &notices {
            world.show(settings, notice)?;
        }
    }
    *shown = design.notice_count();
    Ok(())
}
