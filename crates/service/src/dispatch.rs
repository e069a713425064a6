//! Dispatches: the prompt of one role on one feature, its rounds, and the judgement of its answers.

mod audit;
mod check;
mod deed;
mod gate;
mod init;
mod judge;
mod materials;
mod matrix;
mod next;
mod post;
mod prompt;
mod rate;
mod reading;
mod remark;
mod report;
mod reset;
mod review_loop;
mod roles;
mod run;
mod savings;
mod task;

use std::path::PathBuf;

use convoke_domain::dispatch::role::RoleName;
use convoke_domain::finding::Unreadable;
use convoke_engine::dispatch::next::NextError;
use convoke_engine::dispatch::role_files::RoleFilesError;

pub use self::audit::{AuditReport, PasteReport, audit_prompts};
pub use self::check::{CheckRequest, JudgementKeeping, check_answer};
pub use self::deed::PromptHandover;
pub use self::gate::{
    GateAnswers, GatePromptsReport, GateReport, GateTrial, gate_prompts, judge_gate, try_gate,
};
pub use self::init::{DispatchInitReport, init_dispatch};
pub use self::judge::AnswerKind;
pub use self::materials::{ChangedFiles, PromptMaterials, read_issues};
pub use self::matrix::{
    DispatchMatrixReport, FeatureMatrixReport, MatrixReceiptReport, MatrixReceiptState,
    MatrixRoundReport, dispatch_matrix,
};
pub use self::next::{NextRoundReport, NextRoundRequest, next_round};
pub use self::post::PostName;
pub(crate) use self::post::check_post;
pub use self::prompt::{
    ArtifactsReport, DispatchPromptReport, ReferenceReport, artifacts, fresh_prompt,
};
pub use self::rate::{
    DispatchRateReport, DispatchRateRow, HistoryRateReport, HistoryRateRow, history_rates,
    ledger_rates,
};
pub use self::remark::remark_words;
pub use self::report::{
    AmbiguityReport, AnswerCheckReport, ConfirmationReport, DispatchRoundReport, IssueWords,
    ReviewIssueReport, also_wrote_lines, issue_lines,
};
pub use self::reset::{ForgottenRoundsReport, forget_rounds};
pub use self::review_loop::{
    FinishedLoop, LoopAnswerReport, LoopCostReport, LoopFindingReport, ReviewLoopReport,
    ReviewLoopRequest, review_loop,
};
pub use self::roles::{DispatchRoleReport, roles};
pub use self::run::{FinishedRound, RunRoundRequest, run_round};
pub use self::savings::{
    DispatchCostReport, DispatchCostsReport, DispatchSavingsReport, RoleSavingsReport, savings,
};
pub use self::task::{TaskPromptReport, TaskPromptRequest, TaskSectionReport, task_prompt};
use crate::failure::{ErrorClass, Failure};
use crate::workspace::refused;

#[derive(Debug, thiserror::Error)]
enum DispatchFailure {
    #[error("cannot dispatch `{name}`: unknown role")]
    UnknownRole { name: RoleName },
    #[error("cannot dispatch `{name}`: unknown command")]
    UnknownCommand { name: RoleName },
    #[error("cannot dispatch `{name}`: it reads documents of a feature, and none is named")]
    NoFeature { name: RoleName },
    #[error("cannot read `{}`: there is no such file", path.display())]
    Absent { path: PathBuf },
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error("cannot take `{}` for {expected}", path.display())]
    Unexpected { path: PathBuf, expected: &'static str },
    #[error("cannot read the review by `{role}` that the store keeps")]
    KeptReview { role: String },
    #[error("cannot dismiss `{id}`: no reviewer of this loop found it")]
    NoFinding { id: String },
}

/// A role that requires a missing file is a mistake in the configuration or on the command line.
fn no_files(error: RoleFilesError) -> Failure {
    Failure::new(ErrorClass::Usage, error)
        .hint("`convoke dispatch roles` lists what each role reads")
}

fn next_failed(error: NextError) -> Failure {
    match error {
        NextError::Store(error) => refused(error),
        error @ (NextError::Document(_) | NextError::Write { .. }) => {
            Failure::new(ErrorClass::Prerequisite, error)
        }
    }
}
