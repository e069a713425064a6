//! Notices of a design in progress, as facts. [`super::render`] makes lines of them.

use std::sync::Arc;

use super::board::Board;
use super::outline::{DesignPlan, ReviewResult, Synthesis, Voice, VotedReview};
use super::progress::{Saved, Step};
use super::resolution::Resolution;

/// Something that a design tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A step begins.
    StepBegins {
        /// The step.
        step: Step,
        /// A fact known from the start, such as a branch that is kept.
        with: Option<String>,
    },
    /// A step, or a part of it, is done.
    StepDone {
        /// The step.
        step: Step,
        /// The work that was done.
        what: String,
        /// How long the step has taken.
        seconds: u64,
    },
    /// A step, or a part of it, has nothing to do.
    StepSkipped {
        /// The step.
        step: Step,
        /// The reason.
        why: String,
        /// How long the step has taken.
        seconds: u64,
    },
    /// An artifact is saved. Another workflow shows its text.
    ArtifactSaved {
        /// The artifact.
        saved: Saved,
        /// How long the step has taken.
        seconds: u64,
    },
    /// An artifact as it was then, below its heading.
    Artifact(ToldArtifact),
    /// How voters decided.
    Tally(ReviewResult),
    /// Which agents have answered so far, and for which seats.
    Independence(Vec<Voice>),
    /// The states of a phase's lanes; the next such notice replaces it where the output allows
    /// that.
    LaneBoard(Board),
    /// Something is not as it should be. A run that ends with such notices is degraded.
    Warning(String),
    /// An earlier warning, repeated. It does not count again.
    Reminder(String),
    /// Anything else that is worth a line.
    Words(String),
}

/// An artifact at the time of its notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToldArtifact {
    /// The synthesis of the sketches.
    Synthesis(Arc<Synthesis>),
    /// How the debates ended.
    Resolutions(Vec<Resolution>),
    /// The plan.
    Plan(DesignPlan),
    /// The plan after a revision.
    RevisedPlan(DesignPlan),
    /// The tally of votes, with every reviewer's score.
    Tally(ReviewResult),
    /// The findings that voters accepted.
    Accepted(Arc<VotedReview>),
    /// The findings that voters did not accept.
    Rejected(Arc<VotedReview>),
    /// The observations out of scope that voters did not accept.
    Declined(Arc<VotedReview>),
    /// Every observation out of scope that may be shown.
    OutOfScope(Arc<VotedReview>),
    /// The diagram, as one fence.
    Diagram(String),
}

/// All notices of a design: those shown, and all warnings, shown or not.
#[derive(Debug, Clone, Default)]
pub(super) struct NoticeLog {
    pub(super) shown: Vec<Notice>,
    pub(super) warnings: Vec<String>,
}

/// A place in a log. Later notices can be removed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LogMark {
    shown: usize,
    warnings: usize,
}

impl NoticeLog {
    /// Returns where the log ends.
    pub(super) const fn mark(&self) -> LogMark {
        LogMark { shown: self.shown.len(), warnings: self.warnings.len() }
    }

    /// Removes all notices after a mark.
    pub(super) fn rewind(&mut self, mark: LogMark) {
        self.shown.truncate(mark.shown);
        self.warnings.truncate(mark.warnings);
    }
}
