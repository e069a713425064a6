//! `convoke subagent`: the prompt of a subagent on one task.

use convoke_domain::finding::Finding;
use convoke_domain::plan::{Plan, number};
use convoke_domain::skill::SkillId;
use convoke_domain::subagent::{Assignment, Role, instructions, prompt};
use convoke_domain::task::Task;
use convoke_domain::task::id::TaskId;
use convoke_engine::file;
use convoke_store::error::StoreError;
use convoke_store::skill::SkillStore;
use convoke_store::task::TaskStore;
use serde::Serialize;

use super::wake::library;
use crate::app::{App, Format};
use crate::config::wake::settings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// The skill whose folder holds the roles' templates.
const SKILL: &str = "superpowers:subagent-driven-development";

/// No plan a person writes is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Print the prompt of a subagent: its own task, and nothing of the orchestrator's
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its part, such as `implementer` or `spec-reviewer`
    #[arg(value_parser = Role::parse)]
    role: Role,

    /// The task
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    task: TaskId,

    /// What the orchestrator adds
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    prompt: &'a str,
    role: &'a str,
    task: &'a str,
    diagnostics: Vec<String>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, None)?;
        let mut diagnostics = Vec::new();
        let task = numbered_task(&workspace, &self.task)?;
        let instructions = self.instructions(app, &workspace, &mut diagnostics)?;
        let plan_file = task.plan_file.as_deref().unwrap_or("(none)");
        let section = section(app, &task).unwrap_or_else(|| {
            diagnostics.push(format!("plan_section_not_found: {plan_file}"));
            format!("(plan file not found: {plan_file})")
        });
        let text = prompt(&Assignment {
            role: &self.role,
            task: &task.content,
            instructions: &instructions,
            plan_file,
            section: &section,
            context: self.context.as_deref(),
        });
        match app.format {
            Format::Json => output.json(&Report {
                prompt: &text,
                role: self.role.as_str(),
                task: task.id.as_str(),
                diagnostics,
            })?,
            Format::Text => {
                for diagnostic in &diagnostics {
                    output.say(&format!("note: {diagnostic}"));
                }
                output.data(&text)?;
            }
        }
        Ok(Exit::Done)
    }

    fn instructions(
        &self,
        app: &App,
        workspace: &Workspace,
        diagnostics: &mut Vec<String>,
    ) -> Result<String, Failure> {
        let id = SkillId::parse(SKILL).map_err(|error| Failure::new(Exit::Bug, error))?;
        let library = library(app, &settings(app)?);
        let pin = workspace.store.pinned(&workspace.scope, &id).map_err(refused)?;
        let skill = library.find(&id, pin.as_deref());
        let file = self.role.template_file();
        let template = skill.as_ref().and_then(|skill| library.template(skill, &file));
        Ok(template.map_or_else(
            || {
                diagnostics.push(format!("template_not_found: {file}"));
                format!("(template not found: {file})")
            },
            |template| instructions(&template),
        ))
    }
}

/// Returns the task, or the numbered one it is part of: plans describe those.
fn numbered_task(workspace: &Workspace, id: &TaskId) -> Result<Task, Failure> {
    let find = |id: &TaskId| {
        let found = workspace.store.task(&workspace.scope, id).map_err(refused)?;
        found.ok_or_else(|| refused(StoreError::NoTask { id: id.clone() }))
    };
    let own = find(id)?;
    let mut task = own.clone();
    let mut steps = 0;
    // A damaged store may hold a circle; no plan is this deep.
    while let (false, Some(parent), true) = (task.is_numbered(), task.parent.clone(), steps < 100) {
        task = find(&parent)?;
        steps += 1;
    }
    Ok(if task.is_numbered() { task } else { own })
}

fn section(app: &App, task: &Task) -> Option<String> {
    let path = app.project.join(task.plan_file.as_deref()?);
    let Finding::Text(text) = file::read(&path, MAX_BYTES) else { return None };
    let plan = Plan::parse(&text);
    plan.task(number(&task.content)?).map(|section| section.text.to_owned())
}
