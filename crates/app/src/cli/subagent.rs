//! `convoke subagent`: the prompt of a subagent on one task.

use convoke_domain::pin::before_prompt;
use convoke_domain::scope::AgentName;
use convoke_domain::skill::SkillId;
use convoke_domain::subagent::SubagentRole;
use convoke_domain::task::deed::{DeedKind, DeedRole};
use convoke_domain::task::id::TaskId;
use convoke_engine::subagent::assemble;
use convoke_store::deed::NewDeed;
use serde::Serialize;

use crate::app::{App, Format};
use crate::cli::lane::PinArgs;
use crate::clock::now;
use crate::config::wake::settings;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused, speaker};
use convoke_service::lane::PinnedRules;
use convoke_service::wake::{library, sources};

/// Print the prompt of a subagent: its own task, and nothing of the orchestrator's
///
/// Convoke records that you dispatched it; your next wake-up says so.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its part, such as `implementer` or `spec-reviewer`
    #[arg(value_parser = SubagentRole::parse)]
    role: SubagentRole,

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

    /// Who dispatches it [default: `CONVOKE_AGENT`, else the agent of the client's session, else human]
    #[arg(long = "as", value_name = "AGENT", value_parser = AgentName::parse)]
    actor: Option<AgentName>,

    #[command(flatten)]
    rules: PinArgs,
}

impl Args {
    /// Records the dispatch, so that the next wake-up tells the dispatching agent of it.
    fn record(&self, app: &App, workspace: &Workspace) -> Result<(), Failure> {
        let actor = speaker(self.actor.as_ref(), app)?;
        let role = DeedRole::parse(self.role.as_str())
            .map_err(|error| Failure::new(ErrorClass::Usage, error))?;
        let deed = NewDeed {
            task: &self.task,
            kind: if self.role.is_implementer() { DeedKind::Work } else { DeedKind::Dispatched },
            role: &role,
            actor: &actor,
            reason: None,
            message_id: None,
            run: None,
        };
        let Workspace { store, scope } = workspace;
        store.record_deed(scope, &deed, now()).map(drop).map_err(refused)
    }
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
        let mut assembled = assembled.map_err(refused)?;
        if self.rules.rules() == PinnedRules::Before {
            let pins = workspace.store.pins(&workspace.scope, now()).map_err(refused)?;
            assembled.prompt = before_prompt(&pins, &assembled.prompt);
        }
        self.record(app, &workspace)?;
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
