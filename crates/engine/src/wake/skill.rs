//! Chooses a wake-up's skill and version, and the text without one.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use convoke_domain::plan::number;
use convoke_domain::scope::AgentName;
use convoke_domain::skill::SkillId;
use convoke_domain::skill::choice::{
    Naming, SkillChoice, SkillReason, SkillRule, choose, fitting, named, named_in,
};
use convoke_domain::skill::prune::Forms;
use convoke_domain::task::Task;
use convoke_domain::task::tree::TaskNode;
use convoke_domain::wake::frame::framed;
use convoke_domain::wake::{PlanText, SkillText, WakeFit};
use convoke_store::error::StoreError;
use convoke_store::skill::Injection;

use super::WakeSources;
use crate::skill::{Skill, SkillSearch};

/// The most skills that are proposed.
const MOST_PROPOSED: usize = 3;

/// The agent that needs a skill, and its task.
pub(super) struct SkillNeed<'a> {
    pub(super) agent: &'a AgentName,
    /// From the root down to the current task.
    pub(super) path: &'a [&'a TaskNode],
    pub(super) plan: Option<&'a PlanText<'a>>,
    pub(super) plan_file: Option<&'a str>,
    /// The agent's last injection for this plan.
    pub(super) history: Option<&'a Injection>,
}

/// The skill that was settled on.
pub(super) struct WakeUpSkill {
    pub(super) choice: Option<SkillChoice>,
    pub(super) skill: Option<Skill>,
    pub(super) text: SkillText,
    pub(super) diagnostics: Vec<String>,
}

/// Settles on a skill: the strongest that is named and found, or what the original would guess.
pub(super) fn settle(
    sources: &WakeSources<'_>,
    need: &SkillNeed<'_>,
) -> Result<WakeUpSkill, StoreError> {
    let tasks: Vec<_> = need.path.iter().map(|node| &node.task).collect();
    if sources.skill_rule == SkillRule::Seed {
        let history = need.history.and_then(|injection| injection.skill.as_ref());
        let choice = choose(&tasks, history, sources.patterns);
        let (skill, notices, diagnostics) = find_skill(sources, &choice, need)?;
        let text = skill_text(sources, &choice, skill.as_ref(), notices);
        return Ok(WakeUpSkill { choice: Some(choice), skill, text, diagnostics });
    }
    let naming = Naming {
        agent: sources.store.used_skill(sources.scope, Some(need.agent))?,
        user: sources.store.used_skill(sources.scope, None)?,
        plan: need.plan.map(|plan| named_by_plan(plan, &tasks)).unwrap_or_default(),
    };
    let (mut missing, mut all_diagnostics) = (Vec::new(), Vec::new());
    for choice in named(&tasks, &naming) {
        let (skill, mut notices, diagnostics) = find_skill(sources, &choice, need)?;
        all_diagnostics.extend(diagnostics);
        if skill.is_some() {
            notices.splice(..0, missing);
            let text = skill_text(sources, &choice, skill.as_ref(), notices);
            let choice = Some(choice);
            return Ok(WakeUpSkill { choice, skill, text, diagnostics: all_diagnostics });
        }
        let named_by = who(choice.reason);
        missing.push(format!("> skill not found: {}, which {named_by} names", choice.skill));
    }
    let forms = Arc::new(Forms::new(proposal(sources, &tasks)));
    let text = SkillText { id: None, forms, found: false, notices: missing, others: Vec::new() };
    Ok(WakeUpSkill { choice: None, skill: None, text, diagnostics: all_diagnostics })
}

/// Returns the skills that the current task's section names, then those of the plan's opening.
fn named_by_plan(plan: &PlanText<'_>, tasks: &[&Task]) -> Vec<SkillId> {
    let PlanText::Found { plan, .. } = plan else { return Vec::new() };
    let numbered = tasks.iter().rev().find(|task| number(&task.content).is_some());
    let section = numbered.and_then(|task| plan.section_of(&task.content));
    let section = section.map(|section| section.text);
    let texts = section.into_iter().chain([plan.opening]);
    texts.flat_map(named_in).collect()
}

const fn who(reason: SkillReason) -> &'static str {
    match reason {
        SkillReason::Explicit => "the task",
        SkillReason::AncestorExplicit => "the task above",
        SkillReason::Agent => "the choice for this agent",
        SkillReason::User => "the choice for this branch",
        SkillReason::Plan => "the plan",
        SkillReason::Pattern | SkillReason::AncestorPattern => "the wording",
        SkillReason::History => "the history",
        SkillReason::Default => "the default",
    }
}

/// Renders the installed skills that share words with the current task, and how to choose one.
fn proposal(sources: &WakeSources<'_>, tasks: &[&Task]) -> String {
    let words: Vec<_> = tasks.iter().map(|task| task.content.as_str()).collect();
    let fitting = fitting(&words.join(" "), &sources.library.described(), MOST_PROPOSED);
    let task = tasks.last().map_or(String::new(), |task| format!(" --task {}", task.id));
    let how =
        format!("Choose one: `convoke skill use NAME{task}`; `convoke skill list` shows all.");
    let names: Vec<_> = fitting.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => {
            format!("No skill is chosen, and no installed skill shares words with the task.\n{how}")
        }
        _ => format!(
            "No skill is chosen. Installed skills that share words with the task: {}.\n{how}",
            names.join(", ")
        ),
    }
}

type FoundSkill = (Option<Skill>, Vec<String>, Vec<String>);

/// Finds the chosen skill in the version of the task, else the last injected, else the pinned one.
/// It adds a remark when that version is gone or has changed.
fn find_skill(
    sources: &WakeSources<'_>,
    choice: &SkillChoice,
    need: &SkillNeed<'_>,
) -> Result<FoundSkill, StoreError> {
    let store = sources.store;
    let (agent, plan) = (Some(need.agent), need.plan_file);
    let before = store.last_injection_of(sources.scope, agent, plan, &choice.skill)?;
    let before = before.as_ref();
    let names_it = |task: &&Task| {
        task.skill
            .as_deref()
            .is_some_and(|ids| ids.split(',').next() == Some(choice.skill.as_str()))
    };
    let tasks = need.path.iter().rev().map(|node| &node.task);
    let of_task = tasks.filter(|task| names_it(task)).find_map(|task| task.skill_version.clone());
    let configured = store.pinned(sources.scope, &choice.skill)?;
    let pin = of_task.or(before.and_then(|injection| injection.version.clone())).or(configured);
    let SkillSearch { skill: found, passed_over } =
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
    sources: &WakeSources<'_>,
    choice: &SkillChoice,
    skill: Option<&Skill>,
    notices: Vec<String>,
) -> SkillText {
    let forms = match skill {
        Some(skill) => match (sources.fit, framed(skill.forms.text())) {
            (WakeFit::Seed, _) | (WakeFit::Kept, Cow::Borrowed(_)) => Arc::clone(&skill.forms),
            (WakeFit::Kept, Cow::Owned(text)) => Arc::new(Forms::new(text)),
        },
        None => Arc::new(Forms::new(format!("(skill not found: {})", choice.skill))),
    };
    let located = |id: &SkillId| {
        let found = sources.library.find(id, None)?;
        Some((id.clone(), found.path.display().to_string()))
    };
    let others = choice.others.iter().filter_map(located).collect();
    SkillText { id: Some(choice.skill.clone()), forms, found: skill.is_some(), notices, others }
}
