//! The next round of a role: decides, renders and records it.
//!
//! The store keeps one row for each round; the file beside the feature is a copy for people. After
//! a crash between any two writes, a request for the same round finds the earlier rounds and
//! decides alike.

use std::io;
use std::path::{Path, PathBuf};

use convoke_domain::dispatch::artifact::FeatureArtifact;
use convoke_domain::dispatch::history::fallback;
use convoke_domain::dispatch::prompt::note;
use convoke_domain::dispatch::rate::DispatchMode;
use convoke_domain::dispatch::resume::{
    Delta, FreshReason, GuardBase, ResumeDecision, ResumeState, Situation, decide,
};
use convoke_domain::dispatch::resumed_prompt::{self, Wording};
use convoke_domain::dispatch::role::{DispatchRole, PromptForm};
use convoke_domain::scope::Scope;
use convoke_domain::text::Text;
use convoke_store::Store;
use convoke_store::dispatch::{DispatchPost, Round};
use convoke_store::error::StoreError;
use serde_json::{Map, json};

use super::feature::{Feature, FeatureNotes};
use super::{Dispatch, DispatchError, DispatchOrder, assemble, review_history};
use crate::file;
use crate::git::diff::{
    CommitOutcome, WatchedFiles, WorkTreeChanges, changes_since, commit, head, look,
};

/// How often a complete copy is tried.
const TRIES: usize = 20;

/// The copy of the recorded rounds, in the feature's folder.
pub const STATE_FILE: &str = ".resume-state.json";

/// The inputs of the next round, beside the prompt of a fresh one.
#[derive(Debug, Clone, Copy)]
pub struct NextRequest<'a> {
    /// The materials of a fresh dispatch.
    pub order: DispatchOrder<'a>,
    /// Whether it is the final validation.
    pub is_final: bool,
    /// The session of the round before, if it is known only now.
    pub agent_id: Option<&'a str>,
    /// The error when the session was resumed for this round.
    pub resume_error: Option<&'a str>,
    /// Whether the client that is to run it may resume, if one is known.
    pub gate_open: bool,
    /// What the author did about the issues.
    pub summary: &'a str,
    /// Whether what changed is committed first.
    pub commits: bool,
    /// The measure for a delta.
    pub guard_base: GuardBase,
    /// The wording of a resumed prompt.
    pub wording: Wording,
}

/// A round, ready to be dispatched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextRound {
    /// How the prompt is sent.
    pub decision: ResumeDecision,
    /// The prompt's text.
    pub prompt: String,
    /// How long a fresh start's prompt is, in characters.
    pub fresh_chars: u64,
    /// The size of the change, in characters; `None` if unknown.
    pub delta_chars: Option<u64>,
    /// The measure for the delta.
    pub base_chars: u64,
    /// The result of committing, if requested.
    pub committed: Option<CommitOutcome>,
    /// Why the session is resumed or not, as a word for programs.
    pub reason: &'static str,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
}

/// Why a round failed.
#[derive(Debug, thiserror::Error)]
pub enum NextError {
    /// A document that it needs gives no text.
    #[error(transparent)]
    Document(#[from] DispatchError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of the feature cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file's path.
        path: PathBuf,
        /// The system's message.
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
) -> Result<NextRound, NextError> {
    let order = &request.order;
    let (name, role, iteration) =
        (feature.name(), order.role.name.to_string(), order.iteration.number);
    let post = DispatchPost { feature: &name, role: &role };
    if let Some(agent) = request.agent_id {
        store.name_session(scope, post, iteration, agent)?;
    }
    let before = store.round_before(scope, post, iteration)?;
    // Everything that can fail runs before the first change.
    let fresh = assemble(feature, project, order)?;
    let watched = watched(feature, order.role, &fresh);
    let committed = request.commits.then(|| {
        let message = format!("{name}: {role} after round {}", iteration.saturating_sub(1));
        commit(project, &message, &watched)
    });
    let changes = before.as_ref().and_then(|round| changes(project, round, &watched));
    let state = before.as_ref().map(|round| &round.state);
    let first = state.map_or(chars(&fresh.prompt), |state| state.iteration1_prompt_length);
    let base_chars = request.guard_base.chars(first, fresh.artifact_chars);
    let delta_chars =
        changes.as_ref().map(|changes| sent_chars(changes, order.role, request.summary));
    let decision = decide(&Situation {
        iteration,
        is_final: request.is_final,
        resumes: order.role.resumes,
        disabled: feature.meta.resume_deferred.as_deref(),
        gate_open: request.gate_open,
        state,
        delta: delta(changes.as_ref(), delta_chars, committed.as_ref()),
        base: base_chars,
        resume_error: request.resume_error,
    });
    let prompt = made(feature, project, request, &decision, &fresh, changes.as_ref())?;
    let (reason, fresh_chars) = (reason(&decision, request), chars(&fresh.prompt));
    let round = Round {
        seen: look(project, &watched),
        reason: Some(reason.to_owned()),
        fresh_chars: Some(fresh_chars),
        ..remembered(&decision, &prompt, first, iteration, head(project))
    };
    let asked_before = store.round_before(scope, post, iteration.saturating_add(1))?;
    let is_repeated = asked_before.is_some_and(|before| {
        before.state.last_iteration == iteration && before.mode == round.mode
    });
    store.keep_round(scope, post, &round)?;
    let mut diagnostics = fresh.diagnostics;
    if !is_repeated && log(feature, &order.role.name.role, iteration, &decision).is_err() {
        diagnostics.push("review_history_not_written".to_owned());
    }
    write_state(store, scope, feature)?;
    Ok(NextRound {
        decision,
        prompt,
        fresh_chars,
        delta_chars,
        base_chars,
        committed,
        reason,
        diagnostics,
    })
}

const fn reason(decision: &ResumeDecision, request: &NextRequest<'_>) -> &'static str {
    match decision {
        ResumeDecision::Fresh { reason, .. } => reason.name(),
        ResumeDecision::Resume { .. } if request.is_final => "final_round",
        ResumeDecision::Resume { .. } => "within_guard",
    }
}

/// Returns the files that a role watches: its document, all its documents of the feature, or the
/// whole project.
fn watched(feature: &Feature, role: &DispatchRole, fresh: &Dispatch) -> WatchedFiles {
    let at = |artifact: &FeatureArtifact| feature.dir.join(artifact.file());
    let required = || {
        let of_project =
            fresh.references.iter().filter(|reference| !role.reads.contains(&reference.artifact));
        of_project.filter_map(|reference| reference.path.as_ref()).map(PathBuf::from)
    };
    match (&role.target, role.takes_files || role.reads_diff) {
        (_, true) if role.target.is_none() || role.reads_diff => WatchedFiles::Everything,
        (Some(target), _) => {
            WatchedFiles::Files([at(target)].into_iter().chain(required()).collect())
        }
        (None, _) => WatchedFiles::Files(role.reads.iter().map(at).chain(required()).collect()),
    }
}

/// Compares with the shown files, or with the commit of that time if git has discarded their tree.
fn changes(project: &Path, before: &Round, watched: &WatchedFiles) -> Option<WorkTreeChanges> {
    let since = |seen: &Option<String>| changes_since(project, seen.as_deref()?, watched);
    since(&before.seen).or_else(|| since(&before.state.last_commit_sha))
}

fn delta(
    changes: Option<&WorkTreeChanges>,
    chars: Option<u64>,
    committed: Option<&CommitOutcome>,
) -> Delta {
    match (changes, committed) {
        (_, Some(CommitOutcome::Failed(_))) => Delta::CommitFailed,
        (None, _) => Delta::Unavailable,
        (Some(changes), _) if changes.is_empty() => Delta::NoChanges,
        (Some(_), _) => Delta::Changed(chars.unwrap_or_default()),
    }
}

/// Of one document the numbers say nothing, so they are not sent.
fn sent_stat<'a>(changes: &'a WorkTreeChanges, role: &DispatchRole) -> &'a str {
    if role.takes_files { &changes.stat } else { "" }
}

/// Counts the text of a resumed prompt that is new to the session: the changes, and the summary of
/// fixes. An implementer receives no summary of its own work.
fn sent_chars(changes: &WorkTreeChanges, role: &DispatchRole, summary: &str) -> u64 {
    let summary =
        if role.form == PromptForm::Fix { "" } else { summary.trim_matches(['\r', '\n']) };
    chars(sent_stat(changes, role)) + chars(&changes.diff) + chars(summary)
}

fn chars(text: &str) -> u64 {
    Text::new(text).chars() as u64
}

/// Makes the prompt that was decided for.
fn made(
    feature: &Feature,
    project: &Path,
    request: &NextRequest<'_>,
    decision: &ResumeDecision,
    fresh: &Dispatch,
    changes: Option<&WorkTreeChanges>,
) -> Result<String, DispatchError> {
    let order = &request.order;
    if decision.is_noted() {
        let mut noted = *order;
        noted.iteration.note = Some(note(request.wording, order.role.form));
        return Ok(assemble(feature, project, &noted)?.prompt);
    }
    let (ResumeDecision::Resume { .. }, Some(changes)) = (decision, changes) else {
        return Ok(fresh.prompt.clone());
    };
    if order.role.form == PromptForm::Fix {
        let issues = order.iteration.issues;
        return Ok(resumed_prompt::fix(issues, &changes.files, order.files));
    }
    let stat = sent_stat(changes, order.role);
    let parts = resumed_prompt::ResumedPromptParts {
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
    decision: &ResumeDecision,
    prompt: &str,
    first: u64,
    iteration: u32,
    head: Option<String>,
) -> Round {
    let (mode, agent_id) = match decision {
        ResumeDecision::Resume { agent_id } => (DispatchMode::Resume, Some(agent_id.clone())),
        ResumeDecision::Fresh {
            reason: FreshReason::ResumeFailed | FreshReason::AgentLost,
            ..
        } => (DispatchMode::Fallback, None),
        ResumeDecision::Fresh { .. } => (DispatchMode::Fresh, None),
    };
    let state = ResumeState {
        agent_id,
        iteration1_prompt_length: first,
        last_iteration: iteration,
        last_commit_sha: head,
    };
    let prompt_chars = chars(prompt);
    Round { mode, prompt_chars, state, seen: None, reason: None, fresh_chars: None }
}

fn log(feature: &Feature, role: &str, iteration: u32, decision: &ResumeDecision) -> io::Result<()> {
    match decision {
        ResumeDecision::Fresh { log: Some(reason), .. } => {
            review_history::append(feature, &fallback(role, iteration, reason))
        }
        ResumeDecision::Fresh { log: None, .. } | ResumeDecision::Resume { .. } => Ok(()),
    }
}

/// Writes a copy of a feature's recorded rounds beside it, if the user wants one; without rounds,
/// no file.
pub fn write_state(store: &dyn Store, scope: &Scope, feature: &Feature) -> Result<(), NextError> {
    if feature.beside != FeatureNotes::HistoryAndState {
        return Ok(());
    }
    let path = feature.dir.join(STATE_FILE);
    let mut rounds = store.rounds(scope, &feature.name())?;
    // Others may write at the same time; the last writer must have seen everything.
    for _ in 0..TRIES {
        write_rounds(&path, &rounds)
            .map_err(|source| NextError::Write { path: path.clone(), source })?;
        let now = store.rounds(scope, &feature.name())?;
        if now == rounds {
            break;
        }
        rounds = now;
    }
    Ok(())
}

fn write_rounds(path: &Path, rounds: &[(String, Round)]) -> io::Result<()> {
    // A feature may have any author; its links must not lead Convoke elsewhere.
    if path.is_symlink() {
        return Err(io::Error::other("it is a symbolic link"));
    }
    if rounds.is_empty() {
        return match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        };
    }
    let mut roles = Map::new();
    for (role, Round { state, .. }) in rounds {
        let state = json!({
            "agent_id": state.agent_id,
            "iteration1_prompt_length": state.iteration1_prompt_length,
            "last_iteration": state.last_iteration,
            "last_commit_sha": state.last_commit_sha,
        });
        // People know roles by their names; of two that share one, the later command counts.
        let name = role.rsplit('/').next().unwrap_or(role);
        roles.insert(name.to_owned(), state);
    }
    let text = serde_json::to_string_pretty(&roles).unwrap_or_default() + "\n";
    file::replace(path, &text)
}
