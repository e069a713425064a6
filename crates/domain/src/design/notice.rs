//! Notices of a design in progress, as facts. [`super::render`] makes lines of them.

use std::sync::Arc;

use super::board::Board;
use super::discussion::{InterviewDecision, Round};
use super::matter::{MatterId, MatterVerdict, Ruling};
use super::outline::{DesignPlan, ReviewResult, Synthesis, Voice, VotedReview};
use super::progress::{Saved, Step};
use super::resolution::Resolution;
use super::settled::NotAsked;
use super::setup::note::SetUpNote;
use super::voting_block::Poll;
use super::warning::DesignWarning;

/// Something that a design tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The run begins a step.
    StepBegins {
        /// The step that begins.
        step: Step,
        /// A fact known from the start, such as a branch that is kept.
        with: Option<String>,
    },
    /// A step, or a part of it, is done.
    StepDone {
        /// The step that is done, or a part of it.
        step: Step,
        /// The work that was done.
        what: String,
        /// How long the step has taken.
        seconds: u64,
    },
    /// A round of questions is over.
    DecisionsResolved {
        /// The step that asked the questions.
        step: Step,
        /// How many decisions the round settled.
        count: usize,
        /// How long the step has taken.
        seconds: u64,
    },
    /// A step, or a part of it, has nothing to do.
    StepSkipped {
        /// The step that has nothing to do.
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
    Warning(DesignWarning),
    /// An earlier warning, repeated. It does not count again.
    Reminder(DesignWarning),
    /// Anything else that is worth a line.
    Note(DesignNote),
}

/// A fact that is worth a line, and is neither a result nor a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DesignNote {
    /// Setting up found something that the user should know.
    SetUp(SetUpNote),
    /// A line of the reason why the design may not begin.
    Refused(String),
    /// Every answer of the run was recorded.
    Rehearsal,
    /// A person resumed the run, and Convoke asks again those who failed.
    AsksAgain {
        /// Why the run had ended.
        why: String,
    },
    /// All sketches agree on these decisions, so no agent debates them.
    Agreed {
        /// The titles of the decisions.
        titles: Vec<String>,
    },
    /// Convoke did not ask some voters or judges: no vote of theirs could change a result.
    NotAsked(Poll, NotAsked),
    /// The plan cites places that are not as it says.
    PlanCitations {
        /// The places with what is wrong, on one line.
        places: String,
    },
    /// The chair has more questions than the first round asks; the next round asks the rest.
    MoreQuestions(usize),
    /// The code answers a question of the chair, so Convoke asks no person.
    AnsweredByCode(Round, InterviewDecision),
    /// Convoke asks no person the remaining questions of a round.
    Deferred(Round),
    /// Convoke left something out of an answer of the chair.
    LeftOut {
        /// What the chair was to write.
        noun: &'static str,
        /// What is missing of its answer, in words.
        asides: Vec<String>,
    },
    /// Convoke kept the chair's plan with these changes.
    ChangedPlan(String),
    /// The process for the heavy part failed.
    WorkerFailed {
        /// Why, in a word.
        why: String,
        /// The folder that it left.
        folder: String,
    },
    /// The diagram of the process for the heavy part has a form that is not allowed.
    DiagramRejected,
    /// The process for the heavy part made no diagram.
    DiagramMissing,
    /// Voters accepted all findings of the review.
    NothingRejected,
    /// Voters accepted no finding of the review.
    AllRejected,
    /// A voter wrote something after its votes that changes none of them.
    AfterVotes {
        /// The voter, such as `Codex voter`.
        who: String,
        /// What the voter wrote, as it is quoted.
        words: String,
    },
    /// The workflow that asked did not get the files.
    NotExported {
        /// The folder that still holds them.
        folder: String,
    },
    /// The workflow that asked did not get the files that a person's decision changed.
    NotExportedAgain {
        /// The reason of the last attempt.
        why: String,
        /// How long the step has taken.
        seconds: u64,
    },
    /// Findings that published files leave out, because they may be about security.
    Withheld {
        /// All of them.
        findings: Vec<MatterId>,
        /// How many of them voters accepted.
        accepted: usize,
    },
    /// Matters that the panel leaves to a person, and how it ended on each.
    Undecided(Vec<(MatterId, MatterVerdict)>),
    /// A person decided a matter.
    Ruled {
        /// The decision.
        ruling: Ruling,
        /// Whether its reason may be shown.
        reason: ReasonDisplay,
    },
    /// A person changed a decision before any agent acted on it.
    RulingChanged {
        /// The decision that no agent acted on.
        before: Ruling,
        /// The decision that holds.
        after: Ruling,
    },
}

/// Whether the reason of a decision may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonDisplay {
    /// It may.
    Shown,
    /// It is about a finding that is withheld from published files.
    Withheld,
}

/// An artifact at the time of its notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToldArtifact {
    /// The synthesis of the sketches.
    Synthesis(Arc<Synthesis>),
    /// How the debates ended.
    Resolutions(Vec<Resolution>),
    /// The first plan, before its review.
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
    pub(super) warnings: Vec<DesignWarning>,
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
