//! The world that a design happens in: this machine, its agents, its git, and the person at it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use convoke_domain::design::citation::{Citation, Missing};
use convoke_domain::design::design_file::DesignFile;
use convoke_domain::design::event::{
    Boundary, Export, Health, Occasion, Recovery, Reply, Settings, Tree,
};
use convoke_domain::design::heavy::Worked;
use convoke_domain::design::notice::Notice;
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::render;
use convoke_domain::design::seat::Holder;
use convoke_domain::design::setup::SetUp;
use convoke_domain::design::setup::ground::DirtyTree;
use convoke_domain::design::walk::{LaneNeed, PersonQuestion};
use convoke_domain::lane::cap::Cap;
use convoke_domain::lane::collected::CollectedStatus;
use convoke_domain::lane::queue::LaneLimits;
use convoke_domain::run::RunId;
use convoke_domain::tree::sidecar::{TreeMode, TreeRequest};
use convoke_domain::tree::{TreeStatus, TreeVerdict};
use convoke_engine::design::citations;
use convoke_engine::design::run::{DesignWorld, LaneNews, OnLaneNews};
use convoke_engine::design::setup::{self, UnrelatedBranch};
use convoke_engine::git::sidecar::check;
use convoke_engine::lane::many::{self, EnoughAnswers, QueueEvent, QueuedLane};
use jiff::Timestamp;

use super::front_end::{DesignFrontEnd, show_lane};
use super::lane::{Order, not_run, phase_span};
use super::nested::Caller;
use super::person::Person;
use super::probe::probe;
use super::{DesignError, cost, lane_limits, question, worker};
use crate::failure::{ErrorClass, Failure};
use crate::interruption::ExitHold;
use crate::lane::{PinnedRules, TreeWatch};
use crate::observer::QuietObserver;
use crate::session::Session;
use crate::workspace::Workspace;

/// How many lanes run at the same time.
const ROOM: LaneLimits = LaneLimits { in_all: 12, of_agent: 10 };

/// The file that tells a person to check the tree.
const TREE_NOTE: &str = DesignFile::SuspectTree.name();

/// How long a remote may take.
const FETCH_LIMIT: Duration = Duration::from_secs(30);

/// The options of the command line about the beginning.
#[derive(Debug, Clone, Default)]
pub(super) struct Beginning {
    pub(super) branch_info: Option<String>,
    pub(super) no_branch: bool,
    pub(super) no_probe: bool,
}

/// The surroundings of one run: its effects on files, agents and people.
pub(super) struct Stage<'a> {
    pub(super) session: &'a Session,
    /// The calling workflow, if there is one.
    pub(super) caller: Option<Caller>,
    pub(super) run: RunId,
    pub(super) folder: PathBuf,
    pub(super) beginning: Beginning,
    pub(super) budget: Option<Cap>,
    pub(super) limit: Duration,
    /// Whether the user's rules go before the prompts.
    pub(super) rules: PinnedRules,
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
    /// Whether the warning about lanes without reported usage was shown.
    pub(super) is_blind: bool,
    /// The working tree as it was when agents began to work.
    pub(super) watch: Option<TreeWatch>,
    /// A digest of the working tree as the run began, if that was on uncommitted changes.
    pub(super) tree_before: Option<String>,
}

impl Stage<'_> {
    fn set_up_with(&self, settings: &Settings, doubt: UnrelatedBranch) -> Result<SetUp, Failure> {
        let request = setup::SetUpRequest {
            folder: &self.session.project,
            feature: &settings.feature,
            branch_info: self.beginning.branch_info.as_deref(),
            branch_rule: settings.branch_rule,
            dirty_tree: settings.dirty_tree,
            no_branch: self.beginning.no_branch,
            doubt,
            strict_fetch: false,
            fetch_limit: FETCH_LIMIT,
        };
        setup::set_up(&request).map_err(|error| {
            let hint = error.hint();
            Failure::new(ErrorClass::Prerequisite, error).hint(hint)
        })
    }
}

impl Stage<'_> {
    /// Finds the run's starting point, and asks a person if it is doubtful.
    fn find_ground(&mut self, settings: &Settings) -> Result<SetUp, Failure> {
        let doubt = if settings.auto { UnrelatedBranch::Create } else { UnrelatedBranch::Ask };
        self.front_end.works(Some("preparing the branch"));
        let found = self.set_up_with(settings, doubt);
        self.front_end.works(None);
        let found = found?;
        let SetUp::Undecided { branch } = &found else { return Ok(found) };
        let question = question::branch(branch);
        let keeps = match self.ask(&question)? {
            Some(Reply::Words(words)) => words == question.options[1],
            Some(Reply::Recommended) => false,
            None if self.session.is_stopped() => return Err(stopped(&self.run)),
            None => return Err(unanswered(&self.run)),
        };
        self.set_up_with(
            settings,
            if keeps { UnrelatedBranch::Keep } else { UnrelatedBranch::Create },
        )
    }

    /// Returns once the warning that the budget does not include some lanes.
    fn blindness(&mut self) -> Option<String> {
        let cap = self.budget.filter(|_| !self.is_blind && !self.is_worker)?;
        let workspace = Workspace::open(self.session, None).ok()?;
        let blindness = cost::blindness(&workspace, &self.run, cap)?;
        self.is_blind = true;
        Some(blindness)
    }
}

impl DesignWorld for Stage<'_> {
    type Error = Failure;

    fn set_up(&mut self, settings: &Settings) -> Result<SetUp, Failure> {
        let mut set_up = self.find_ground(settings)?;
        if let SetUp::Ready(ready) = &mut set_up
            && settings.dirty_tree == DirtyTree::Allowed
        {
            ready.tree_before = Some(self.tree_digest()?);
            self.tree_before.clone_from(&ready.tree_before);
        }
        Ok(set_up)
    }

    fn probe(&mut self, settings: &Settings, occasion: Occasion) -> Result<Health, Failure> {
        let names =
            [Holder::First, Holder::Second].map(|holder| settings.panel.named(holder).name());
        let activity = format!("asking {} whether they answer", names.join(" and "));
        self.front_end.works(Some(&activity));
        let health = probe(self, settings, occasion);
        self.front_end.works(None);
        health
    }

    fn lanes(
        &mut self,
        settings: &Settings,
        requests: &[LaneNeed],
        tell: &mut OnLaneNews<'_, Self, Failure>,
    ) -> Result<(), Failure> {
        if let Some(forecast) = self.forecast.take() {
            self.front_end.note(&forecast);
        }
        if let Some(blindness) = self.blindness() {
            self.front_end.say(&blindness);
        }
        self.begin_watch()?;
        // Agents' activity is not part of a design's output.
        let observer = QuietObserver::new(self.session.observer.clone());
        let quiet = self.session.clone().observed_by(Arc::new(observer));
        let run = self.run.clone();
        let order = Order {
            session: &quiet,
            settings,
            run: &run,
            budget: self.budget,
            limits: lane_limits(self.limit),
            rules: self.rules,
            span: phase_span(requests),
        };
        let waiting = requests.iter().map(|request| QueuedLane {
            agent: settings.chosen(request.holder).agent.as_str(),
            expected: Duration::from_secs(request.holder.slowness()),
            work: Box::new(|_: &_, hear: &mut dyn FnMut(&_)| order.run(request, hear)),
        });
        let mut failed = None;
        many::run(waiting.collect(), ROOM, &self.session.cancel(), &mut |number, news| {
            let id = requests[number].id.clone();
            show_lane(self.front_end, &requests[number], settings, &news);
            let told = match news {
                QueueEvent::Started => tell(self, LaneNews::Started(id)),
                QueueEvent::Ended(Ok(Some(end))) if end.status == CollectedStatus::CapHit => {
                    tell(self, LaneNews::OverBudget(end.reason.clone()))
                }
                QueueEvent::Ended(Ok(Some(end))) => {
                    if let Some(caller) = &self.caller {
                        caller.lane(self.session, &settings.panel, &requests[number], end);
                    }
                    tell(self, LaneNews::Ended(id, Box::new(end.clone())))
                }
                QueueEvent::Ended(Ok(None)) | QueueEvent::Said(_) => Ok(()),
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
        failed.map_or(Ok(()), Err)
    }

    fn ask(&mut self, question: &PersonQuestion) -> Result<Option<Reply>, Failure> {
        let held = self.session.interruption.hold();
        let reply = self.person.ask(question, self.front_end);
        if reply.is_none() {
            self.is_unanswered = !self.session.is_stopped();
            self.stopping = Some(held);
        }
        Ok(reply)
    }

    fn tree(&mut self, _: Boundary) -> Result<Tree, Failure> {
        // Agents' changes, as after any lane; a commit, a hook or a branch leaves no uncommitted
        // change.
        let watched =
            self.watch.as_ref().and_then(|watch| watch.end(&self.look(&self.session.reporter())));
        let suspicion = watched.as_ref().and_then(TreeVerdict::suspicion);
        if let Some((status, detail)) = suspicion {
            // The warning appears now, and not again when the run is resumed.
            self.forget_tree();
            return Ok(Tree::Suspect { status: status.name().to_owned(), detail });
        }
        if let Some(before) = &self.tree_before {
            return Ok(self.compared_with(before));
        }
        let request = TreeRequest { mode: TreeMode::Checkpoint, baseline: None, sidecar: None };
        let note = check(&self.session.project, &request);
        Ok(match note.status {
            TreeStatus::Clean => Tree::Clean,
            TreeStatus::Dirty | TreeStatus::Unknown => Tree::Suspect {
                status: note.status.name().to_owned(),
                detail: note.reason.map_or_else(String::new, |reason| reason.name().to_owned()),
            },
        })
    }

    fn citations(
        &mut self,
        settings: &Settings,
        cited: &[Citation],
    ) -> Result<Vec<(Citation, Missing)>, Failure> {
        let of_feature = settings.feature_dir.iter().map(PathBuf::from);
        let of_documents = settings
            .documents
            .iter()
            .filter_map(|document| Some(self.session.project.join(document).parent()?.to_owned()));
        let folders: Vec<_> = of_feature.chain(of_documents).collect();
        Ok(citations::missing(&self.session.project, &folders, cited))
    }

    fn recover(&mut self, boundary: Boundary, _: &str) -> Result<Option<Recovery>, Failure> {
        // The user may have restored the tree before resuming.
        if self.tree(boundary)? == Tree::Clean {
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
        Ok(match self.ask(&question)? {
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

    fn export(&mut self, settings: &Settings, progress: &DesignOutline) -> Result<Export, Failure> {
        if let Some(caller) = &self.caller {
            return Ok(caller.export(self.session, settings, &self.folder, progress));
        }
        let folder = self.folder.display().to_string();
        Ok(Export::Failed { folder, why: "no calling workflow asked for the files".to_owned() })
    }

    fn work(&mut self) -> Result<Option<Worked>, Failure> {
        // A change by the worker's agents at the end is reported here, with the exit code.
        self.begin_watch()?;
        self.front_end.works(Some("another process makes and reviews the plan"));
        let worked = worker::started(self);
        self.front_end.works(None);
        worked
    }

    fn folder(&self) -> String {
        self.folder.display().to_string()
    }

    fn show(&mut self, settings: &Settings, notice: &Notice) -> Result<(), Failure> {
        if self.is_worker {
            return Ok(());
        }
        if let Some(caller) = &self.caller {
            caller.mark(self.session, notice);
        }
        self.front_end.show(notice, &render::line(notice, settings))
    }

    fn keep(&mut self, files: &BTreeMap<String, Arc<str>>) -> Result<(), Failure> {
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

    fn now(&self) -> Timestamp {
        self.session.now()
    }
}

/// A person who begins a run with questions has to answer them.
pub(super) fn unanswered(run: &RunId) -> Failure {
    Failure::new(ErrorClass::Usage, DesignError::NobodyToAsk)
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
