//! How far a run is: a design, wherever it began, or a dispatch or lane in the background.

use convoke_domain::design::quote::line;
use convoke_domain::design::walk::PersonQuestion;
use convoke_domain::lane::ledger::{LaneEntry, Sum};
use convoke_domain::run::{RunId, RunState};
use convoke_store::lane::LaneQuery;
use serde::Serialize;

use super::answer::{ANSWERS, in_own_terminal};
use super::attempt::{Attempt, ProcessState};
use super::folder::{FolderError, Folders, KeptRun};
use super::resumption::{Resumption, has_left_traces};
use super::{BackgroundKind, BackgroundState};
use crate::design::spent_in_words;
use crate::failure::{ErrorClass, Failure};
use crate::run::{DesignProgress, deciding_command, design_progress};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// After how many seconds a run that goes on is worth looking at again.
const POLL_AFTER: u64 = 15;

/// How many lines of what a process said are shown.
const LAST_LINES: usize = 6;

/// How many undecided matters are shown.
const MOST_MATTERS: usize = 20;

/// The longest line that is shown, in characters.
const LONGEST_LINE: usize = 400;

/// How far a run is.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunProgressReport {
    /// The run's id, by which later calls ask for it.
    pub run: String,
    /// The kind of the run.
    pub kind: BackgroundKind,
    /// Whether it goes on, and what it waits for.
    pub state: BackgroundState,
    /// The step that a design is in.
    pub phase: Option<String>,
    /// How it ended, in words.
    pub ending: Option<String>,
    /// The lanes that run now.
    pub seats: Vec<RunSeatReport>,
    /// What its lanes have spent.
    pub spent: RunSpentReport,
    /// What it may spend.
    pub budget: Option<String>,
    /// What it waits for.
    pub question: Option<RunQuestionReport>,
    /// What the panel left to a person: id and title.
    pub undecided: Vec<String>,
    /// How to answer the question, to have a stopped run go on, or to decide what is undecided.
    pub how_to_answer: Option<String>,
    /// What can be read of it, once it does not go on by itself.
    pub artifacts: Vec<String>,
    /// The last lines that its process said.
    pub messages: Vec<String>,
    /// After how many seconds it is worth looking again; nothing if it does not go on.
    pub poll_after_s: Option<u64>,
}

/// A lane that runs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSeatReport {
    /// Who answers.
    pub agent: String,
    /// The agent's role.
    pub role: Option<String>,
}

/// What a run has spent.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSpentReport {
    /// How many lanes there were.
    pub lanes: u64,
    /// How many of them did not say what they used.
    pub without_usage: u64,
    /// How many of them said only a part of it.
    pub partial_usage: u64,
    /// Tokens of prompts and answers together, cached ones too.
    pub tokens: u64,
    /// Money, in millionths of a dollar, as far as clients say.
    pub micro_dollars: Option<u64>,
    /// The same in words.
    #[serde(skip)]
    words: String,
}

/// A question that a run waits for.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunQuestionReport {
    /// Its id, such as `1d/2`.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The question itself.
    pub text: String,
    /// Answers to choose from; there may be none.
    pub options: Vec<String>,
    /// What Convoke recommends.
    pub recommended: String,
}

impl RunQuestionReport {
    fn new(question: &PersonQuestion) -> Self {
        Self {
            id: question.id.to_string(),
            title: clipped(&question.title),
            text: question.text.chars().take(4 * LONGEST_LINE).collect(),
            options: question.options.iter().map(|option| clipped(option)).collect(),
            recommended: clipped(&question.recommended),
        }
    }
}

impl RunSpentReport {
    fn new(sum: Sum) -> Self {
        Self {
            lanes: sum.lanes,
            without_usage: sum.without_usage,
            partial_usage: sum.partial_usage,
            tokens: sum.usage.tokens(),
            micro_dollars: sum.usage.micro_dollars,
            words: spent_in_words(&sum.usage),
        }
    }
}

impl RunSpentReport {
    /// Says it, and what is missing in it.
    fn line(&self) -> String {
        let Self { lanes, without_usage, partial_usage, words, .. } = self;
        let (least, partial) = match partial_usage {
            0 => ("", String::new()),
            some => ("at least ", format!(", {some} with a part of theirs")),
        };
        format!("spent: {least}{words} in {lanes} lanes ({without_usage} without usage{partial})")
    }
}

fn clipped(text: &str) -> String {
    line(text).chars().take(LONGEST_LINE).collect()
}

/// Returns a text that differs whenever something worth telling may have changed. It costs little.
pub fn run_mark(session: &Session, run: &RunId) -> Result<String, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let events = store.run(&scope.project, run).map_or(0, |run| run.last_seq);
    let query = LaneQuery { run: Some(run.as_str()), ..LaneQuery::default() };
    let sum = Sum::of_all(&store.lanes(query).map_err(refused)?);
    let kept = Folders::of(session)?.find(run);
    let state = kept.and_then(|kept| kept.last_attempt()).map(|last| last.state(session.now()));
    Ok(format!("{events} {} {} {state:?}", sum.lanes, sum.running))
}

/// Returns how far a run is.
pub fn run_progress(session: &Session, run: &RunId) -> Result<RunProgressReport, Failure> {
    let kept = Folders::of(session)?.find(run);
    // Convoke looks first whether the process works: what a process that has ended wrote is all there.
    let attempt = kept.as_ref().and_then(KeptRun::last_attempt);
    let goes_on = attempt.as_ref().is_some_and(|attempt| attempt.goes_on(session.now()));
    let is_design = kept.as_ref().is_none_or(|kept| kept.request.kind == BackgroundKind::Design);
    let design = is_design.then(|| design_progress(session, run));
    match (kept, design) {
        (kept, Some(Ok(mut design))) => {
            if goes_on {
                design.state = RunState::Running;
            }
            let key = kept.as_ref().and_then(|kept| kept.request.key.as_deref());
            of_design(session, &design, attempt.as_ref(), key)
        }
        // It has not begun yet, or could not.
        (Some(kept), Some(Err(_)) | None) => of_process(session, run, &kept),
        (None, Some(Err(failure))) => Err(failure),
        (None, None) => Err(no_run(run)),
    }
}

pub(super) fn no_run(run: &RunId) -> Failure {
    Failure::new(ErrorClass::Refused, FolderError::NoRun(run.clone()))
        .hint("`convoke runs` lists the designs of this project")
}

fn of_design(
    session: &Session,
    design: &DesignProgress,
    attempt: Option<&Attempt>,
    key: Option<&str>,
) -> Result<RunProgressReport, Failure> {
    let goes_on = design.state == RunState::Running;
    let resumption = Resumption::of(design, attempt);
    // A person is not asked again for an answer that a process was given and did not take.
    let open = design.question.as_ref();
    let open = open.filter(|_| !goes_on && resumption != Resumption::WithAnswer);
    let state = if goes_on {
        BackgroundState::Running
    } else if open.is_some() {
        BackgroundState::NeedsAnswer
    } else if design.is_at_its_end {
        BackgroundState::Ended
    } else {
        design.state.into()
    };
    let question = open.map(RunQuestionReport::new);
    let undecided = &design.matters.undecided;
    let decide = || {
        let first = undecided.first().filter(|_| !design.is_rehearsal)?;
        Some(in_own_terminal(&deciding_command(&design.run, &first.id)))
    };
    let how_to_answer = match &question {
        _ if goes_on => None,
        Some(_) => Some("run_result with `answer`: an option's number, or words".to_owned()),
        None => resumption.how(&design.run, key).or_else(decide),
    };
    let is_omitted = match state {
        // What a process said that brought the run to its end is in the run's artifacts.
        BackgroundState::Ended => !attempt.is_some_and(|last| was_refused(session, design, last)),
        // It said the question, which the report has, and how to answer it in a shell.
        BackgroundState::NeedsAnswer => true,
        BackgroundState::Starting
        | BackgroundState::Running
        | BackgroundState::Stopped
        | BackgroundState::Refused
        | BackgroundState::Failed => attempt.is_some_and(|last| is_outdated(design, last)),
    };
    Ok(RunProgressReport {
        run: design.run.to_string(),
        kind: BackgroundKind::Design,
        state,
        phase: design.step.map(|step| step.name().to_owned()),
        ending: (!goes_on).then(|| clipped(&design.ending)),
        seats: seats(session, &design.run)?,
        spent: RunSpentReport::new(design.sum),
        budget: design.budget.clone(),
        question,
        undecided: undecided
            .iter()
            .take(MOST_MATTERS)
            .map(|matter| format!("{}: {}", matter.id, clipped(&matter.title)))
            .collect(),
        how_to_answer,
        // A client looks often, and a run that works makes more of them each time.
        artifacts: if goes_on { Vec::new() } else { design.artifacts.clone() },
        messages: if is_omitted { Vec::new() } else { said(attempt) },
        poll_after_s: goes_on.then_some(POLL_AFTER),
    })
}

/// Tells whether another process, such as one at a terminal, went on with a run after an attempt ended.
fn is_outdated(design: &DesignProgress, attempt: &Attempt) -> bool {
    attempt.ended_at().is_some_and(|ended| design.last_event_at.is_some_and(|last| last > ended))
}

/// Tells whether an attempt came after the end of a run and failed, so that the run is as it was.
fn was_refused(session: &Session, design: &DesignProgress, attempt: &Attempt) -> bool {
    let is_later = attempt.asked_at() > design.ended_at;
    is_later && !matches!(attempt.state(session.now()), ProcessState::Ended(0))
}

fn of_process(
    session: &Session,
    run: &RunId,
    kept: &KeptRun,
) -> Result<RunProgressReport, Failure> {
    let attempt = kept.last_attempt();
    let process = attempt.as_ref().map(|attempt| attempt.state(session.now()));
    let has_report = attempt.as_ref().is_some_and(|attempt| attempt.output().is_some());
    let (state, ending) = match process {
        None | Some(ProcessState::Starting) => (BackgroundState::Starting, None),
        Some(ProcessState::Running) => (BackgroundState::Running, None),
        Some(ProcessState::Ended(code)) => {
            let state = if has_report { BackgroundState::Ended } else { BackgroundState::Failed };
            (state, Some(format!("exit code {code}")))
        }
        Some(ProcessState::Lost) => {
            (BackgroundState::Failed, Some("the process was killed".to_owned()))
        }
    };
    let Workspace { store, .. } = Workspace::open(session, None)?;
    let query = LaneQuery { run: Some(run.as_str()), ..LaneQuery::default() };
    let sum = Sum::of_all(&store.lanes(query).map_err(refused)?);
    let is_unspent = state == BackgroundState::Failed
        && kept.request.key.is_some()
        && !has_left_traces(session, run)?;
    let again =
        "it asked no agent: once what it lacked is there, call run_start again with the same key";
    Ok(RunProgressReport {
        run: run.to_string(),
        kind: kept.request.kind,
        state,
        phase: None,
        ending,
        seats: seats(session, run)?,
        spent: RunSpentReport::new(sum),
        budget: kept.request.budget.clone(),
        question: None,
        undecided: Vec::new(),
        how_to_answer: is_unspent.then(|| again.to_owned()),
        artifacts: if state.goes_on() {
            Vec::new()
        } else {
            super::outcome::names(kept.request.kind, attempt.as_ref())
        },
        messages: said(attempt.as_ref()),
        poll_after_s: state.goes_on().then_some(POLL_AFTER),
    })
}

fn seats(session: &Session, run: &RunId) -> Result<Vec<RunSeatReport>, Failure> {
    let Workspace { store, .. } = Workspace::open(session, None)?;
    let query = LaneQuery { run: Some(run.as_str()), open: true, ..LaneQuery::default() };
    let open = store.lanes(query).map_err(refused)?;
    let seat =
        |lane: LaneEntry| RunSeatReport { agent: lane.begun.agent, role: lane.begun.purpose.role };
    Ok(open.into_iter().map(seat).collect())
}

/// Returns the last lines that a process said.
fn said(attempt: Option<&Attempt>) -> Vec<String> {
    let all = attempt.map(Attempt::messages).unwrap_or_default();
    let given = attempt.and_then(|attempt| attempt.read(ANSWERS));
    let given = given.as_deref().and_then(|text| Some(text.trim().split_once(": ")?.1));
    let mut lines: Vec<_> = all.lines().filter(|line| !line.trim().is_empty()).collect();
    // The process begins with the answer that it was given, whose question is over.
    let repeats = |line: &str| given.is_some_and(|given| line.ends_with(&format!(": {given}")));
    if lines.first().is_some_and(|line| repeats(line)) {
        let is_taken = lines.get(1).is_some_and(|line| line.starts_with("taken: "));
        lines.drain(..if is_taken { 2 } else { 1 });
    }
    let lines: Vec<_> = lines.into_iter().map(clipped).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].to_vec()
}

impl RunProgressReport {
    /// Says it in lines.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("run {} ({}): {}", self.run, self.kind, self.state)];
        let told = [("phase", &self.phase), ("ending", &self.ending), ("budget", &self.budget)];
        let told = told.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        lines.extend(told.map(|(name, value)| format!("{name}: {value}")));
        lines.push(self.spent.line());
        for seat in &self.seats {
            let role = seat.role.as_ref().map(|role| format!(" as {role}")).unwrap_or_default();
            lines.push(format!("running now: {}{role}", seat.agent));
        }
        if let Some(question) = &self.question {
            lines.push(format!("question {}: {}", question.id, question.title));
            lines.push(question.text.clone());
            let options = (1..).zip(&question.options);
            lines.extend(options.map(|(number, option)| format!("  {number}. {option}")));
            lines.push(format!("recommended: {}", question.recommended));
        }
        lines.extend(self.undecided.iter().map(|matter| format!("undecided: {matter}")));
        let purpose = match self.state {
            BackgroundState::Stopped | BackgroundState::Failed => "to go on",
            BackgroundState::Starting
            | BackgroundState::Running
            | BackgroundState::NeedsAnswer
            | BackgroundState::Ended
            | BackgroundState::Refused => "to answer",
        };
        lines.extend(self.how_to_answer.iter().map(|how| format!("{purpose}: {how}")));
        if !self.artifacts.is_empty() {
            lines.push(format!("artifacts: {}", self.artifacts.join(", ")));
        }
        lines.extend(self.messages.iter().map(|message| format!("said: {message}")));
        lines.extend(self.poll_after_s.map(|wait| format!("look again in {wait} seconds")));
        lines.join("\n") + "\n"
    }
}
