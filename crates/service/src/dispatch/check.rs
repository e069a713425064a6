//! Checking an answer that the caller has.

use std::path::PathBuf;

use convoke_domain::client::Client;
use convoke_domain::dispatch::role::{PromptProfile, Proof};
use convoke_domain::task::id::TaskId;

use super::deed::Dispatched;
use super::judge::{AnswerKind, NoProof, Submission};
use super::materials::ChangedFiles;
use super::post::{PostName, say_changes};
use super::report::AnswerCheckReport;
use crate::failure::Failure;
use crate::session::Session;
use crate::settings::dispatch::settings;
use crate::workspace::Workspace;

/// A request to judge an answer.
#[derive(Debug, Clone)]
pub struct CheckRequest {
    /// The role that answered.
    pub post: PostName,
    /// Which prompt it answers.
    pub kind: AnswerKind,
    /// The profile of that prompt, instead of the settings' own.
    pub profile: Option<PromptProfile>,
    /// The round of the answer.
    pub iteration: u32,
    /// The answer; without it, the one in the record counts.
    pub answer: Option<String>,
    /// The client's own record of the session.
    pub record: Option<(Client, PathBuf)>,
    /// The session that answered, so that the next round can resume it.
    pub agent: Option<String>,
    /// The files that the role's prompt lists as changed.
    pub changed: ChangedFiles,
    /// How many tokens the answer cost; 0 means that nothing was resumed.
    pub tokens: Option<u64>,
    /// The stored task that the answer is about; it records the verdict.
    pub stored_task: Option<TaskId>,
    /// Whether an approval needs proof of reading.
    pub proof: Proof,
    /// Whether the judgement is written down.
    pub keeping: JudgementKeeping,
}

/// Whether a judgement is written to the review history and the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgementKeeping {
    /// It is.
    Kept,
    /// It is only returned.
    DryRun,
}

/// Judges an answer: what it confirms, what its client's record proves, and its verdict.
pub fn check_answer(
    session: &Session,
    request: &CheckRequest,
) -> Result<AnswerCheckReport, Failure> {
    let settings = settings(session)?;
    say_changes([&request.post.role], &settings, session);
    let post = request.post.find(session, &settings)?;
    let changed = match request.kind {
        AnswerKind::Round => request.changed.files(&post.role, session)?,
        AnswerKind::Task => Vec::new(),
    };
    let (workspace, reporter) = (Workspace::open(session, None)?, session.reporter());
    let (role, task) = (&post.role.name, request.stored_task.as_ref());
    let dispatched = Dispatched { session, workspace: &workspace, role, task };
    dispatched.check()?;
    let submission = Submission {
        post: &post,
        workspace: &workspace,
        kind: request.kind,
        profile: request.profile.unwrap_or(settings.profile),
        iteration: request.iteration,
        record: request.record.as_ref().map(|(client, path)| (*client, path.as_path())),
        no_proof: NoProof::Refused,
        answer: request.answer.as_deref(),
        again: None,
        tokens: request.tokens,
        changed: &changed,
        proof: request.proof,
    };
    let judged = submission.judge(&reporter)?;
    if request.keeping == JudgementKeeping::Kept {
        judged.keep(&workspace, request.agent.as_deref(), &reporter)?;
        dispatched.record_verdict(
            &judged,
            &format!("check, round {}", request.iteration),
            &reporter,
        );
        dispatched.note_unrecorded(&judged, "--stored-task", &reporter);
    }
    Ok(judged.report)
}
