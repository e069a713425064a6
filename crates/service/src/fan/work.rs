//! The work of a fan-out: lanes in parallel, and one thread that keeps the journal and shows results.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use convoke_domain::fan::event::FanEvent;
use convoke_domain::fan::item::ItemKey;
use convoke_domain::fan::record::ItemState;
use convoke_domain::fan::stop::FanStop;
use convoke_domain::run::{RunId, RunState};
use convoke_domain::tree::TreeVerdict;
use convoke_engine::client::Rights;
use convoke_engine::fan::journal::FanJournal;
use convoke_engine::lane::agent_ref::AgentRef;
use jiff::Timestamp;

use super::ask::{Asker, Job, Line, WorkerNews};
use super::begin::parse_schema;
use super::error::FanError;
use super::forecast::forecast_note;
use super::limits::BudgetDoubt;
use super::listing::parse_template;
use super::report::{FanEnding, FanReport};
use super::results::result_line;
use super::{FanCounts, FanFrontEnd, FanNews, FanWork, ResultTime};
use crate::failure::{ErrorClass, Failure};
use crate::lane::{TreeLook, TreeWatch, TreeWatching, check_agent};
use crate::session::Session;
use crate::workspace::{Workspace, refused, store_location};

/// A run, and the terms of its work.
#[derive(Clone, Copy)]
pub(super) struct Course<'a> {
    pub(super) session: &'a Session,
    pub(super) workspace: &'a Workspace,
    pub(super) run: &'a RunId,
    pub(super) work: &'a FanWork,
}

/// How the work of one process, or of a part of it between two waits, ended.
pub(super) struct FanPart {
    pub(super) report: FanReport,
    /// How many items of the list have been shown.
    pub(super) shown: usize,
    /// Until when the run is parked.
    pub(super) parked: Option<Timestamp>,
}

/// Asks for all that is missing, and returns the report on the run. So many results have been shown.
pub(super) fn go(
    course: &Course<'_>,
    journal: FanJournal<'_>,
    shown: usize,
    front_end: &mut dyn FanFrontEnd,
) -> Result<FanPart, Failure> {
    let Course { session, workspace, run, work } = *course;
    let not_begun = || Failure::new(ErrorClass::Refused, FanError::NotBegun(run.clone()));
    let settings = journal.record().settings().cloned().ok_or_else(not_begun)?;
    let template = parse_template(&settings.template, settings.source)?;
    let schema = settings.schema.as_deref().map(parse_schema).transpose()?;
    let named = || Failure::new(ErrorClass::Usage, FanError::NoAgent(settings.agent.clone()));
    let agent = AgentRef::parse(&settings.agent).ok_or_else(named)?;
    check_agent(&agent, Rights::ReadOnly, session)?;
    let jobs = jobs(&journal, work);
    let reporter = session.reporter();
    forecast_note(workspace, run, &settings, jobs.len(), work.budget.as_ref(), &reporter);
    let look = TreeLook { session, reporter: &reporter, limit: work.limits.wall };
    let watch = match work.watch {
        TreeWatching::Tree if !jobs.is_empty() => TreeWatch::begin(Rights::ReadOnly, &look),
        TreeWatching::Tree | TreeWatching::Nothing => TreeWatch::Off,
    };
    let is_over = AtomicBool::new(false);
    // The journal's connection to a file waits for the disk at every change. The ledger need not: lanes
    // have a connection of their own, which stays open as long as they run.
    let is_file = store_location(session)?.as_file().is_some();
    let lane_session = if is_file { session.for_call() } else { session.clone() };
    let _ledger = Workspace::open(&lane_session, None)?;
    let asker = Asker {
        session: &lane_session,
        reporter: reporter.clone(),
        store: Arc::clone(&workspace.store),
        run,
        settings: &settings,
        template: &template,
        schema: schema.as_ref(),
        agent: &agent,
        budget: work.budget.as_ref().map(convoke_domain::lane::budget::WrittenBudget::budget),
        limits: work.limits,
        rules: work.rules,
        is_over: &is_over,
    };
    let tally = journal.record().tally();
    let open = jobs.iter().map(|job| job.item.key.clone()).collect();
    let counts = FanCounts { to_ask: jobs.len(), ..FanCounts::default() };
    let told = BudgetDoubt::Untold;
    let mut desk =
        Desk { course, journal, front_end, open, shown, counts, failures: 0, stop: None, told };
    desk.front_end.hear(&FanNews::Opened {
        run,
        agent: &settings.agent,
        items: tally.items,
        kept: tally.answered,
        counts,
    });
    let worked = desk.work(&asker, &jobs);
    let verdict = watch.end(&look);
    // A user who stops Convoke a second time must not lose the end of the journal.
    let _hold = session.interruption.hold();
    desk.close(worked, verdict.as_ref())
}

/// Returns what to ask for.
fn jobs(journal: &FanJournal<'_>, work: &FanWork) -> Vec<Job> {
    let record = journal.record();
    let places = record.to_ask(work.retry).into_iter();
    places
        .map(|place| {
            let item = record.items()[place].clone();
            let unfit = match record.state(&item.key) {
                ItemState::Unfit(event, tries) => Some((event, tries)),
                ItemState::Missing | ItemState::Answered(_) | ItemState::Failed(_) => None,
            };
            Job { place, item, unfit }
        })
        .collect()
}

/// Keeps the journal, counts, and shows results in the order of the items.
pub(super) struct Desk<'a, 'j> {
    pub(super) course: &'a Course<'a>,
    pub(super) journal: FanJournal<'j>,
    front_end: &'a mut dyn FanFrontEnd,
    /// Items that this process asks for and that are not settled.
    open: HashSet<ItemKey>,
    /// How many items of the list have been shown.
    shown: usize,
    pub(super) counts: FanCounts,
    /// How many lanes in a row gave no answer.
    pub(super) failures: usize,
    /// Why no further lane begins.
    pub(super) stop: Option<FanStop>,
    pub(super) told: BudgetDoubt,
}

impl Desk<'_, '_> {
    fn work(&mut self, asker: &Asker<'_>, jobs: &[Job]) -> Result<(), Failure> {
        self.show_results()?;
        let next = AtomicUsize::new(0);
        let workers = self.course.work.parallel.get().min(jobs.len());
        thread::scope(|threads| {
            let (sender, news) = channel();
            let mut confirm = Vec::new();
            for worker in 0..workers {
                let (confirmed, written) = channel();
                confirm.push(confirmed);
                let (line, next) = (Line { worker, news: sender.clone(), written }, &next);
                threads.spawn(move || work_through(asker, &line, jobs, next));
            }
            drop(sender);
            let mut result = Ok(());
            // After an error, the lanes that run are heard to their ends; their answers are kept.
            for told in news {
                let waiting = told.waiting_worker();
                let taken = self.take(told, jobs).and_then(|()| self.show_results());
                if let Err(failure) = taken {
                    asker.is_over.store(true, Ordering::SeqCst);
                    if result.is_ok() {
                        result = Err(failure);
                    }
                }
                if self.stop.is_some() {
                    asker.is_over.store(true, Ordering::SeqCst);
                }
                if let Some(confirmed) = waiting.and_then(|worker| confirm.get(worker)) {
                    confirmed.send(()).unwrap_or_default();
                }
            }
            result
        })
    }

    fn take(&mut self, told: WorkerNews, jobs: &[Job]) -> Result<(), Failure> {
        let item = |place: usize| {
            let found = jobs.binary_search_by_key(&place, |job| job.place);
            found.ok().map_or("", |at| jobs[at].item.text.as_str())
        };
        match told {
            WorkerNews::Started(worker, place) => {
                let item = item(place);
                self.front_end.hear(&FanNews::Started { worker, index: place + 1, item });
            }
            WorkerNews::Said(worker, event) => {
                self.front_end.hear(&FanNews::Said { worker, event: &event });
            }
            WorkerNews::Answered(worker, place, answer, asks_again) => {
                self.count_usage(answer.usage);
                self.doubt_budget(answer.usage);
                let (key, misfit) = (answer.key.clone(), answer.misfit.clone());
                self.append(FanEvent::Answered(answer))?;
                self.failures = 0;
                if !asks_again {
                    match misfit {
                        Some(_) => self.counts.unfit += 1,
                        None => self.counts.answered += 1,
                    }
                    self.settle(worker, place, &key, misfit.as_deref());
                }
            }
            WorkerNews::Failed(worker, place, failure, resets_at) => {
                let (key, outcome, why) =
                    (failure.key.clone(), failure.outcome, failure.why.clone());
                self.append(FanEvent::Failed(failure))?;
                if self.parks(outcome, resets_at, &why) {
                    // Convoke asks for the item again, so it has no result yet.
                    self.hear_end(worker, place, Some(&why));
                    return Ok(());
                }
                self.counts.failed += 1;
                self.failures += 1;
                self.stop_after(outcome, &why);
                self.settle(worker, place, &key, Some(&why));
            }
            WorkerNews::Cancelled(worker, place) => self.front_end.hear(&FanNews::Ended {
                worker,
                index: place + 1,
                trouble: Some("stopped"),
                counts: self.counts,
            }),
            WorkerNews::Broken(_, failure) => return Err(failure),
        }
        Ok(())
    }

    fn settle(&mut self, worker: usize, place: usize, key: &ItemKey, trouble: Option<&str>) {
        self.open.remove(key);
        self.hear_end(worker, place, trouble);
    }

    fn hear_end(&mut self, worker: usize, place: usize, trouble: Option<&str>) {
        let (index, counts) = (place + 1, self.counts);
        self.front_end.hear(&FanNews::Ended { worker, index, trouble, counts });
    }

    /// Writes an event down before anything follows from it.
    fn append(&mut self, event: FanEvent) -> Result<(), Failure> {
        self.journal.append(self.course.session.now(), event).map_err(refused)
    }

    /// Shows the results that are next in the order of the items.
    fn show_results(&mut self) -> Result<(), Failure> {
        if self.course.work.results == ResultTime::AtTheEnd {
            return Ok(());
        }
        while let Some(item) = self.journal.record().items().get(self.shown) {
            if self.open.contains(&item.key) {
                return Ok(());
            }
            self.show_one(self.shown)?;
            self.shown += 1;
        }
        Ok(())
    }

    fn show_one(&mut self, place: usize) -> Result<(), Failure> {
        let Course { workspace, run, .. } = *self.course;
        match result_line(&*workspace.store, run, self.journal.record(), place)? {
            Some(line) => self.front_end.result(&line),
            None => Ok(()),
        }
    }

    /// Records the end of the work, and shows what came after a gap.
    fn close(
        mut self,
        worked: Result<(), Failure>,
        verdict: Option<&TreeVerdict>,
    ) -> Result<FanPart, Failure> {
        let Course { session, workspace, run, .. } = *self.course;
        let is_settled = self.journal.record().is_settled();
        let ending = match (&worked, self.stop.take()) {
            (Err(failure), _) => FanEnding::Stopped(FanStop::Broken(failure.error.to_string())),
            (Ok(()), Some(stop)) => FanEnding::Stopped(stop),
            (Ok(()), None) if is_settled => FanEnding::Settled,
            (Ok(()), None) if session.is_stopped() => FanEnding::Stopped(FanStop::Signal),
            (Ok(()), None) => FanEnding::Stopped(FanStop::Incomplete),
        };
        let state = if is_settled { RunState::Ended } else { RunState::Stopped };
        if let FanEnding::Stopped(stop) = &ending
            && !is_settled
        {
            self.append(FanEvent::Stopped(stop.clone()))?;
        }
        self.journal.mark(state, session.now()).map_err(refused)?;
        worked?;
        let parked = ending.parked_until(verdict);
        if parked.is_none() {
            for place in self.shown..self.journal.record().items().len() {
                self.show_one(place)?;
            }
        }
        let report = FanReport::new(workspace, run, self.journal.record(), state)?;
        let report = report.ended(&ending, self.counts, verdict);
        Ok(FanPart { report, shown: self.shown, parked })
    }
}

fn work_through(asker: &Asker<'_>, line: &Line, jobs: &[Job], next: &AtomicUsize) {
    while !asker.is_over() {
        let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) else { return };
        asker.ask(job, line);
    }
}

impl WorkerNews {
    /// Returns the worker that waits until this is written down.
    const fn waiting_worker(&self) -> Option<usize> {
        match self {
            Self::Started(..) | Self::Said(..) => None,
            Self::Answered(worker, ..)
            | Self::Failed(worker, ..)
            | Self::Cancelled(worker, _)
            | Self::Broken(worker, _) => Some(*worker),
        }
    }
}
