//! `convoke dispatch next`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use convoke_domain::dispatch::resume::ResumeDecision;
use convoke_domain::dispatch::role::{DispatchRole, Proof};
use convoke_domain::dispatch::savings::resumed_loop_per_mille;
use convoke_domain::text::Text;
use convoke_engine::dispatch::feature::Feature;
use convoke_engine::dispatch::next::{Next, NextRequest, next};
use convoke_engine::dispatch::{DispatchError, assemble};
use convoke_engine::git::diff::Committed;
use convoke_engine::lane::agent_ref::AgentRef;
use serde::Serialize;

use super::deed::{Dispatched, kind_of};
use super::materials::MaterialArgs;
use super::prompt::say_remarks;
use super::reading::requires_proof;
use super::{PostArgs, gate, next_failed, no_files, read};
use crate::app::{App, Format};
use crate::config::dispatch::{ChangedBy, settings};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, Voice};
use crate::workspace::Workspace;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct NextArgs {
    #[command(flatten)]
    pub(super) post: PostArgs,

    #[command(flatten)]
    pub(super) materials: MaterialArgs,

    /// The session of the round before
    #[arg(long, value_name = "ID")]
    pub(super) agent: Option<String>,

    /// What was done about the issues
    #[arg(long, value_name = "FILE")]
    pub(super) summary: Option<PathBuf>,

    /// Commit what changed first: the document under review, or everything
    #[arg(long)]
    pub(super) commit: bool,

    /// This is the final validation of a role that has passed before
    #[arg(long = "final")]
    pub(super) is_final: bool,

    /// Resuming for this round was tried, and this went wrong
    #[arg(long, value_name = "TEXT")]
    pub(super) resume_failed: Option<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    role: String,
    feature: String,
    iteration: u32,
    action: &'static str,
    reason: &'static str,
    agent_id: Option<&'a str>,
    prompt: &'a str,
    chars: usize,
    fresh_chars: u64,
    delta_chars: Option<u64>,
    base_chars: u64,
    committed: Option<String>,
    /// Whether this prompt is shorter than a fresh one, which resuming is for.
    is_shorter: bool,
    /// What five rounds cost that go on like this, in tenths of a percent of five fresh ones.
    loop_per_mille: Option<u64>,
    /// What committed files change of the role.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    role_changed_by: ChangedBy,
    diagnostics: &'a [String],
}

/// A round that was decided and remembered.
pub(super) struct Decided {
    pub(super) role: DispatchRole,
    pub(super) feature: Feature,
    pub(super) made: Next,
    /// How the role is to answer.
    pub(super) returns: String,
}

impl NextArgs {
    /// Decides the round, makes its prompt and remembers it. A client that is known has to have
    /// passed its gate before anything is resumed.
    pub(super) fn decide(&self, app: &App, client: Option<&AgentRef>) -> Result<Decided, Failure> {
        let settings = settings(app)?;
        let (role, feature) = self.post.find(app, &settings)?;
        let materials = self.materials.read(app, &settings, &role)?;
        let summary = self.summary.as_ref().map(|path| read(path)).transpose()?.unwrap_or_default();
        let Workspace { store, scope } = Workspace::open(app, None)?;
        let request = NextRequest {
            order: materials.order(&role),
            is_final: self.is_final,
            agent_id: self.agent.as_deref(),
            resume_error: self.resume_failed.as_deref(),
            gate_open: match client {
                Some(client) if self.materials.iteration > 1 && role.resumes => {
                    gate::is_passed(client, app, &store)?
                }
                Some(_) | None => true,
            },
            summary: &summary,
            commits: self.commit,
            guard_base: settings.guard_base,
            wording: settings.resume_text,
        };
        let made = next(&store, &scope, &app.project, &feature, &request).map_err(next_failed)?;
        Ok(Decided { role, feature, made, returns: materials.returns })
    }

    /// Checks everything that can be checked before an agent is paid: the role, its feature, every
    /// file that its prompt is made of or names, and that its reading can be proven if it must be.
    pub(super) fn check(&self, app: &App, proof: Proof) -> Result<DispatchRole, Failure> {
        let settings = settings(app)?;
        let (role, feature) = self.post.find(app, &settings)?;
        let materials = self.materials.read(app, &settings, &role)?;
        let made = assemble(&feature, &app.project, &materials.order(&role));
        let references = made.map_err(not_assembled)?.references;
        requires_proof(&role, proof, &references)?;
        Ok(role)
    }

    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        self.post.say_changes(app, output)?;
        let Decided { role, feature, made, .. } = self.decide(app, None)?;
        Dispatched { app, role: &role.name, task: None }
            .record_start(kind_of(&role), &Voice::default());
        let chars = Text::new(&made.prompt).chars();
        let report = Report {
            role: role.name.to_string(),
            feature: feature.dir.display().to_string(),
            iteration: self.materials.iteration,
            action: action(&made.decision),
            reason: reason(&made.decision, self.is_final),
            agent_id: agent_id(&made.decision),
            prompt: &made.prompt,
            chars,
            fresh_chars: made.fresh_chars,
            delta_chars: made.delta_chars,
            base_chars: made.base_chars,
            committed: made.committed.as_ref().map(committed),
            is_shorter: (chars as u64) < made.fresh_chars,
            loop_per_mille: agent_id(&made.decision)
                .and_then(|_| resumed_loop_per_mille(made.fresh_chars, chars as u64, 5)),
            role_changed_by: settings(app)?.changed_by(&role.name),
            diagnostics: &made.diagnostics,
        };
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                say_remarks(app, &made.diagnostics, output);
                output.say(&sentence(&report, &made));
                output.data(&made.prompt)?;
            }
        }
        Ok(Exit::Done)
    }
}

fn not_assembled(error: DispatchError) -> Failure {
    match error {
        DispatchError::Files(error) => no_files(error),
        error @ (DispatchError::NoTarget { .. } | DispatchError::Unreadable { .. }) => {
            Failure::new(Exit::Surroundings, error)
        }
    }
}

fn sentence(report: &Report<'_>, made: &Next) -> String {
    let committed = report.committed.as_ref().map_or(String::new(), |it| format!("; {it}"));
    match (&made.decision, report.delta_chars) {
        (ResumeDecision::Resume { agent_id }, Some(delta)) if report.reason == "final_round" => {
            format!("resume {agent_id}: the final round, {delta} characters changed{committed}")
        }
        (ResumeDecision::Resume { agent_id }, Some(delta)) => format!(
            "resume {agent_id}: {delta} characters changed, of {} at most{committed}",
            report.base_chars / 2
        ),
        (ResumeDecision::Resume { agent_id }, None) => format!("resume {agent_id}{committed}"),
        (ResumeDecision::Fresh { .. }, _) => format!("fresh: {}{committed}", report.reason),
    }
}

const fn action(decision: &ResumeDecision) -> &'static str {
    match decision {
        ResumeDecision::Fresh { .. } => "fresh",
        ResumeDecision::Resume { .. } => "resume",
    }
}

const fn reason(decision: &ResumeDecision, is_final: bool) -> &'static str {
    match decision {
        ResumeDecision::Fresh { reason, .. } => reason.name(),
        ResumeDecision::Resume { .. } if is_final => "final_round",
        ResumeDecision::Resume { .. } => "within_guard",
    }
}

fn agent_id(decision: &ResumeDecision) -> Option<&str> {
    match decision {
        ResumeDecision::Fresh { .. } => None,
        ResumeDecision::Resume { agent_id } => Some(agent_id),
    }
}

/// Says what came of committing, in the original's words.
fn committed(committed: &Committed) -> String {
    match committed {
        Committed::NoChanges => "NO_CHANGES".to_owned(),
        Committed::Done => "COMMIT_OK".to_owned(),
        Committed::Failed(why) => format!("COMMIT_FAILED ({why})"),
    }
}
