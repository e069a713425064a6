//! The way of a design: what its facts come to so far, and what is needed next.
//!
//! The whole workflow is one straight piece of code that is walked from its beginning whenever
//! something new is known. Where a fact is missing it stops, and says which. So nothing has to be
//! remembered but the facts: a run that was killed goes on where they end, a replay needs no agent,
//! and whoever counts again walks the same way.
//!
//! *Invariant:* more facts only ever add to the lines, never change them.

mod chair;
mod cleanup;
mod debates;
mod diagram;
mod docket;
mod heavy;
mod independence;
mod interview;
mod judges;
mod lanes;
mod plan;
mod question;
mod review;
mod rulings;
mod seated;
mod setup;
mod sketches;
mod tree;
mod votes;
mod word;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use self::docket::Docket;
use self::independence::Answered;
pub use self::question::{NoAnswer, Question, has_keys};
use super::board::Board;
use super::citation::Citation;
use super::event::{Boundary, Health, LaneId, Millis, Occasion, Reply, Settings};
use super::facts::Facts;
use super::matter::Matter;
use super::progress::{Breadcrumbs, Saved, Shown, Step};
use super::quote;
use super::seat::{Available, Holder};
use super::voting_block::Poll;

/// Where a design stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Everything that was shown so far.
    pub lines: Vec<Line>,
    /// The artifacts so far, by file name.
    pub files: BTreeMap<String, Arc<str>>,
    /// What whoever asked is to be warned of in their own log.
    pub issues: Vec<String>,
    /// What went wrong on the way.
    pub warnings: Vec<String>,
    /// Whom of the two agents can still be asked.
    pub available: Available,
    /// How many different models decided so far and who answered for whom, in one sentence.
    pub independence: Option<String>,
    /// What the panel voted on or left undecided, and what people decided of it.
    pub matters: Vec<Matter>,
    /// Whether it stands in the part that a process of its own does.
    pub is_heavy: bool,
    /// What is needed to go on, or how it ended.
    pub next: Next,
}

/// Something to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Text: a breadcrumb, a warning, an artifact.
    Text(String),
    /// How the lanes of a phase stand; the next one takes its place where that can be done.
    Table(Board),
}

impl Line {
    /// Returns the text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Table(board) => Cow::Owned(board.text()),
        }
    }
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Something has to be found out.
    Need(Need),
    /// Nothing: it has ended.
    End(Ending),
}

/// Something that only the world knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// Whether the branch and the folder are ready.
    SetUp,
    /// Who is there.
    Probe(Occasion),
    /// The word for a ballot's marker lines. It is drawn when everything that voters are given is
    /// written, so that nothing in there can hold it.
    Word(Poll),
    /// What agents answer, all at once.
    Lanes(Vec<Request>),
    /// What a person answers.
    Ask(Box<Question>),
    /// Whether the working tree is as it was.
    Tree(Boundary),
    /// Which of these citations exist.
    Citations(Vec<Citation>),
    /// What a person does about a tree that is not.
    Recover(Boundary, String),
    /// What comes of handing it to whoever asked.
    Export,
}

/// How a design ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// With a plan.
    Complete {
        /// What was missing on the way.
        degraded: Vec<String>,
    },
    /// It could not begin.
    Refused(u8),
    /// The working tree was changed, and a person ended it.
    DirtyTree,
    /// No agent could do what only an agent can. Whoever resumes it has them asked again.
    Failed(Failed),
    /// What may be spent is spent.
    OverBudget(String),
    /// The process that did the heavy part failed. Whoever resumes it has it go on.
    HeavyFailed(String),
    /// There is a plan, but whoever asked did not get it. Whoever resumes it tries again.
    NotExported(String),
}

/// What nobody could do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Why it ended, in a few words.
    pub why: String,
    /// The step that it ended in.
    pub step: Step,
    /// Everybody who was asked there. None of them gave an answer that would do.
    pub lanes: Vec<LaneId>,
}

/// A lane to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its name.
    pub id: LaneId,
    /// Who is asked.
    pub holder: Holder,
    /// The step that needs it.
    pub step: Step,
    /// The kind of work, for whoever counts.
    pub kind: String,
    /// The artifact that the answer becomes; empty if it becomes none.
    pub file: String,
    /// What is asked.
    pub prompt: String,
}

/// Why the walk stops here.
#[derive(Debug)]
enum Halt {
    Need(Need),
    End(Ending),
}

type Walked<T> = Result<T, Halt>;

/// Walks as far as the facts go. What was shown before something was begun again stays shown.
pub fn walk(facts: &Facts) -> Progress {
    let mut progress = walked(facts);
    if let Some(earlier) = facts.earlier() {
        let anew = progress.lines.split_off(earlier.repeated.min(progress.lines.len()));
        progress.lines = earlier.lines.iter().cloned().chain(anew).collect();
    }
    progress
}

/// Walks as if nothing had ever been begun again.
pub(super) fn walked(facts: &Facts) -> Progress {
    let Some((begun, settings)) = facts.settings() else {
        let why = "it was never begun".to_owned();
        let failed = Failed { why, step: Step::Setup, lanes: Vec::new() };
        let next = Next::End(Ending::Failed(failed));
        return Progress {
            lines: Vec::new(),
            files: BTreeMap::new(),
            issues: Vec::new(),
            warnings: Vec::new(),
            available: NOBODY_LOST,
            independence: None,
            matters: Vec::new(),
            is_heavy: false,
            next,
        };
    };
    let mut walk = Walk {
        facts,
        settings,
        crumbs: Breadcrumbs { prefix: settings.prefix.clone() },
        now: begun,
        step: (Step::Setup, begun),
        asked: Vec::new(),
        available: NOBODY_LOST,
        is_host_lost: false,
        is_chair_lost: false,
        lines: Vec::new(),
        files: BTreeMap::new(),
        issues: Vec::new(),
        is_heavy: false,
        warnings: Vec::new(),
        answered: Vec::new(),
        docket: Docket::default(),
    };
    let next = match walk.whole() {
        Ok(ending) | Err(Halt::End(ending)) => Next::End(ending),
        Err(Halt::Need(need)) => match facts.worker_failure().filter(|_| walk.is_heavy) {
            Some(why) => Next::End(Ending::HeavyFailed(why.to_owned())),
            None => Next::Need(need),
        },
    };
    let independence = walk.independence_in_short();
    let matters = walk.docket.matters(facts.rulings());
    let Walk { lines, files, issues, warnings, available, is_heavy, .. } = walk;
    Progress { lines, files, issues, warnings, available, independence, matters, is_heavy, next }
}

const NOBODY_LOST: Available = Available { first: true, second: true };

/// A walk that is under way.
struct Walk<'f> {
    facts: &'f Facts,
    settings: &'f Settings,
    crumbs: Breadcrumbs,
    /// The time of the last fact that was used.
    now: Millis,
    /// The step, and when it began.
    step: (Step, Millis),
    /// Everybody who was asked in this step.
    asked: Vec<LaneId>,
    /// Whom of the two agents can be asked. Who failed is not asked again.
    available: Available,
    /// Whether the host failed.
    is_host_lost: bool,
    /// Whether it failed as the chair.
    is_chair_lost: bool,
    lines: Vec<Line>,
    files: BTreeMap<String, Arc<str>>,
    /// What belongs in the log of whoever asked.
    issues: Vec<String>,
    /// Whether a process of its own does what comes now; then nothing is shown.
    is_heavy: bool,
    /// Warnings to repeat at the end.
    warnings: Vec<String>,
    /// Who answered for whom, for the statement of independence.
    answered: Vec<Answered>,
    /// What can be decided.
    docket: Docket,
}

impl<'f> Walk<'f> {
    fn whole(&mut self) -> Walked<Ending> {
        self.set_up()?;
        self.branch()?;
        let scope = self.scope_interview()?;
        let synthesis = self.sketches(&scope)?;
        let resolutions = self.dialectic(&scope, &synthesis)?;
        let plan = self.plan(&scope, &synthesis, &resolutions)?;
        let review = self.review(&scope, plan)?;
        if !self.settings.auto {
            self.heavy_ends()?;
        }
        let plan = self.design_interview(&scope, &synthesis, &resolutions, review)?;
        self.diagram(&scope, &plan)?;
        self.rejected();
        self.heavy_ends()?;
        self.clean_up()?;
        self.rulings(&scope, plan)?;
        Ok(Ending::Complete { degraded: self.warnings.clone() })
    }

    /// Goes on to a step.
    fn begin(&mut self, step: Step) {
        self.step = (step, self.now);
        self.asked.clear();
        // Whoever begins a step again gives everybody another chance.
        if self.facts.is_begun_again(step) {
            let found = self.facts.probe(Occasion::SetUp);
            self.available = found.map_or(self.available, |(_, health)| health.available);
            self.is_host_lost = false;
            self.is_chair_lost = false;
        }
        self.say(self.crumbs.start(step));
    }

    /// Ends here, because nobody did what only an agent can.
    fn failed(&mut self, why: &str) -> Halt {
        let lanes = std::mem::take(&mut self.asked);
        Halt::End(Ending::Failed(Failed { why: why.to_owned(), step: self.step.0, lanes }))
    }

    fn say(&mut self, text: impl AsRef<str>) {
        if self.is_heavy {
            return;
        }
        // Agents' words must not be able to steer a terminal.
        self.lines.push(Line::Text(quote::visible(text.as_ref())));
    }

    fn say_all(&mut self, lines: &[String]) {
        for line in lines {
            self.say(line.clone());
        }
    }

    /// Says that something is not as it should be, now and at the end.
    fn warn(&mut self, text: String) {
        self.warnings.push(text.clone());
        self.say(text);
    }

    fn done(&mut self, payload: &str) {
        let line = self.crumbs.done(self.step.0, payload, self.elapsed());
        self.say(line);
    }

    fn skip(&mut self, payload: &str) {
        let line = self.crumbs.skipped(self.step.0, payload, self.elapsed());
        self.say(line);
    }

    /// Shows a text, or says that it was saved where another workflow shows it.
    fn publish(&mut self, shown: Shown, saved: Option<Saved>, text: &str) {
        if self.settings.nested {
            if let Some(saved) = saved {
                let line = self.crumbs.saved(saved, self.elapsed());
                self.say(line);
            }
        } else {
            self.say(format!("{}\n\n{}", shown.header(), text.trim_end()));
        }
    }

    fn file(&mut self, name: &str, text: impl Into<Arc<str>>) {
        self.files.insert(name.to_owned(), text.into());
    }

    /// Takes notice of a time. Clocks may be set back; a design does not go backwards.
    fn at(&mut self, at: Millis) {
        self.now = self.now.max(at);
    }

    fn elapsed(&self) -> u64 {
        seconds(self.now - self.step.1)
    }

    fn probe(&mut self, occasion: Occasion) -> Walked<&'f Health> {
        let (at, health) = self.facts.probe(occasion).ok_or(Halt::Need(Need::Probe(occasion)))?;
        self.at(at);
        Ok(health)
    }

    /// Returns what a person answered.
    fn ask(&mut self, question: Question) -> Walked<&'f Reply> {
        match self.facts.reply(&question.id) {
            Some((at, reply)) => {
                self.at(at);
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
