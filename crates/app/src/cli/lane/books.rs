//! Lanes written down: what each is for, what it may spend, and what it spent.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use convoke_domain::lane::cap::{Cap, Meter, Reached};
use convoke_domain::lane::event::{Event, Failure as Trouble, FailureKind, Usage};
use convoke_domain::lane::ledger::{Begun, Ending, Purpose, Sum};
use convoke_domain::lane::outcome::{End, Heard, Outcome};
use convoke_domain::text::one_line;
use convoke_engine::lane::adapter::{Rights, UsageScope};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::Driven;
use convoke_engine::owner::myself;
use convoke_engine::skill::hash;
use convoke_store::error::StoreError;
use convoke_store::lane::{LaneQuery, LaneStore};
use jiff::Timestamp;
use jiff::civil::Time;

use super::LaneOrder;
use super::foresight::LOOKED_THROUGH;
use super::live::progress;
use super::order::{Tell, Told};
use super::report::{unanswered, warnings, why};
use super::tree::TreeWatch;
use crate::app::{App, Format};
use crate::clock::now;
use crate::config::{lane, wake};
use crate::failure::Failure;
use crate::output::{Voice, with_causes};
use crate::workspace::Workspace;

/// How long a lane waits for the store. It begins all the same.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much is written down of why there is no answer, in characters.
const LONGEST_WHY: usize = 300;

/// What a lane is for, and what it may spend.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Account {
    pub(in crate::cli) purpose: Purpose,
    /// The most that its run may spend, or it alone if it is part of none.
    pub(in crate::cli) budget: Option<Cap>,
    /// Where what is said will be found afterwards.
    pub(in crate::cli) kept_in: Option<String>,
    /// Whether what earlier lanes needed is said before it begins.
    pub(in crate::cli) foresees: bool,
}

impl Account {
    /// Accounts for the work of a role.
    pub(in crate::cli) fn of_role(role: impl Into<String>) -> Self {
        let purpose = Purpose { role: Some(role.into()), ..Purpose::default() };
        Self { purpose, ..Self::default() }
    }
}

/// A lane that was run and written down.
pub(in crate::cli) struct Ran {
    pub(in crate::cli) driven: Driven,
    /// Its number, if it could be written down.
    pub(in crate::cli) lane: Option<i64>,
    /// What it spent, if that can be told.
    pub(in crate::cli) spent: Option<Usage>,
}

/// The store, opened for one lane.
struct Books {
    workspace: Workspace,
}

impl LaneOrder<'_> {
    /// Runs it in the project, says what happens meanwhile, and writes it down. Under a cap that is
    /// reached it is not started.
    pub(in crate::cli) fn run(
        &self,
        app: &App,
        scratch: &Path,
        voice: &Voice,
    ) -> Result<Ran, Failure> {
        let is_text = app.format == Format::Text;
        self.run_told(app, scratch, voice, &mut |told| {
            if let (true, Told::Said(event)) = (is_text, told)
                && let Some(line) = progress(event)
            {
                voice.say(&line);
            }
            ControlFlow::Continue(())
        })
    }

    /// Runs it as [`LaneOrder::run`] does, for who hears whatever its agent says.
    pub(in crate::cli) fn run_heard(
        &self,
        app: &App,
        scratch: &Path,
        voice: &Voice,
        hear: &mut dyn FnMut(&Event),
    ) -> Result<Ran, Failure> {
        self.run_told(app, scratch, voice, &mut |told| {
            if let Told::Said(event) = told {
                hear(event);
            }
            ControlFlow::Continue(())
        })
    }

    /// Runs it as [`LaneOrder::run`] does, and tells somebody else what happens meanwhile.
    pub(super) fn run_told(
        &self,
        app: &App,
        scratch: &Path,
        voice: &Voice,
        tell: &mut Tell<'_>,
    ) -> Result<Ran, Failure> {
        let books = Books::open(app, voice);
        let refusal = self.refusal(app, books.as_ref(), voice)?;
        let id = books.as_ref().and_then(|books| {
            let scope = &books.workspace.scope;
            kept(voice, books.workspace.store.begin_lane(scope, &self.begun()))
        });
        let record = books.as_ref().zip(id);
        if let Some(why) = refusal {
            let driven = not_started(why);
            if let Some((books, id)) = record {
                kept(voice, books.workspace.store.end_lane(id, &refused_ending(&driven)));
            }
            return Ok(Ran { driven, lane: id, spent: None });
        }
        if let Some(books) = books.as_ref().filter(|_| self.account.foresees) {
            self.look_ahead(books, app, voice);
        }
        let mut meter = self.meter(books.as_ref(), voice);
        let driven = match tell(Told::Began(id)) {
            ControlFlow::Continue(()) => self.start(app, scratch, voice, meter.as_mut(), tell),
            ControlFlow::Break(()) => Ok(unheard()),
        };
        if let (Err(_), Some((books, id))) = (&driven, record) {
            let store = &books.workspace.store;
            kept(voice, store.close_lane(id, Some(Outcome::NotStarted), now()));
        }
        let mut driven = driven?;
        if let Some(reached) = meter.as_ref().and_then(Meter::reached) {
            overdrawn(&mut driven, &reached);
        }
        let spent = match record {
            Some((books, id)) => {
                let ended = books.workspace.store.end_lane(id, &ending(&driven));
                kept(voice, ended).flatten()
            }
            None => self.spent_alone(driven.heard.usage),
        };
        Ok(Ran { driven, lane: id, spent })
    }

    /// Runs it as [`LaneOrder::run`] does, and says what it did that it was not asked to.
    pub(in crate::cli) fn run_watched(
        &self,
        app: &App,
        scratch: &Path,
        voice: &Voice,
    ) -> Result<Ran, Failure> {
        let watch = TreeWatch::begin(app, self.rights);
        let ran = self.run(app, scratch, voice)?;
        warnings(self.agent, &ran.driven, watch.end().as_ref()).for_each(|line| voice.say(&line));
        Ok(ran)
    }

    /// Runs it as [`LaneOrder::run_watched`] does, for who does not ask what it spent.
    pub(in crate::cli) fn drive(
        &self,
        app: &App,
        scratch: &Path,
        voice: &Voice,
    ) -> Result<Driven, Failure> {
        self.run_watched(app, scratch, voice).map(|ran| ran.driven)
    }

    /// Says why it may not start: too much was spent already.
    fn refusal(
        &self,
        app: &App,
        books: Option<&Books>,
        voice: &Voice,
    ) -> Result<Option<String>, Failure> {
        let settings = lane::settings(app)?;
        // What is played costs nothing.
        if matches!(self.agent, AgentRef::Replay(_)) {
            return Ok(None);
        }
        let Some(books) = books else {
            let is_capped = settings.budget_per_day.is_some() || self.account.budget.is_some();
            let why = "what was spent cannot be looked up, and there is a budget";
            return Ok(is_capped.then(|| why.to_owned()));
        };
        let mut reached = None;
        if let Some(cap) = settings.budget_per_day {
            let since = day(now(), app)?;
            let sum = books.sum(LaneQuery { since, ..LaneQuery::default() });
            let over = kept(voice, sum).and_then(|sum| cap.allows(sum).err());
            reached = over.map(|it| (it, "the budget of the day is used up"));
        }
        if let (None, Some(cap)) = (&reached, self.account.budget) {
            let sum = kept(voice, self.sum_of_run(books)).unwrap_or_default();
            reached = cap.allows(sum).err().map(|it| (it, "the budget is used up"));
        }
        Ok(reached.map(|(reached, what): (Reached, _)| format!("{what}: {reached}")))
    }

    /// Says what it will probably need. That nobody can tell costs no lane.
    fn look_ahead(&self, books: &Books, app: &App, voice: &Voice) {
        let Workspace { store, scope } = &books.workspace;
        let project = Some(scope.project.as_str());
        let query = LaneQuery { project, last: Some(LOOKED_THROUGH), ..LaneQuery::default() };
        let already = self.sum_of_run(books).map(|sum| sum.usage);
        if let (Ok(earlier), Ok(already)) = (store.lanes(query), already) {
            self.foresee(&earlier, already, app.format, voice);
        }
    }

    /// Returns what the run has spent that it is part of.
    fn sum_of_run(&self, books: &Books) -> Result<Sum, StoreError> {
        match self.account.purpose.run.as_deref() {
            Some(run) => books.sum(LaneQuery { run: Some(run), ..LaneQuery::default() }),
            None => Ok(Sum::default()),
        }
    }

    /// Returns what watches over a budget while it runs.
    fn meter(&self, books: Option<&Books>, voice: &Voice) -> Option<Meter> {
        let cap = self.account.budget?;
        let store = books.map(|books| &books.workspace.store);
        let said_before = store.zip(self.resume).and_then(|(store, session)| {
            kept(voice, store.last_count(&self.agent.to_string(), session)).flatten()
        });
        Some(Meter {
            cap,
            already: books
                .and_then(|books| kept(voice, self.sum_of_run(books)))
                .unwrap_or_default(),
            counts: self.agent.usage_scope(),
            before: said_before.or_else(|| self.resume.is_none().then(Usage::default)),
            spent: Usage::default(),
            stopped: false,
        })
    }

    fn begun(&self) -> Begun {
        Begun {
            agent: self.agent.to_string(),
            purpose: self.account.purpose.clone(),
            asked_model: self.model.map(str::to_owned),
            writes: self.rights == Rights::Write,
            resumed_from: self.resume.map(str::to_owned),
            owner: myself(),
            kept_in: self.account.kept_in.clone(),
            prompt_chars: self.prompt.chars().count() as u64,
            prompt_hash: hash(self.prompt),
            at: now(),
        }
    }

    fn counts(&self) -> UsageScope {
        self.agent.usage_scope()
    }

    /// Returns what it spent as far as it can be told without the store.
    fn spent_alone(&self, said: Option<Usage>) -> Option<Usage> {
        let before = self.resume.is_none().then(Usage::default);
        said.and_then(|said| self.counts().of_run(said, before))
    }
}

impl Books {
    /// Opens the store. A lane is not worth less because it cannot be written down.
    fn open(app: &App, voice: &Voice) -> Option<Self> {
        match Workspace::open_in_a_hurry(app, None, PATIENCE) {
            Ok(workspace) => Some(Self { workspace }),
            Err(failure) => {
                let why = with_causes(failure.error.as_ref());
                voice.say(&format!("warning: the lane is not written down: {why}"));
                failure.hints.iter().for_each(|hint| voice.say(&format!("hint: {hint}")));
                None
            }
        }
    }

    fn sum(&self, query: LaneQuery<'_>) -> Result<Sum, StoreError> {
        Ok(Sum::of_all(&self.workspace.store.lanes(query)?))
    }
}

/// Takes what a store answers; that it does not answer is said, and costs no lane.
fn kept<T>(voice: &Voice, answer: Result<T, StoreError>) -> Option<T> {
    answer
        .map_err(|error| {
            let why = with_causes(&error);
            voice.say(&format!("warning: the lane is not written down: {why}"));
        })
        .ok()
}

/// Returns when the day began.
fn day(now: Timestamp, app: &App) -> Result<Option<Timestamp>, Failure> {
    let clock = wake::settings(app)?.clock;
    let midnight = clock.to_datetime(now).date().to_datetime(Time::midnight());
    Ok(clock.to_timestamp(midnight).ok())
}

/// Says of a lane that went on after its budget was used up that this is why it was stopped.
fn overdrawn(driven: &mut Driven, reached: &Reached) {
    if driven.end != End::Cancelled {
        return;
    }
    (driven.end, driven.outcome) = (End::BudgetLimit, Outcome::OverBudget);
    driven.heard.take(trouble(format!("the budget is used up: {reached}")));
}

fn trouble(message: String) -> Event {
    Event::Trouble(Trouble { kind: FailureKind::OverBudget, message })
}

fn not_started(message: String) -> Driven {
    let mut heard = Heard::default();
    heard.take(trouble(message));
    never_ran(Outcome::OverBudget, End::BudgetLimit, heard)
}

/// A lane that nobody listens to any more before it begins.
fn unheard() -> Driven {
    never_ran(Outcome::Cancelled, End::Cancelled, Heard::default())
}

fn never_ran(outcome: Outcome, end: End, heard: Heard) -> Driven {
    Driven {
        outcome,
        heard,
        end,
        took: Duration::ZERO,
        bytes: 0,
        stderr: String::new(),
        excess: Vec::new(),
        asked_model: None,
        counts: UsageScope::RUN,
        is_recorded: false,
    }
}

/// Returns how a lane ended, as it is kept.
fn ending(driven: &Driven) -> Ending {
    let heard = &driven.heard;
    Ending {
        outcome: driven.outcome,
        end: driven.end.to_string(),
        why: why(driven).map(|why| one_line(&why).chars().take(LONGEST_WHY).collect()),
        failure: unanswered(driven).map(|failure| failure.kind),
        session: heard.session.clone(),
        model: heard.model.clone(),
        took_ms: u64::try_from(driven.took.as_millis()).unwrap_or(u64::MAX),
        bytes: driven.bytes,
        // What is played costs nothing.
        said: heard.usage.filter(|_| !driven.is_recorded),
        counts: driven.counts,
        at: now(),
    }
}

/// Returns how a lane ended that might not start: it is known to have spent nothing.
fn refused_ending(driven: &Driven) -> Ending {
    let said = Some(Usage::default());
    Ending { end: End::NotStarted.to_string(), said, ..ending(driven) }
}
