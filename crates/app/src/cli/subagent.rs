//! `convoke subagent`: the prompt of a subagent on one task.

use convoke_domain::skill::SkillId;
use convoke_domain::subagent::Role;
use convoke_domain::task::id::TaskId;
use convoke_engine::subagent::assemble;
use serde::Serialize;

use super::wake::{library, sources};
use crate::app::{App, Format};
use crate::config::wake::settings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

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

    /// The skill whose folder holds the roles' templates
    #[arg(
        long,
        value_name = "SKILL",
        value_parser = SkillId::parse,
        default_value = "superpowers:subagent-driven-development"
    )]
    templates: SkillId,
}

#[derive(Serialize)]
struct Report<'a> {
    prompt: &'a str,
    role: &'a str,
    task: &'a str,
    diagnostics: &'a [String],
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, None)?;
        let settings = settings(app)?;
        let library = library(app, &settings);
        let sources = sources(app, &workspace, &settings, &library);
        let context = self.context.as_deref();
        let assembled = assemble(&sources, &self.role, &self.task, &self.templates, context);
        let assembled = assembled.map_err(refused)?;
        match app.format {
            Format::Json => output.json(&Report {
                prompt: &assembled.prompt,
                role: self.role.as_str(),
                task: assembled.task.as_str(),
                diagnostics: &assembled.diagnostics,
            })?,
            Format::Text => {
                for diagnostic in &assembled.diagnostics {
                    output.say(&format!("note: {diagnostic}"));
                }
                output.data(&assembled.prompt)?;
            }
        }
        Ok(Exit::Done)
    }
}
