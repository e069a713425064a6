//! The next round of a role: decided, made, and remembered.
//!
//! What is remembered lives in the store, one row for each round; the file beside the feature is a
//! copy for people. Whatever two writes a crash falls between, asking for the same round again finds
//! what came before it and decides alike.

use std::io;
use std::path::{Path, PathBuf};

use convoke_domain::dispatch::history::fallback;
use convoke_domain::dispatch::rate::Mode;
use convoke_domain::dispatch::resume::{
    Decision, Delta, Fresh, GuardBase, ResumeState, Situation, decide,
};
use convoke_domain::dispatch::resumed_prompt::{self, Wording};
use convoke_domain::dispatch::role::Form;
use convoke_domain::scope::Scope;
use convoke_domain::text::Text;
use convoke_store::Store;
use convoke_store::dispatch::{Post, Round};
use convoke_store::error::StoreError;
use serde_json::{Map, json};

use super::feature::Feature;
use super::{Dispatch, DispatchError, Order, assemble, review_history};
use crate::file;
use crate::git::diff::{Changes, Committed, changes_since, commit, head};

/// The copy of what is remembered, in the feature's folder.
pub const STATE_FILE: &str = ".resume-state.json";

/// What the next round depends on, beside the prompt of a fresh one.
#[derive(Debug, Clone, Copy)]
pub struct NextRequest<'a> {
    /// What a fresh dispatch would be made of.
    pub order: Order<'a>,
    /// Whether it is the final validation.
    pub is_final: bool,
    /// The session of the round before, if it is known only now.
    pub agent_id: Option<&'a str>,
    /// What went wrong when the session was resumed for this round.
    pub resume_error: Option<&'a str>,
    /// What was done about the issues.
    pub summary: &'a str,
    /// Whether what changed is committed first.
    pub commits: bool,
    /// What a delta is measured against.
    pub guard_base: GuardBase,
    /// How a resumed session is spoken to.
    pub wording: Wording,
}

/// A round, ready to be dispatched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// What was decided.
    pub decision: Decision,
    /// The text.
    pub prompt: String,
    /// How long a fresh start's prompt is, in characters.
    pub fresh_chars: u64,
    /// How much changed, in characters; `None` if nothing can be told.
    pub delta_chars: Option<u64>,
    /// What that is measured against.
    pub base_chars: u64,
    /// What came of committing, if it was asked for.
    pub committed: Option<Committed>,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
}

/// A round that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum NextError {
    /// A document that it needs gives no text.
    #[error(transparent)]
    Document(#[from] DispatchError),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of the feature cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Decides and makes the next round, and remembers it.
pub fn next(
    store: &dyn Store,
    scope: &Scope,
    project: &Path,
    feature: &Feature,
    request: &NextRequest<'_>,
) -> Result<Next, NextError> {
    let order = &request.order;
    let (name, iteration) = (feature.name(), order.iteration.number);
    let post = Post { feature: &name, role: &order.role.name.role };
    if let Some(agent) = request.agent_id {
        store.name_session(scope, post, iteration, agent)?;
    }
    let before = store.round_before(scope, post, iteration)?;
    let paths = watched(feature, request);
    let committed = request.commits.then(|| {
        let message =
            format!("{}: {} after round {}", name, post.role, iteration.saturating_sub(1));
        commit(project, &message, &paths)
    });
    let changes = changes(project, before.as_ref(), &paths);
    let fresh = assemble(feature, project, order)?;
    let state = before.as_ref().map(|round| &round.state);
    let first = state.map_or(chars(&fresh.prompt), |state| state.iteration1_prompt_length);
    let base_chars = request.guard_base.chars(first, fresh.artifact_chars);
    let decision = decide(&Situation {
        iteration,
        is_final: request.is_final,
        resumes: order.role.resumes,
        disabled: feature.meta.resume_deferred.as_deref(),
        state,
        delta: delta(changes.as_ref(), committed.as_ref()),
        base: base_chars,
        resume_error: request.resume_error,
    });
    let prompt = made(feature, project, request, &decision, &fresh, changes.as_ref())?;
    let round = remembered(&decision, &prompt, first, iteration, head(project));
    store.keep_round(scope, post, &round)?;
    log(feature, post.role, iteration, &decision)?;
    write_state(store, scope, feature)?;
    Ok(Next {
        decision,
        fresh_chars: chars(&fresh.prompt),
        delta_chars: changes.map(|changes| changed_chars(&changes)),
        base_chars,
        committed,
        diagnostics: fresh.diagnostics,
        prompt,
    })
}

/// What a role looks at: its document, all of the feature's, or the whole project.
fn watched(feature: &Feature, request: &NextRequest<'_>) -> Vec<PathBuf> {
    let role = request.order.role;
    match (&role.target, role.takes_files) {
        (Some(target), _) => vec![feature.dir.join(target.file())],
        (None, true) => vec![PathBuf::from(".")],
        (None, false) => vec![feature.dir.clone()],
    }
}

fn changes(project: &Path, before: Option<&Round>, paths: &[PathBuf]) -> Option<Changes> {
    changes_since(project, before?.state.last_commit_sha.as_deref()?, paths)
}

fn delta(changes: Option<&Changes>, committed: Option<&Committed>) -> Delta {
    match (changes, committed) {
        (_, Some(Committed::Failed(_))) => Delta::CommitFailed,
        (None, _) => Delta::Unavailable,
        (Some(changes), _) if changes.is_empty() => Delta::NoChanges,
        (Some(changes), _) => Delta::Changed(changed_chars(changes)),
    }
}

fn chars(text: &str) -> u64 {
    Text::new(text).chars() as u64
}

fn changed_chars(changes: &Changes) -> u64 {
    chars(&changes.stat) + chars(&changes.diff)
}

/// Makes the prompt that was decided for.
fn made(
    feature: &Feature,
    project: &Path,
    request: &NextRequest<'_>,
    decision: &Decision,
    fresh: &Dispatch,
    changes: Option<&Changes>,
) -> Result<String, DispatchError> {
    let order = &request.order;
    if decision.is_noted() {
        let mut noted = *order;
        noted.iteration.session_lost = true;
        return Ok(assemble(feature, project, &noted)?.prompt);
    }
    let (Decision::Resume { .. }, Some(changes)) = (decision, changes) else {
        return Ok(fresh.prompt.clone());
    };
    if order.role.form == Form::Fix {
        let issues = order.iteration.issues;
        return Ok(resumed_prompt::fix(issues, &changes.files, order.files));
    }
    // Of one document the numbers say nothing.
    let stat = if order.role.takes_files { changes.stat.as_str() } else { "" };
    let parts = resumed_prompt::Parts {
        iteration: order.iteration.number,
        max: order.iteration.max,
        summary: request.summary,
        stat,
        diff: &changes.diff,
        returns: order.returns,
    };
    Ok(if request.is_final {
        resumed_prompt::final_validation(&parts)
    } else {
        resumed_prompt::review(&parts, request.wording)
    })
}

fn remembered(
    decision: &Decision,
    prompt: &str,
    first: u64,
    iteration: u32,
    head: Option<String>,
) -> Round {
    let (mode, agent_id) = match decision {
        Decision::Resume { agent_id } => (Mode::Resume, Some(agent_id.clone())),
        Decision::Fresh { reason: Fresh::ResumeFailed | Fresh::AgentLost, .. } => {
            (Mode::Fallback, None)
        }
        Decision::Fresh { .. } => (Mode::Fresh, None),
    };
    let state = ResumeState {
        agent_id,
        iteration1_prompt_length: first,
        last_iteration: iteration,
        last_commit_sha: head,
    };
    Round { mode, prompt_chars: chars(prompt), state }
}

fn log(
    feature: &Feature,
    role: &str,
    iteration: u32,
    decision: &Decision,
) -> Result<(), NextError> {
    let Decision::Fresh { log: Some(reason), .. } = decision else { return Ok(()) };
    let line = fallback(role, iteration, reason);
    review_history::append(&feature.dir, &line).map_err(|source| {
        let path = feature.dir.join(convoke_domain::dispatch::history::FILE);
        NextError::Write { path, source }
    })
}

/// Writes what is remembered of a feature's roles beside it; nothing remembered is no file.
pub fn write_state(store: &dyn Store, scope: &Scope, feature: &Feature) -> Result<(), NextError> {
    let path = feature.dir.join(STATE_FILE);
    let rounds = store.rounds(scope, &feature.name())?;
    let mut roles = Map::new();
    for (role, Round { state, .. }) in rounds {
        let state = json!({
            "agent_id": state.agent_id,
            "iteration1_prompt_length": state.iteration1_prompt_length,
            "last_iteration": state.last_iteration,
            "last_commit_sha": state.last_commit_sha,
        });
        roles.insert(role, state);
    }
    let written = if roles.is_empty() {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    } else {
        let text = serde_json::to_string_pretty(&roles).unwrap_or_default() + "\n";
        file::replace(&path, &text)
    };
    written.map_err(|source| NextError::Write { path, source })
}
