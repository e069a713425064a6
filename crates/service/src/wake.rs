//! Wake-ups: the text that puts an agent back where it was.

mod session_agent;

use convoke_domain::pin;
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::text::Text;
use convoke_domain::token::{Budget, Estimate, Tokenizer, Tokens};
use convoke_domain::wake::fit::ShorteningStep;
use convoke_domain::wake::{NewMessage, SectionOrder, WakeProfile};
use convoke_engine::skill::{SkillLibrary, SkillNamespace};
use convoke_engine::wake::{AssembledWakeUp, WakeCall, WakeSources, assemble};
use serde::Serialize;

use self::session_agent::present_agent;
pub use self::session_agent::{hook_settings, session_address};
use crate::elsewhere;
use crate::failure::Failure;
use crate::message::note_stranger;
use crate::session::Session;
use crate::settings::wake::{Settings, settings};
use crate::workspace::{Workspace, refused};

/// The tokens of a wake-up beside the user's rules.
const BESIDE_RULES: u64 = 200;

/// A request for a wake-up, with deviations from the usual one.
#[derive(Debug, Clone, Default)]
pub struct WakeRequest {
    /// The agent that wakes; without it, the agent of the present session, else of the project.
    pub agent: Option<AgentName>,
    /// The profile; without it, the configured orchestrator leads and all other agents work.
    pub profile: Option<WakeProfile>,
    /// A new message that is not stored; without it, the newest unread one.
    pub message: Option<NewMessage>,
    /// The most that it may cost; without it, what the settings say.
    pub budget: Option<Budget>,
}

/// A wake-up, and how it came about.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WakeReport {
    /// The full text.
    pub text: String,
    /// The text's cost, in tenths of a token: an estimate.
    pub tokens_x10: u64,
    /// The most that it may cost, in tokens.
    pub budget: u64,
    /// Whether it still exceeds the budget after all shortening.
    pub over_budget: bool,
    /// How much the text tells: everything, or only the news.
    pub extent: &'static str,
    /// How it was shortened, in this order.
    pub steps: Vec<&'static str>,
    /// The skill that the agent works by.
    pub skill: Option<String>,
    /// Why this skill was chosen.
    pub skill_reason: Option<&'static str>,
    /// The skill's file, if it was found.
    pub skill_path: Option<String>,
    /// The version of the skill's collection.
    pub skill_version: Option<String>,
    /// The plan, relative to the project.
    pub plan_file: Option<String>,
    /// The id of the current task.
    pub task: Option<String>,
    /// The stored message that is shown as new.
    pub message_id: Option<i64>,
    /// The user's rules that hold.
    pub pins: Vec<i64>,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
    /// The cost, for display.
    #[serde(skip)]
    pub cost: Tokens,
    /// The stored messages whose whole text it has.
    #[serde(skip)]
    pub messages: Vec<i64>,
}

/// Assembles the wake-up of an agent. Changes nothing, so the same state gives the same text.
pub fn wake(session: &Session, request: WakeRequest) -> Result<WakeReport, Failure> {
    let settings = settings(session)?;
    let workspace = Workspace::open(session, None)?;
    let agent = match request.agent {
        Some(agent) => {
            if agent != settings.orchestrator {
                note_stranger(session, &workspace, &workspace.scope, &agent)?;
            }
            agent
        }
        None => present_agent(session, &workspace, &settings)?,
    };
    let profile = request.profile.unwrap_or_else(|| profile_of(&agent, &settings));
    let order = SectionOrder::Contract;
    let call = WakeCall {
        agent,
        profile,
        order,
        extent: None,
        message: request.message,
        taken: Vec::new(),
    };
    let usual = budget_here(session, &settings, &workspace, &workspace.scope)?;
    let budget = request.budget.unwrap_or(usual);
    let assembled = assemble_wake(session, &workspace, &settings, &call, budget)?;
    elsewhere::note(session, &workspace)?;
    Ok(WakeReport::new(&assembled, budget))
}

impl WakeReport {
    fn new(assembled: &AssembledWakeUp, budget: Budget) -> Self {
        let AssembledWakeUp { wake_up, extent, choice, skill, .. } = assembled;
        Self {
            text: wake_up.text.clone(),
            tokens_x10: wake_up.cost.tenths(),
            budget: budget.get(),
            over_budget: wake_up.over_budget,
            extent: extent.name(),
            steps: wake_up.steps.iter().copied().map(ShorteningStep::name).collect(),
            skill: choice.as_ref().map(|choice| choice.skill.as_str().to_owned()),
            skill_reason: choice.as_ref().map(|choice| choice.reason.name()),
            skill_path: skill.as_ref().map(|skill| skill.path.display().to_string()),
            skill_version: skill.as_ref().and_then(|skill| skill.version.clone()),
            plan_file: assembled.plan_file.clone(),
            task: assembled.task.clone(),
            message_id: assembled.message_id,
            pins: assembled.pins.iter().map(|pin| pin.id).collect(),
            diagnostics: assembled.diagnostics.clone(),
            cost: wake_up.cost,
            messages: wake_up.read.clone(),
        }
    }
}

/// Returns an agent's profile: the configured orchestrator leads, and all other agents work.
pub fn profile_of(agent: &AgentName, settings: &Settings) -> WakeProfile {
    if *agent == settings.orchestrator { WakeProfile::Orchestrator } else { WakeProfile::Agent }
}

/// Assembles a wake-up in an open workspace.
pub fn assemble_wake(
    session: &Session,
    workspace: &Workspace,
    settings: &Settings,
    call: &WakeCall,
    budget: Budget,
) -> Result<AssembledWakeUp, Failure> {
    let library = library(session, settings);
    let sources = sources(session, workspace, settings, &library);
    assemble(&sources, call, budget.into(), &Estimate).map_err(refused)
}

/// Returns what a wake-up may cost. A committed file can lower that, but not so far that the user's
/// rules have no room.
pub fn budget_here(
    session: &Session,
    settings: &Settings,
    workspace: &Workspace,
    scope: &Scope,
) -> Result<Budget, Failure> {
    if settings.budget >= settings.own_budget {
        return Ok(settings.budget);
    }
    let pins = workspace.store.pins(scope, session.now()).map_err(refused)?;
    let rules = pin::block(&pins);
    let rules = Estimate.count(Text::new(&rules)).tenths().div_ceil(10);
    let least = Budget::at_least_one(rules + BESIDE_RULES).min(settings.own_budget);
    Ok(settings.budget.max(least))
}

/// Returns what a wake-up is assembled from.
pub fn sources<'a>(
    session: &'a Session,
    workspace: &'a Workspace,
    settings: &Settings,
    library: &'a SkillLibrary,
) -> WakeSources<'a> {
    WakeSources {
        store: &*workspace.store,
        scope: &workspace.scope,
        root: &session.project,
        plan_cache: session.environment.plan_cache(),
        library,
        skill_rule: settings.skill_rule,
        patterns: settings.patterns,
        next_action: settings.next_action,
        clock: settings.clock,
        mode: settings.mode,
        fit: settings.fit,
        now: session.now(),
    }
}

/// Returns the places of skills.
pub fn library(session: &Session, settings: &Settings) -> SkillLibrary {
    let home = session.environment.home();
    let namespace = if settings.namespace_strict {
        SkillNamespace::CollectionOnly
    } else {
        SkillNamespace::Everywhere
    };
    SkillLibrary::new(session.project.clone(), home, namespace)
}
