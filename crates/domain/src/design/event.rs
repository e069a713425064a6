//! What happens to a design from outside. Everything else about it follows from these, in order.
//!
//! An event holds what no rule can know: what was asked for, how the surroundings were found, what
//! agents and people answered. It never holds what was made of it.

use std::sync::Arc;

use super::citation::{Citation, Missing};
use super::heavy::WorkerResult;
pub use super::lane_id::LaneId;
use super::matter::{MatterId, Ruling};
use super::policy::Policy;
use super::progress::Prefix;
pub use super::question_id::QuestionId;
use super::rules::RulesVersion;
use super::seat::{Available, Holder, Panel};
use super::setup::SetUp;
use super::setup::ground::{BranchRule, DirtyTree};
use super::sketch::SketchPanel;
use super::voting_block::{MarkerWord, Poll};
use crate::lane::budget::WrittenBudget;
use crate::lane::collected::CollectedStatus;
use crate::lane::event::Usage;

/// When something happened, in milliseconds since 1970.
pub type Millis = i64;

/// An event and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamped {
    /// When it happened.
    pub at: Millis,
    /// What happened.
    pub event: Event,
}

/// Something that happened to a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It was asked for. Always the first.
    Begun(Box<Settings>),
    /// The branch and the folder were found ready, or not.
    SetUp(Box<SetUp>),
    /// Agents were looked for and asked whether they are well.
    Probed {
        /// On what occasion.
        occasion: Occasion,
        /// What was found.
        health: Health,
    },
    /// A word was drawn for the marker lines of a ballot. Runs that began before there were any have
    /// no such event.
    WordDrawn(Poll, MarkerWord),
    /// A lane was started.
    LaneStarted(LaneId),
    /// A lane is over.
    LaneEnded(LaneId, Box<LaneEnd>),
    /// A person answered, or let the recommendation stand.
    Replied(QuestionId, Reply),
    /// The working tree was compared after agents had read in it.
    TreeChecked(Boundary, Tree),
    /// A person said what to do about a changed tree.
    TreeDecided(Boundary, Recovery),
    /// What reviewers cite was looked up; these citations are no evidence.
    CitationsChecked(Vec<(Citation, Missing)>),
    /// What may be spent is spent; no lane is started any more.
    BudgetReached(String),
    /// It was stopped, and can be resumed.
    Interrupted(String),
    /// It is resumed.
    Resumed,
    /// The process that did the heavy part ended.
    Worked {
        /// What is believed of it.
        worked: WorkerResult,
        /// The folder that keeps what was made.
        folder: String,
    },
    /// A person decided what the panel had not.
    Decided(Ruling),
    /// It was handed to the workflow that asked for it, or could not be.
    Exported(Export),
    /// It came to its end.
    Kept(Kept),
}

/// What a design ended with. The counts are missing where an earlier version wrote it down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// The artifacts: names and hashes.
    pub files: Vec<(String, String)>,
    /// How many warnings there were.
    pub warnings: Option<usize>,
    /// How many matters the panel and the user left undecided.
    pub undecided: Option<usize>,
    /// What the panel decided of each matter, by the rules that counted then.
    pub verdicts: Option<Vec<PanelVerdict>>,
}

/// What a panel decided of a finding or a contested decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelVerdict {
    /// The finding or decision.
    pub matter: MatterId,
    /// The word for it: `accepted`, `tied`, `thesis`, `over-budget`…
    pub word: String,
}

/// What came of handing a design over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Export {
    /// The manifest is there.
    Written {
        /// Where.
        manifest: String,
    },
    /// There is none.
    Failed {
        /// The folder that keeps what was made.
        folder: String,
        /// What is in the way.
        why: String,
    },
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Settings {
    /// What is to be designed.
    pub feature: String,
    /// Whether nobody is asked anything.
    pub auto: bool,
    /// Whether two sketches without personalities are enough.
    pub quick: bool,
    /// Whether a process of its own does the heavy part.
    pub subagent: bool,
    /// Whether another workflow asked, which takes over what was made.
    pub nested: bool,
    /// That workflow's session file.
    pub session_env: Option<String>,
    /// Where the design stands in that workflow.
    pub prefix: Prefix,
    /// Who takes part.
    pub panel: Panel,
    /// The agents behind the names, as a lane is told: of the first, the second and the host.
    pub agents: [Chosen; 3],
    /// Which rules hold where they differ from the original's.
    pub policy: Policy,
    /// The version of the rules that the run began under.
    pub rules: RulesVersion,
    /// A block of design documents, for the agents that sketch.
    pub brief: Option<String>,
    /// Documents about the feature, by path.
    pub documents: Vec<String>,
    /// Whether the answers are recorded ones: a rehearsal.
    pub is_rehearsal: bool,
    /// Whether the original's gate lets it stay on the branch that is checked out.
    pub no_branch: bool,
    /// On which branch it works.
    pub branch_rule: BranchRule,
    /// Whether it begins on uncommitted changes.
    pub dirty_tree: DirtyTree,
    /// What whoever asked knows of the branch.
    pub branch_info: Option<String>,
    /// The feature's folder, which gets the plan.
    pub feature_dir: Option<String>,
    /// What all lanes together may spend, as it was said.
    pub budget: Option<WrittenBudget>,
}

/// An agent as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Its word, such as `codex` or `http:local`.
    pub agent: String,
    /// The model, unless it is the client's own choice.
    pub model: Option<String>,
}

impl Settings {
    /// Tells whether a process of its own does the heavy part: two sketches are not worth one.
    pub const fn is_heavy(&self) -> bool {
        self.subagent && !self.quick
    }

    /// Returns how many agents sketch.
    pub const fn sketch_panel(&self) -> SketchPanel {
        if self.quick { SketchPanel::Quick } else { SketchPanel::Full }
    }

    /// Returns the agent behind a holder.
    pub const fn chosen(&self, holder: Holder) -> &Chosen {
        match holder {
            Holder::First => &self.agents[0],
            Holder::Second => &self.agents[1],
            Holder::Host => &self.agents[2],
        }
    }
}

/// When agents are asked whether they are well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Occasion {
    /// At the beginning.
    SetUp,
    /// Before judges are asked.
    Judges,
}

/// Who is there, and what is to be said about who is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Which of the two agents can be used.
    pub available: Available,
    /// Warnings, as they are shown.
    pub warnings: Vec<String>,
}

/// What came of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneEnd {
    /// What became of it, in the collector's words.
    pub status: CollectedStatus,
    /// Why there is no answer.
    pub reason: String,
    /// The answer; empty if there is none. Where the lane failed, the beginning of one that was cut
    /// off. It may be long, and is shared wherever it is kept.
    pub answer: Arc<str>,
    /// The agent that was asked.
    pub agent: String,
    /// The model that answered, as far as the client says.
    pub model: Option<String>,
    /// What it cost.
    pub usage: Option<Usage>,
    /// How long it took, in milliseconds.
    pub took: u64,
}

impl LaneEnd {
    /// Tells whether the answer was cut off, and is the beginning of one.
    pub fn is_cut_off(&self) -> bool {
        self.status == CollectedStatus::Failed && !self.answer.is_empty()
    }
}

/// What a person made of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// An answer in words.
    Words(String),
    /// The recommendation stands: it was taken, or nobody answered in time.
    Recommended,
}

/// A place in a design after which the working tree is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// The sketches are there.
    Sketches,
    /// The debates are there.
    Debates,
    /// The judges have spoken.
    Judges,
    /// The reviews are there.
    Reviews,
}

impl Boundary {
    /// All of them, in order.
    pub const ALL: [Self; 4] = [Self::Sketches, Self::Debates, Self::Judges, Self::Reviews];

    /// Returns the word that is written down.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sketches => "sketch-collection",
            Self::Debates => "dialectic-debate-collection",
            Self::Judges => "dialectic-judge-collection",
            Self::Reviews => "plan-review-collection",
        }
    }

    /// Returns the file that says that a person was asked about the tree here.
    pub fn guard(self) -> String {
        let name = if self == Self::Reviews { "plan-review" } else { self.name() };
        format!(".dirty-tree-prompted-{name}")
    }

    /// Returns the boundary with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|boundary| boundary.name() == name)
    }
}

/// How the working tree was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// As it was.
    Clean,
    /// Changed, or nobody can tell; with the word that says so, and what is known of it.
    Suspect {
        /// `dirty` or `unknown`.
        status: String,
        /// What was changed, or why it cannot be told.
        detail: String,
    },
}

/// What a person does about a changed tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// It was put in order; look again.
    Restored,
    /// The run ends here and keeps what it has.
    Cancelled,
}
