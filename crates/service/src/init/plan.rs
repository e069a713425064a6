//! Plans a setup, file by file. This module changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_domain::client::Client;
use convoke_domain::scope::AgentName;
use convoke_domain::setup::guidance::LINE;
use convoke_engine::client::adapter;
use convoke_engine::git::tracked::{GitTracking, exclude_file, tracking};
use convoke_engine::hooks::{HooksLevel, count};

use super::configuration::{Configuration, configuration};
use super::findings::InitFindings;
use super::guidance::{Guidance, guidance_file, look, refusal};
use super::{InitReport, InitRequest, InitState, InitStep, InitStepKind, StepState};
use crate::failure::{ErrorClass, Failure, with_causes};
use crate::hooks::{
    DryRun, HooksTarget, InstallHooksRequest, codex_trust_steps, install_hooks, plugin,
};
use crate::next_command::{ProjectState, next_commands};
use crate::observer::Unobserved;
use crate::session::Session;
use crate::settings::{LOCAL_FILE, PROJECT_FILE, wake};
use crate::settings_file::read;
use crate::task::{TaskDesk, TaskPlace, task_progress};

/// How many hook entries share a long wake-up.
const ENTRIES: u8 = 4;

/// A setup that was planned and not carried out yet.
#[derive(Debug, Clone)]
pub struct InitPlan {
    /// The plan's report.
    pub report: InitReport,
    /// The work for each step of the report.
    pub(super) works: Vec<Work>,
}

/// The work of a step.
#[derive(Debug, Clone)]
pub(super) enum Work {
    /// The step only says something.
    Nothing,
    /// The agent that sessions belong to, as this client's hooks need it.
    Bind(Client, AgentName),
    /// Entries in a client's settings.
    Hooks(InstallHooksRequest),
    /// The line for agents, in the file with this name.
    Guidance(&'static str),
    /// A configuration file with this text.
    Configuration(String),
}

/// A user's own folder is no project.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up `{}`: it is your home folder, not a project", .0.display())]
struct HomeFolder(PathBuf);

/// Checks a project, and plans the changes of a setup.
pub fn plan_init(session: &Session, request: &InitRequest) -> Result<InitPlan, Failure> {
    refuse_home(session)?;
    let quiet = session.clone().observed_by(Arc::new(Unobserved));
    let found = InitFindings::look(&quiet)?;
    let clients = found.hookable();
    let hooks: Vec<_> = clients.iter().map(|client| hooks_step(&quiet, request, *client)).collect();
    let blocked = hooks.iter().filter(|plan| plan.is_blocked()).map(|plan| plan.client);
    let blocked: Vec<_> = blocked.collect();
    let mut steps: Vec<_> = agent_step(&quiet, request, &hooks).into_iter().collect();
    steps.extend(hooks.into_iter().map(|plan| plan.planned));
    if !request.leaves_out_guidance && (!clients.is_empty() || !found.guidance.is_empty()) {
        steps.push(guidance_step(session));
    }
    steps.extend(configuration_step(session));
    let (steps, works): (Vec<_>, Vec<_>) = steps.into_iter().unzip();
    let is_planned = steps.iter().any(|step| step.state == StepState::Planned);
    let state = if is_planned { InitState::Planned } else { InitState::Nothing };
    let next = next_commands(&project_state(&quiet, &found, &blocked)?);
    Ok(InitPlan { report: InitReport { state, found, steps, next }, works })
}

fn refuse_home(session: &Session) -> Result<(), Failure> {
    let real = |path: &Path| path.canonicalize().ok();
    let home = session.environment.home();
    if home.is_some_and(|home| real(&home).is_some() && real(&home) == real(&session.project)) {
        return Err(Failure::new(ErrorClass::Usage, HomeFolder(session.project.clone()))
            .hint("go to a project, or name one: `convoke -C DIR init`"));
    }
    Ok(())
}

/// Returns what the next commands depend on, as it is once the project is set up.
fn project_state(
    session: &Session,
    found: &InitFindings,
    blocked: &[Client],
) -> Result<ProjectState, Failure> {
    let progress = TaskDesk::open_to_read(session, &TaskPlace::default(), task_progress)?;
    let clients = found.clients.iter().filter_map(|found| Client::parse(&found.client));
    Ok(ProjectState {
        current: progress.current,
        plan: found.plans.first().map(|plan| (plan.path.clone(), plan.tasks)),
        clients: clients.filter_map(|client| adapter(client).programs.first().copied()).collect(),
        without_hooks: blocked.iter().map(|client| client.name()).collect(),
        ..ProjectState::default()
    })
}

type Planned = (InitStep, Work);

/// The needs of a client's hooks.
struct HooksPlan {
    client: Client,
    planned: Planned,
}

impl HooksPlan {
    /// Tells whether the user must correct something before the hooks can be added.
    fn is_blocked(&self) -> bool {
        self.planned.0.state == StepState::Blocked
    }
}

fn hooks_step(session: &Session, request: &InitRequest, client: Client) -> HooksPlan {
    let target = HooksTarget { client, level: HooksLevel::Project };
    let path = target.path(session).map_or_else(|_| String::new(), |path| shown(session, &path));
    let step = |state, why| InitStep {
        kind: InitStepKind::Hooks,
        what: format!("add hooks for {client} to {path}"),
        is_tracked: is_tracked(session, &path),
        path: path.clone(),
        state,
        why,
        note: None,
        adds: None,
    };
    let plan = |step, work| HooksPlan { client, planned: (step, work) };
    if client == Client::Claude
        && let Some(name) = plugin(session, HooksLevel::Project)
    {
        let why = format!("the plugin {name} brings the hooks along");
        return plan(step(StepState::Unchanged, Some(why)), Work::Nothing);
    }
    if let Some(why) = refusal(&session.project, &path) {
        return plan(step(StepState::Skipped, Some(why)), Work::Nothing);
    }
    // Entries that the user wrote another way are the user's.
    if has_entries(session, &target) {
        let why = "the hooks are there".to_owned();
        return plan(step(StepState::Unchanged, Some(why)), Work::Nothing);
    }
    let install = InstallHooksRequest {
        target: target.clone(),
        agent: request.agent.clone(),
        names_absolute_path: false,
        ignores_plugin: false,
        rehearsal: DryRun::DryRun,
        entries: ENTRIES,
    };
    match install_hooks(session, &install) {
        Ok(_) => {
            let note = note_of(session, client, install.program_remark(session));
            let install = InstallHooksRequest { rehearsal: DryRun::No, agent: None, ..install };
            plan(InitStep { note, ..step(StepState::Planned, None) }, Work::Hooks(install))
        }
        Err(failure) => plan(step(StepState::Blocked, Some(reason(&failure))), Work::Nothing),
    }
}

/// Returns what the user should know about a client's hooks before they are installed.
fn note_of(session: &Session, client: Client, remark: Option<String>) -> Option<String> {
    let own = match client {
        Client::Codex => {
            let target = HooksTarget { client, level: HooksLevel::Project };
            let steps = codex_trust_steps(target.folder_trust(session));
            Some(format!("Codex skips hooks until you trust them: {steps}"))
        }
        Client::Gemini => {
            Some("Gemini runs hooks in folders that you trust: run `/permissions` in it".to_owned())
        }
        Client::Claude
        | Client::Cursor
        | Client::Opencode
        | Client::Qwen
        | Client::Acp
        | Client::Fleet => None,
    };
    let notes: Vec<_> = remark.into_iter().chain(own).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn has_entries(session: &Session, target: &HooksTarget) -> bool {
    let text = target.path(session).and_then(|path| read(&path)).ok().flatten();
    text.is_some_and(|text| count(&text, target.client).is_ok_and(|count| count > 0))
}

/// Returns the step that gives the sessions of a client with hooks to an agent.
fn agent_step(session: &Session, request: &InitRequest, hooks: &[HooksPlan]) -> Option<Planned> {
    let usable = [StepState::Planned, StepState::Unchanged];
    let is_usable = |plan: &&HooksPlan| usable.contains(&plan.planned.0.state);
    let client = hooks.iter().find(is_usable)?.client;
    let bound = wake::settings(session).ok()?.agent;
    let step = |what: String, state, why: Option<String>| InitStep {
        kind: InitStepKind::Agent,
        path: LOCAL_FILE.to_owned(),
        what,
        state,
        why,
        note: None,
        adds: None,
        is_tracked: false,
    };
    let agent = match (&request.agent, &bound) {
        (Some(named), Some((agent, _))) if named != agent => named.clone(),
        (_, Some((agent, place))) => {
            let why = format!("{} says so", place.words());
            let what = format!("leave this project's sessions with @{agent}");
            return Some((step(what, StepState::Unchanged, Some(why)), Work::Nothing));
        }
        (Some(named), None) => named.clone(),
        (None, None) => AgentName::known("me"),
    };
    let what = format!("give this project's sessions to @{agent} in {LOCAL_FILE}");
    let exclude = exclude_file(&session.project);
    let note = exclude.map(|path| {
        let path = shown(session, &path);
        format!("unless git ignores {LOCAL_FILE} already, Convoke adds its name to {path}")
    });
    let step = InitStep { note, ..step(what, StepState::Planned, None) };
    Some((step, Work::Bind(client, agent)))
}

fn guidance_step(session: &Session) -> Planned {
    let name = guidance_file(&session.project);
    let (state, why, verb) = match look(&session.project, name) {
        Guidance::Write { original: None, .. } => (StepState::Planned, None, "make"),
        Guidance::Write { .. } => (StepState::Planned, None, "add"),
        Guidance::Present => (StepState::Unchanged, Some("the line is there".to_owned()), "add"),
        Guidance::Refused(why) => (StepState::Skipped, Some(why), "add"),
    };
    let what = match verb {
        "make" => format!("make {name} with one line that tells agents how to use Convoke"),
        _ => format!("add one line to {name} that tells agents how to use Convoke"),
    };
    let step = InitStep {
        kind: InitStepKind::Guidance,
        path: name.to_owned(),
        what,
        is_tracked: is_tracked(session, name),
        adds: Some(LINE),
        state,
        why,
        note: None,
    };
    (step, Work::Guidance(name))
}

fn configuration_step(session: &Session) -> Option<Planned> {
    let Configuration { what, text } = configuration(&session.project)?;
    let step = InitStep {
        kind: InitStepKind::Configuration,
        path: PROJECT_FILE.to_owned(),
        what: format!("make {PROJECT_FILE}: {what}"),
        state: StepState::Planned,
        why: None,
        note: None,
        adds: None,
        is_tracked: false,
    };
    Some((step, Work::Configuration(text)))
}

/// Returns a path as seen from the project.
pub(super) fn shown(session: &Session, path: &Path) -> String {
    let project = session.absolute_project();
    path.strip_prefix(&project).unwrap_or(path).display().to_string()
}

fn is_tracked(session: &Session, name: &str) -> bool {
    let is_there = session.project.join(name).exists();
    is_there && tracking(&session.project, name) == GitTracking::Tracked
}

/// Returns an error with its causes and what to do about it, in one line.
pub(super) fn reason(failure: &Failure) -> String {
    let words = with_causes(failure.error.as_ref());
    failure.hints.first().map_or(words.clone(), |hint| format!("{words}; {hint}"))
}
