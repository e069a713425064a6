//! All reviewers of a command, until they approve or it must end.

mod dismissal;
mod entry;
mod ground;
mod guidance;
mod progress;
mod summary;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;

use convoke_domain::dispatch::review::Review;
use convoke_domain::dispatch::review_loop::{LoopStop, ReviewStep};
use convoke_domain::dispatch::role::{DispatchRole, Noun, PromptForm, Proof, RoleName};
use convoke_domain::task::id::TaskId;
use convoke_engine::client::Rights;
use convoke_engine::dispatch::feature::Feature;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_store::review_loop::{AnswerUsage, LoopEntry, LoopName};
use tracing::Span;

use self::entry::{
    Grounds, answers, kept_reviews, review_text, spent, stop_of, summary_of, without_verdict,
};
use self::ground::warn_of_changes;
use self::summary::ReadLoop;
pub use self::summary::{LoopAnswerReport, LoopCostReport, LoopFindingReport, ReviewLoopReport};
use super::deed::has_open_tasks;
use super::materials::{ChangedFiles, PromptMaterials};
use super::next::NextRoundRequest;
use super::post::{PostName, find_feature, unknown};
use super::report::COLUMNS;
use super::run::{Assignment, Judgement, RunRoundRequest};
use crate::failure::Failure;
use crate::lane::{CallBudget, PinnedRules, TreeLook, TreeWatch, TreeWatching};
use crate::observer::Reporter;
use crate::session::Session;
use crate::settings::dispatch::{Settings, settings};
use crate::telemetry::{TracedWork, traced};
use crate::workspace::{Workspace, refused};

/// The name under which a loop records that a person had to fix the findings.
const BY_HAND: &str = "by-hand";

/// A request for a loop of reviews.
#[derive(Debug, Clone)]
pub struct ReviewLoopRequest {
    /// The command whose reviewers answer, such as `implement`.
    pub command: String,
    /// The feature's folder, or the name or number of one.
    pub feature: Option<PathBuf>,
    /// The reviewers' client.
    pub client: AgentRef,
    /// The reviewers' model, instead of the client's own choice.
    pub model: Option<String>,
    /// The fixer's client, instead of the reviewers'.
    pub fix_client: Option<AgentRef>,
    /// The most rounds, instead of the settings' own.
    pub max: Option<u32>,
    /// The round from which on warnings alone start no other, instead of the settings' own; 0 for none.
    pub floor_from: Option<u32>,
    /// The findings that the person dismisses, by their ids.
    pub dismiss: Vec<String>,
    /// Whether the loop stops after each round of reviews, for a person to fix the findings.
    pub stops_for_fix: bool,
    /// Whether the command's fixer may change files; without that, a person fixes.
    pub rights: Rights,
    /// The changed files.
    pub changed: ChangedFiles,
    /// Whether an approval needs proof of reading.
    pub proof: Proof,
    /// Whether the user's rules go before the prompts.
    pub rules: PinnedRules,
    /// The stored task that is reviewed.
    pub task: Option<TaskId>,
    /// The loop's budget, and each lane's time limit.
    pub budget: CallBudget,
}

/// The result of a loop that ended or paused.
#[derive(Debug)]
pub struct FinishedLoop {
    /// The result of the loop.
    pub report: ReviewLoopReport,
    /// The user's next step.
    pub hint: Option<String>,
    /// The folder of the feature, or of the whole project.
    pub folder: PathBuf,
}

/// The inputs of a loop.
struct Course<'a> {
    /// The loop's span in the log; reviewers run in threads of their own.
    span: Span,
    request: &'a ReviewLoopRequest,
    session: &'a Session,
    settings: &'a Settings,
    workspace: Workspace,
    feature: Feature,
    reviewers: Vec<String>,
    /// The documents under review, if the review covers nothing else.
    documents: Option<Vec<PathBuf>>,
    fixer: Option<String>,
    max: u32,
    floor_from: Option<u32>,
    /// Answers of this call that do not count, for what they cost.
    void: Mutex<Vec<LoopEntry>>,
}

/// Runs all reviewers of a command until they approve, with fixes in between. It records every
/// answer as it comes, and a later call continues where this one ended.
pub fn review_loop(
    session: &Session,
    request: &ReviewLoopRequest,
) -> Result<FinishedLoop, Failure> {
    let work = TracedWork::call(session, "dispatch loop", request.budget.run.as_deref());
    traced(session, work, |session| run_loop(session, request), |ended| ended.report.class())
}

fn run_loop(session: &Session, request: &ReviewLoopRequest) -> Result<FinishedLoop, Failure> {
    let span = tracing::info_span!("review_loop", command = request.command);
    let _entered = span.enter();
    let settings = settings(session)?;
    let feature = find_feature(request.feature.as_deref(), session, &settings)?;
    let is_fixed = request.rights == Rights::Write && !request.stops_for_fix;
    let course = Course {
        span: span.clone(),
        request,
        session,
        settings: &settings,
        reviewers: request.reviewers(&settings)?,
        workspace: Workspace::open(session, None)?,
        documents: ground::documents(&request.command, &settings, &feature),
        feature,
        fixer: request.fixer(&settings).filter(|_| is_fixed),
        max: request.max.unwrap_or(settings.max_iterations),
        floor_from: Some(request.floor_from.unwrap_or(settings.floor_from))
            .filter(|from| *from > 0),
        void: Mutex::default(),
    };
    course.check()?;
    let changed = course.say_changes();
    course.dismiss()?;
    course.take_up()?;
    let stop = course.go()?;
    course.note_unrecorded();
    let (Workspace { store, scope }, name) = (&course.workspace, course.feature.name());
    store.keep_stop(scope, course.name(&name), stop, session.now()).map_err(refused)?;
    let ((entries, dismissed), hint) = (course.read()?, course.hint(stop));
    let folder = course.feature.dir.clone();
    let void = course.void.into_inner().unwrap_or_else(PoisonError::into_inner);
    let read = ReadLoop { entries: &entries, answers: &answers(&entries), dismissed: &dismissed };
    let report = ReviewLoopReport::new(stop, &read, &void);
    Ok(FinishedLoop { report: report.with_changes(changed), hint, folder })
}

impl ReviewLoopRequest {
    fn reviewers(&self, settings: &Settings) -> Result<Vec<String>, Failure> {
        let is_reviewer = |role: &&DispatchRole| {
            role.name.command == self.command
                && role.noun == Noun::Review
                && role.form == PromptForm::Review
        };
        let reviewers = settings.roles.all().iter().filter(is_reviewer);
        let names: Vec<_> = reviewers.map(|role| role.name.role.clone()).collect();
        if names.is_empty() {
            let absent = RoleName { command: self.command.clone(), role: "reviewer".to_owned() };
            return Err(unknown(&absent, settings));
        }
        Ok(names)
    }

    fn fixer(&self, settings: &Settings) -> Option<String> {
        let is_fixer = |role: &&DispatchRole| {
            role.name.command == self.command && role.form == PromptForm::Fix
        };
        settings.roles.all().iter().find(is_fixer).map(|role| role.name.role.clone())
    }

    fn fix_client(&self) -> &AgentRef {
        self.fix_client.as_ref().unwrap_or(&self.client)
    }
}

impl Course<'_> {
    fn name<'b>(&'b self, feature: &'b str) -> LoopName<'b> {
        LoopName { feature, command: &self.request.command }
    }

    fn keep(&self, entry: &LoopEntry) -> Result<(), Failure> {
        let Workspace { store, scope } = &self.workspace;
        store.keep_answer(scope, self.name(&self.feature.name()), entry).map_err(refused)
    }

    /// Says how to record verdicts that no task has.
    fn note_unrecorded(&self) {
        if self.request.task.is_none() && has_open_tasks(&self.workspace) {
            self.session.reporter().remark(
                "no task records these verdicts; `convoke task pass ID --by ROLE` records \
                 one, and `--task ID` records those of a loop as they come",
            );
        }
    }

    /// Returns an entry that neither passes nor fails.
    fn entry(&self, role: &str, iteration: u32, spent: AnswerUsage) -> LoopEntry {
        let (role, at) = (role.to_owned(), self.session.now());
        LoopEntry { iteration, role, passed: None, text: String::new(), spent, at }
    }

    /// Goes on step by step until it ends.
    fn go(&self) -> Result<LoopStop, Failure> {
        let mut has_asked = false;
        loop {
            let (entries, dismissed) = self.read()?;
            let due = self.step(&entries, &dismissed);
            if due == ReviewStep::Stop(LoopStop::Approved) && !has_asked {
                return Ok(self.still_approved(&entries));
            }
            has_asked = true;
            let stop = match due {
                ReviewStep::Stop(stop) => Some(stop),
                ReviewStep::Review { iteration, is_final, roles } => {
                    let word = if is_final { "final round" } else { "round" };
                    let who = roles.join(", ");
                    self.session.reporter().say(format!("{word} {iteration}: {who}"));
                    let (entries, dismissed) = (&entries, &dismissed);
                    self.review(&roles, &ReviewRound { iteration, is_final, entries, dismissed })?
                }
                ReviewStep::Fix { after } => match &self.fixer {
                    Some(fixer) => self.fix(after, fixer, (&entries, &dismissed))?,
                    None => Some(LoopStop::ByHand),
                },
            };
            if let Some(stop) = stop {
                return Ok(stop);
            }
        }
    }

    /// Runs reviewers in parallel. It records each answer as it comes.
    fn review(
        &self,
        roles: &[String],
        round: &ReviewRound<'_>,
    ) -> Result<Option<LoopStop>, Failure> {
        let reporter = self.session.reporter();
        let limit = self.request.budget.limits.wall;
        let look = TreeLook { session: self.session, reporter: &reporter, limit };
        let watch = TreeWatch::begin(Rights::ReadOnly, &look);
        let ask = |role: &String| self.span.in_scope(|| self.ask(role, round));
        let ended: Vec<Result<Option<LoopStop>, Failure>> = thread::scope(|threads| {
            let all: Vec<_> = roles.iter().map(|role| threads.spawn(|| ask(role))).collect();
            let over = all.into_iter().map(thread::ScopedJoinHandle::join);
            over.map(|ended| ended.unwrap_or(Ok(Some(LoopStop::LaneFailed)))).collect()
        });
        warn_of_changes(watch.end(&look), &reporter);
        let stops = ended.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(stops.into_iter().flatten().next())
    }

    /// Runs one reviewer, and records its answer if that counts; else returns why the loop ends.
    fn ask(&self, role: &str, round: &ReviewRound<'_>) -> Result<Option<LoopStop>, Failure> {
        let ReviewRound { iteration, is_final, entries, dismissed } = *round;
        let before = entries.iter().rev().find(|entry| entry.role == role);
        let issues = before.map_or(Ok(Vec::new()), |entry| kept_reviews(entry, dismissed))?;
        let next = NextRoundRequest {
            summary: summary_of(entries, iteration),
            is_final,
            ..self.next(role, iteration, issues)
        };
        let reporter = self.session.reporter_of(role);
        let assigned = self.assigned(next, &self.request.client)?;
        let Judgement { ran, earlier, judged } = assigned.run(&self.workspace, &reporter)?;
        let void = self.entry(role, iteration, spent(&ran, &earlier));
        let stop = match &judged {
            Some(judged) => without_verdict(judged, ran.transcript.outcome),
            None => Some(stop_of(ran.transcript.outcome)),
        };
        let (Some(judged), None) = (&judged, stop) else {
            for line in judged.iter().flat_map(|judged| judged.report.lines(COLUMNS)) {
                reporter.say(line);
            }
            self.void.lock().unwrap_or_else(PoisonError::into_inner).push(void);
            return Ok(stop);
        };
        let grounds = Grounds {
            tree: self.tree(),
            proven: judged.report.not_proven.is_empty(),
            also_wrote: judged.report.also_wrote.clone(),
        };
        self.keep(&LoopEntry {
            passed: Some(judged.report.passes),
            text: review_text(role, judged.review.as_ref(), &grounds).to_string(),
            ..void
        })?;
        reporter.say(if judged.report.passes { "passes" } else { "does not pass" });
        for line in judged.report.wrote_lines() {
            reporter.say(line.trim_start());
        }
        Ok(None)
    }

    fn fix(
        &self,
        after: u32,
        fixer: &str,
        (entries, dismissed): (&[LoopEntry], &BTreeSet<String>),
    ) -> Result<Option<LoopStop>, Failure> {
        self.session.reporter().say(format!("fix after round {after}: {fixer}"));
        let latest = |role: &String| entries.iter().rev().find(|entry| entry.role == *role);
        let latest = self.reviewers.iter().filter_map(latest);
        let failed = latest.filter(|entry| entry.passed == Some(false));
        let reviews = failed.map(|entry| kept_reviews(entry, dismissed));
        let reviews: Vec<_> = reviews.collect::<Result<_, _>>()?;
        let next = self.next(fixer, after, reviews.concat());
        let reporter: Reporter = self.session.reporter_of(fixer);
        let assigned = self.assigned(next, self.request.fix_client())?;
        let Judgement { ran, earlier, judged } = assigned.run(&self.workspace, &reporter)?;
        let Some(answer) = ran.transcript.output.answer().filter(|_| judged.is_some()) else {
            return Ok(Some(stop_of(ran.transcript.outcome)));
        };
        let entry = self.entry(fixer, after, spent(&ran, &earlier));
        self.keep(&LoopEntry { text: answer.to_owned(), ..entry })?;
        Ok(None)
    }

    fn next(&self, role: &str, iteration: u32, issues: Vec<Review>) -> NextRoundRequest {
        let role = RoleName { command: self.request.command.clone(), role: role.to_owned() };
        let changed = self.request.changed.clone();
        NextRoundRequest {
            post: PostName { role, feature: self.request.feature.clone() },
            materials: PromptMaterials::of_round(iteration, self.max, issues, changed),
            agent: None,
            summary: String::new(),
            commits: false,
            is_final: false,
            resume_failed: None,
        }
    }

    fn assigned(
        &self,
        next: NextRoundRequest,
        client: &AgentRef,
    ) -> Result<Assignment<'_>, Failure> {
        let is_reviewers = *client == self.request.client;
        let request = RunRoundRequest {
            next,
            client: client.clone(),
            model: self.request.model.clone().filter(|_| is_reviewers),
            rights: self.request.rights,
            budget: self.request.budget.clone(),
            proof: self.request.proof,
            task: self.request.task.clone(),
            rules: self.request.rules,
        };
        Assignment::new(self.session, self.settings, request, TreeWatching::Nothing)
    }
}

/// A round of reviews, and all earlier entries.
struct ReviewRound<'a> {
    iteration: u32,
    is_final: bool,
    entries: &'a [LoopEntry],
    dismissed: &'a BTreeSet<String>,
}
