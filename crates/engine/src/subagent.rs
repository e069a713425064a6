//! Assembling a subagent's prompt from its task, its plan and its role's template.

use convoke_domain::finding::FileFinding;
use convoke_domain::plan::SearchedPlan;
use convoke_domain::skill::SkillId;
use convoke_domain::subagent::{Assignment, SubagentRole, instructions, prompt};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::{DEEPEST, Task};
use convoke_store::error::StoreError;

use crate::wake::{WakeSources, read_plan};

/// A subagent's prompt, with remarks about missing parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentPrompt {
    /// The text for the subagent.
    pub prompt: String,
    /// The task of the subagent.
    pub task: TaskId,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
}

/// Assembles the prompt of a role on a task. `templates` is the skill whose folder holds the roles'
/// templates. Changes nothing.
pub fn assemble(
    sources: &WakeSources<'_>,
    role: &SubagentRole,
    id: &TaskId,
    templates: &SkillId,
    context: Option<&str>,
) -> Result<SubagentPrompt, StoreError> {
    let mut diagnostics = Vec::new();
    let task = numbered_task(sources, id)?;
    let plan_file = task.plan_file.as_deref().unwrap_or("(none)");
    let section = section(sources, &task).unwrap_or_else(|| {
        diagnostics.push(format!("plan_section_not_found: {plan_file}"));
        format!("(plan file not found: {plan_file})")
    });
    let file = role.template_file();
    // The orchestrator already has the skill in some version; its roles use that one.
    let plan = task.plan_file.as_deref();
    let given = sources.store.last_injection_of(sources.scope, None, plan, templates)?;
    let pinned = sources.store.pinned(sources.scope, templates)?;
    let pin = given.and_then(|injection| injection.version).or(pinned);
    let skill = sources.library.find(templates, pin.as_deref());
    let template = skill.as_ref().and_then(|skill| sources.library.template(skill, &file));
    let instructions = template.map_or_else(
        || {
            let roles = skill.map(|skill| sources.library.roles(&skill)).unwrap_or_default();
            diagnostics.push(not_found(&file, &roles));
            format!("(template not found: {file})")
        },
        |template| instructions(&template),
    );
    let prompt = prompt(&Assignment {
        role,
        task: &task.content,
        instructions: &instructions,
        plan_file,
        section: &section,
        context,
    });
    Ok(SubagentPrompt { prompt, task: task.id, diagnostics })
}

/// Returns the error for a missing role, with the existing ones: the roles differ between versions
/// of a skill.
fn not_found(file: &str, roles: &[String]) -> String {
    if roles.is_empty() {
        return format!("template_not_found: {file}");
    }
    format!("template_not_found: {file} (known roles: {})", roles.join(", "))
}

/// Returns the task, or the numbered one it is part of: plans describe those.
fn numbered_task(sources: &WakeSources<'_>, id: &TaskId) -> Result<Task, StoreError> {
    let find = |id: &TaskId| {
        let found = sources.store.task(sources.scope, id)?;
        found.ok_or_else(|| StoreError::NoTask { id: id.clone() })
    };
    let own = find(id)?;
    let mut above = own.clone();
    // A damaged store may hold a circle; no tree is deeper than this.
    for _ in 0..DEEPEST {
        match above.parent.clone() {
            Some(parent) if !above.is_numbered() => above = find(&parent)?,
            Some(_) | None => break,
        }
    }
    Ok(if above.is_numbered() { above } else { own })
}

fn section(sources: &WakeSources<'_>, task: &Task) -> Option<String> {
    let FileFinding::Text(text) = read_plan(sources.root, task.plan_file.as_deref()?) else {
        return None;
    };
    let section = SearchedPlan::new(&text).section_of(&task.content)?;
    Some(section.text.to_owned())
}
