//! The next round: whether it is resumed or fresh, and its prompt.

use std::collections::BTreeMap;

use convoke_domain::dispatch::resume::ResumeDecision;
use convoke_domain::dispatch::role::Proof;
use convoke_domain::dispatch::savings::resumed_loop_per_mille;
use convoke_domain::text::Text;
use convoke_engine::dispatch::next::{NextRequest, NextRound, next};
use convoke_engine::dispatch::{DispatchError, assemble};
use convoke_engine::git::diff::CommitOutcome;
use convoke_engine::lane::agent_ref::AgentRef;
use serde::Serialize;

use super::deed::{Dispatched, PromptHandover, kind_of, with_rules};
use super::materials::{Materials, PromptMaterials};
use super::post::{FoundPost, PostName, say_changes};
use super::reading::requires_proof;
use super::{gate, next_failed, no_files};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::dispatch::{ChangedBy, settings};
use crate::workspace::Workspace;

/// A request for the next round.
#[derive(Debug, Clone)]
pub struct NextRoundRequest {
    /// The dispatched role.
    pub post: PostName,
    /// The materials of the prompt.
    pub materials: PromptMaterials,
    /// The session of the round before, if the store does not know it.
    pub agent: Option<String>,
    /// What the author did about the issues.
    pub summary: String,
    /// Whether to commit the changes first: the document under review, or everything.
    pub commits: bool,
    /// Whether this is the final validation of a role that has passed before.
    pub is_final: bool,
    /// Why resuming for this round failed.
    pub resume_failed: Option<String>,
}

/// A round that was decided and remembered.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextRoundReport {
    /// The role's name.
    pub role: String,
    /// The feature's folder.
    pub feature: String,
    /// The round, from one.
    pub iteration: u32,
    /// `fresh` or `resume`.
    pub action: &'static str,
    /// Why, as a word for programs.
    pub reason: &'static str,
    /// The resumed session.
    pub agent_id: Option<String>,
    /// The round's prompt.
    pub prompt: String,
    /// How long it is, in characters.
    pub chars: usize,
    /// How long a fresh start's prompt is without your rules, in characters.
    pub fresh_chars: u64,
    /// The size of the change, in characters; `None` if unknown.
    pub delta_chars: Option<u64>,
    /// The measure for the delta.
    pub base_chars: u64,
    /// The result of committing, in the original's words.
    pub committed: Option<String>,
    /// Whether this prompt is shorter than a fresh one, both without your rules; resuming is for that.
    pub is_shorter: bool,
    /// The cost of five such rounds, in tenths of a percent of five fresh ones.
    pub loop_per_mille: Option<u64>,
    /// The keys of the role that committed files change.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub role_changed_by: ChangedBy,
    /// Remarks.
    pub diagnostics: Vec<String>,
}

/// A round with all its inputs.
pub(super) struct RoundPlan<'a> {
    pub(super) post: &'a FoundPost<'a>,
    pub(super) materials: &'a Materials,
    pub(super) workspace: &'a Workspace,
    pub(super) request: &'a NextRoundRequest,
    /// Why resuming for this round failed.
    pub(super) resume_failed: Option<&'a str>,
    /// The client that runs it, if one is known: it must have passed its gate before Convoke
    /// resumes a session.
    pub(super) client: Option<&'a AgentRef>,
}

impl RoundPlan<'_> {
    /// Decides the round, makes its prompt and remembers it.
    pub(super) fn decide(&self) -> Result<NextRound, Failure> {
        let FoundPost { session, settings, role, feature } = self.post;
        let Workspace { store, scope } = self.workspace;
        let request = NextRequest {
            order: self.materials.order(role),
            is_final: self.request.is_final,
            agent_id: self.request.agent.as_deref(),
            resume_error: self.resume_failed,
            gate_open: match self.client {
                Some(client) if self.materials.iteration > 1 && role.resumes => {
                    gate::is_passed(client, session, &**store)?
                }
                Some(_) | None => true,
            },
            summary: &self.request.summary,
            commits: self.request.commits,
            guard_base: settings.guard_base,
            wording: settings.resume_text,
        };
        next(&**store, scope, &session.project, feature, &request).map_err(next_failed)
    }
}

/// Checks as much as possible before any cost: every file that its prompt quotes or names, and that
/// its reading can be proven if required.
pub(super) fn check_materials(
    post: &FoundPost<'_>,
    materials: &Materials,
    proof: Proof,
) -> Result<(), Failure> {
    let FoundPost { session, role, feature, .. } = post;
    let made = assemble(feature, &session.project, &materials.order(role));
    let references = made.map_err(not_assembled)?.references;
    requires_proof(role, proof, &references).map(drop)
}

/// Decides whether the next round is resumed or fresh, makes its prompt, and remembers it.
pub fn next_round(
    session: &Session,
    request: &NextRoundRequest,
    handover: &PromptHandover,
) -> Result<NextRoundReport, Failure> {
    let settings = settings(session)?;
    say_changes([&request.post.role], &settings, session);
    let post = request.post.find(session, &settings)?;
    let materials = request.materials.settle(&post)?;
    let workspace = Workspace::open(session, None)?;
    let (role, task) = (&post.role.name, handover.stored_task.as_ref());
    let dispatched = Dispatched { session, workspace: &workspace, role, task };
    dispatched.check()?;
    let plan = RoundPlan {
        post: &post,
        materials: &materials,
        workspace: &workspace,
        request,
        resume_failed: request.resume_failed.as_deref(),
        client: None,
    };
    let made = plan.decide()?;
    let FoundPost { role, feature, .. } = &post;
    dispatched.record_start(kind_of(role), &session.reporter());
    // Every prompt has the rules, resumed or fresh, so they say nothing about which is shorter.
    let bare_chars = Text::new(&made.prompt).chars() as u64;
    let prompt = with_rules(session, Some(&workspace), handover.rules, &made.prompt);
    Ok(NextRoundReport {
        role: role.name.to_string(),
        feature: feature.dir.display().to_string(),
        iteration: materials.iteration,
        action: action(&made.decision),
        reason: made.reason,
        agent_id: agent_id(&made.decision).map(str::to_owned),
        chars: Text::new(&prompt).chars(),
        fresh_chars: made.fresh_chars,
        delta_chars: made.delta_chars,
        base_chars: made.base_chars,
        committed: made.committed.as_ref().map(committed),
        is_shorter: bare_chars < made.fresh_chars,
        loop_per_mille: agent_id(&made.decision)
            .and_then(|_| resumed_loop_per_mille(made.fresh_chars, bare_chars, 5)),
        role_changed_by: settings.changed_by(&role.name),
        prompt,
        diagnostics: made.diagnostics,
    })
}

fn not_assembled(error: DispatchError) -> Failure {
    match error {
        DispatchError::Files(error) => no_files(error),
        error @ (DispatchError::NoTarget { .. } | DispatchError::Unreadable { .. }) => {
            Failure::new(ErrorClass::Prerequisite, error)
        }
    }
}

const fn action(decision: &ResumeDecision) -> &'static str {
    match decision {
        ResumeDecision::Fresh { .. } => "fresh",
        ResumeDecision::Resume { .. } => "resume",
    }
}

fn agent_id(decision: &ResumeDecision) -> Option<&str> {
    match decision {
        ResumeDecision::Fresh { .. } => None,
        ResumeDecision::Resume { agent_id } => Some(agent_id),
    }
}

/// Returns the result of committing, in the original's words.
fn committed(committed: &CommitOutcome) -> String {
    match committed {
        CommitOutcome::NoChanges => "NO_CHANGES".to_owned(),
        CommitOutcome::Done => "COMMIT_OK".to_owned(),
        CommitOutcome::Failed(why) => format!("COMMIT_FAILED ({why})"),
    }
}
