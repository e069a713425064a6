//! The stage of a design: this machine, its agents, its git, and the person at it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use convoke_domain::design::citation::{Citation, CitedPassage, Missing, PlaceFinding};
use convoke_domain::design::design_file::DesignFile;
use convoke_domain::design::event::{
    Boundary, Export, Health, LaneEnd, Occasion, Recovery, Reply, Settings, Tree,
};
use convoke_domain::design::export::ExportFailure;
use convoke_domain::design::heavy::WorkerResult;
use convoke_domain::design::notice::Notice;
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::render;
use convoke_domain::design::seat::{Holder, Panel};
use convoke_domain::design::setup::Ready;
use convoke_domain::design::walk::{LaneNeed, PersonQuestion};
use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::lane::budget_stop::BudgetStop;
use convoke_domain::lane::collected::CollectedStatus;
use convoke_domain::lane::queue::LaneLimits;
use convoke_domain::lane::unanswered::Unanswered;
use convoke_domain::run::RunId;
use convoke_domain::tree::sidecar::{TreeMode, TreeRequest};
use convoke_domain::tree::{TreeEvidence, TreeStatus, TreeVerdict};
use convoke_engine::design::citations;
use convoke_engine::git::sidecar::check;
use convoke_engine::lane::many::{self, EnoughAnswers, QueueEvent, QueuedLane};

use super::event_loop::{LaneNews, OnLaneNews};
use super::front_end::{DesignFrontEnd, show_lane};
use super::lane::{LaneOrder, LaneResult, not_run, phase_span};
use super::lasting_failure::LastingFailures;
use super::nested::Caller;
use super::person::Person;
use super::probe::probe;
use super::{DesignError, cost, lane_limits, question, worker};
use crate::failure::{ErrorClass, Failure};
use crate::interruption::ExitHold;
use crate::lane::{ParkTerms, PinnedRules, TreeWatch};
use crate::observer::QuietObserver;
use crate::session::Session;
use crate::workspace::Workspace;

/// How many lanes run at the same time.
const ROOM: LaneLimits = LaneLimits { in_all: 12, of_agent: 10 };

/// The file that tells a person to check the tree.
const TREE_NOTE: &str = DesignFile::SuspectTree.name();

/// The options of the command line about the beginning.
#[derive(Debug, Clone, Default)]
pub(super) struct Beginning {
    pub(super) branch_info: Option<String>,
    pub(super) no_branch: bool,
    pub(super) no_probe: bool,
}

/// The stage of one run.
pub(super) struct Stage<'a> {
    pub(super) session: &'a Session,
    /// The calling workflow, if there is one.
    pub(super) caller: Option<Caller>,
    pub(super) run: RunId,
    pub(super) folder: PathBuf,
    pub(super) beginning: Beginning,
    pub(super) budget: Option<LaneBudget>,
    pub(super) limit: Duration,
    /// Whether the user's rules go before the prompts.
    pub(super) rules: PinnedRules,
    /// Whether it waits for the end of an agent's limit.
    pub(super) park: Option<ParkTerms>,
    pub(super) person: Person,
    /// Shows the run, and asks its questions.
    pub(super) front_end: &'a mut dyn DesignFrontEnd,
    /// The artifacts as last written, so that only changes are written.
    pub(super) kept: BTreeMap<String, Arc<str>>,
    /// The arguments of the worker process for the heavy part.
    pub(super) worker: Vec<String>,
    /// Whether this process is such a one. It shows nothing.
    pub(super) is_worker: bool,
    /// Held from the request to stop until the journal records it.
    pub(super) stopping: Option<ExitHold>,
    /// Whether a question found no person to answer it.
    pub(super) is_unanswered: bool,
    /// The run's forecast, until it was shown.
    pub(super) forecast: Option<String>,
    /// Whether Convoke has warned that the budget cannot count some lanes.
    pub(super) is_warned: bool,
    /// Agents that need a person's help before they can answer.
    pub(super) lasting: Arc<LastingFailures>,
    /// The working tree as it was when agents began to work.
    pub(super) watch: Option<TreeWatch>,
    /// Where the run began, once that is known.
    pub(super) ready: Option<Ready>,
}

impl Stage<'_> {
    /// Returns, once, the warning that the budget cannot count some lanes.
    fn usage_warning(&mut self) -> Option<String> {
        let budget = self.budget.filter(|_| !self.is_warned && !self.is_worker)?;
        let workspace = Workspace::open(self.session, None).ok()?;
        let warning = cost::usage_warning(&workspace, &self.run, budget)?;
        self.is_warned = true;
        Some(warning)
    }
}

/// What the loop of a design asks for.
impl<'a> Stage<'a> {
    /// Asks the agents of both companies whether they answer.
    pub(super) fn probe(
        &mut self,
        settings: &Settings,
        occasion: Occasion,
    ) -> Result<Health, Failure> {
        let names =
            [Holder::First, Holder::Second].map(|holder| settings.panel.named(holder).name());
        let activity = format!("asking {} whether they answer", names.join(" and "));
        self.front_end.works(Some(&activity));
        let health = probe(self, settings, occasion);
        self.front_end.works(None);
        health
    }

    /// Asks agents in parallel, and tells how each lane begins and ends. A lane without an end was
    /// stopped together with Convoke.
    pub(super) fn lanes(
        &mut self,
        settings: &Settings,
        requests: &[LaneNeed],
        tell: &mut OnLaneNews<'_, 'a>,
    ) -> Result<(), Failure> {
        self.say_cost();
        self.begin_watch()?;
        // Agents' activity is not part of a design's output.
        let observer = QuietObserver::new(self.session.observer.clone());
        let quiet = self.session.clone().observed_by(Arc::new(observer));
        let (run, lasting) = (self.run.clone(), Arc::clone(&self.lasting));
        let order = LaneOrder {
            session: &quiet,
            settings,
            run: &run,
            budget: self.budget,
            limits: lane_limits(self.limit),
            rules: self.rules,
            park: self.park,
            span: phase_span(requests),
            lasting: &lasting,
        };
        let waiting = requests.iter().map(|request| QueuedLane {
            agent: settings.chosen(request.holder).agent.as_str(),
            expected: Duration::from_secs(request.holder.slowness()),
            work: Box::new(|_: &_, hear: &mut dyn FnMut(&_)| order.run(request, hear)),
        });
        let mut failed = None;
        let mut limited = Vec::new();
        many::run(waiting.collect(), ROOM, &self.session.cancel(), &mut |number, news| {
            let id = requests[number].id.clone();
            show_lane(self.front_end, &requests[number], settings, &news);
            let agent = settings.chosen(requests[number].holder).agent.as_str();
            if let Some(remedy) = lasting.take_remedy(agent).filter(|_| !self.is_worker) {
                self.front_end.note(&format!("hint: {remedy}"));
            }
            let told = match news {
                QueueEvent::Started => tell(self, LaneNews::Started(id)),
                QueueEvent::Ended(Ok(LaneResult::Ended(end)))
                    if end.status == CollectedStatus::BudgetSpent =>
                {
                    tell(self, LaneNews::OverBudget(budget_stop(end)))
                }
                QueueEvent::Ended(Ok(LaneResult::Ended(end))) => {
                    self.lane_ended(settings, &requests[number], end, tell)
                }
                QueueEvent::Ended(Ok(LaneResult::Limited(until, end))) => {
                    limited.push((number, *until, end.clone()));
                    Ok(())
                }
                QueueEvent::Ended(Ok(LaneResult::Stopped)) | QueueEvent::Said(_) => Ok(()),
                QueueEvent::Ended(Err(error)) => {
                    let end = not_run(settings, &requests[number], &error.error.to_string());
                    tell(self, LaneNews::Ended(id, Box::new(end)))
                }
            };
            match told {
                Ok(()) => EnoughAnswers::No,
                Err(failure) => {
                    failed.get_or_insert(failure);
                    EnoughAnswers::Yes
                }
            }
        });
        failed.map_or(Ok(()), Err)?;
        self.lanes_limited(settings, requests, &limited, tell)
    }

    /// Says what the design will probably cost, and whether that is known.
    fn say_cost(&mut self) {
        if let Some(forecast) = self.forecast.take() {
            self.front_end.note(&forecast);
        }
        if let Some(warning) = self.usage_warning() {
            self.front_end.warn(&warning);
        }
    }

    /// Asks a person; returns nothing if there is no answer.
    pub(super) fn ask(&mut self, question: &PersonQuestion) -> Option<Reply> {
        let held = self.session.interruption.hold();
        let reply = self.person.ask(question, self.front_end);
        if reply.is_none() {
            self.is_unanswered = !self.session.is_stopped();
            self.stopping = Some(held);
        }
        reply
    }

    /// Compares the working tree with what it was.
    pub(super) fn tree(&self) -> Tree {
        // Agents' changes, as after any lane; a commit, a hook or a branch leaves no uncommitted
        // change.
        let watched =
            self.watch.as_ref().and_then(|watch| watch.end(&self.look(&self.session.reporter())));
        let suspicion = watched.as_ref().and_then(TreeVerdict::suspicion);
        if let Some((status, evidence)) = suspicion {
            // The warning appears now, and not again when the run is resumed.
            self.forget_tree();
            return Tree::Suspect { status, evidence };
        }
        if let Some(before) = self.ready.as_ref().and_then(|ready| ready.tree_before.as_ref()) {
            return self.compared_with(before);
        }
        let request = TreeRequest { mode: TreeMode::Checkpoint, baseline: None, sidecar: None };
        let note = check(&self.session.project, &request);
        match note.status {
            TreeStatus::Clean => Tree::Clean,
            TreeStatus::Dirty | TreeStatus::Unknown => Tree::Suspect {
                status: note.status,
                evidence: TreeEvidence::of_reason(note.reason),
            },
        }
    }

    /// Looks up what reviewers cite, and returns what does not exist.
    pub(super) fn missing_citations(
        &self,
        settings: &Settings,
        cited: &[Citation],
    ) -> Vec<(Citation, Missing)> {
        citations::missing(&self.session.project, &self.cited_folders(settings), cited)
    }

    /// Looks up what agents cite.
    pub(super) fn cited_places(
        &self,
        settings: &Settings,
        cited: &[CitedPassage],
    ) -> Vec<(CitedPassage, PlaceFinding)> {
        citations::look_up(&self.session.project, &self.cited_folders(settings), cited)
    }

    /// Returns the folders that a cited path may begin in, beside the project's.
    fn cited_folders(&self, settings: &Settings) -> Vec<PathBuf> {
        let of_feature = settings.feature_dir.iter().map(PathBuf::from);
        let of_documents = settings
            .documents
            .iter()
            .filter_map(|document| Some(self.session.project.join(document).parent()?.to_owned()));
        of_feature.chain(of_documents).collect()
    }

    /// Asks a person what to do about a working tree that was changed; returns nothing if there is no
    /// person to ask.
    pub(super) fn recover(&mut self, boundary: Boundary) -> Result<Option<Recovery>, Failure> {
        // The user may have restored the tree before resuming.
        if self.tree() == Tree::Clean {
            return Ok(Some(Recovery::Restored));
        }
        let question = question::recovery(boundary);
        // Convoke asks a person once; after that, it checks the tree.
        let guard = boundary.guard();
        let was_asked = self.folder.join(&guard).exists();
        if was_asked || !self.front_end.has_person() && !self.person.has_written(&question) {
            return Ok(None);
        }
        keep_file(&self.folder, &guard, "")?;
        Ok(match self.ask(&question) {
            Some(Reply::Words(words)) if words == question.options[0] => {
                // The person has confirmed the tree.
                self.watch = None;
                Some(Recovery::Restored)
            }
            Some(_) => Some(Recovery::Cancelled),
            None => {
                // No person answered, so Convoke asks again when the run is resumed.
                fs::remove_file(self.folder.join(&guard)).ok();
                None
            }
        })
    }

    /// Exports the design to the workflow that requested it.
    pub(super) fn export(&self, settings: &Settings, progress: &DesignOutline) -> Export {
        if let Some(caller) = &self.caller {
            return caller.export(self.session, settings, &self.folder, progress);
        }
        let folder = self.folder.display().to_string();
        Export::Failed { folder, why: ExportFailure::NoCaller }
    }

    /// Has another process do the heavy part, and returns the result that Convoke believes; nothing if
    /// Convoke was stopped meanwhile.
    pub(super) fn work(&mut self, panel: &Panel) -> Result<Option<WorkerResult>, Failure> {
        // A change by the worker's agents at the end is reported here, with the exit code.
        self.begin_watch()?;
        self.front_end.works(Some("another process makes and reviews the plan"));
        let worked = worker::started(self, panel);
        self.front_end.worker_lanes(Vec::new());
        self.front_end.works(None);
        worked
    }

    /// Shows a notice.
    pub(super) fn show(&mut self, settings: &Settings, notice: &Notice) -> Result<(), Failure> {
        if self.is_worker {
            return Ok(());
        }
        if let Some(caller) = &self.caller {
            caller.mark(self.session, notice);
        }
        self.front_end.show(notice, &render::line(notice, settings))
    }

    /// Keeps artifacts in the run's folder, by file name.
    pub(super) fn keep(&mut self, files: &BTreeMap<String, Arc<str>>) -> Result<(), Failure> {
        if !files.contains_key(TREE_NOTE) {
            // A restored tree needs no attention any more.
            fs::remove_file(self.folder.join(TREE_NOTE)).ok();
            self.kept.remove(TREE_NOTE);
        }
        for (name, text) in files {
            if self.kept.get(name) != Some(text) {
                // Only the process that began the run writes outside of its folder.
                let caller = self.caller.as_ref().filter(|_| !self.is_worker);
                let is_theirs = caller.map(|caller| caller.keep(name, text)).transpose();
                let hint = format!("restore it, then run `convoke resume {}`", self.run);
                let is_theirs = is_theirs.map_err(|failure| failure.hint(hint))?;
                if is_theirs != Some(true) {
                    keep_file(&self.folder, name, text)?;
                }
                self.kept.insert(name.clone(), Arc::clone(text));
            }
        }
        Ok(())
    }
}

/// A person who begins a run with questions has to answer them.
pub(super) fn unanswered(run: &RunId) -> Failure {
    Failure::new(ErrorClass::Usage, DesignError::NoTerminal)
        .hint(format!("answer from a file: `convoke resume {run} --answers FILE`"))
        .hint(format!("or accept the recommendations: `convoke resume {run} --answer-limit 1`"))
        .hint("or start another run that never prompts: `convoke design --auto`")
}

/// A person who stops Convoke at a question before or after the run can resume it.
pub(super) fn stopped(run: &RunId) -> Failure {
    let failure = Failure::new(ErrorClass::Interrupted, DesignError::Stopped);
    failure.hint(format!("convoke resume {run}"))
}

pub(super) fn keep_file(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    fs::write(&path, text).map_err(|source| {
        Failure::new(ErrorClass::Prerequisite, DesignError::Folder { path: path.clone(), source })
    })
}

/// Returns the budget that a lane was not started under. The journal holds it as a fact.
fn budget_stop(end: &LaneEnd) -> BudgetStop {
    match &end.reason {
        Some(Unanswered::OverBudget { stop: Some(stop) }) => stop.clone(),
        _ => BudgetStop::Unstated,
    }
}
