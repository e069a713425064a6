//! How a design begins.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::design::citation::CitationRule;
use convoke_domain::design::event::{Chosen, Event, Settings};
use convoke_domain::design::policy::Policy;
use convoke_domain::design::progress::Prefix;
use convoke_domain::design::reading_order::JudgeOrders;
use convoke_domain::design::rules::RulesVersion;
use convoke_domain::design::settled::PollRule;
use convoke_domain::design::setup::ground::{BranchRule, DirtyTree};
use convoke_domain::repository_pack::PackLayout;
use convoke_domain::run::RunId;
use convoke_engine::chance::random_number;
use convoke_engine::client::adapter;
use convoke_store::error::StoreError;

use super::course::CourseRequest;
use super::ending::EndedDesign;
use super::front_end::DesignFrontEnd;
use super::held_run::HeldRun;
use super::hold::{RunHold, hold_run};
use super::host::check_host;
use super::rehearsal::Rehearsal;
use super::seats::Seats;
use super::set_up::check_repository;
use super::{DesignError, MAX_FEATURE};
use crate::brief::brief_block;
use crate::failure::{ErrorClass, Failure};
use crate::repository_pack::{DesignPacks, design_packs};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// A request for a design: the feature, the agents, and the rules.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct DesignRequest {
    /// The feature, in a sentence or a few; a rehearsal has one of its own.
    pub feature: String,
    /// Whether Convoke never prompts and accepts the recommended answers.
    pub auto: bool,
    /// Whether there are two sketches without personalities instead of four.
    pub quick: bool,
    /// Whether a process of its own does the heavy part.
    pub subagent: bool,
    /// How many voters and judges Convoke asks.
    pub poll_rule: PollRule,
    /// In how many orders judges read their ballot.
    pub judge_orders: JudgeOrders,
    /// The calling workflow's session file; an empty path means that there is no such workflow.
    pub session_env: Option<OsString>,
    /// The text before step numbers and names.
    pub step_prefix: Option<String>,
    /// The branch facts of the calling workflow.
    pub branch_info: Option<String>,
    /// Whether the original's gate lets the run stay on the branch that is checked out.
    pub no_branch: bool,
    /// Whether the run makes a branch of its own.
    pub new_branch: bool,
    /// Whether the run begins on uncommitted changes.
    pub dirty_tree: DirtyTree,
    /// The participants, as `FIRST,SECOND,HOST`, instead of the installed clients.
    pub seats: Option<String>,
    /// The rule set for reading answers and counting votes.
    pub policy: Policy,
    /// Whether agents that sketch receive the design folder's documents.
    pub brief: bool,
    /// The feature's folder.
    pub feature_dir: Option<PathBuf>,
    /// Whether the design is a rehearsal, and of what.
    pub rehearsal: Option<RehearsalSource>,
    /// The run's id, where another process waits for the run under that name.
    pub run_id: Option<RunId>,
    /// The settings of the run.
    pub course: CourseRequest,
}

/// The project and the recorded answers of a rehearsal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RehearsalSource {
    /// The example that is shipped with Convoke.
    Example,
    /// A folder of the same form.
    Folder(PathBuf),
}

/// Whether agents work in a run, or recordings answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    Given,
    Recorded,
}

/// Begins a design, and runs it.
pub fn design(
    session: &Session,
    request: &DesignRequest,
    front_end: &mut dyn DesignFrontEnd,
) -> Result<EndedDesign, Failure> {
    request.check()?;
    if let Some(source) = &request.rehearsal {
        return rehearse(session, request, source, front_end);
    }
    let feature = request.feature.trim();
    if feature.is_empty() {
        let failure = Failure::new(ErrorClass::Usage, DesignError::NoFeature);
        return Err(failure.hint("convoke design \"Keep drafts when the connection is lost\""));
    }
    let feature = short_enough(feature.to_owned())?;
    let seats = match &request.seats {
        Some(words) => {
            let seats = Seats::parse(words)?;
            seats.check_configured(session)?;
            seats
        }
        None => Seats::found(session).ok_or_else(no_agent)?,
    };
    check_host(session, request, &seats, front_end)?;
    let settings = request.settings(session, seats, feature, Answers::Given)?;
    let workspace = Workspace::open(session, None)?;
    begin(&workspace, session, settings, request, &request.course, front_end)
}

/// Plays a design with recorded answers, in a temporary copy of a project. Its record belongs to
/// the project in which the user started it.
fn rehearse(
    session: &Session,
    request: &DesignRequest,
    source: &RehearsalSource,
    front_end: &mut dyn DesignFrontEnd,
) -> Result<EndedDesign, Failure> {
    if !request.feature.is_empty() {
        session.reporter().remark("a rehearsal plans its own example feature and ignores yours");
    }
    let rehearsal = Rehearsal::prepare(match source {
        RehearsalSource::Example => None,
        RehearsalSource::Folder(folder) => Some(folder),
    })?;
    let inside = session.in_project(rehearsal.project());
    let (seats, feature) = (rehearsal.seats()?, short_enough(rehearsal.feature())?);
    let settings = request.settings(&inside, seats, feature, Answers::Recorded)?;
    let recorded = Some(rehearsal.replies());
    let course = CourseRequest { recorded, ..request.course.clone() };
    begin(&Workspace::open(session, None)?, &inside, settings, request, &course, front_end)
}

impl DesignRequest {
    /// Checks folders and files that the request names, before the run begins.
    pub fn check(&self) -> Result<(), Failure> {
        if let Some(folder) = &self.feature_dir
            && !folder.is_dir()
        {
            let (path, source) = (folder.clone(), ErrorKind::NotADirectory.into());
            return Err(Failure::new(ErrorClass::Usage, DesignError::Folder { path, source }));
        }
        self.course.check()?;
        self.check_ground()?;
        self.calling_session().map_or(Ok(()), |env| has_folder(Path::new(env)))
    }

    /// Refuses what only a design under Convoke's own rules can do.
    fn check_ground(&self) -> Result<(), Failure> {
        if self.policy == Policy::Seed && self.poll_rule == PollRule::UntilSettled {
            return Err(Failure::new(ErrorClass::Usage, DesignError::AdaptiveSeed));
        }
        if self.policy == Policy::Seed && self.judge_orders == JudgeOrders::Both {
            return Err(Failure::new(ErrorClass::Usage, DesignError::BothOrdersSeed));
        }
        let option = if self.dirty_tree == DirtyTree::Allowed {
            "--allow-dirty"
        } else if self.new_branch {
            "--branch"
        } else {
            return Ok(());
        };
        if self.branch_rule() == BranchRule::Seed {
            let error = DesignError::SeedGround { option };
            return Err(Failure::new(ErrorClass::Usage, error));
        }
        Ok(())
    }

    /// A workflow that calls brings its own branch along, and the original's gate judges it.
    fn branch_rule(&self) -> BranchRule {
        let is_called = self.branch_info.is_some() || self.calling_session().is_some();
        if self.policy == Policy::Seed || is_called {
            BranchRule::Seed
        } else if self.new_branch {
            BranchRule::New
        } else {
            BranchRule::Stay
        }
    }

    /// Returns the session file of the calling workflow, if there is one.
    pub(super) fn calling_session(&self) -> Option<&OsString> {
        self.session_env.as_ref().filter(|path| !path.is_empty())
    }

    fn settings(
        &self,
        session: &Session,
        seats: Seats,
        feature: String,
        answers: Answers,
    ) -> Result<Settings, Failure> {
        let DesignPacks { texts, pointers } =
            self.repository_packs(session, &seats, &feature, answers)?;
        Ok(Settings {
            auto: self.auto,
            quick: self.quick,
            subagent: self.subagent,
            poll_rule: self.poll_rule,
            judge_orders: self.judge_orders,
            nested: self.calling_session().is_some(),
            session_env: self.calling_session().map(absolute),
            prefix: self.step_prefix.as_deref().map(Prefix::parse).unwrap_or_default(),
            pack: texts,
            pointers,
            citation_rule: match self.policy {
                Policy::Safe => CitationRule::EveryForm,
                Policy::Seed => CitationRule::Findings,
            },
            panel: seats.panel,
            agents: seats.agents,
            policy: self.policy,
            rules: RulesVersion::PRESENT,
            brief: if self.brief { brief_block(session)? } else { None },
            documents: self.feature_dir.as_deref().map(documents).unwrap_or_default(),
            is_rehearsal: answers == Answers::Recorded,
            no_branch: self.no_branch,
            branch_rule: self.branch_rule(),
            dirty_tree: self.dirty_tree,
            branch_info: self.branch_info.clone(),
            feature_dir: self.feature_dir.as_deref().map(absolute),
            budget: self.course.budget.clone(),
            feature,
        })
    }

    /// Packs the repository in the layouts that agents of the panel can use. The original gave none, and
    /// recorded answers need none.
    fn repository_packs(
        &self,
        session: &Session,
        seats: &Seats,
        feature: &str,
        answers: Answers,
    ) -> Result<DesignPacks, Failure> {
        if self.policy == Policy::Seed || answers == Answers::Recorded {
            return Ok(DesignPacks::default());
        }
        let mut layouts = Vec::new();
        if !seats.agents.iter().all(Chosen::has_tools) {
            layouts.push(PackLayout::Texts);
        }
        if seats.agents.iter().any(Chosen::explores) {
            layouts.push(PackLayout::Pointers);
        }
        let documents = self.feature_dir.as_deref().map(documents).unwrap_or_default();
        let named = documents.iter().filter_map(|path| below(&session.project, path));
        let wanted = [feature.to_owned()].into_iter().chain(named).collect::<Vec<_>>();
        design_packs(session, &wanted.join("\n\n"), &layouts)
    }
}

/// Begins a run, and completes it.
fn begin(
    workspace: &Workspace,
    session: &Session,
    settings: Settings,
    request: &DesignRequest,
    course: &CourseRequest,
    front_end: &mut dyn DesignFrontEnd,
) -> Result<EndedDesign, Failure> {
    check_repository(session, &settings)?;
    let mark = if settings.is_rehearsal { "(rehearsal) " } else { "" };
    let title = format!("{mark}{}", settings.feature.lines().next().unwrap_or_default());
    let named = request.run_id.as_ref();
    let (id, hold) = begin_new_run(workspace, session, named, random_number, &title)?;
    let mut opened = HeldRun::open(session, workspace, &id, hold)?;
    opened.append(session, Event::Begun(Box::new(settings)))?;
    course.go(session, workspace, &id, opened, front_end)
}

/// Records a run under its id, or else under one that no other run has, on any machine.
fn begin_new_run(
    workspace: &Workspace,
    session: &Session,
    named: Option<&RunId>,
    mut random: impl FnMut() -> u64,
    title: &str,
) -> Result<(RunId, RunHold), Failure> {
    let Workspace { store, scope } = workspace;
    if let Some(named) = named.filter(|named| named.is_fan()) {
        let error = DesignError::FanId { run: named.clone() };
        return Err(Failure::new(ErrorClass::Usage, error));
    }
    loop {
        let now = session.now();
        let id = named.cloned().unwrap_or_else(|| RunId::new(now, random()));
        // A refused request creates no run.
        let hold = hold_run(session, store, &id)?;
        match store.begin_run(&id, scope, title, now) {
            Ok(()) => return Ok((id, hold)),
            Err(StoreError::RunExists { .. }) if named.is_none() => {}
            Err(error) => return Err(refused(error)),
        }
    }
}

/// The session file may be missing, but its folder must exist: the design's files go there.
fn has_folder(env: &Path) -> Result<(), Failure> {
    let env = std::path::absolute(env).unwrap_or_else(|_| env.to_owned());
    let folder = env.parent().unwrap_or(&env);
    if folder.is_dir() {
        return Ok(());
    }
    let path = folder.to_owned();
    let failure = Failure::new(ErrorClass::Usage, DesignError::NoParent { path });
    Err(failure.hint("create it, or leave out `--session-env`"))
}

fn short_enough(feature: String) -> Result<String, Failure> {
    let length = feature.len();
    if length <= MAX_FEATURE {
        return Ok(feature);
    }
    let failure = Failure::new(ErrorClass::Usage, DesignError::LongFeature { length });
    Err(failure.hint("describe it in a sentence, and put the rest in a document: `--feature DIR`"))
}

fn no_agent() -> Failure {
    let looked_for = Client::ALL.map(|client| adapter(client).programs).concat().join(", ");
    Failure::new(ErrorClass::Prerequisite, DesignError::NoClient { looked_for })
        .hint("install one of them and log in")
        .hint("or use configured model APIs: `--seats http:a,http:b,http:c`")
        .hint("or try it with recorded answers: `convoke design --rehearse`")
}

fn absolute(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// Lists a feature's documents, by path.
fn documents(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "md") && path.is_file());
    paths.sort();
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// Returns a document's path below the project, if it is there.
fn below(project: &Path, document: &str) -> Option<String> {
    let (path, project) = (std::path::absolute(document).ok()?, std::path::absolute(project).ok()?);
    Some(path.strip_prefix(project).ok()?.display().to_string())
}
