//! Lanes written down: what each is for, what it may spend, and what it spent.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use convoke_domain::lane::cap::{Cap, Meter, Overdraft, Whose};
use convoke_domain::lane::event::{LaneEvent, Usage};
use convoke_domain::lane::ledger::{LaneStart, Purpose, Sum};
use convoke_domain::tree::TreeVerdict;
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
use super::allowance::{blind, is_paid};
use super::ending::{ending, failed_ending, never_begun, not_started, overdrawn, refused_ending};
use super::foresight::LOOKED_THROUGH;
use super::live::progress;
use super::order::{Tell, Told};
use super::report::warnings;
use super::tree::{Look, TreeWatch};
use crate::app::{App, Format};
use crate::clock::now;
use crate::config::{lane, wake};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Voice, with_causes};
use crate::workspace::Workspace;

/// How long a lane waits for the store. It begins all the same.
const PATIENCE: Duration = Duration::from_secs(5);

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
    /// Whether somebody else tells what cannot be counted: where many lanes share a screen, each
    /// would repeat it.
    pub(in crate::cli) is_told_elsewhere: bool,
}

impl Account {
    /// Accounts for the work of a role.
    pub(in crate::cli) fn of_role(role: impl Into<String>) -> Self {
        let purpose = Purpose { role: Some(role.into()), ..Purpose::default() };
        Self { purpose, ..Self::default() }
    }

    /// Accounts for one of many lanes that share a screen.
    pub(in crate::cli) fn of_many(purpose: Purpose, budget: Option<Cap>) -> Self {
        Self { purpose, budget, is_told_elsewhere: true, ..Self::default() }
    }
}

/// A lane that was run and written down.
pub(in crate::cli) struct Ran {
    pub(in crate::cli) driven: Driven,
    /// Its number, if it could be written down.
    pub(in crate::cli) lane: Option<i64>,
    /// What it spent, if that can be told.
    pub(in crate::cli) spent: Option<Usage>,
    /// The budget that it went over.
    pub(in crate::cli) over: Option<Overdraft>,
    /// How many lanes before it its budgets cannot be held against.
    pub(in crate::cli) uncounted: u64,
    /// What became of the working tree, if that was watched.
    pub(in crate::cli) tree: Option<TreeVerdict>,
}

/// Whether a lane watches the working tree itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watches {
    /// It does, if its agent may only read.
    Tree,
    /// Nobody does, or somebody does it for several lanes.
    Nothing,
}

/// What stands against the start of a lane.
#[derive(Default)]
struct Admission {
    /// Why it may not start: too much was spent already.
    refusal: Option<String>,
    /// How many lanes under the same budgets did not say what they spent.
    uncounted: u64,
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
        self.run_plainly(app, scratch, voice, Watches::Nothing)
    }

    /// Runs it, with a line for whatever is worth saying meanwhile.
    pub(super) fn run_plainly(
        &self,
        app: &App,
        scratch: &Path,
        voice: &Voice,
        watches: Watches,
    ) -> Result<Ran, Failure> {
        let is_text = app.format == Format::Text;
        self.run_told(app, scratch, voice, watches, &mut |told| {
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
        hear: &mut dyn FnMut(&LaneEvent),
    ) -> Result<Ran, Failure> {
        self.run_told(app, scratch, voice, Watches::Nothing, &mut |told| {
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
        watches: Watches,
        tell: &mut Tell<'_>,
    ) -> Result<Ran, Failure> {
        let books = Books::open(app, voice);
        let Admission { refusal, uncounted } = self.admission(app, books.as_ref(), voice)?;
        let id = books.as_ref().and_then(|books| {
            let scope = &books.workspace.scope;
            kept(voice, books.workspace.store.begin_lane(scope, &self.begun(app)))
        });
        let record = books.as_ref().zip(id);
        if let Some(why) = refusal {
            let driven = not_started(why);
            if let Some((books, id)) = record {
                kept(voice, books.workspace.store.end_lane(id, &refused_ending(&driven)));
            }
            return Ok(Ran { driven, lane: id, spent: None, over: None, uncounted, tree: None });
        }
        if uncounted > 0 && !self.account.is_told_elsewhere {
            voice.say(&blind(uncounted));
        }
        if let Some(books) = books.as_ref().filter(|_| self.account.foresees) {
            self.look_ahead(books, app, voice);
        }
        let mut meter = self.meter(books.as_ref(), voice);
        let look = Look { app, voice, limit: self.limits.wall };
        let watch = match watches {
            Watches::Tree => TreeWatch::begin(self.rights, &look),
            Watches::Nothing => TreeWatch::Off,
        };
        let pins = self.pins(books.as_ref().map(|books| &books.workspace), voice);
        let is_unwanted = interrupt::cancel().is_asked() || tell(Told::Began(id)).is_break();
        let driven = if is_unwanted {
            Ok(never_begun())
        } else {
            self.start(app, scratch, voice, &pins, meter.as_mut(), tell)
        };
        if let (Err(failure), Some((books, id))) = (&driven, record) {
            kept(voice, books.workspace.store.end_lane(id, &failed_ending(failure)));
        }
        let mut driven = driven?;
        if let Some(books) = &books {
            self.record_pins(&books.workspace, &pins, &driven, voice);
        }
        if let Some(reached) = meter.as_ref().and_then(Meter::reached) {
            overdrawn(&mut driven, &reached);
        }
        let spent = match record {
            Some((books, id)) => {
                let how = if is_unwanted { refused_ending(&driven) } else { ending(&driven) };
                kept(voice, books.workspace.store.end_lane(id, &how)).flatten()
            }
            None => self.spent_alone(driven.heard.usage),
        };
        let over = books.as_ref().and_then(|books| self.overdraft(books, spent, app, voice));
        Ok(Ran { driven, lane: id, spent, over, uncounted, tree: watch.end(&look) })
    }

    /// Runs it as [`LaneOrder::run`] does, and says what it did that it was not asked to.
    pub(in crate::cli) fn run_watched(
        &self,
        app: &App,
        scratch: &Path,
        voice: &Voice,
    ) -> Result<Ran, Failure> {
        let ran = self.run_plainly(app, scratch, voice, Watches::Tree)?;
        warnings(self.agent, &ran.driven, ran.tree.as_ref()).for_each(|line| voice.say(&line));
        Ok(ran)
    }

    /// Says whether it may start, and what its budgets do not know of.
    fn admission(
        &self,
        app: &App,
        books: Option<&Books>,
        voice: &Voice,
    ) -> Result<Admission, Failure> {
        let settings = lane::settings(app)?;
        // What is played costs nothing.
        if matches!(self.agent, AgentRef::Replay(_)) {
            return Ok(Admission::default());
        }
        let Some(books) = books else {
            let is_capped = !settings.budgets_per_day.is_empty() || self.account.budget.is_some();
            let why = "what was spent cannot be looked up, and there is a budget";
            return Ok(Admission { refusal: is_capped.then(|| why.to_owned()), uncounted: 0 });
        };
        let mut budgets = Vec::new();
        if !settings.budgets_per_day.is_empty() {
            let since = day(now(), app)?;
            let sum = kept(voice, books.sum(LaneQuery { since, ..LaneQuery::default() }));
            let of_day = |sum| {
                settings
                    .budgets_per_day
                    .iter()
                    .map(move |cap| (*cap, sum, "the budget of the day is used up"))
            };
            budgets.extend(sum.into_iter().flat_map(of_day));
        }
        if let Some(cap) = self.account.budget {
            let sum = kept(voice, self.sum_of_run(books)).unwrap_or_default();
            budgets.push((cap, sum, "the budget is used up"));
        }
        let reached = budgets.iter().find_map(|(cap, sum, what)| {
            cap.allows(*sum).err().map(|reached| format!("{what}: {reached}"))
        });
        let blind = budgets.iter().map(|(cap, sum, _)| cap.blind_to(*sum));
        Ok(Admission { refusal: reached, uncounted: blind.max().unwrap_or_default() })
    }

    /// Returns the budget that it went over; its own, or that of its run, before the day's.
    fn overdraft(
        &self,
        books: &Books,
        spent: Option<Usage>,
        app: &App,
        voice: &Voice,
    ) -> Option<Overdraft> {
        // What is played costs nothing.
        if matches!(self.agent, AgentRef::Replay(_)) {
            return None;
        }
        let of_run = self.account.budget.and_then(|cap| {
            let usage = match self.account.purpose.run {
                Some(_) => kept(voice, self.sum_of_run(books))?.usage,
                None => spent?,
            };
            cap.overdraft(Whose::Own, usage)
        });
        of_run.or_else(|| {
            let caps = lane::settings(app).ok()?.budgets_per_day;
            if caps.is_empty() {
                return None;
            }
            let query = LaneQuery { since: day(now(), app).ok()?, ..LaneQuery::default() };
            let usage = kept(voice, books.sum(query))?.usage;
            caps.iter().find_map(|cap| cap.overdraft(Whose::Day, usage))
        })
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

    fn begun(&self, app: &App) -> LaneStart {
        LaneStart {
            agent: self.agent.to_string(),
            purpose: self.account.purpose.clone(),
            asked_model: self.asked_model(app),
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
        let lanes = self.workspace.store.lanes(query)?;
        Ok(Sum::of_all(lanes.iter().filter(|it| is_paid(it))))
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
