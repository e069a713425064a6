//! The loop of a design: it finds out what the walk needs, writes that to the journal, and only then
//! shows it.

use std::collections::BTreeMap;

use convoke_domain::design::event::{
    Event, LaneEnd, LaneId, Millis, ParkedHolder, Settings, Stamped, StopReason,
};
use convoke_domain::design::heavy::{GiveUpReason, WorkerResult};
use convoke_domain::design::render;
use convoke_domain::design::walk::{DesignEnding, DesignWalk, LaneNeed, Need, Next};
use convoke_domain::lane::budget_stop::BudgetStop;
use convoke_domain::run::RunState;
use convoke_engine::design::journal::{Journal, JournalError};
use convoke_engine::design::kept::kept;
use convoke_engine::design::word::marker_word;
use convoke_store::error::StoreError;
use jiff::Timestamp;

use super::journal_failed;
use super::stage::Stage;
use crate::failure::Failure;
use crate::lane::ParkEnd;
use crate::workspace::refused;

/// What a lane's thread reports to the run.
#[derive(Debug, Clone)]
pub(super) enum LaneNews {
    /// It begins.
    Started(LaneId),
    /// It is over.
    Ended(LaneId, Box<LaneEnd>),
    /// The budget is spent, so it was not started.
    OverBudget(BudgetStop),
    /// The limit of its agent is reached, and the run waits for its end.
    Parked(ParkedHolder),
}

/// Takes in news of lanes.
pub(super) type OnLaneNews<'t, 'a> =
    dyn FnMut(&mut Stage<'a>, LaneNews) -> Result<(), Failure> + 't;

/// How far a design came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DesignOutcome {
    /// It has ended.
    Ended(DesignEnding),
    /// It was stopped, and can be resumed.
    Interrupted,
    /// The working tree was changed, and no person is there to say what to do.
    TreeNeedsAPerson,
    /// An agent's limit is reached, and this process waits for it no longer.
    Parked,
    /// The heavy part is done, and that was all.
    HeavyDone,
}

impl DesignOutcome {
    /// Tells whether the run can be resumed although it ended.
    const fn can_go_on(&self) -> bool {
        matches!(
            self,
            Self::Ended(
                DesignEnding::OverBudget(_)
                    | DesignEnding::Failed(_)
                    | DesignEnding::HeavyFailed(_)
                    | DesignEnding::NotExported(_)
            )
        )
    }

    fn state(&self) -> RunState {
        match self {
            Self::Ended(DesignEnding::Refused(_)) => RunState::Refused,
            Self::Ended(_) if !self.can_go_on() => RunState::Ended,
            Self::Ended(_)
            | Self::Interrupted
            | Self::Parked
            | Self::TreeNeedsAPerson
            | Self::HeavyDone => RunState::Stopped,
        }
    }
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
struct EventLoop<'s, 'w, 'a> {
    part: Part,
    journal: Journal<'s>,
    design: DesignWalk,
    /// How many notices were shown.
    shown: usize,
    stage: &'w mut Stage<'a>,
}

/// Continues a design until it ends or is stopped. The returned walk holds every event of the journal.
pub(super) fn run(
    journal: Journal<'_>,
    events: Vec<Stamped>,
    stage: &mut Stage<'_>,
) -> Result<(DesignOutcome, DesignWalk), Failure> {
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
    let mut course = EventLoop { part: Part::Whole, journal, design, shown, stage };
    if is_resumed {
        course.take(Event::Resumed)?;
    }
    let outcome = course.go()?;
    let has_ended = matches!(outcome, DesignOutcome::Ended(_)) && !outcome.can_go_on();
    if has_ended && course.design.facts().kept().is_none() {
        let kept = kept(&course.design.outline());
        course.take(Event::Kept(kept))?;
    }
    course.journal.mark(outcome.state(), course.stage.session.now()).map_err(refused)?;
    Ok((outcome, course.design))
}

/// Does the heavy part of a design that another process began, and returns how that ended. It asks no
/// person: the process that began the design does.
pub(super) fn work(
    journal: Journal<'_>,
    events: Vec<Stamped>,
    stage: &mut Stage<'_>,
) -> Result<WorkerResult, Failure> {
    let mut design = DesignWalk::fold(events);
    let shown = design.notice_count();
    let mut course = EventLoop { part: Part::Heavy, journal, design, shown, stage };
    Ok(match course.go()? {
        DesignOutcome::HeavyDone => WorkerResult::Complete,
        DesignOutcome::TreeNeedsAPerson => WorkerResult::gave_up(GiveUpReason::DIRTY_TREE),
        DesignOutcome::Interrupted => WorkerResult::gave_up("interrupted"),
        DesignOutcome::Parked => WorkerResult::gave_up(GiveUpReason::PARKED),
        DesignOutcome::Ended(DesignEnding::OverBudget(_)) => WorkerResult::gave_up("over-budget"),
        DesignOutcome::Ended(DesignEnding::Failed(_)) => WorkerResult::gave_up("plan-missing"),
        DesignOutcome::Ended(_) => WorkerResult::gave_up(GiveUpReason::INTERNAL_ERROR),
    })
}

impl EventLoop<'_, '_, '_> {
    fn go(&mut self) -> Result<DesignOutcome, Failure> {
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
                    if let Some(outcome) = self.delegate()? {
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

    /// Has another process continue in the same journal, and takes in what it wrote there.
    fn delegate(&mut self) -> Result<Option<DesignOutcome>, Failure> {
        let Some((_, settings)) = self.design.facts().settings() else { return self.interrupt() };
        let worked = self.stage.work(&settings.panel)?;
        self.design = DesignWalk::fold(self.journal.read_again().map_err(read_failed)?);
        let Some(worked) = worked else { return self.interrupt() };
        let needs_a_person = matches!(self.design.upcoming(), Next::Need(Need::Recover(..)));
        if worked.is_dirty_tree() && needs_a_person {
            return Ok(None);
        }
        if worked.is_parked()
            && let Next::Need(Need::Lanes(requests)) = self.design.upcoming()
            && let Some(parked) = self.limit_of_all(&requests)
        {
            return self.park(parked);
        }
        // A finished worker has come to the end of its part, regardless of the files in its folder.
        let is_done = worked == WorkerResult::Complete && !self.design.is_heavy();
        let is_honest = is_done || matches!(worked, WorkerResult::Failed(_));
        let worked = if is_honest { worked } else { WorkerResult::nothing_made() };
        let folder = self.stage.folder.display().to_string();
        self.take(Event::Worked { worked, folder })?;
        Ok(None)
    }

    /// Shows what is new.
    fn show(&mut self) -> Result<(), Failure> {
        show_new(&mut self.design, &mut self.shown, self.stage)
    }

    /// Keeps the artifacts as they are now.
    fn keep(&mut self) -> Result<(), Failure> {
        let settings = self.design.facts().settings().map(|(_, settings)| settings.clone());
        let files = match (settings, self.design.results()) {
            (Some(settings), Some(results)) => render::files(results, &settings),
            _ => BTreeMap::new(),
        };
        self.stage.keep(&files)
    }

    /// Writes an event down before Convoke acts on it.
    fn take(&mut self, event: Event) -> Result<(), Failure> {
        let at = self.stage.session.now().as_millisecond();
        self.journal.append(at, &event).map_err(refused)?;
        self.design.take(Stamped { at, event });
        Ok(())
    }

    /// Finds out what is needed; returns how the design ends if it cannot continue.
    fn find_out(&mut self, need: Need) -> Result<Option<DesignOutcome>, Failure> {
        let settings = self.design.facts().settings().map(|(_, settings)| settings.clone());
        let Some(settings) = settings else { return Ok(Some(DesignOutcome::Interrupted)) };
        let event = match need {
            Need::SetUp => Event::SetUp(Box::new(self.stage.set_up(&settings)?)),
            Need::Probe(occasion) => {
                Event::Probed { occasion, health: self.stage.probe(&settings, occasion)? }
            }
            Need::Word(poll) => {
                let drawn = self.design.facts().words(poll).len();
                Event::WordDrawn(poll, marker_word(&settings.agents, drawn))
            }
            Need::Lanes(requests) => return self.lanes(&settings, requests),
            Need::Ask(question) => match self.stage.ask(&question) {
                Some(reply) => Event::Replied(question.id, reply),
                None => return self.interrupt(),
            },
            Need::Tree(boundary) => Event::TreeChecked(boundary, self.stage.tree()),
            Need::Citations(cited) => {
                Event::CitationsChecked(self.stage.missing_citations(&settings, &cited))
            }
            Need::CitedPlaces(moment, cited) => {
                Event::CitationsLookedUp(moment, self.stage.cited_places(&settings, &cited))
            }
            Need::Export => Event::Exported(self.stage.export(&settings, &self.design.outline())),
            Need::Recover(boundary) => match self.stage.recover(boundary)? {
                Some(recovery) => Event::TreeDecided(boundary, recovery),
                None => return Ok(Some(DesignOutcome::TreeNeedsAPerson)),
            },
        };
        self.take(event)?;
        Ok(None)
    }

    fn lanes(
        &mut self,
        settings: &Settings,
        requests: Vec<LaneNeed>,
    ) -> Result<Option<DesignOutcome>, Failure> {
        if let Some(parked) = self.limit_of_all(&requests) {
            return self.park(parked);
        }
        let facts = self.design.facts();
        let mut due = requests;
        due.retain(|request| {
            facts.limited_until(request.holder).is_none_or(|at| !self.is_ahead(at))
        });
        let mut open = due.len();
        let mut is_parked = false;
        let mut failed: Option<StoreError> = None;
        let Self { journal, design, shown, stage, .. } = self;
        stage.lanes(settings, &due, &mut |stage, news| {
            let event = match news {
                LaneNews::Started(id) => Event::LaneStarted(id),
                LaneNews::Ended(id, end) => {
                    open -= 1;
                    Event::LaneEnded(id, end)
                }
                LaneNews::OverBudget(stop) => Event::BudgetReached(stop),
                LaneNews::Parked(holder) => {
                    is_parked = true;
                    Event::Parked(holder)
                }
            };
            let at = stage.session.now().as_millisecond();
            if let Err(error) = journal.append(at, &event) {
                failed.get_or_insert(error);
                return Ok(());
            }
            design.take(Stamped { at, event });
            show_new(design, shown, stage)
        })?;
        if let Some(error) = failed {
            return Err(refused(error));
        }
        let is_over_budget = self.design.facts().budget().is_some();
        let is_explained = is_over_budget || is_parked && !self.stage.session.is_stopped();
        if open > 0 && !is_explained { self.interrupt() } else { Ok(None) }
    }

    fn is_ahead(&self, at: Millis) -> bool {
        at > self.stage.session.now().as_millisecond()
    }

    /// Returns the limit that ends first, if each of these lanes has to wait for one.
    fn limit_of_all(&self, requests: &[LaneNeed]) -> Option<ParkedHolder> {
        let facts = self.design.facts();
        let limits = requests.iter().map(|request| {
            let until = facts.limited_until(request.holder).filter(|at| self.is_ahead(*at))?;
            Some(ParkedHolder { holder: request.holder, until })
        });
        limits.collect::<Option<Vec<_>>>()?.into_iter().min_by_key(|parked| parked.until)
    }

    /// Waits until the limit ends. A process that does only the heavy part leaves that to the one that
    /// started it.
    fn park(&mut self, parked: ParkedHolder) -> Result<Option<DesignOutcome>, Failure> {
        if self.design.facts().parked_until().is_none() {
            self.take(Event::Parked(parked))?;
        }
        let until = Timestamp::from_millisecond(parked.until).ok();
        let Some(until) = until.filter(|_| self.part == Part::Whole) else {
            return Ok(Some(DesignOutcome::Parked));
        };
        if self.stage.park(until, self.design.facts())? == ParkEnd::Over {
            return Ok(None);
        }
        self.take(Event::Interrupted(StopReason::Signal))?;
        Ok(Some(DesignOutcome::Parked))
    }

    fn interrupt(&mut self) -> Result<Option<DesignOutcome>, Failure> {
        self.take(Event::Interrupted(StopReason::Signal))?;
        Ok(Some(DesignOutcome::Interrupted))
    }
}

/// Shows new notices of a design.
fn show_new(
    design: &mut DesignWalk,
    shown: &mut usize,
    stage: &mut Stage<'_>,
) -> Result<(), Failure> {
    let notices = design.notices_after(*shown);
    if let Some((_, settings)) = design.facts().settings() {
        for notice in &notices {
            stage.show(settings, notice)?;
        }
    }
    *shown = design.notice_count();
    Ok(())
}

fn read_failed(error: JournalError) -> Failure {
    match error {
        JournalError::Store(error) => refused(error),
        error @ JournalError::Codec(_) => journal_failed(error),
    }
}
