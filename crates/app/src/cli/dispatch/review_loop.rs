//! `convoke dispatch loop`: all reviewers of a command, until they approve or it must end.

mod entry;
mod ground;
mod guidance;
mod summary;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use convoke_domain::dispatch::review_loop::{Fixed, FixedBy, LoopStop, ReviewStep, next_step};
use convoke_domain::dispatch::role::{Noun, PromptForm, Proof, RoleName};
use convoke_domain::task::id::TaskId;
use convoke_engine::dispatch::feature::Feature;
use convoke_engine::lane::adapter::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::scratch;
use convoke_store::review_loop::{LoopEntry, LoopName, LoopStore, Spent};

use self::entry::{Grounds, answers, review_text, spent, stop_of, without_verdict};
use self::ground::warn_of_changes;
use self::summary::{Summary, is_by_hand};
use super::materials::MaterialArgs;
use super::next::NextArgs;
use super::run::{Assignment, Judgement, Watch};
use super::{MaybeFeature, PostArgs, unknown};
use crate::app::App;
use crate::cli::lane::{
    AgentWord, Allowance, Look, Purse, RulesArgs, TreeWatch, lane_failed, model_name,
};
use crate::clock::now;
use crate::config::dispatch::{Settings, settings};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, Voice};
use crate::workspace::{Workspace, refused};

/// The name under which a loop keeps that a person was to fix what was found.
const BY_HAND: &str = "by-hand";

/// Convoke asks all reviewers in parallel, then only those that failed; when each has passed, it asks
/// all of them once more. In between, with `--write`, the command's fixer fixes what was found;
/// without it the loop stops for a person to do so, and the next call goes on. So does the next call
/// after an interruption. `dispatch reset` begins afresh.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The command, such as `implement`
    command: String,

    #[command(flatten)]
    feature: MaybeFeature,

    /// Who reviews: a client, `http:NAME` for a model's API of your configuration, or `replay:FILE`
    /// for recorded lanes
    #[arg(long, value_parser = AgentWord)]
    client: AgentRef,

    /// The model [default: the client's own choice]
    #[arg(long, value_parser = model_name)]
    model: Option<String>,

    /// Who fixes: a client, or `replay:FILE` for recorded lanes [default: the reviewers' client]
    #[arg(long, value_name = "CLIENT", value_parser = AgentWord)]
    fix_client: Option<AgentRef>,

    /// The most rounds [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max: Option<u32>,

    /// Stop after each round of reviews, for a person to fix what was found
    #[arg(long)]
    no_fix: bool,

    /// Let the command's fixer change files, as far as its client's own settings allow
    #[arg(long)]
    write: bool,

    /// List the files that changed since a commit
    #[arg(long, value_name = "REV")]
    changed_since: Option<String>,

    /// Accept an approval only if the client's record shows that every required file was read whole
    #[arg(long)]
    require_proof: bool,

    #[command(flatten)]
    rules: RulesArgs,

    /// The stored task that is reviewed; Convoke records every verdict with it
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    task: Option<TaskId>,

    #[command(flatten)]
    allowance: Allowance,
}

/// Everything a loop goes by.
struct Course<'a> {
    args: &'a Args,
    app: &'a App,
    feature: Feature,
    reviewers: Vec<String>,
    /// The documents under review, where that is all there is to review.
    documents: Option<Vec<PathBuf>>,
    fixer: Option<String>,
    max: u32,
    purse: Purse,
    /// Answers of this call that do not count, for what they cost.
    void: Mutex<Vec<LoopEntry>>,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let settings = settings(app)?;
        let feature = self.feature.find(app, &settings)?;
        let course = Course {
            args: self,
            app,
            documents: ground::documents(&self.command, &settings, &feature),
            feature,
            reviewers: self.reviewers(&settings)?,
            fixer: self.fixer(&settings).filter(|_| self.write && !self.no_fix),
            max: self.max.unwrap_or(settings.max_iterations),
            purse: self.allowance.settle("dispatch loop"),
            void: Mutex::default(),
        };
        course.check()?;
        let changed = course.say_changes(&settings, output);
        course.take_up()?;
        let stop = course.go()?;
        let Workspace { store, scope } = course.workspace()?;
        store
            .keep_stop(&scope, course.name(&course.feature.name()), stop, now())
            .map_err(refused)?;
        let (entries, hint) = (course.entries()?, course.hint(stop, &settings));
        let void = course.void.into_inner().unwrap_or_else(PoisonError::into_inner);
        let summary = Summary::new(stop, &entries, &answers(&entries), &void);
        let exit = summary.with_changes(changed).show(app, output)?;
        if let Some(hint) = hint {
            output.say(&format!("hint: {hint}"));
        }
        Ok(exit)
    }

    fn reviewers(&self, settings: &Settings) -> Result<Vec<String>, Failure> {
        let of_command = settings.roles.all().iter().filter(|it| it.name.command == self.command);
        let reviewers =
            of_command.filter(|it| it.noun == Noun::Review && it.form == PromptForm::Review);
        let names: Vec<_> = reviewers.map(|it| it.name.role.clone()).collect();
        if names.is_empty() {
            let nobody = RoleName { command: self.command.clone(), role: "reviewer".to_owned() };
            return Err(unknown(&nobody, settings));
        }
        Ok(names)
    }

    fn fixer(&self, settings: &Settings) -> Option<String> {
        let mut roles = settings.roles.all().iter();
        let is_fixer =
            |name: &RoleName, form| name.command == self.command && form == PromptForm::Fix;
        roles.find(|it| is_fixer(&it.name, it.form)).map(|it| it.name.role.clone())
    }
}

impl Course<'_> {
    fn name<'b>(&'b self, feature: &'b str) -> LoopName<'b> {
        LoopName { feature, command: &self.args.command }
    }

    /// A connection is its thread's own, and reviewers are asked in several.
    fn workspace(&self) -> Result<Workspace, Failure> {
        Workspace::open(self.app, None)
    }

    fn entries(&self) -> Result<Vec<LoopEntry>, Failure> {
        let Workspace { store, scope } = self.workspace()?;
        store.answers(&scope, self.name(&self.feature.name())).map_err(refused)
    }

    fn keep(&self, entry: &LoopEntry) -> Result<(), Failure> {
        let Workspace { store, scope } = self.workspace()?;
        store.keep_answer(&scope, self.name(&self.feature.name()), entry).map_err(refused)
    }

    /// Who calls again after the loop stopped for a person wants the reviewers to look again.
    fn take_up(&self) -> Result<(), Failure> {
        let Workspace { store, scope } = self.workspace()?;
        let name = self.feature.name();
        let stop = store.last_stop(&scope, self.name(&name)).map_err(refused)?;
        let entries = self.entries()?;
        if !matches!(stop, Some(LoopStop::ByHand | LoopStop::NoProgress)) {
            return Ok(());
        }
        let after = entries.iter().map(|it| it.iteration).max().unwrap_or_default();
        let is_open = match self.step(&entries) {
            ReviewStep::Fix { .. } | ReviewStep::Stop(LoopStop::NoProgress) => true,
            ReviewStep::Review { .. } | ReviewStep::Stop(_) => false,
        };
        if is_open {
            let (text, spent) = (String::new(), Spent::default());
            let role = BY_HAND.to_owned();
            let entry = LoopEntry { iteration: after, role, passed: None, text, spent, at: now() };
            self.keep(&entry)?;
        }
        Ok(())
    }

    fn step(&self, entries: &[LoopEntry]) -> ReviewStep {
        let attempts = entries.iter().filter(|entry| entry.passed.is_none());
        let by = |entry: &LoopEntry| {
            if is_by_hand(entry) { FixedBy::Person } else { FixedBy::Agent }
        };
        let fixed: Vec<_> =
            attempts.map(|entry| Fixed { after: entry.iteration, by: by(entry) }).collect();
        // A pass without proof does not count where proof is required, so that reviewer is asked.
        let counts = |entry: &&LoopEntry| {
            entry.passed != Some(true) || !self.args.require_proof || Grounds::of(entry).proven
        };
        let counted: Vec<_> = entries.iter().filter(counts).cloned().collect();
        next_step(&self.reviewers, &answers(&counted), &fixed, self.max)
    }

    /// Goes on step by step until it ends.
    fn go(&self) -> Result<LoopStop, Failure> {
        let mut has_asked = false;
        loop {
            let entries = self.entries()?;
            let due = self.step(&entries);
            if due == ReviewStep::Stop(LoopStop::Approved) && !has_asked {
                return Ok(self.still_approved(&entries));
            }
            has_asked = true;
            let stop = match due {
                ReviewStep::Stop(stop) => Some(stop),
                ReviewStep::Review { iteration, is_final, roles } => {
                    let word = if is_final { "final round" } else { "round" };
                    Voice::default().say(&format!("{word} {iteration}: {}", roles.join(", ")));
                    self.review(iteration, is_final, &roles, &entries)?
                }
                ReviewStep::Fix { after } => match &self.fixer {
                    Some(fixer) => self.fix(after, fixer, &entries)?,
                    None => Some(LoopStop::ByHand),
                },
            };
            if let Some(stop) = stop {
                return Ok(stop);
            }
        }
    }

    /// Asks reviewers at the same time. Each answer is kept as it comes.
    fn review(
        &self,
        iteration: u32,
        is_final: bool,
        roles: &[String],
        entries: &[LoopEntry],
    ) -> Result<Option<LoopStop>, Failure> {
        let ask = |role: &String| {
            let scratch = scratch::lane().map_err(lane_failed)?;
            let before = entries.iter().rev().find(|it| it.role == *role);
            let next = NextArgs {
                summary: summary_of(entries, iteration, scratch.path())?,
                is_final,
                ..self.next(role, iteration, before.map(|it| it.text.as_str()), scratch.path())?
            };
            let assigned = self.assigned(next, &self.args.client);
            let voice = Voice::named(role);
            let Judgement { ran, earlier, judged } = assigned.run(self.app, &voice)?;
            let void = LoopEntry {
                iteration,
                role: role.clone(),
                passed: None,
                text: String::new(),
                spent: spent(&ran, &earlier),
                at: now(),
            };
            let stop = match &judged {
                Some(judged) => without_verdict(judged, ran.driven.outcome),
                None => Some(stop_of(ran.driven.outcome)),
            };
            let (Some(judged), None) = (&judged, stop) else {
                for line in judged.iter().flat_map(|judged| judged.report.lines()) {
                    voice.say(&line);
                }
                self.void.lock().unwrap_or_else(PoisonError::into_inner).push(void);
                return Ok(stop);
            };
            let grounds = Grounds {
                tree: self.tree(),
                proven: judged.report.not_proven.is_empty(),
                also_wrote: judged.report.also_wrote.clone(),
            };
            let entry = LoopEntry {
                passed: Some(judged.report.passes),
                text: review_text(role, judged.review.as_ref(), &grounds).to_string(),
                ..void
            };
            self.keep(&entry)?;
            voice.say(if judged.report.passes { "passes" } else { "does not pass" });
            for line in judged.report.wrote_lines() {
                voice.say(line.trim_start());
            }
            Ok(None)
        };
        let voice = Voice::default();
        let look = Look { app: self.app, voice: &voice, limit: self.purse.limits.wall };
        let (asked, watch) = (&ask, TreeWatch::begin(Rights::ReadOnly, &look));
        let ended: Vec<Result<Option<LoopStop>, Failure>> = thread::scope(|threads| {
            let all: Vec<_> = roles.iter().map(|it| threads.spawn(move || asked(it))).collect();
            all.into_iter().map(|it| it.join().unwrap_or(Ok(Some(LoopStop::LaneFailed)))).collect()
        });
        warn_of_changes(watch.end(&look));
        let stops = ended.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(stops.into_iter().flatten().next())
    }

    fn fix(
        &self,
        after: u32,
        fixer: &str,
        entries: &[LoopEntry],
    ) -> Result<Option<LoopStop>, Failure> {
        Voice::default().say(&format!("fix after round {after}: {fixer}"));
        let scratch = scratch::lane().map_err(lane_failed)?;
        let latest = |role: &String| entries.iter().rev().find(|it| it.role == *role);
        let failed = self.reviewers.iter().filter_map(latest).filter(|it| it.passed == Some(false));
        let reviews: Vec<&str> = failed.map(|it| it.text.as_str()).collect();
        let issues = format!("[{}]", reviews.join(","));
        let next = self.next(fixer, after, Some(&issues), scratch.path())?;
        let client = self.args.fix_client.as_ref().unwrap_or(&self.args.client);
        let Judgement { ran, earlier, judged } =
            self.assigned(next, client).run(self.app, &Voice::named(fixer))?;
        let Some(answer) = ran.driven.heard.answer().filter(|_| judged.is_some()) else {
            return Ok(Some(stop_of(ran.driven.outcome)));
        };
        let entry = LoopEntry {
            iteration: after,
            role: fixer.to_owned(),
            passed: None,
            text: answer.to_owned(),
            spent: spent(&ran, &earlier),
            at: now(),
        };
        self.keep(&entry)?;
        Ok(None)
    }

    fn next(
        &self,
        role: &str,
        iteration: u32,
        issues: Option<&str>,
        scratch: &Path,
    ) -> Result<NextArgs, Failure> {
        let role = RoleName { command: self.args.command.clone(), role: role.to_owned() };
        let issues = issues.map(|text| written(scratch, "issues.json", text)).transpose()?;
        let changed_since = self.args.changed_since.clone();
        Ok(NextArgs {
            post: PostArgs { role, feature: self.args.feature.clone() },
            materials: MaterialArgs::of_round(iteration, self.max, issues, changed_since),
            agent: None,
            summary: None,
            commit: false,
            is_final: false,
            resume_failed: None,
        })
    }

    fn assigned<'b>(&'b self, next: NextArgs, client: &'b AgentRef) -> Assignment<'b> {
        let is_reviewers = *client == self.args.client;
        let model = self.args.model.as_deref().filter(|_| is_reviewers);
        let (write, watch) = (self.args.write, Watch::Round);
        let proof = Proof::of(self.args.require_proof);
        let (task, rules) = (self.args.task.as_ref(), self.args.rules.rules());
        Assignment { next, client, model, write, watch, purse: &self.purse, proof, task, rules }
    }
}

/// Returns what reviewers are told of the last fix.
fn summary_of(
    entries: &[LoopEntry],
    iteration: u32,
    scratch: &Path,
) -> Result<Option<PathBuf>, Failure> {
    let fixes = entries.iter().filter(|it| it.passed.is_none() && it.iteration < iteration);
    let last = fixes.max_by_key(|it| it.iteration).filter(|it| !it.text.is_empty());
    last.map(|it| written(scratch, "summary.md", &it.text)).transpose()
}

fn written(scratch: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    let path = scratch.join(name);
    fs::write(&path, text).map_err(lane_failed)?;
    Ok(path)
}
