//! The walk of a design: derives its present state and next need from its facts.
//!
//! `events ─fold─► Facts ─walk─► DesignOutline ─render─► lines and files`
//!
//! The phases are functions over facts, in one table (`phases`). Each leaves a typed result in
//! [`PhaseResults`] and adds notices; where a fact is missing the walk stops and names it. So the
//! facts are the only state: a killed run continues where they end, a replay needs no agent, and a
//! recount walks the same way. [`DesignWalk`] walks a run in progress: a new event repeats only the
//! phase that waited for it.
//!
//! *Invariant:* more facts only add notices, and never change one. *Invariant:* a walk from the
//! first event and one that continues with every event give the same result.

mod chair;
mod citations;
mod cleanup;
mod course;
mod debates;
mod diagram;
mod docket;
mod heavy;
mod interview;
mod judges;
mod lanes;
mod phases;
mod plan;
mod poll;
mod question;
mod review;
mod rulings;
mod seated;
mod setup;
mod sketches;
mod state;
mod tree;
mod votes;
mod word;

pub use self::course::{DesignWalk, walk};
pub use self::question::{NoAnswer, PersonQuestion, has_keys};
use self::state::WalkState;
use super::citation::{Citation, CitedIn, CitedPassage};
use super::event::{Boundary, Health, LaneEnd, LaneId, Millis, Occasion, Reply, Settings};
use super::facts::Facts;
use super::heavy::GiveUpReason;
use super::notice::{DesignNote, Notice, NoticeLog, ToldArtifact};
use super::outline::PhaseResults;
use super::progress::{Breadcrumbs, Saved, Step};
use super::seat::Holder;
use super::setup::note::SetUpNote;
use super::voting_block::Poll;
use crate::design::warning::DesignWarning;
use crate::lane::budget_stop::BudgetStop;

/// The next step of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Something has to be found out.
    Need(Need),
    /// Nothing: it has ended.
    End(DesignEnding),
}

/// Something that only the world knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// Whether the branch and the folder are ready.
    SetUp,
    /// The availability of agents.
    Probe(Occasion),
    /// The word for a ballot's marker lines. It is drawn after all texts for the voters are
    /// written, so that none of them can contain it.
    Word(Poll),
    /// Answers of agents, in parallel.
    Lanes(Vec<LaneNeed>),
    /// A person's answer.
    Ask(Box<PersonQuestion>),
    /// Whether the working tree is as it was.
    Tree(Boundary),
    /// Which of these citations exist.
    Citations(Vec<Citation>),
    /// What is at these cited places.
    CitedPlaces(CitedIn, Vec<CitedPassage>),
    /// A person's decision about a changed tree.
    Recover(Boundary),
    /// The export of the design to the workflow that requested it.
    Export,
}

/// How a design ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DesignEnding {
    /// With a plan.
    Complete {
        /// The warnings that make the run degraded.
        degraded: Vec<DesignWarning>,
    },
    /// It could not begin.
    Refused(u8),
    /// The working tree was changed, and a person ended it.
    DirtyTree,
    /// No agent did a step that only an agent can do. Resuming asks all of them again.
    Failed(FailedStep),
    /// The budget is spent.
    OverBudget(BudgetStop),
    /// The worker process failed. Resuming starts it again.
    HeavyFailed(GiveUpReason),
    /// The plan exists, but could not be exported. Resuming tries again.
    NotExported(String),
}

/// A step that no agent completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedStep {
    /// Why it ended, in a few words.
    pub why: String,
    /// The step in which the design ended.
    pub step: Step,
    /// All lanes of that step. None of them gave a usable answer.
    pub lanes: Vec<LaneId>,
}

/// A lane to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneNeed {
    /// The lane's id.
    pub id: LaneId,
    /// The agent that runs it.
    pub holder: Holder,
    /// The step that needs it.
    pub step: Step,
    /// The kind of work, for the ledgers.
    pub kind: String,
    /// The artifact that holds the answer; empty without one.
    pub file: String,
    /// The full prompt.
    pub prompt: String,
}

/// Why the walk stops here.
#[derive(Debug)]
enum Halt {
    Need(Need),
    End(DesignEnding),
}

type Walked<T> = Result<T, Halt>;

/// A walk in progress: the facts, its state, and its notices.
struct Walk<'f> {
    facts: &'f Facts,
    settings: &'f Settings,
    state: WalkState,
    log: NoticeLog,
}

impl<'f> Walk<'f> {
    fn results(&mut self) -> &mut PhaseResults {
        &mut self.state.results
    }

    fn crumbs(&self) -> Breadcrumbs {
        Breadcrumbs { prefix: self.settings.prefix.clone() }
    }

    /// Goes on to a step.
    fn begin(&mut self, step: Step) {
        self.state.step = (step, self.state.now);
        self.state.asked.clear();
        // A step that begins again gives every agent another chance.
        if self.facts.is_begun_again(step) {
            let found = self.facts.probe(Occasion::SetUp);
            self.state.roster.revive(found.map(|(_, health)| health.available));
        }
        self.tell(Notice::StepBegins { step, with: None });
    }

    /// Ends here, because no agent did what only an agent can.
    fn failed(&mut self, why: &str) -> Halt {
        let lanes = std::mem::take(&mut self.state.asked);
        Halt::End(DesignEnding::Failed(FailedStep {
            why: why.to_owned(),
            step: self.state.step.0,
            lanes,
        }))
    }

    /// Adds a notice. A worker process shows nothing.
    fn tell(&mut self, notice: Notice) {
        if let Notice::Warning(warning) = &notice {
            self.log.warnings.push(warning.clone());
        }
        if !self.state.is_heavy {
            self.log.shown.push(notice);
        }
    }

    fn note(&mut self, note: DesignNote) {
        self.tell(Notice::Note(note));
    }

    /// Tells what setting up found.
    fn note_set_up(&mut self, notes: &[SetUpNote]) {
        for note in notes {
            self.note(DesignNote::SetUp(note.clone()));
        }
    }

    /// Adds a warning, which is shown now and at the end.
    fn warn(&mut self, warning: impl Into<DesignWarning>) {
        self.tell(Notice::Warning(warning.into()));
    }

    fn done(&mut self, what: &str) {
        let (step, seconds) = (self.state.step.0, self.state.elapsed());
        self.tell(Notice::StepDone { step, what: what.to_owned(), seconds });
    }

    fn skip(&mut self, why: &str) {
        let (step, seconds) = (self.state.step.0, self.state.elapsed());
        self.tell(Notice::StepSkipped { step, why: why.to_owned(), seconds });
    }

    fn saved(&mut self, saved: Saved) {
        let seconds = self.state.elapsed();
        self.tell(Notice::ArtifactSaved { saved, seconds });
    }

    /// Shows an artifact where no other workflow does.
    fn show(&mut self, artifact: ToldArtifact) {
        if !self.settings.nested {
            self.tell(Notice::Artifact(artifact));
        }
    }

    /// Shows an artifact, or announces that it was saved where another workflow shows it.
    fn publish(&mut self, artifact: ToldArtifact, saved: Saved) {
        if self.settings.nested {
            self.saved(saved);
        } else {
            self.show(artifact);
        }
    }

    fn keep_answer(&mut self, file: &str, end: &LaneEnd) {
        self.results().answers.insert(file.to_owned(), end.answer.clone());
    }

    fn probe(&mut self, occasion: Occasion) -> Walked<&'f Health> {
        let (at, health) = self.facts.probe(occasion).ok_or(Halt::Need(Need::Probe(occasion)))?;
        self.state.at(at);
        Ok(health)
    }

    /// Returns what a person answered.
    fn ask(&mut self, question: PersonQuestion) -> Walked<&'f Reply> {
        match self.facts.reply(&question.id) {
            Some((at, reply)) => {
                self.state.at(at);
                Ok(reply)
            }
            None => Err(Halt::Need(Need::Ask(Box::new(question)))),
        }
    }
}

#[cfg(test)]
mod tests;

fn seconds(millis: Millis) -> u64 {
    u64::try_from(millis / 1000).unwrap_or_default()
}
