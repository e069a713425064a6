//! Assembling a wake-up from the store, the plan and the skill files. Reads only: nothing changes but a
//! cache of what was read.

mod elsewhere;
mod messages;
mod plan_cache;
mod skill;
mod work;

use std::path::{Path, PathBuf};

use convoke_domain::agent::Agent;
use convoke_domain::finding::FileFinding;
use convoke_domain::pin::{Pin, held_in};
use convoke_domain::plan::SearchedPlan;
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::skill::choice::{PatternRule, SkillChoice, SkillRule};
use convoke_domain::task::TaskState;
use convoke_domain::task::deed::TaskDeed;
use convoke_domain::task::tree::TaskNode;
use convoke_domain::text::{is_disruptive, shell_word};
use convoke_domain::token::Tokenizer;
use convoke_domain::wake::deeds::{KnownDeeds, MessageVerdict, NextActionRule};
use convoke_domain::wake::fit::{WakeLimits, WakeUp, wake_up};
use convoke_domain::wake::news::{News, NewsPlace};
use convoke_domain::wake::{
    NewMessage, PlanText, SectionOrder, WakeExtent, WakeFacts, WakeFit, WakeMemory, WakeMode,
    WakeProfile,
};
use convoke_store::Store;
use convoke_store::error::StoreError;
use convoke_store::message::MessageReceipt;
use convoke_store::skill::Injection;
use convoke_store::task::ActivePlan;
use jiff::Timestamp;
use jiff::tz::Offset;

use self::messages::Messages;
use self::skill::WakeUpSkill;
use self::work::{Work, current};
use crate::file;
use crate::skill::{Skill, SkillLibrary};

/// No plan a person writes is larger.
const MAX_PLAN_BYTES: u64 = 4 * 1024 * 1024;

/// The sources of a wake-up.
pub struct WakeSources<'a> {
    /// The store of the user.
    pub store: &'a dyn Store,
    /// The scope that the agent works in.
    pub scope: &'a Scope,
    /// The project's root; plan files are relative to it.
    pub root: &'a Path,
    /// The file that remembers excerpts of large plans; `None` where there is no place for one.
    pub plan_cache: Option<PathBuf>,
    /// The places of skills.
    pub library: &'a SkillLibrary,
    /// The sources that may name a skill.
    pub skill_rule: SkillRule,
    /// How the words of tasks choose a skill, where they may.
    pub patterns: PatternRule,
    /// The basis of the next action.
    pub next_action: NextActionRule,
    /// The clock that times are shown by.
    pub clock: Offset,
    /// How much a wake-up tells its agent.
    pub mode: WakeMode,
    /// What is shortened when that is too much.
    pub fit: WakeFit,
    /// When this is; rules of the user may have ended before.
    pub now: Timestamp,
}

/// A request for a wake-up.
#[derive(Debug, Clone)]
pub struct WakeCall {
    /// The agent that wakes.
    pub agent: AgentName,
    /// As what.
    pub profile: WakeProfile,
    /// The order in which sections appear.
    pub order: SectionOrder,
    /// How much to tell; without it, the mode decides.
    pub extent: Option<WakeExtent>,
    /// A message that is not stored; without one, the newest unread message to the agent.
    pub message: Option<NewMessage>,
    /// Unread messages that another session is being given: they are counted, and not shown as new.
    pub taken: Vec<i64>,
}

/// A wake-up with how it came about.
#[derive(Debug, Clone)]
pub struct AssembledWakeUp {
    /// The text and how it was shortened.
    pub wake_up: WakeUp,
    /// How much it tells.
    pub extent: WakeExtent,
    /// The skill and the reason; `None` without a named skill that exists.
    pub choice: Option<SkillChoice>,
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
    /// The user's rules that hold.
    pub pins: Vec<Pin>,
    /// The other branch that has open tasks, with how many, where this one has none.
    pub other_branch: Option<(String, u32)>,
    /// How an agent without a task gets one, where there are open ones.
    pub unassigned: Option<String>,
    /// Whether other branches have unread messages to the agent.
    pub has_mail_elsewhere: bool,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
}

impl AssembledWakeUp {
    /// Tells whether it says nothing that an agent could have forgotten.
    pub fn is_empty(&self) -> bool {
        let has_work = self.task.is_some() || self.other_branch.is_some();
        let has_mail = self.message_id.is_some() || self.has_mail_elsewhere;
        !has_work && !has_mail && self.pins.is_empty()
    }

    /// Returns what the agent has of its messages once the wake-up was delivered.
    pub fn receipt(&self) -> MessageReceipt<'_> {
        MessageReceipt { read: &self.wake_up.read, known: self.newest_known }
    }

    /// Returns the user's rules that its text holds whole: a small budget leaves some out.
    pub fn shown_pins(&self) -> Vec<i64> {
        held_in(&self.pins, &self.wake_up.text)
    }

    /// Returns the record of a delivered wake-up.
    pub fn injection(&self, agent: &AgentName, now: Timestamp) -> Injection {
        let mode = match self.extent {
            WakeExtent::News => "incremental",
            WakeExtent::Everything if self.wake_up.steps.is_empty() => "full",
            WakeExtent::Everything => "pruned",
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
    sources: &WakeSources<'_>,
    call: &WakeCall,
    room: WakeLimits,
    tokenizer: &dyn Tokenizer,
) -> Result<AssembledWakeUp, StoreError> {
    let fit = fit(sources, call);
    let agents = sources.store.agents(sources.scope)?;
    let work = Work::read(sources, call, fit, &agents)?;
    let path = current(&work.roots, call);
    let history = last_injection(sources, call, &work)?;
    let outline = work.outline(&work.roots, sources, call);
    let plan_task = work.marked_title(outline.as_ref());
    let file_text = work.plan_excerpt(sources, &path, plan_task.as_deref());
    let plan = file_text.as_ref().map(|(file, found)| plan_text(file, found));
    let WakeUpSkill { choice, skill, text, mut diagnostics } =
        settle(sources, call, &work, &path, plan.as_ref(), history.as_ref())?;
    let messages = Messages::read(sources, call, fit)?;
    let extent = extent(sources, call, &agents, history.as_ref());
    let other_branch = other_branch(sources, &work, fit)?;
    let pins = sources.store.pins(sources.scope, sources.now)?;
    let elsewhere = elsewhere::lines(sources, call, &work, fit)?;
    let unassigned = unassigned(sources, call, &work, fit)?;
    let wake_up = match extent {
        WakeExtent::Everything => {
            let facts = WakeFacts {
                reader: call.agent.clone(),
                profile: call.profile,
                order: call.order,
                fit,
                skill: text,
                no_task: no_task(sources, other_branch.as_ref(), unassigned.as_ref(), fit),
                elsewhere: elsewhere.clone(),
                plan_task,
                outline,
                short_outline: work.outline(&work.short_roots, sources, call),
                plan,
                activity: messages.activity,
                message: messages.new,
                message_id: messages.id,
                unread: messages.count,
                known: known(sources, &agents, &path, messages.id, fit)?,
                pins: pins.clone(),
            };
            wake_up(&facts, room, tokenizer)
        }
        WakeExtent::News => {
            news(call, work.place(sources, &path)?, &messages, fit, &pins).wake_up(room, tokenizer)
        }
    };
    diagnostics.extend(wake_up.over_budget.then(|| "over_budget".to_owned()));
    Ok(AssembledWakeUp {
        wake_up,
        extent,
        choice,
        skill,
        task: path.last().map(|node| node.task.id.to_string()),
        plan_file: work.plan_file.clone(),
        message_id: messages.id,
        newest_known: messages.newest,
        pins,
        other_branch,
        unassigned,
        has_mail_elsewhere: elsewhere.unread.is_some(),
        diagnostics,
    })
}

/// Returns how texts are fitted. A hook's text must fit, because its client would cut off the end.
fn fit(sources: &WakeSources<'_>, call: &WakeCall) -> WakeFit {
    if call.order == SectionOrder::CriticalFirst { WakeFit::Kept } else { sources.fit }
}

/// Returns the agent's last wake-up about this plan.
fn last_injection(
    sources: &WakeSources<'_>,
    call: &WakeCall,
    work: &Work,
) -> Result<Option<Injection>, StoreError> {
    sources.store.last_injection(sources.scope, &call.agent, work.plan_file.as_deref())
}

/// Returns the news, for an agent that remembers everything else.
fn news<'a>(
    call: &'a WakeCall,
    place: NewsPlace<'a>,
    messages: &'a Messages,
    fit: WakeFit,
    pins: &'a [Pin],
) -> News<'a> {
    let Messages { unread, count, .. } = messages;
    News { reader: &call.agent, place, messages: unread, unread: *count, fit, pins }
}

/// Returns the branch with the most open tasks, if this one has none.
fn other_branch(
    sources: &WakeSources<'_>,
    work: &Work,
    fit: WakeFit,
) -> Result<Option<(String, u32)>, StoreError> {
    let scope = sources.scope;
    let is_idle = work.roots.is_empty() && fit == WakeFit::Kept;
    if !is_idle || sources.store.active_plan(scope, None)? != ActivePlan::Nothing {
        return Ok(None);
    }
    let branches = sources.store.open_branches(&scope.project)?.into_iter();
    let others = branches.filter(|(branch, _)| *branch != scope.branch);
    Ok(others.max_by_key(|(_, count)| *count))
}

/// Returns the line for an agent that holds no task.
fn no_task(
    sources: &WakeSources<'_>,
    other_branch: Option<&(String, u32)>,
    unassigned: Option<&String>,
    fit: WakeFit,
) -> Option<String> {
    let elsewhere = other_branch.map(|other| other_branch_line(sources, other, fit));
    elsewhere.or_else(|| unassigned.cloned())
}

fn other_branch_line(
    sources: &WakeSources<'_>,
    (branch, count): &(String, u32),
    fit: WakeFit,
) -> String {
    let (here, there) = (&sources.scope.branch, shell_word(branch));
    let [here, name] = [here, branch].map(|branch| branch.replace(is_disruptive, " "));
    let mut line = format!(
        "No task is on branch `{here}`; branch `{name}` has {count} open. See them with \
         `convoke task tree --branch {there}`. If they are the work of this branch, ask the user, \
         then run `convoke task move --all --from-branch {there}`."
    );
    fit.disarm(&mut line);
    line
}

/// Returns the lines for an agent without a task, where there are open ones.
fn unassigned(
    sources: &WakeSources<'_>,
    call: &WakeCall,
    work: &Work,
    fit: WakeFit,
) -> Result<Option<String>, StoreError> {
    let is_idle =
        call.profile == WakeProfile::Agent && work.roots.is_empty() && fit == WakeFit::Kept;
    if !is_idle || sources.store.active_plan(sources.scope, None)? == ActivePlan::Nothing {
        return Ok(None);
    }
    let agent = &call.agent;
    Ok(Some(format!(
        "No task is assigned to you. `convoke task next --as {agent}` shows the next one that you \
         may start; `convoke task start --as {agent}` starts it."
    )))
}

fn settle(
    sources: &WakeSources<'_>,
    call: &WakeCall,
    work: &Work,
    path: &[&TaskNode],
    plan: Option<&PlanText<'_>>,
    history: Option<&Injection>,
) -> Result<WakeUpSkill, StoreError> {
    let (agent, plan_file) = (&call.agent, work.plan_file.as_deref());
    skill::settle(sources, &skill::SkillNeed { agent, path, plan, plan_file, history })
}

/// Returns how much to tell an agent: everything, unless it remembers.
fn extent(
    sources: &WakeSources<'_>,
    call: &WakeCall,
    agents: &[Agent],
    history: Option<&Injection>,
) -> WakeExtent {
    let is_compacted = |agent: &Agent| agent.name == call.agent && agent.compacted_at.is_some();
    let remembers = history.is_some() && !agents.iter().any(is_compacted);
    let memory = if remembers { WakeMemory::Kept } else { WakeMemory::Empty };
    call.extent.unwrap_or_else(|| sources.mode.extent(memory))
}

fn plan_text<'a>(file: &'a str, found: &'a FileFinding) -> PlanText<'a> {
    match found {
        FileFinding::Text(text) => PlanText::Found { file, plan: SearchedPlan::new(text) },
        FileFinding::Absent => PlanText::Missing { file },
        FileFinding::Unreadable(why) => PlanText::Unreadable { file, why: *why },
    }
}

/// Reads the records about the current task and the new message.
fn known(
    sources: &WakeSources<'_>,
    agents: &[Agent],
    path: &[&TaskNode],
    message: Option<i64>,
    fit: WakeFit,
) -> Result<KnownDeeds, StoreError> {
    let (store, scope) = (sources.store, sources.scope);
    let mut of_task = match path.last() {
        Some(leaf) => store.deeds_of_task(scope, &leaf.task.id)?,
        None => Vec::new(),
    };
    let disarm = |deed: &mut TaskDeed| deed.reason.iter_mut().for_each(|why| fit.disarm(why));
    of_task.iter_mut().for_each(disarm);
    let mut of_message = Vec::new();
    for mut deed in message.map_or(Ok(Vec::new()), |id| store.deeds_of_message(scope, id))? {
        disarm(&mut deed);
        if let Some(mut task) = store.task(scope, &deed.task)? {
            let state = TaskState::among(agents, &task);
            fit.disarm(&mut task.content);
            of_message.push(MessageVerdict { deed, title: task.content, state });
        }
    }
    Ok(KnownDeeds { rule: sources.next_action, of_task, of_message })
}

/// Reads a plan of the project, whole.
pub(crate) fn read_plan(root: &Path, plan_file: &str) -> FileFinding {
    // A project may have any author, so the path of a plan may not lead out of it.
    file::read_below(root, &root.join(plan_file), MAX_PLAN_BYTES)
}
