//! Events: everything that happens to a design from outside. The rest follows from them, in order.
//!
//! An event holds what no rule can derive: the request, the state of the surroundings, the answers
//! of agents and people. It never holds derived results.

use std::fmt;
use std::sync::Arc;

use super::absence::Absence;
use super::citation::{Citation, CitationRule, CitedIn, CitedPassage, Missing, PlaceFinding};
pub use super::export::Export;
use super::heavy::WorkerResult;
pub use super::lane_id::LaneId;
use super::matter::Ruling;
pub use super::panel_verdict::PanelVerdict;
use super::policy::Policy;
use super::progress::Prefix;
pub use super::question_id::QuestionId;
use super::reading_order::JudgeOrders;
use super::rules::RulesVersion;
use super::seat::{Available, Holder, Panel};
use super::settled::PollRule;
use super::setup::SetUp;
use super::setup::ground::{BranchRule, DirtyTree};
use super::sketch::SketchPanel;
use super::voting_block::{MarkerWord, Poll};
use crate::lane::agent_word::AgentWord;
use crate::lane::budget::WrittenBudget;
use crate::lane::budget_stop::BudgetStop;
use crate::lane::collected::CollectedStatus;
use crate::lane::event::Usage;
use crate::lane::unanswered::Unanswered;
use crate::tree::{TreeEvidence, TreeStatus};

/// When something happened, in milliseconds since 1970.
pub type Millis = i64;

/// An event and the time at which it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamped {
    /// When it happened.
    pub at: Millis,
    /// What happened then.
    pub event: Event,
}

/// Something that happened to a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A user or workflow requested the design. Always the first event.
    Begun(Box<Settings>),
    /// The branch and the folder were found ready, or not.
    SetUp(Box<SetUp>),
    /// Convoke searched for the agents and probed them.
    Probed {
        /// On what occasion.
        occasion: Occasion,
        /// Which agents responded.
        health: Health,
    },
    /// A word was drawn for the marker lines of a ballot. Runs of versions without such words have
    /// no such event.
    WordDrawn(Poll, MarkerWord),
    /// A lane was started.
    LaneStarted(LaneId),
    /// A lane ended, with an answer or without.
    LaneEnded(LaneId, Box<LaneEnd>),
    /// A person answered, or accepted the recommendation.
    Replied(QuestionId, Reply),
    /// The working tree was compared after agents had read in it.
    TreeChecked(Boundary, Tree),
    /// A person decided about a changed tree.
    TreeDecided(Boundary, Recovery),
    /// Convoke checked the reviewers' citations; these are no evidence.
    CitationsChecked(Vec<(Citation, Missing)>),
    /// Convoke looked up what agents cite; these are the results, also for what is there.
    CitationsLookedUp(CitedIn, Vec<(CitedPassage, PlaceFinding)>),
    /// The budget is spent; no further lane starts.
    BudgetReached(BudgetStop),
    /// It was stopped, and can be resumed.
    Interrupted(StopReason),
    /// A user resumed it.
    Resumed,
    /// An agent's limit is reached, and the run waits for its end. The lanes that met it have no end: they
    /// count as not asked.
    Parked(ParkedHolder),
    /// The process that did the heavy part ended.
    Worked {
        /// Whether the worker's results can be used.
        worked: WorkerResult,
        /// The folder that keeps the worker's files.
        folder: String,
    },
    /// A person decided what the panel had not.
    Decided(Ruling),
    /// The design was exported to the calling workflow, or the export failed.
    Exported(Export),
    /// It completed.
    Kept(Kept),
}

/// The results at the end of a design. An earlier version recorded no counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// The artifacts: names and hashes.
    pub files: Vec<(String, String)>,
    /// How many warnings there were.
    pub warnings: Option<usize>,
    /// How many matters the panel and the user left undecided.
    pub undecided: Option<usize>,
    /// The panel's verdict on each matter, by the rules of that time.
    pub verdicts: Option<Vec<PanelVerdict>>,
}

/// The request that a design begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Settings {
    /// The feature to design, in the requester's words.
    pub feature: String,
    /// Whether the design never prompts and accepts the recommended answers.
    pub auto: bool,
    /// Whether two sketches without personalities are enough.
    pub quick: bool,
    /// Whether a process of its own does the heavy part.
    pub subagent: bool,
    /// How many voters and judges it asks. Earlier runs asked all.
    pub poll_rule: PollRule,
    /// In how many orders judges read their ballot. Earlier runs had one.
    pub judge_orders: JudgeOrders,
    /// Whether another workflow requested the design and takes over its files.
    pub nested: bool,
    /// That workflow's session file.
    pub session_env: Option<String>,
    /// The design's place in that workflow.
    pub prefix: Prefix,
    /// The participants.
    pub panel: Panel,
    /// The agents behind the names, as lane requests name them: the first, the second and the host.
    pub agents: [Chosen; 3],
    /// The rule set, where it differs from the original's.
    pub policy: Policy,
    /// The version of the rules that the run began under.
    pub rules: RulesVersion,
    /// A block of design documents, for the agents that sketch.
    pub brief: Option<String>,
    /// The pack of the repository, for agents without tools. Earlier runs have none.
    pub pack: Option<String>,
    /// The map of the repository, for agents that read files themselves. Earlier runs have none.
    pub pointers: Option<String>,
    /// Which citations Convoke looks up.
    pub citation_rule: CitationRule,
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
    /// The branch facts that the caller passed.
    pub branch_info: Option<String>,
    /// The feature's folder, which gets the plan.
    pub feature_dir: Option<String>,
    /// The budget of all lanes together, as the user wrote it.
    pub budget: Option<WrittenBudget>,
}

/// An agent as the user requested it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Its word, such as `codex` or `http:local`.
    pub agent: String,
    /// The model, unless it is the client's own choice.
    pub model: Option<String>,
}

impl Chosen {
    /// Tells whether the agent that answers in the end can read the project's files: a model's API
    /// alone cannot, and on another machine an agent without a repository has none.
    pub fn has_tools(&self) -> bool {
        AgentWord::parse(&self.agent).has_tools()
    }

    /// Tells whether the agent looks at the project itself: a recording has tools, and looks at nothing.
    pub fn explores(&self) -> bool {
        self.has_tools() && !AgentWord::parse(&self.agent).is_recorded()
    }
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

/// The moments at which Convoke probes the agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Occasion {
    /// At the beginning.
    SetUp,
    /// Before the judges vote.
    Judges,
}

/// Which agents are available, and why the others are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Which of the two agents can be used.
    pub available: Available,
    /// The agents that do not take part.
    pub absences: Vec<Absence>,
}

/// A lane's answer, or why it has no answer, and what it used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneEnd {
    /// The lane's status, in the collector's words.
    pub status: CollectedStatus,
    /// Why there is no answer; `None` if there is a whole one.
    pub reason: Option<Unanswered>,
    /// The answer; empty without one. If the lane failed, it is the beginning of one that was cut
    /// off. It may be long, so all holders share it.
    pub answer: Arc<str>,
    /// The agent that answered, or failed to.
    pub agent: String,
    /// The model that answered, as far as the client says.
    pub model: Option<String>,
    /// The lane's usage.
    pub usage: Option<Usage>,
    /// How long it took, in milliseconds.
    pub took: u64,
}

impl LaneEnd {
    /// Returns why there is no answer, in words; empty if there is one.
    pub fn reason_text(&self) -> String {
        self.reason.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// Tells whether the answer was cut off, and is the beginning of one.
    pub fn is_cut_off(&self) -> bool {
        self.status == CollectedStatus::Failed && !self.answer.is_empty()
    }
}

/// Why a run was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The user stopped Convoke.
    Signal,
    /// The words of a journal from before journals held facts.
    Sentence(String),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Signal => "stopped by a signal",
            Self::Sentence(words) => words,
        })
    }
}

/// An agent whose limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParkedHolder {
    /// Which agent of the panel it is.
    pub holder: Holder,
    /// When the limit ends.
    pub until: Millis,
}

/// A person's reply to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// An answer in words.
    Words(String),
    /// The recommendation: a person accepted it, or no answer came in time.
    Recommended,
}

/// A place in a design after which Convoke checks the working tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// After the sketches.
    Sketches,
    /// After the debates.
    Debates,
    /// After the judges' votes.
    Judges,
    /// After the reviews.
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

    /// Returns the file that records that Convoke asked a person about the tree here.
    pub fn guard(self) -> String {
        let name = if self == Self::Reviews { "plan-review" } else { self.name() };
        format!(".dirty-tree-prompted-{name}")
    }

    /// Returns the boundary with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|boundary| boundary.name() == name)
    }
}

/// The state of the working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// As it was.
    Clean,
    /// Changed, or unknown.
    Suspect {
        /// Which of the two; never clean.
        status: TreeStatus,
        /// The changed files, or why they are unknown.
        evidence: TreeEvidence,
    },
}

/// A person's decision about a changed tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// The person restored it; check again.
    Restored,
    /// The run ends here and keeps what it has.
    Cancelled,
}
