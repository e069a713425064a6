//! The present state of a design, as facts: the result of every phase, and the next need.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::citation::CitationBook;
use super::decision::Decision;
use super::discussion::{InterviewDecision, render};
use super::event::{Boundary, PanelVerdict, Settings};
use super::evidence::DesignEvidence;
use super::finding::{Finding, FindingId, FindingScope};
use super::judge::OrderCheck;
use super::lane_id::LaneKind;
use super::matter::{Matter, MatterId, Ruling};
use super::notice::Notice;
use super::outcome;
use super::panel_verdict::PanelResult;
use super::plan;
use super::resolution::{DecisionEnding, Resolution};
use super::seat::{Available, Holder};
use super::settled::NotAsked;
use super::tally::{self, Counted, FindingVerdict, Score, Tally, Voter};
use super::voting_block::Poll;
use super::walk::Next;
use super::warning::DesignWarning;
use crate::tree::TreeStatus;

/// The present state of a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignOutline {
    /// The request; `None` before the design begins.
    pub settings: Option<Settings>,
    /// All notices of the design so far.
    pub notices: Vec<Notice>,
    /// The warnings so far.
    pub warnings: Vec<DesignWarning>,
    /// Which of the two agents are still available.
    pub available: Available,
    /// The matters of the panel's votes, and people's decisions on them.
    pub matters: Vec<Matter>,
    /// Whether it is in the part that a process of its own does.
    pub is_heavy: bool,
    /// The result of each phase.
    pub results: PhaseResults,
    /// The next need, or how the design ended.
    pub next: Next,
}

/// The result of each phase; empty for a phase that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PhaseResults {
    /// The feature, and its author's answers about it.
    pub scope: Arc<SettledScope>,
    /// The synthesis of the sketches.
    pub synthesis: Option<Arc<Synthesis>>,
    /// The ballot that judges decided on.
    pub judges_ballot: Option<Arc<str>>,
    /// How each contested decision ended; an empty list if nothing was contested.
    pub resolutions: Option<Vec<Resolution>>,
    /// The present plan.
    pub plan: Option<DesignPlan>,
    /// The findings, and the voters' decisions.
    pub review: Option<ReviewResult>,
    /// The decisions of the interview after the review.
    pub design_interview: Option<Vec<InterviewDecision>>,
    /// The drawing, or why it is left out; `None` before the chair drew.
    pub diagram: Option<DiagramResult>,
    /// Every answer that counts, in the order in which the phases took them.
    pub voices: Vec<Voice>,
    /// Whether the statement of independence is final.
    pub is_independence_stated: bool,
    /// Voters and judges whom Convoke did not ask, because the poll was settled.
    pub not_asked: Vec<(Poll, NotAsked)>,
    /// Decisions on which all sketches agree, so that an adaptive design does not debate them.
    pub agreed: Vec<Decision>,
    /// People's decisions after the panel.
    pub rulings: Rulings,
    /// The state of the working tree, if it needs a person.
    pub tree: Option<SuspectTree>,
    /// Who wrote what, who voted how, and which text the plan had before.
    pub evidence: DesignEvidence,
    /// What Convoke found at the places that agents cite; empty for runs of earlier programs.
    pub citations: CitationBook,
    /// Agents' answers and debaters' prompts, by file name.
    pub answers: BTreeMap<String, Arc<str>>,
    /// Warnings for the log of the calling workflow.
    pub issues: Vec<String>,
}

/// The feature, and the decisions about it before the first sketch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SettledScope {
    /// The feature, in its author's words.
    pub feature: String,
    /// The answers to the clarifying questions.
    pub cleared: Vec<InterviewDecision>,
    /// The decisions of the scope interview.
    pub settled: Vec<InterviewDecision>,
    /// Whether there was a scope interview.
    pub is_interviewed: bool,
}

impl SettledScope {
    /// Returns the feature with its author's later answers.
    pub fn with_answers(&self) -> String {
        let file = self.file();
        if file.is_empty() {
            return self.feature.clone();
        }
        format!("{}\n\nWhat was settled with its author:\n\n{file}", self.feature)
    }

    /// Renders all settled decisions, for prompts.
    pub fn file(&self) -> String {
        let all: Vec<_> = self.cleared.iter().chain(&self.settled).cloned().collect();
        render(&all)
    }
}

/// The synthesis of the sketches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Synthesis {
    /// The synthesis as the chair wrote it.
    pub text: String,
    /// The contested decisions, the most important first.
    pub decisions: Vec<Decision>,
}

/// A plan, as the chair last wrote it.
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

/// The progress of a review.
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

/// A review whose findings were voted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VotedReview {
    /// The findings, in the order of the ballot.
    pub findings: Arc<[Finding]>,
    /// The votes of each voter.
    pub voters: Vec<Voter>,
    /// All reviewers, by their names on the scoreboard.
    pub reviewers: Vec<String>,
    /// The panel's own tally.
    pub voted: Tally,
    /// The same with what people decided.
    pub tally: Tally,
    /// What the revision did about each accepted finding.
    pub notes: BTreeMap<FindingId, String>,
}

impl VotedReview {
    /// Scores every reviewer, by the panel's votes alone.
    pub fn scores(&self) -> Vec<Score> {
        tally::scores(&self.findings, &self.voted, &self.reviewers)
    }

    /// Returns the accepted findings for which the plan must be revised.
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

/// The result of the diagram's step.
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
    /// The seat's work.
    pub kind: LaneKind,
    /// The seat's owner.
    pub owner: Holder,
    /// The agent that answered.
    pub runner: Holder,
    /// The model that answered, as far as its client says.
    pub model: Option<String>,
    /// How far a judge's votes hold in both orders; nothing if it read one.
    pub order_check: Option<OrderCheck>,
}

/// People's decisions, as far as the run has acted on them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rulings {
    /// The last decision on each matter.
    pub ruled: BTreeMap<MatterId, Ruling>,
    /// How many decisions the run has acted on.
    pub done: usize,
}

/// A working tree that a person must check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspectTree {
    /// Dirty or unknown.
    pub status: TreeStatus,
    /// The boundary of the check.
    pub boundary: Boundary,
}

impl PhaseResults {
    /// The results of a design that has only been requested.
    pub(super) fn new(settings: &Settings) -> Self {
        let scope = SettledScope { feature: settings.feature.clone(), ..SettledScope::default() };
        Self { scope: Arc::new(scope), ..Self::default() }
    }

    /// Renders everything that the author has settled so far, also about the plan, for prompts.
    pub fn settled_so_far(&self) -> String {
        let SettledScope { cleared, settled, .. } = &*self.scope;
        let about_plan = self.design_interview.iter().flatten();
        let all: Vec<_> = cleared.iter().chain(settled).chain(about_plan).cloned().collect();
        render(&all)
    }

    /// Returns what the sketches differ on.
    pub fn decisions(&self) -> &[Decision] {
        self.synthesis.as_ref().map_or(&[], |synthesis| &synthesis.decisions)
    }

    /// Returns the review, if its findings were voted on.
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
            result: match entry.ending {
                DecisionEnding::Voted { winner, .. } => PanelResult::Side(winner),
                DecisionEnding::Fallback { .. }
                | DecisionEnding::BucketSkipped { .. }
                | DecisionEnding::OverCap { .. } => PanelResult::Unvoted(entry.disposition()),
            },
        });
        let counted = self.voted().into_iter().flat_map(|review| &review.voted.items);
        let findings = counted.map(|counted| PanelVerdict {
            matter: MatterId::Finding(counted.id),
            result: PanelResult::Finding(counted.verdict),
        });
        decisions.chain(findings).collect()
    }

    /// Counts the findings in scope that are accepted now.
    pub fn accepted_findings(&self) -> usize {
        self.voted().map_or(0, |review| review.accepted().len())
    }

    /// Changes the review, if its findings were voted on.
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

    // A plan that mentions its tasks, or shows an example of them, lists them only once.
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
