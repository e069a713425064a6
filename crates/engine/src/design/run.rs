//! A design under way: what is needed is found out, written to the journal, and only then shown.

mod journal;

pub use journal::Journal;

use convoke_domain::design::citation::{Citation, Missing};
use convoke_domain::design::event::{
    Boundary, Event, Export, Health, Kept, LaneEnd, LaneId, Occasion, Recovery, Reply, Settings,
    Stamped, Tree,
};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::heavy::{Reason, Worked};
use convoke_domain::design::setup::SetUp;
use convoke_domain::design::walk::{Ending, Line, Need, Next, Progress, Question, Request, walk};
use convoke_domain::run::RunState;
use convoke_store::error::StoreError;
use jiff::Timestamp;

use self::journal::stamped;
use super::codec::CodecError;
use super::word::marker_word;
use crate::skill::hash;

/// What a design cannot know by itself.
pub trait World {
    /// What can go wrong out there.
    type Error;

    /// Gets the branch and the folder ready.
    fn set_up(&mut self, settings: &Settings) -> Result<SetUp, Self::Error>;

    /// Finds out who is there.
    fn probe(&mut self, settings: &Settings, occasion: Occasion) -> Result<Health, Self::Error>;

    /// Asks agents, all at once, and tells what becomes of each. A lane of which no end is told was
    /// stopped by whoever stopped us.
    fn lanes(
        &mut self,
        settings: &Settings,
        requests: &[Request],
        tell: &mut Tell<'_, Self, Self::Error>,
    ) -> Result<(), Self::Error>;

    /// Asks a person; nothing if whoever was asked went away.
    fn ask(&mut self, question: &Question) -> Result<Option<Reply>, Self::Error>;

    /// Compares the working tree with what it was.
    fn tree(&mut self, boundary: Boundary) -> Result<Tree, Self::Error>;

    /// Asks a person what to do about a tree that was changed; nothing if there is nobody to ask.
    fn recover(
        &mut self,
        boundary: Boundary,
        detail: &str,
    ) -> Result<Option<Recovery>, Self::Error>;

    /// Has another process do the heavy part, and tells what is believed of it; nothing if we were
    /// stopped meanwhile.
    fn work(&mut self) -> Result<Option<Worked>, Self::Error>;

    /// Returns the folder that keeps what is made.
    fn folder(&self) -> String;

    /// Hands what was made to the workflow that asked for it.
    fn export(&mut self, settings: &Settings, progress: &Progress) -> Result<Export, Self::Error>;

    /// Shows something new.
    fn show(&mut self, line: &Line) -> Result<(), Self::Error>;

    /// Looks up what reviewers cite, and returns what does not exist.
    fn citations(
        &mut self,
        settings: &Settings,
        cited: &[Citation],
    ) -> Result<Vec<(Citation, Missing)>, Self::Error>;

    /// Keeps artifacts where people find them.
    fn keep(&mut self, progress: &Progress) -> Result<(), Self::Error>;

    /// Returns the time.
    fn now(&self) -> Timestamp;
}

/// Takes in what becomes of lanes.
pub type Tell<'t, W, E> = dyn FnMut(&mut W, LaneNews) -> Result<(), E> + 't;

/// What becomes of a lane.
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
    /// The journal holds what we do not understand.
    #[error("cannot read the run's journal")]
    Codec(#[from] CodecError),
    /// Something out there.
    #[error("cannot go on")]
    World(E),
}

/// How far a design came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It has ended.
    Ended(Ending),
    /// It was stopped, and can be resumed.
    Interrupted,
    /// The working tree was changed, and nobody is there to say what to do.
    TreeNeedsAPerson,
    /// The heavy part is done, and that was all.
    HeavyDone,
}

/// How much of a design this process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of it; the heavy part perhaps by another process.
    Whole,
    /// The heavy part.
    Heavy,
}

/// A design that is under way.
struct Course<'s, 'w, W: World> {
    part: Part,
    journal: Journal<'s>,
    facts: Facts,
    /// How many lines were shown.
    shown: usize,
    world: &'w mut W,
}

/// Goes on with a design until it ends or is stopped.
pub fn run<W: World>(
    journal: Journal<'_>,
    events: Vec<Stamped>,
    world: &mut W,
) -> Result<Outcome, RunError<W::Error>> {
    let is_resumed = events.len() > 1;
    // What an earlier process showed is not shown again. A decision was only written down.
    let is_decision = |stamped: &Stamped| matches!(stamped.event, Event::Decided(_));
    let told = events.iter().rposition(|stamped| !is_decision(stamped)).map_or(0, |last| last + 1);
    let told = Facts::fold(events[..told].iter().cloned());
    let shown = if is_resumed { walk(&told).lines.len() } else { 0 };
    let facts = Facts::fold(events);
    let mut course = Course { part: Part::Whole, journal, facts, shown, world };
    if is_resumed {
        course.take(Event::Resumed)?;
    }
    let outcome = course.go()?;
    let can_go_on = matches!(
        outcome,
        Outcome::Ended(
            Ending::OverBudget(_)
                | Ending::Failed(_)
                | Ending::HeavyFailed(_)
                | Ending::NotExported(_)
        )
    );
    if !can_go_on && matches!(outcome, Outcome::Ended(_)) && course.facts.kept().is_none() {
        let progress = walk(&course.facts);
        let warnings = match &progress.next {
            Next::End(Ending::Complete { degraded }) => degraded.len(),
            Next::End(_) | Next::Need(_) => progress.warnings.len(),
        };
        let undecided = progress.matters.iter().filter(|matter| matter.is_open()).count();
        course.take(Event::Kept(Kept {
            files: hashes(&progress),
            warnings: Some(warnings),
            undecided: Some(undecided),
        }))?;
    }
    let state = match &outcome {
        Outcome::Ended(
            Ending::OverBudget(_)
            | Ending::Failed(_)
            | Ending::HeavyFailed(_)
            | Ending::NotExported(_),
        )
        | Outcome::Interrupted
        | Outcome::TreeNeedsAPerson
        | Outcome::HeavyDone => RunState::Stopped,
        Outcome::Ended(Ending::Refused(_)) => RunState::Refused,
        Outcome::Ended(_) => RunState::Ended,
    };
    course.journal.store.mark_run(&course.journal.run, state, course.world.now())?;
    Ok(outcome)
}

/// Does the heavy part of a design that another process began, and returns what is said of it. Nobody
/// is asked anything here: whoever began it does that.
pub fn work<W: World>(
    journal: Journal<'_>,
    events: Vec<Stamped>,
    world: &mut W,
) -> Result<Worked, RunError<W::Error>> {
    let facts = Facts::fold(events);
    let shown = walk(&facts).lines.len();
    let mut course = Course { part: Part::Heavy, journal, facts, shown, world };
    Ok(match course.go()? {
        Outcome::HeavyDone => Worked::Complete,
        Outcome::TreeNeedsAPerson => Worked::gave_up(Reason::DIRTY_TREE),
        Outcome::Interrupted => Worked::gave_up("interrupted"),
        Outcome::Ended(Ending::OverBudget(_)) => Worked::gave_up("over-budget"),
        Outcome::Ended(Ending::Failed(_)) => Worked::gave_up("plan-missing"),
        Outcome::Ended(_) => Worked::gave_up("internal-error"),
    })
}

/// Returns the hash of every artifact, by name.
pub fn hashes(progress: &Progress) -> Vec<(String, String)> {
    progress.files.iter().map(|(name, text)| (name.clone(), hash(&**text))).collect()
}

impl<W: World> Course<'_, '_, W> {
    fn go(&mut self) -> Result<Outcome, RunError<W::Error>> {
        loop {
            let progress = self.show()?;
            self.world.keep(&progress).map_err(RunError::World)?;
            if self.part == Part::Heavy && !progress.is_heavy {
                return Ok(Outcome::HeavyDone);
            }
            let need = match progress.next {
                Next::End(ending) => return Ok(Outcome::Ended(ending)),
                Next::Need(need) => need,
            };
            match (self.part, &need) {
                (Part::Heavy, Need::Recover(..)) => return Ok(Outcome::TreeNeedsAPerson),
                (Part::Whole, Need::Recover(..)) | (Part::Heavy, _) => {}
                (Part::Whole, _) if progress.is_heavy => {
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
    fn delegated(&mut self) -> Result<Option<Outcome>, RunError<W::Error>> {
        let worked = self.world.work().map_err(RunError::World)?;
        let entries = self.journal.store.events(&self.journal.run)?;
        self.journal.next = entries.last().map_or(1, |entry| entry.seq + 1);
        self.facts = Facts::fold(stamped(&entries)?);
        let Some(worked) = worked else { return self.interrupted() };
        let progress = walk(&self.facts);
        let needs_a_person = matches!(progress.next, Next::Need(Need::Recover(..)));
        if worked.is_dirty_tree() && needs_a_person {
            return Ok(None);
        }
        // A worker that is done has come to the end of its part, whatever lies in its folder.
        let is_done = worked == Worked::Complete && !progress.is_heavy;
        let is_honest = is_done || matches!(worked, Worked::Failed(_));
        let worked = if is_honest { worked } else { Worked::nothing_made() };
        self.take(Event::Worked { worked, folder: self.world.folder() })?;
        Ok(None)
    }

    /// Shows what is new.
    fn show(&mut self) -> Result<Progress, RunError<W::Error>> {
        let progress = walk(&self.facts);
        for line in progress.lines.iter().skip(self.shown) {
            self.world.show(line).map_err(RunError::World)?;
        }
        self.shown = progress.lines.len();
        Ok(progress)
    }

    /// Writes an event down before anybody acts on it.
    fn take(&mut self, event: Event) -> Result<(), RunError<W::Error>> {
        let at = self.world.now().as_millisecond();
        self.journal.append(at, &event)?;
        self.facts.take(Stamped { at, event });
        Ok(())
    }

    /// Finds out what is needed; says how it ends if it cannot go on.
    fn find_out(&mut self, need: Need) -> Result<Option<Outcome>, RunError<W::Error>> {
        let settings = self.facts.settings().map(|(_, settings)| settings.clone());
        let Some(settings) = settings else { return Ok(Some(Outcome::Interrupted)) };
        let event = match need {
            Need::SetUp => {
                Event::SetUp(Box::new(self.world.set_up(&settings).map_err(RunError::World)?))
            }
            Need::Probe(occasion) => {
                let health = self.world.probe(&settings, occasion).map_err(RunError::World)?;
                Event::Probed { occasion, health }
            }
            Need::Word(poll) => {
                let drawn = self.facts.words(poll).len();
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
                let progress = walk(&self.facts);
                Event::Exported(self.world.export(&settings, &progress).map_err(RunError::World)?)
            }
            Need::Recover(boundary, detail) => {
                match self.world.recover(boundary, &detail).map_err(RunError::World)? {
                    Some(recovery) => Event::TreeDecided(boundary, recovery),
                    None => return Ok(Some(Outcome::TreeNeedsAPerson)),
                }
            }
        };
        self.take(event)?;
        Ok(None)
    }

    fn lanes(
        &mut self,
        settings: &Settings,
        requests: &[Request],
    ) -> Result<Option<Outcome>, RunError<W::Error>> {
        let mut open = requests.len();
        let mut failed = None;
        let Self { journal, facts, shown, world, .. } = self;
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
            facts.take(Stamped { at, event });
            let progress = walk(facts);
            for line in progress.lines.iter().skip(*shown) {
                world.show(line)?;
            }
            *shown = progress.lines.len();
            Ok(())
        };
        world.lanes(settings, requests, &mut tell).map_err(RunError::World)?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        let is_over_budget = self.facts.budget().is_some();
        if open > 0 && !is_over_budget { self.interrupted() } else { Ok(None) }
    }

    fn interrupted(&mut self) -> Result<Option<Outcome>, RunError<W::Error>> {
        self.take(Event::Interrupted("stopped by a signal".to_owned()))?;
        Ok(Some(Outcome::Interrupted))
    }
}
