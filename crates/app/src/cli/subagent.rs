//! `convoke subagent`: the prompt of a subagent on one task.

use convoke_domain::scope::AgentName;
use convoke_domain::skill::SkillId;
use convoke_domain::subagent::SubagentRole;
use convoke_domain::task::id::TaskId;
use convoke_service::failure::Failure;
use convoke_service::subagent::{SubagentRequest, dispatch_subagent};

use crate::app::{App, Format};
use crate::cli::lane::PinArgs;
use crate::exit::Exit;
use crate::output::Output;

/// Print a subagent's prompt: its own task and nothing else
///
/// Convoke records the dispatch, and your next wake-up mentions it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The subagent's role, such as `implementer` or `spec-reviewer`
    #[arg(value_parser = SubagentRole::parse)]
    role: SubagentRole,

    /// The task that the subagent works on
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    task: TaskId,

    /// Text that you add to the prompt
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

    /// The agent that dispatches it [default: `CONVOKE_AGENT`, else the agent of the client's
    /// session, else human]
    #[arg(long = "as", value_name = "AGENT", value_parser = AgentName::parse)]
    actor: Option<AgentName>,

    #[command(flatten)]
    rules: PinArgs,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let request = SubagentRequest {
            role: self.role.clone(),
            task: self.task.clone(),
            context: self.context.clone(),
            templates: self.templates.clone(),
            actor: self.actor.clone(),
            rules: self.rules.rules(),
        };
        let report = dispatch_subagent(&app.session, &request)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                for diagnostic in &report.diagnostics {
                    output.say(&format!("note: {diagnostic}"));
                }
                output.data(&report.prompt)?;
            }
        }
        Ok(Exit::Done)
    }
}
