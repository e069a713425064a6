//! Assembling a wake-up from the store, the plan and the skill files. Reads only; nothing changes.

mod messages;
mod work;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_domain::agent::Agent;
use convoke_domain::plan::Plan;
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::skill::SkillId;
use convoke_domain::skill::choice::{Choice, PatternRule, choose};
use convoke_domain::skill::prune::Forms;
use convoke_domain::task::Task;
use convoke_domain::task::tree::Node;
use convoke_domain::token::Tokenizer;
use convoke_domain::wake::fit::{Room, WakeUp, wake_up};
use convoke_domain::wake::news::News;
use convoke_domain::wake::{
    Extent, Facts, Fit, Mode, NewMessage, Order, PlanText, Profile, SkillText,
};
use convoke_store::Store;
use convoke_store::error::StoreError;
use convoke_store::message::Receipt;
use convoke_store::skill::Injection;
use jiff::Timestamp;
use jiff::tz::Offset;

use self::messages::Messages;
use self::work::{Work, current};
use crate::file;
use crate::skill::{Found, Library, Skill};

/// No plan a person writes is larger.
const MAX_PLAN_BYTES: u64 = 4 * 1024 * 1024;

/// What a wake-up is assembled from.
pub struct Sources<'a> {
    /// What was kept.
    pub store: &'a dyn Store,
    /// Where the agent works.
    pub scope: &'a Scope,
    /// The project's root; plan files are relative to it.
    pub root: &'a Path,
    /// Where skills are found.
    pub library: &'a Library,
    /// How the words of tasks choose a skill.
    pub patterns: PatternRule,
    /// The clock that times are shown by.
    pub clock: Offset,
    /// How much an agent is told each time.
    pub mode: Mode,
    /// What gives way when that is too much.
    pub fit: Fit,
}

/// Whom to wake, and with what.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who wakes.
    pub agent: AgentName,
    /// As what.
    pub profile: Profile,
    /// In which order the sections come.
    pub order: Order,
    /// How much is told; without it, what the mode says.
    pub extent: Option<Extent>,
    /// A message that is not stored; without one, the newest unread message to the agent.
    pub message: Option<NewMessage>,
}

/// A wake-up with how it came about.
#[derive(Debug, Clone)]
pub struct Assembled {
    /// The text and how it was shortened.
    pub wake_up: WakeUp,
    /// How much of it was told.
    pub extent: Extent,
    /// Which skill, and why.
    pub choice: Choice,
    /// The skill's file, if it was found.
    pub skill: Option<Skill>,
    /// The plan's path.
    pub plan_file: Option<String>,
    /// The id of the current task.
    pub task: Option<String>,
    /// The stored message that is shown as new.
    pub message_id: Option<i64>,
    /// The newest stored message to the agent that is shown or counted.
    pub newest_known: Option<i64>,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
}

impl Assembled {
    /// Returns what the agent has of its messages once the wake-up was delivered.
    pub fn receipt(&self) -> Receipt<'_> {
        Receipt { read: &self.wake_up.read, known: self.newest_known }
    }

    /// Returns what is recorded once the wake-up was delivered.
    pub fn injection(&self, agent: &AgentName, now: Timestamp) -> Injection {
        let mode = match self.extent {
            Extent::News => "incremental",
            Extent::Everything if self.wake_up.steps.is_empty() => "full",
            Extent::Everything => "pruned",
        };
        Injection {
            agent: agent.clone(),
            plan_file: self.plan_file.clone(),
            task_id: self.task.clone(),
            skill: self.choice.skill.clone(),
            version: self.skill.as_ref().and_then(|skill| skill.version.clone()),
            sha256: self.skill.as_ref().map(|skill| skill.sha256.clone()),
            mode: mode.to_owned(),
            injected_at: now,
        }
    }
}

/// Assembles a wake-up. Changes nothing, so it can be repeated.
pub fn assemble(
    sources: &Sources<'_>,
    call: &Call,
    room: Room,
    tokenizer: &dyn Tokenizer,
) -> Result<Assembled, StoreError> {
    // A hook's text must fit, because its client would cut off the end.
    let fit = if call.order == Order::CriticalFirst { Fit::Kept } else { sources.fit };
    let agents = sources.store.agents(sources.scope)?;
    let work = Work::read(sources, call, fit, &agents)?;
    let plan_file = work.plan_file.clone();
    let path = current(&work.roots, call);
    let history = sources.store.last_injection(sources.scope, &call.agent, plan_file.as_deref())?;
    let choice = choice(sources, &path, history.as_ref());
    let (skill, notices, mut diagnostics) =
        find_skill(sources, &choice, &path, &call.agent, plan_file.as_deref())?;
    let messages = Messages::read(sources, call)?;
    let is_compacted = |agent: &Agent| agent.name == call.agent && agent.compacted_at.is_some();
    let compacted = agents.iter().any(is_compacted);
    let extent = call.extent.unwrap_or_else(|| sources.mode.extent(history.is_some(), compacted));
    let wake_up = match extent {
        Extent::Everything => {
            let plan = plan_file.as_deref().map(|file| (file, read_plan(sources.root, file)));
            let plan = plan.as_ref().map(|(file, text)| match text {
                Some(text) => PlanText::Found { file, plan: Plan::parse(text) },
                None => PlanText::Missing { file },
            });
            let facts = Facts {
                reader: call.agent.clone(),
                profile: call.profile,
                order: call.order,
                fit,
                skill: skill_text(sources, &choice, skill.as_ref(), notices),
                outline: work.outline(&work.roots, call),
                short_outline: work.outline(&work.short_roots, call),
                plan,
                activity: messages.activity,
                message: messages.new,
                message_id: messages.id,
                unread: messages.count,
            };
            wake_up(&facts, room, tokenizer)
        }
        Extent::News => News {
            reader: &call.agent,
            place: work.place(sources, &path)?,
            messages: &messages.unread,
            unread: messages.count,
            fit,
        }
        .wake_up(room, tokenizer),
    };
    if wake_up.over_budget {
        diagnostics.push("over_budget".to_owned());
    }
    let task = path.last().map(|node| node.task.id.to_string());
    Ok(Assembled {
        wake_up,
        extent,
        choice,
        skill,
        plan_file,
        task,
        message_id: messages.id,
        newest_known: messages.newest,
        diagnostics,
    })
}

fn choice(sources: &Sources<'_>, path: &[&Node], history: Option<&Injection>) -> Choice {
    let tasks: Vec<_> = path.iter().map(|node| &node.task).collect();
    choose(&tasks, history.map(|it| &it.skill), sources.patterns)
}

type FoundSkill = (Option<Skill>, Vec<String>, Vec<String>);

/// Finds the chosen skill in the version of the task, else the last injected, else the pinned one.
/// Says so when that is gone or has changed.
fn find_skill(
    sources: &Sources<'_>,
    choice: &Choice,
    path: &[&Node],
    agent: &AgentName,
    plan: Option<&str>,
) -> Result<FoundSkill, StoreError> {
    let store = sources.store;
    let before = store.last_injection_of(sources.scope, Some(agent), plan, &choice.skill)?;
    let before = before.as_ref();
    let names_it = |task: &&Task| {
        task.skill
            .as_deref()
            .is_some_and(|ids| ids.split(',').next() == Some(choice.skill.as_str()))
    };
    let tasks = path.iter().rev().map(|node| &node.task);
    let of_task = tasks.filter(|task| names_it(task)).find_map(|task| task.skill_version.clone());
    let configured = store.pinned(sources.scope, &choice.skill)?;
    let pin = of_task.or(before.and_then(|it| it.version.clone())).or(configured);
    let Found { skill: found, passed_over } =
        sources.library.look_for(&choice.skill, pin.as_deref());
    let unreadable =
        |(path, reason): &(PathBuf, _)| format!("skill_unreadable: {}: {reason}", path.display());
    let mut diagnostics: Vec<_> = passed_over.iter().map(unreadable).collect();
    let mut notices = Vec::new();
    match &found {
        None => diagnostics.push(format!("skill_not_found: {}", choice.skill)),
        Some(skill) => {
            if let Some((old, new)) = drift(skill, pin.as_deref(), before) {
                diagnostics.push(format!("skill_version_drift: {old} -> {new}"));
                notices.push(format!("> skill version changed: {old} -> {new}"));
            }
        }
    }
    Ok((found, notices, diagnostics))
}

/// Tells what changed: the version, or within one version the text, by the start of its hash.
fn drift(skill: &Skill, pin: Option<&str>, before: Option<&Injection>) -> Option<(String, String)> {
    if let (Some(old), Some(new)) = (pin, skill.version.as_deref())
        && old != new
    {
        return Some((old.to_owned(), new.to_owned()));
    }
    let old = before?.sha256.as_deref()?;
    let same_version = before?.version == skill.version;
    let short = |hash: &str| hash.chars().take(8).collect::<String>();
    (same_version && old != skill.sha256).then(|| (short(old), short(&skill.sha256)))
}

fn skill_text(
    sources: &Sources<'_>,
    choice: &Choice,
    skill: Option<&Skill>,
    notices: Vec<String>,
) -> SkillText {
    let forms = match skill {
        Some(skill) => Arc::clone(&skill.forms),
        None => Arc::new(Forms::new(format!("(skill not found: {})", choice.skill))),
    };
    let located = |id: &SkillId| {
        let found = sources.library.find(id, None)?;
        Some((id.clone(), found.path.display().to_string()))
    };
    let others = choice.others.iter().filter_map(located).collect();
    SkillText { id: choice.skill.clone(), forms, found: skill.is_some(), notices, others }
}

/// Reads a plan, if there is one to be read.
pub(crate) fn read_plan(root: &Path, plan_file: &str) -> Option<String> {
    // A project may come from anywhere, so what it calls a plan may not lead out of it.
    file::text_below(root, &root.join(plan_file), MAX_PLAN_BYTES)
}
