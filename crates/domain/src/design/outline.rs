//! What a design has come to so far, as facts: the result of every phase, and what is needed next.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::decision::Decision;
use super::discussion::{InterviewDecision, render};
use super::event::{Boundary, PanelVerdict, Settings};
use super::finding::{Finding, FindingId, FindingScope};
use super::lane_id::LaneKind;
use super::matter::{Matter, MatterId, Ruling};
use super::notice::Notice;
use super::outcome;
use super::plan;
use super::resolution::{DecisionEnding, Resolution};
use super::seat::{Available, Holder};
use super::tally::{self, Counted, FindingVerdict, Score, Tally, Voter};
use super::walk::Next;

/// What a design has come to so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignOutline {
    /// How the design was asked for; nothing before it begins.
    pub settings: Option<Settings>,
    /// Everything that the design has told so far.
    pub notices: Vec<Notice>,
    /// What went wrong on the way.
    pub warnings: Vec<String>,
    /// Which of the two agents can still be asked.
    pub available: Available,
    /// What the panel voted on or left undecided, and what people decided of it.
    pub matters: Vec<Matter>,
    /// Whether it is in the part that a process of its own does.
    pub is_heavy: bool,
    /// What each phase came to.
    pub results: PhaseResults,
    /// What is needed to go on, or how it ended.
    pub next: Next,
}

/// What each phase came to; nothing of a phase that has not got so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PhaseResults {
    /// What is to be built, and what its author said about it.
    pub scope: Arc<SettledScope>,
    /// What the sketches come to.
    pub synthesis: Option<Arc<Synthesis>>,
    /// The ballot that judges decided on.
    pub judges_ballot: Option<Arc<str>>,
    /// How each contested decision ended; an empty list if nothing was contested.
    pub resolutions: Option<Vec<Resolution>>,
    /// The plan as it is now.
    pub plan: Option<DesignPlan>,
    /// What reviewers found, and how voters decided.
    pub review: Option<ReviewResult>,
    /// What was settled with the author after the review.
    pub design_interview: Option<Vec<InterviewDecision>>,
    /// The diagram.
    pub diagram: Option<DiagramResult>,
    /// Every answer that counts, in the order in which the phases took them.
    pub voices: Vec<Voice>,
    /// Whether the statement of independence is final.
    pub is_independence_stated: bool,
    /// What people decided after the panel.
    pub rulings: Rulings,
    /// How the working tree was found, if that needs a person.
    pub tree: Option<SuspectTree>,
    /// What agents answered and debaters were asked, by file name.
    pub answers: BTreeMap<String, Arc<str>>,
    /// What the workflow that asked is to be warned of in its own log.
    pub issues: Vec<String>,
}

/// What is to be built, and what was settled about it before the first sketch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SettledScope {
    /// What is to be built, in its author's words.
    pub feature: String,
    /// What the clarifying questions settled.
    pub cleared: Vec<InterviewDecision>,
    /// What the scope interview settled.
    pub settled: Vec<InterviewDecision>,
    /// Whether there was a scope interview.
    pub is_interviewed: bool,
}

impl SettledScope {
    /// What is to be built, with what its author said about it since.
    pub fn with_answers(&self) -> String {
        let file = self.file();
        if file.is_empty() {
            return self.feature.clone();
        }
        format!("{}\n\nWhat was settled with its author:\n\n{file}", self.feature)
    }

    /// Everything that was settled, as agents are given it.
    pub fn file(&self) -> String {
        let all: Vec<_> = self.cleared.iter().chain(&self.settled).cloned().collect();
        render(&all)
    }
}

/// What the sketches come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Synthesis {
    /// The text.
    pub text: String,
    /// What the sketches differ on, in the order of its weight.
    pub decisions: Vec<Decision>,
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DesignPlan {
    /// The text, with a line end.
    pub text: Arc<str>,
    /// Where its list of tasks begins in the text.
    tasks_start: Option<usize>,
    /// How many tasks it has.
    pub task_count: usize,
}

impl DesignPlan {
    /// Makes a plan of a text.
    pub fn new(text: &str) -> Self {
        let text: Arc<str> = format!("{}\n", text.trim_end()).into();
        let tasks_start = plan::task_list_start(&text);
        let task_count = plan::task_count(&text);
        Self { text, tasks_start, task_count }
    }

    /// Returns the list of tasks, with its heading and all that follows; empty if there is no list.
    pub fn task_list(&self) -> &str {
        self.tasks_start.map_or("", |start| &self.text[start..])
    }
}

/// How far a review came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewResult {
    /// No reviewer answered.
    NotReviewed,
    /// Reviewers found nothing.
    NothingFound,
    /// There are findings, and voters have not decided yet.
    OnBallot(Arc<[Finding]>),
    /// Voters decided.
    Voted(Arc<VotedReview>),
}

impl ReviewResult {
    /// Returns the findings, in the order of the ballot.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::NotReviewed | Self::NothingFound => &[],
            Self::OnBallot(findings) => findings,
            Self::Voted(review) => &review.findings,
        }
    }
}

/// A review that came to votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VotedReview {
    /// The findings, in the order of the ballot.
    pub findings: Arc<[Finding]>,
    /// What each voter said.
    pub voters: Vec<Voter>,
    /// Everybody who reviewed, as the scoreboard names them.
    pub reviewers: Vec<String>,
    /// The panel's own tally.
    pub voted: Tally,
    /// The same with what people decided.
    pub tally: Tally,
    /// How the plan was revised for accepted findings.
    pub notes: BTreeMap<FindingId, String>,
}

impl VotedReview {
    /// Scores every reviewer, by the panel's votes alone.
    pub fn scores(&self) -> Vec<Score> {
        tally::scores(&self.findings, &self.voted, &self.reviewers)
    }

    /// Returns the accepted findings that the plan is to be revised for.
    pub fn accepted(&self) -> Vec<&Finding> {
        outcome::to_revise(&self.findings, &self.tally)
    }

    /// Tells whether voters left a finding in scope that they did not accept.
    pub(super) fn has_rejected(&self) -> bool {
        let all = self.findings.iter().zip(&self.tally.items);
        all.filter(|(finding, _)| finding.id.scope == FindingScope::In)
            .any(|(_, counted)| counted.verdict != FindingVerdict::Accepted)
    }

    /// Tells whether there is an observation out of scope that may be shown.
    pub(super) fn has_observations(&self) -> bool {
        self.observations().next().is_some()
    }

    /// Tells whether voters declined an observation out of scope that may be shown.
    pub(super) fn has_declined(&self) -> bool {
        self.observations().any(|counted| counted.verdict != FindingVerdict::Accepted)
    }

    /// Returns the counted votes on every observation out of scope that may be shown.
    fn observations(&self) -> impl Iterator<Item = &Counted> {
        let all = self.findings.iter().zip(&self.tally.items);
        let shown = all.filter(|(finding, _)| {
            finding.id.scope == FindingScope::Out && !outcome::is_held_back(finding)
        });
        shown.map(|(_, counted)| counted)
    }
}

/// What came of the diagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiagramResult {
    /// A diagram that may be published, as one fence.
    Drawn(String),
    /// No agent drew one that could be used.
    Missing,
    /// The only one breaks a rule of safety.
    Rejected,
}

/// An answer that counts, and who gave it in whose place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voice {
    /// The seat's label.
    pub label: String,
    /// What the seat did.
    pub kind: LaneKind,
    /// Whose seat it is.
    pub owner: Holder,
    /// Who answered.
    pub runner: Holder,
    /// The model that answered, as far as its client says.
    pub model: Option<String>,
}

/// What people decided, as far as the run has acted on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rulings {
    /// The last decision on each matter.
    pub ruled: BTreeMap<MatterId, Ruling>,
    /// How many decisions the run has acted on.
    pub done: usize,
}

/// A working tree that a person must look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspectTree {
    /// `dirty` or `unknown`.
    pub status: String,
    /// Where it was found so.
    pub boundary: Boundary,
}

impl PhaseResults {
    /// The results of a design that has only been asked for.
    pub(super) fn new(settings: &Settings) -> Self {
        let scope = SettledScope { feature: settings.feature.clone(), ..SettledScope::default() };
        Self { scope: Arc::new(scope), ..Self::default() }
    }

    /// Returns what the sketches differ on.
    pub fn decisions(&self) -> &[Decision] {
        self.synthesis.as_ref().map_or(&[], |synthesis| &synthesis.decisions)
    }

    /// Returns the review, if it came to votes.
    pub fn voted(&self) -> Option<&VotedReview> {
        match &self.review {
            Some(ReviewResult::Voted(review)) => Some(review),
            _ => None,
        }
    }

    /// The same, to be kept as it is now.
    pub(super) fn voted_review(&self) -> Option<Arc<VotedReview>> {
        match &self.review {
            Some(ReviewResult::Voted(review)) => Some(Arc::clone(review)),
            _ => None,
        }
    }

    /// Lists what the panel decided, without later decisions of people.
    pub fn verdicts(&self) -> Vec<PanelVerdict> {
        let decisions = self.resolutions.iter().flatten().map(|entry| PanelVerdict {
            matter: MatterId::Decision(entry.number),
            word: match entry.ending {
                DecisionEnding::Voted { winner, .. } => winner.word().to_owned(),
                DecisionEnding::Fallback { .. }
                | DecisionEnding::BucketSkipped { .. }
                | DecisionEnding::OverCap { .. } => entry.disposition().word().to_owned(),
            },
        });
        let counted = self.voted().into_iter().flat_map(|review| &review.voted.items);
        let findings = counted.map(|counted| PanelVerdict {
            matter: MatterId::Finding(counted.id),
            word: counted.verdict.word().to_owned(),
        });
        decisions.chain(findings).collect()
    }

    /// Counts the findings in scope that are accepted now.
    pub fn accepted_findings(&self) -> usize {
        self.voted().map_or(0, |review| review.accepted().len())
    }

    /// Changes the review, if it came to votes.
    pub(super) fn voted_mut(&mut self) -> Option<&mut VotedReview> {
        match &mut self.review {
            Some(ReviewResult::Voted(review)) => Some(Arc::make_mut(review)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A plan that speaks of its tasks, or shows an example of them, lists them only once.
    #[test]
    fn the_list_of_tasks_begins_at_its_heading() {
        let list = "## Tasks\n### Task 1: One\n**Files:** a.rs\n### Task 2: Two\n**Files:** b.rs\n";
        let before = "\u{feff}## Approach\nSee ## Tasks below.\n```\n## Tasks\n```\n\n";
        let plan = DesignPlan::new(&format!("{before}{list}\n\n"));
        assert_eq!((plan.task_list(), plan.task_count), (list, 2));
        let none = DesignPlan::new("## Approach\nSee ## Tasks below.");
        assert_eq!(
            (none.task_list(), none.task_count, &*none.text),
            ("", 0, "## Approach\nSee ## Tasks below.\n")
        );
        assert_eq!(DesignPlan::default().task_list(), "");
    }
}
