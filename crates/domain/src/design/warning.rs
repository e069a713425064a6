//! Warnings of a design, as facts. [`super::render`] makes sentences of them.

use super::absence::AbsenceWarning;
use super::anonymity::Leak;
use super::bucket::SkippedBucket;
use super::debate::DebateFault;
use super::event::Boundary;
use super::policy::Policy;
use super::seat::Side;
use crate::tree::{TreeEvidence, TreeStatus};

/// Something in a run that is not as it should be. A run that ends with a warning is degraded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DesignWarning {
    /// An agent does not take part.
    Absent(AbsenceWarning),
    /// The same, in the sentence of a journal from before journals held the reason.
    Unavailable(String),
    /// A seat did not answer as it should.
    Seat(SeatWarning),
    /// A decision was not debated or judged as it should be.
    Debate(DebateWarning),
    /// The chair did not write what it should.
    Chair(ChairWarning),
    /// The plan was not reviewed or voted on as it should be.
    Review(ReviewWarning),
    /// Something is odd about the votes of one voter or judge.
    Votes {
        /// The voter or judge, such as `Codex voter`.
        who: String,
        /// What is odd about them.
        oddity: VoteOddity,
    },
    /// The diagram has a form that is not allowed.
    DiagramRejected {
        /// The first reason, as a token.
        token: &'static str,
    },
    /// No agent drew a diagram.
    DiagramFailed {
        /// How long the step has taken.
        seconds: u64,
    },
    /// The working tree changed while agents could only read.
    TreeChanged {
        /// The state of the tree; never clean.
        status: TreeStatus,
        /// After which part of the run.
        boundary: Boundary,
        /// What changed.
        evidence: TreeEvidence,
    },
}

/// How a seat failed. `seat` is its label, `agent` and `host` are names, and `noun` says what it was
/// to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeatWarning {
    /// An answer was cut off, and its beginning counts.
    OnlyABeginning {
        /// The seat, by its label.
        seat: String,
        /// What the agent was to write.
        noun: &'static str,
        /// Why it failed.
        reason: String,
    },
    /// An agent missed the form twice. It keeps its later seats.
    MissedForm {
        /// The agent's name.
        agent: String,
        /// The agent that answers in its place.
        host: String,
        /// The seat, by its label.
        seat: String,
        /// What the agent was to write.
        noun: &'static str,
        /// Why it failed.
        reason: String,
    },
    /// An agent failed, and the host takes its seats from now on.
    Failed {
        /// The agent's name.
        agent: String,
        /// The agent that answers in its place.
        host: String,
        /// Why it failed.
        reason: String,
    },
    /// Even the host failed, so that the seat stays empty.
    Empty {
        /// The agent that answers in its place.
        host: String,
        /// The seat, by its label.
        seat: String,
        /// What the agent was to write.
        noun: &'static str,
        /// Why it failed.
        reason: String,
    },
}

/// Why a decision was not debated or judged as it should be; `decision` is its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DebateWarning {
    /// Decisions are not debated, because the agent of their bucket is unavailable.
    BucketSkipped(SkippedBucket),
    /// The agent on one side gave no answer.
    SideFailed {
        /// The agent's name.
        agent: String,
        /// The decision's number.
        decision: usize,
        /// The side that it was to defend.
        side: Side,
        /// Why it failed.
        reason: String,
    },
    /// There are no two usable sides.
    NoQuorum {
        /// The decision's number.
        decision: usize,
        /// What is wrong with a side.
        fault: DebateFault,
    },
    /// Both sides want the same.
    NoContest {
        /// The decision's title.
        title: String,
        /// What was chosen.
        chosen: String,
    },
    /// An agent's name was hidden from the judges.
    NameReplaced {
        /// The decision's number.
        decision: usize,
    },
    /// The judges could see whose side is whose.
    NotJudged {
        /// The decision's number.
        decision: usize,
        /// What shows it.
        leak: Leak,
    },
    /// A judge gave no answer; without a reason, none that can be read.
    JudgeFailed {
        /// The judge, by its label.
        judge: String,
        /// Why it failed.
        reason: String,
    },
    /// A judge's answer holds no vote.
    JudgeUnreadable {
        /// The judge, by its label.
        judge: String,
    },
}

/// How the chair failed. `agent` is a name, and `noun` the document that it was to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChairWarning {
    /// The agent gave no answer, and another one is the chair.
    Failed {
        /// The agent's name.
        agent: String,
        /// Why it failed.
        reason: String,
    },
    /// The agent missed the form twice, and another one is the chair.
    MissedForm {
        /// The agent's name.
        agent: String,
        /// What the agent was to write.
        noun: &'static str,
        /// What the document lacks.
        defects: Vec<String>,
    },
    /// A document is used although it is incomplete.
    Incomplete {
        /// What the agent was to write.
        noun: &'static str,
        /// What the document lacks.
        defects: Vec<String>,
    },
    /// No agent wrote a synthesis.
    NoSynthesis,
    /// No agent revised the plan.
    NotRevised,
    /// The plan stays as it was, for these findings or decisions.
    PlanUnchanged {
        /// Ids of findings or decisions, as a sentence lists them.
        ids: String,
    },
}

/// How the review or its vote failed. `seat` and `voter` are labels of seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewWarning {
    /// No agent reviewed the plan.
    NotReviewed,
    /// A reviewer found nothing, and then something: what counts, and what does not.
    SecondThoughts {
        /// The seat, by its label.
        seat: String,
        /// How many findings count.
        counted: usize,
        /// How many entries do not.
        passed_over: usize,
    },
    /// The chair put all findings together.
    OneGroup {
        /// How many there were.
        findings: usize,
    },
    /// A voter gave no answer, and these did.
    VoterFailed {
        /// The voter, by its label.
        voter: String,
        /// Why it failed.
        reason: String,
        /// The voters that answered.
        left: Vec<String>,
    },
    /// Fewer voters answered than a vote needs; the rules say what follows.
    TooFewVoters {
        /// How many answered.
        eligible: usize,
        /// The rules of the run.
        policy: Policy,
    },
}

/// What is odd about the votes of one voter or judge; `item` is the id of a finding or decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoteOddity {
    /// They are not between the marker lines.
    Unmarked,
    /// There are two on one item, and the first counts.
    Repeated {
        /// The id of the finding or decision.
        item: String,
    },
    /// There are contradictory ones on one item.
    Contradicted {
        /// The id of the finding or decision.
        item: String,
        /// Both votes.
        votes: [&'static str; 2],
    },
    /// One was withdrawn.
    Withdrawn {
        /// The id of the finding or decision.
        item: String,
    },
    /// One changed with the order of the ballot.
    Flipped {
        /// The id of the decision.
        item: String,
    },
    /// Words that follow them mention votes.
    AfterThem {
        /// The voter's words.
        words: String,
    },
    /// The voter disowned them in these words.
    Disowned {
        /// The voter's words.
        words: String,
    },
    /// The answer holds no vote.
    Missing,
    /// These lines look like votes and do not count.
    Near {
        /// The lines as the voter wrote them.
        lines: Vec<String>,
    },
}

impl VoteOddity {
    /// Returns the warning about a voter or judge.
    pub fn of(self, who: &str) -> DesignWarning {
        DesignWarning::Votes { who: who.to_owned(), oddity: self }
    }
}

impl From<SeatWarning> for DesignWarning {
    fn from(warning: SeatWarning) -> Self {
        Self::Seat(warning)
    }
}

impl From<DebateWarning> for DesignWarning {
    fn from(warning: DebateWarning) -> Self {
        Self::Debate(warning)
    }
}

impl From<ChairWarning> for DesignWarning {
    fn from(warning: ChairWarning) -> Self {
        Self::Chair(warning)
    }
}

impl From<ReviewWarning> for DesignWarning {
    fn from(warning: ReviewWarning) -> Self {
        Self::Review(warning)
    }
}
