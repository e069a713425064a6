//! `convoke wake`: the text that puts an agent back where it was.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::pin;
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::skill::choice::SkillChoice;
use convoke_domain::text::Text;
use convoke_domain::token::{Budget, Estimate, Tokenizer};
use convoke_domain::wake::fit::ShorteningStep;
use convoke_domain::wake::{NewMessage, SectionOrder, WakeProfile};
use convoke_engine::skill::Library;
use convoke_engine::wake::{Assembled, Call, Sources, assemble};
use convoke_store::delivery::Session;
use serde::Serialize;

use crate::app::{App, Format, Verbosity};
use crate::cli::brief::budget;
use crate::cli::elsewhere;
use crate::cli::hook::who;
use crate::cli::say::note_stranger;
use crate::clock::now;
use crate::config::wake::{Settings, settings};
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// What a wake-up needs beside the user's rules, in tokens.
const BESIDE_RULES: u64 = 200;

/// Print the wake-up of an agent: its skill, its place in the plan, its messages, its next action
///
/// Everything comes from the store, the plan and the skill files; nothing is changed, so the same
/// state gives the same text. If it costs more than the budget, history goes first, then
/// explanations, and the skill last. The text says what is left out and how to see it; messages
/// that are left out stay unread.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Who wakes [default: the agent of this session, else of this project]
    #[arg(value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// As what [default: orchestrator for the configured orchestrator, else agent]
    #[arg(long, value_parser = profile())]
    profile: Option<WakeProfile>,

    /// A new message that is not stored [default: the newest unread one]
    #[arg(long, value_name = "TEXT", requires = "from")]
    message: Option<String>,

    /// Who says it
    #[arg(long, value_name = "AGENT", requires = "message", value_parser = AgentName::parse)]
    from: Option<AgentName>,

    /// The most tokens it may cost [default: 8000]
    #[arg(long, value_name = "N", value_parser = budget())]
    budget: Option<Budget>,

    /// Instead of the text, show how it came about
    #[arg(long, conflicts_with = "json")]
    explain: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    text: &'a str,
    tokens_x10: u64,
    budget: u64,
    over_budget: bool,
    extent: &'static str,
    steps: Vec<&'static str>,
    skill: Option<&'a str>,
    skill_reason: Option<&'static str>,
    skill_path: Option<String>,
    skill_version: Option<&'a str>,
    plan_file: Option<&'a str>,
    task: Option<&'a str>,
    message_id: Option<i64>,
    /// The user's rules that hold.
    pins: Vec<i64>,
    diagnostics: &'a [String],
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let settings = settings(app)?;
        let workspace = Workspace::open(app, None)?;
        let message = self.message.clone().zip(self.from.clone());
        let message = message.map(|(content, from)| NewMessage { from, content });
        let agent = match &self.agent {
            Some(agent) => {
                if *agent != settings.orchestrator {
                    note_stranger(&workspace, &workspace.scope, agent, output)?;
                }
                agent.clone()
            }
            None => present_agent(app, &workspace, &settings)?,
        };
        let profile = self.profile.unwrap_or_else(|| profile_of(&agent, &settings));
        let call = Call { agent, profile, order: SectionOrder::Contract, extent: None, message };
        let usual = budget_here(&settings, &workspace, &workspace.scope)?;
        let budget = self.budget.unwrap_or(usual);
        let assembled = wake(app, &workspace, &settings, &call, budget)?;
        match app.format {
            Format::Json => output.json(&report(&assembled, budget))?,
            Format::Text if self.explain => output.data(&explain(&assembled, budget))?,
            Format::Text => {
                say_diagnostics(app, &assembled, output);
                output.data(&assembled.wake_up.text)?;
                elsewhere::say(&workspace, app, output)?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Nothing says whom a command is for.
#[derive(Debug, thiserror::Error)]
#[error("cannot tell whom to wake: no agent is set for this project")]
struct NoAgentSet;

/// Returns the agent that this session, or else this project, belongs to.
fn present_agent(
    app: &App,
    workspace: &Workspace,
    settings: &Settings,
) -> Result<AgentName, Failure> {
    let sessions = app.environment.client_sessions();
    // Where a client runs inside another, either could be meant.
    let session = match sessions.as_slice() {
        [(client, id)] => Some(Session { client: *client, id }),
        _ => None,
    };
    let address = who(app, workspace, settings, session)?;
    address.map(|address| address.agent).ok_or_else(|| {
        Failure::new(ErrorClass::Refused, NoAgentSet)
            .hint("name one, as in `convoke wake june`, who leads by default")
            .hint("`convoke hooks install CLIENT --as NAME` sets one for this project")
    })
}

/// The configured orchestrator leads; everybody else works.
pub(super) fn profile_of(agent: &AgentName, settings: &Settings) -> WakeProfile {
    if *agent == settings.orchestrator { WakeProfile::Orchestrator } else { WakeProfile::Agent }
}

/// Assembles a wake-up in a workspace.
pub(super) fn wake(
    app: &App,
    workspace: &Workspace,
    settings: &Settings,
    call: &Call,
    budget: Budget,
) -> Result<Assembled, Failure> {
    let library = library(app, settings);
    let sources = sources(app, workspace, settings, &library);
    assemble(&sources, call, budget.into(), &Estimate).map_err(refused)
}

/// Returns what everything is assembled from.
/// Returns what a wake-up may cost. A committed file can lower that, but not so far that the user's
/// rules have no room.
pub(super) fn budget_here(
    settings: &Settings,
    workspace: &Workspace,
    scope: &Scope,
) -> Result<Budget, Failure> {
    if settings.budget >= settings.own_budget {
        return Ok(settings.budget);
    }
    let pins = workspace.store.pins(scope, now()).map_err(refused)?;
    let rules = pin::block(&pins, pins.len());
    let rules = Estimate.count(Text::new(&rules)).tenths().div_ceil(10);
    let least = Budget::at_least_one(rules + BESIDE_RULES).min(settings.own_budget);
    Ok(settings.budget.max(least))
}

pub(super) fn sources<'a>(
    app: &'a App,
    workspace: &'a Workspace,
    settings: &Settings,
    library: &'a Library,
) -> Sources<'a> {
    Sources {
        store: &*workspace.store,
        scope: &workspace.scope,
        root: &app.project,
        library,
        skill_rule: settings.skill_rule,
        patterns: settings.patterns,
        next_action: settings.next_action,
        clock: settings.clock,
        mode: settings.mode,
        fit: settings.fit,
        now: now(),
    }
}

/// Returns where skills are looked for.
pub(super) fn library(app: &App, settings: &Settings) -> Library {
    Library::new(app.project.clone(), app.environment.home(), settings.namespace_strict)
}

pub(super) fn say_diagnostics(app: &App, assembled: &Assembled, output: &Output) {
    if app.verbosity == Verbosity::Verbose {
        assembled.diagnostics.iter().for_each(|it| output.say(&format!("note: {it}")));
    }
}

fn profile() -> impl TypedValueParser<Value = WakeProfile> {
    PossibleValuesParser::new(WakeProfile::ALL.map(WakeProfile::name))
        .try_map(|name| WakeProfile::parse(&name).ok_or("no such profile"))
}

fn path(assembled: &Assembled) -> Option<&PathBuf> {
    assembled.skill.as_ref().map(|skill| &skill.path)
}

fn report(assembled: &Assembled, budget: Budget) -> Report<'_> {
    let Assembled {
        wake_up,
        extent,
        choice,
        skill,
        plan_file,
        task,
        message_id,
        pins,
        diagnostics,
        ..
    } = assembled;
    Report {
        text: &wake_up.text,
        tokens_x10: wake_up.cost.tenths(),
        budget: budget.get(),
        over_budget: wake_up.over_budget,
        extent: extent.name(),
        steps: wake_up.steps.iter().copied().map(ShorteningStep::name).collect(),
        skill: choice.as_ref().map(|choice| choice.skill.as_str()),
        skill_reason: choice.as_ref().map(|choice| choice.reason.name()),
        skill_path: path(assembled).map(|path| path.display().to_string()),
        skill_version: skill.as_ref().and_then(|skill| skill.version.as_deref()),
        plan_file: plan_file.as_deref(),
        task: task.as_deref(),
        message_id: *message_id,
        pins: pins.iter().map(|pin| pin.id).collect(),
        diagnostics,
    }
}

fn explain(assembled: &Assembled, budget: Budget) -> String {
    let wake_up = &assembled.wake_up;
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
    let steps: Vec<_> = wake_up.steps.iter().copied().map(ShorteningStep::name).collect();
    let skill = |choice: &SkillChoice| format!("{} ({})", choice.skill, choice.reason.name());
    let no_file = if assembled.choice.is_some() { "not found" } else { "none" };
    let rows = [
        ("cost", format!("{} of {} tokens, an estimate", wake_up.cost, budget.get())),
        ("extent", assembled.extent.name().to_owned()),
        ("shortened", if steps.is_empty() { "no".to_owned() } else { steps.join(", ") }),
        ("skill", assembled.choice.as_ref().map_or("none".to_owned(), skill)),
        ("file", path(assembled).map_or(no_file.to_owned(), |path| path.display().to_string())),
        ("plan", or_none(assembled.plan_file.clone())),
        ("task", or_none(assembled.task.clone())),
        ("message", or_none(assembled.message_id.map(|id| id.to_string()))),
    ];
    let notes = assembled.diagnostics.iter().map(|it| format!("note: {it}\n"));
    rows.iter()
        .map(|(name, value)| format!("{name:<10} {value}\n"))
        .chain(notes)
        .collect::<Vec<_>>()
        .concat()
}
