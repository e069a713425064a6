//! Assembling a wake-up from the store, the plan and the skill files. Reads only; nothing changes.

mod skill;

use std::path::Path;

use convoke_domain::agent::Agent;
use convoke_domain::message::{Message, activity};
use convoke_domain::pin::Pin;
use convoke_domain::plan::Plan;
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::skill::choice::{Choice, PatternRule, SkillRule};
use convoke_domain::task::State;
use convoke_domain::task::outline::Outline;
use convoke_domain::task::tree::{Node, current_path, current_path_of, trees};
use convoke_domain::token::{Budget, Tokenizer};
use convoke_domain::wake::deeds::{Known, MessageVerdict, NextActionRule};
use convoke_domain::wake::fit::{WakeUp, wake_up};
use convoke_domain::wake::news::news;
use convoke_domain::wake::{Extent, Facts, Mode, NewMessage, Order, PlanText, Profile};
use convoke_store::Store;
use convoke_store::error::StoreError;
use convoke_store::skill::Injection;
use convoke_store::task::ActivePlan;
use jiff::Timestamp;
use jiff::tz::Offset;

use self::skill::Settled;
use crate::file;
use crate::skill::{Library, Skill};

/// The most messages and the most deeds that are shown as recent.
const RECENT: usize = 10;

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
    /// What may choose a skill.
    pub skill_rule: SkillRule,
    /// How the words of tasks choose a skill, where they may.
    pub patterns: PatternRule,
    /// What decides the next action.
    pub next_action: NextActionRule,
    /// The clock that times are shown by.
    pub clock: Offset,
    /// How much an agent is told each time.
    pub mode: Mode,
    /// When this is; rules of the user may have ended before.
    pub now: Timestamp,
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
    /// Which skill, and why; `None` if none is named that can be found.
    pub choice: Option<Choice>,
    /// The skill's file, if it was found.
    pub skill: Option<Skill>,
    /// The plan's path.
    pub plan_file: Option<String>,
    /// The id of the current task.
    pub task: Option<String>,
    /// The stored message that is shown as new.
    pub message_id: Option<i64>,
    /// The user's rules that hold.
    pub pins: Vec<Pin>,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
}

impl Assembled {
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
            skill: self.choice.as_ref().map(|choice| choice.skill.clone()),
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
    budget: Budget,
    tokenizer: &dyn Tokenizer,
) -> Result<Assembled, StoreError> {
    let agents = sources.store.agents(sources.scope)?;
    let (tasks, plan_file) = match active_plan(sources, call)? {
        ActivePlan::Nothing => (Vec::new(), None),
        ActivePlan::WithoutFile => (sources.store.tasks_of_plan(sources.scope, None)?, None),
        ActivePlan::File(plan) => {
            (sources.store.tasks_of_plan(sources.scope, Some(&plan))?, Some(plan))
        }
    };
    let roots = trees(tasks, |task| State::among(&agents, task));
    let path = match call.profile {
        Profile::Orchestrator => current_path(&roots),
        Profile::Agent => current_path_of(&roots, &call.agent),
    };
    let history = sources.store.last_injection(sources.scope, &call.agent, plan_file.as_deref())?;
    let plan_text = plan_file.as_deref().map(|file| (file, read_plan(sources.root, file)));
    let plan = plan_text.as_ref().map(|(file, text)| match text {
        Some(text) => PlanText::Found { file, plan: Plan::parse(text) },
        None => PlanText::Missing { file },
    });
    let need = skill::Need {
        agent: &call.agent,
        path: &path,
        plan: plan.as_ref(),
        plan_file: plan_file.as_deref(),
        history: history.as_ref(),
    };
    let Settled { choice, skill, text, mut diagnostics } = skill::settle(sources, &need)?;
    let agent = agents.iter().find(|agent| agent.name == call.agent);
    let messages = Messages::read(sources, call, agent)?;
    let compacted = agent.is_some_and(|agent| agent.compacted_at.is_some());
    let extent = call.extent.unwrap_or_else(|| sources.mode.extent(history.is_some(), compacted));
    let facts = Facts {
        reader: call.agent.clone(),
        profile: call.profile,
        order: call.order,
        skill: text,
        outline: (!roots.is_empty())
            .then(|| Outline::new(&roots, &path).with_letters(sources.next_action.letters())),
        plan,
        activity: messages.activity,
        message: messages.new.clone(),
        known: known(sources, &agents, &path, messages.id)?,
        pins: sources.store.pins(sources.scope, sources.now)?,
    };
    let wake_up = match extent {
        Extent::Everything => wake_up(&facts, budget, tokenizer),
        Extent::News => {
            let text = news(&roots, &path, &messages.unread, &facts.pins);
            WakeUp::whole(text, budget, tokenizer)
        }
    };
    if wake_up.over_budget {
        diagnostics.push("over_budget".to_owned());
    }
    let task = path.last().map(|node| node.task.id.to_string());
    let message_id = messages.id;
    let pins = facts.pins;
    Ok(Assembled { wake_up, extent, choice, skill, plan_file, task, message_id, pins, diagnostics })
}

/// Reads what is recorded about the current task and with the new message.
fn known(
    sources: &Sources<'_>,
    agents: &[Agent],
    path: &[&Node],
    message: Option<i64>,
) -> Result<Known, StoreError> {
    let (store, scope) = (sources.store, sources.scope);
    let of_task = match path.last() {
        Some(leaf) => store.deeds_of_task(scope, &leaf.task.id)?,
        None => Vec::new(),
    };
    let mut of_message = Vec::new();
    for deed in message.map_or(Ok(Vec::new()), |id| store.deeds_of_message(scope, id))? {
        if let Some(task) = store.task(scope, &deed.task)? {
            let state = State::among(agents, &task);
            of_message.push(MessageVerdict { deed, title: task.content, state });
        }
    }
    Ok(Known { rule: sources.next_action, of_task, of_message })
}

/// The orchestrator follows the whole scope, an agent what it holds.
fn active_plan(sources: &Sources<'_>, call: &Call) -> Result<ActivePlan, StoreError> {
    let of = (call.profile == Profile::Agent).then_some(&call.agent);
    sources.store.active_plan(sources.scope, of)
}

/// Reads a plan, if there is one to be read.
pub(crate) fn read_plan(root: &Path, plan_file: &str) -> Option<String> {
    // A project may come from anywhere, so what it calls a plan may not lead out of it.
    file::text_below(root, &root.join(plan_file), MAX_PLAN_BYTES)
}

/// The new message, and the lines of recent activity without it.
struct Messages {
    new: Option<NewMessage>,
    id: Option<i64>,
    /// Everything unread that is to the agent, the new message last.
    unread: Vec<NewMessage>,
    activity: Vec<String>,
}

impl Messages {
    fn read(sources: &Sources<'_>, call: &Call, agent: Option<&Agent>) -> Result<Self, StoreError> {
        let (store, seen) = (sources.store, agent.and_then(|agent| agent.last_seen));
        let mut addressed = store.addressed_to(sources.scope, &call.agent, seen, RECENT + 1)?;
        let count = store.count_addressed_to(sources.scope, &call.agent, seen)?;
        let said = |it: &Message| NewMessage { from: it.from.clone(), content: it.content.clone() };
        let mut unread_messages: Vec<_> = addressed.iter().map(said).collect();
        unread_messages.extend(call.message.clone());
        let (new, id) = match &call.message {
            Some(message) => (Some(message.clone()), None),
            None => match addressed.pop() {
                Some(Message { id, from, content, .. }) => {
                    (Some(NewMessage { from, content }), Some(id))
                }
                None => (None, None),
            },
        };
        let unread: Vec<i64> = addressed.iter().map(|message| message.id).collect();
        let mut recent = store.recent_messages(sources.scope, RECENT + 1)?;
        recent.extend(addressed);
        recent.retain(|message| Some(message.id) != id);
        recent.sort_by_key(|message| message.id);
        recent.dedup_by_key(|message| message.id);
        let recent = &recent[recent.len().saturating_sub(RECENT)..];
        let events = store.recent_events(sources.scope, RECENT)?;
        let mut activity = activity(recent, &events, &call.agent, sources.clock);
        let shown = unread.iter().filter(|id| recent.iter().any(|it| it.id == **id)).count();
        let not_shown = count - usize::from(id.is_some()) - shown;
        if not_shown > 0 {
            // They count as seen once this is delivered, so this is the last that is heard of them.
            let agent = &call.agent;
            activity.push(format!("- {not_shown} earlier to you: `convoke inbox {agent} --all`"));
        }
        Ok(Self { new, id, unread: unread_messages, activity })
    }
}
