//! The prompt of a subagent on one task.

use convoke_domain::pin::before_prompt;
use convoke_domain::scope::AgentName;
use convoke_domain::skill::SkillId;
use convoke_domain::subagent::SubagentRole;
use convoke_domain::task::deed::{DeedKind, DeedRole};
use convoke_domain::task::id::TaskId;
use convoke_engine::subagent::assemble;
use convoke_store::deed::NewDeed;
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::lane::PinnedRules;
use crate::person::refuse_judge;
use crate::session::Session;
use crate::settings::wake::settings;
use crate::wake::{library, sources};
use crate::workspace::{Workspace, refused, speaker};

/// A request to dispatch a subagent.
#[derive(Debug, Clone)]
pub struct SubagentRequest {
    /// Its part, such as `implementer`.
    pub role: SubagentRole,
    /// The task's id.
    pub task: TaskId,
    /// The orchestrator's addition.
    pub context: Option<String>,
    /// The skill whose folder holds the roles' templates.
    pub templates: SkillId,
    /// The agent that dispatches it; without it, the agent of the environment or session, else the
    /// person.
    pub actor: Option<AgentName>,
    /// Whether the user's pinned rules go before the prompt.
    pub rules: PinnedRules,
}

/// The prompt for a subagent.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubagentReport {
    /// The full prompt.
    pub prompt: String,
    /// The subagent's part.
    pub role: String,
    /// The task's id.
    pub task: String,
    /// Remarks, in words.
    pub diagnostics: Vec<String>,
}

/// Assembles the prompt of a subagent, and records that it was dispatched: the orchestrator's next
/// wake-up shows it.
pub fn dispatch_subagent(
    session: &Session,
    request: &SubagentRequest,
) -> Result<SubagentReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    let settings = settings(session)?;
    let library = library(session, &settings);
    let sources = sources(session, &workspace, &settings, &library);
    let SubagentRequest { role, task, context, templates, .. } = request;
    let assembled = assemble(&sources, role, task, templates, context.as_deref());
    let mut assembled = assembled.map_err(refused)?;
    if request.rules == PinnedRules::Before {
        let pins = workspace.store.pins(&workspace.scope, session.now()).map_err(refused)?;
        assembled.prompt = before_prompt(&pins, &assembled.prompt);
    }
    record(session, &workspace, request)?;
    Ok(SubagentReport {
        prompt: assembled.prompt,
        role: role.as_str().to_owned(),
        task: assembled.task.as_str().to_owned(),
        diagnostics: assembled.diagnostics,
    })
}

fn record(
    session: &Session,
    workspace: &Workspace,
    request: &SubagentRequest,
) -> Result<(), Failure> {
    let actor = speaker(request.actor.as_ref(), session)?;
    let role = DeedRole::parse(request.role.as_str())
        .map_err(|error| Failure::new(ErrorClass::Usage, error))?;
    refuse_judge(session, &role)?;
    let is_work = request.role.is_implementer();
    let deed = NewDeed {
        task: &request.task,
        kind: if is_work { DeedKind::Work } else { DeedKind::Dispatched },
        role: &role,
        actor: &actor,
        reason: None,
        message_id: None,
        run: None,
    };
    let Workspace { store, scope } = workspace;
    store.record_deed(scope, &deed, session.now()).map(drop).map_err(refused)
}
