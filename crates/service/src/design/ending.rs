//! How a design ended: its report, and the files that it leaves in a feature's folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use convoke_domain::design::citation::cited_in_plan;
use convoke_domain::design::outcome;
use convoke_domain::design::outline::{DesignOutline, DesignPlan};
use convoke_domain::design::render;
use convoke_domain::design::seat::Panel;
use convoke_domain::design::setup::Ready;
use convoke_domain::design::walk::{DesignEnding, FailedStep};
use convoke_domain::design::warning::DesignWarning;
use convoke_domain::run::RunId;
use convoke_domain::tree::TreeStatus;
use convoke_engine::file;
use convoke_engine::manifest::record::{RecordedFile, RunRecord};
use serde::Serialize;

use super::event_loop::DesignOutcome;
use super::{DesignError, texts};
use crate::failure::{ErrorClass, Failure};
use crate::interruption::ExitHold;
use crate::next_command::NextCommand;
use crate::observer::Reporter;
use crate::run::{MattersReport, ResultsReport, RunKind, SpendingReport, open, way_out};

/// How a design ended.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DesignReport {
    /// The run's id.
    pub run: String,
    /// How it ended, in words.
    pub ending: String,
    /// The warnings of a completed run.
    pub degraded: Vec<String>,
    /// Matters left to people, and their decisions.
    #[serde(flatten)]
    pub matters: MattersReport,
    /// The file with findings withheld from published files; only its user can read it.
    pub withheld_file: Option<String>,
    /// The artifacts' texts, by file name.
    pub artifacts: BTreeMap<String, String>,
    /// Why the design failed; `None` if it succeeded.
    #[serde(skip)]
    pub class: Option<ErrorClass>,
    /// Whether there is a plan, so that people can decide the open matters.
    #[serde(skip)]
    pub is_planned: bool,
    /// The command that decides the first undecided matter.
    #[serde(skip)]
    pub way_out: Option<String>,
    /// What the user can do next: commands, or words without one.
    #[serde(skip)]
    pub next: Vec<NextCommand>,
    /// A short overview for a person.
    #[serde(skip)]
    pub overview: DesignOverview,
}

/// A short overview of a design at its end. `show` has all of it for programs.
#[derive(Debug, Clone)]
pub struct DesignOverview {
    /// The participants.
    pub panel: Panel,
    /// The results of the phases.
    pub results: ResultsReport,
    /// What the run warned of, in order.
    pub warnings: Vec<String>,
    /// How many different models decided, and which agents answered for others.
    pub independence: Option<String>,
    /// The run's cost; `None` if unknown.
    pub cost: Option<SpendingReport>,
    /// How long it took since the request.
    pub seconds: u64,
    /// The plan's path in the feature's folder.
    pub plan_file: Option<String>,
}

/// With which code a design is refused because of the branch that is checked out.
const OTHER_BRANCH: u8 = 1;

/// The remedy for that.
const STAY: &str = "leave out `--policy seed` to plan on the branch that is checked out";

/// A design that ended. While it lives, a second request to stop waits: the front end shows first how
/// the run can be resumed.
pub struct EndedDesign {
    /// How it ended.
    pub report: DesignReport,
    pub(super) _stopping: Option<ExitHold>,
}

impl DesignReport {
    pub(super) fn new(
        id: &RunId,
        outcome: &DesignOutcome,
        progress: &DesignOutline,
        withheld: Option<&Path>,
        kind: RunKind,
        overview: DesignOverview,
    ) -> Self {
        let again = |options: &str, why: &str| match kind {
            RunKind::Real => NextCommand::new(format!("convoke resume {id}{options}"), why),
            RunKind::Rehearsal => NextCommand::new("convoke design --rehearse", "starts it again"),
        };
        let (class, ending, degraded, next) = summary(id, outcome, &again);
        let first = open(progress).first().copied();
        Self {
            run: id.to_string(),
            ending,
            degraded: render::warnings(degraded, progress.settings.as_ref()),
            matters: MattersReport::new(progress),
            withheld_file: withheld.map(|path| path.display().to_string()),
            artifacts: texts(&render::artifacts(progress)),
            class,
            is_planned: matches!(
                outcome,
                DesignOutcome::Ended(DesignEnding::Complete { .. } | DesignEnding::NotExported(_))
            ),
            way_out: first.map(|matter| way_out(id, matter, kind)),
            next,
            overview,
        }
    }

    /// Adds that agents left the working tree changed after the last boundary.
    pub(super) fn after(mut self, tree: TreeStatus) -> Self {
        if tree == TreeStatus::Dirty {
            self.class = self.class.or(Some(ErrorClass::TreeChanged));
        }
        self
    }
}

/// Returns what kind of problem there is, how the run ended, its warnings, and what can be done next.
/// `again` names the command that goes on, with its options.
fn summary<'o>(
    id: &RunId,
    outcome: &'o DesignOutcome,
    again: &dyn Fn(&str, &str) -> NextCommand,
) -> (Option<ErrorClass>, String, &'o [DesignWarning], Vec<NextCommand>) {
    match outcome {
        DesignOutcome::Ended(DesignEnding::Complete { degraded }) => {
            let next = NextCommand::new(format!("convoke show {id} --artifact plan"), "");
            (None, "complete".to_owned(), degraded.as_slice(), vec![next])
        }
        DesignOutcome::Ended(DesignEnding::Refused(code)) => {
            // The line about another branch is a contract, and names another program's flag.
            let stay = (*code == OTHER_BRANCH).then(|| NextCommand::new("", STAY));
            let next = stay.into_iter().collect();
            (Some(ErrorClass::Prerequisite), "refused".to_owned(), &[][..], next)
        }
        DesignOutcome::Ended(DesignEnding::DirtyTree) => {
            (Some(ErrorClass::TreeChanged), "dirty tree".to_owned(), &[][..], Vec::new())
        }
        DesignOutcome::Ended(DesignEnding::Failed(FailedStep { why, .. })) => {
            let doctor =
                NextCommand::new("convoke doctor --probe", "shows which agents can answer");
            let next = vec![again("", "asks again"), doctor];
            (Some(ErrorClass::NoAnswer), format!("failed: {why}"), &[][..], next)
        }
        DesignOutcome::Ended(DesignEnding::OverBudget(why)) => {
            let next = vec![again(" --budget MORE", "")];
            (Some(ErrorClass::OverBudget), format!("over budget: {why}"), &[][..], next)
        }
        DesignOutcome::Ended(DesignEnding::HeavyFailed(why)) => (
            Some(ErrorClass::NoAnswer),
            format!("the worker process failed: {why}"),
            &[][..],
            vec![again("", "")],
        ),
        DesignOutcome::Ended(DesignEnding::NotExported(why)) => (
            Some(ErrorClass::Prerequisite),
            format!("complete, but not exported: {why}"),
            &[][..],
            vec![again("", "")],
        ),
        DesignOutcome::Interrupted => {
            (Some(ErrorClass::Interrupted), "interrupted".to_owned(), &[][..], vec![again("", "")])
        }
        DesignOutcome::Parked => (
            Some(ErrorClass::Interrupted),
            "interrupted while parked".to_owned(),
            &[][..],
            vec![again(" --park", "")],
        ),
        DesignOutcome::HeavyDone => (None, "worker process done".to_owned(), &[][..], Vec::new()),
        DesignOutcome::TreeNeedsAPerson => (
            Some(ErrorClass::TreeChanged),
            "the working tree was changed; restore it".to_owned(),
            &[][..],
            vec![again("", "")],
        ),
    }
}

/// Returns the file of what a run withholds from published files; nothing if it withholds nothing.
pub(super) fn withheld(id: &RunId, progress: &DesignOutline) -> Option<String> {
    let review = progress.results.voted()?;
    let blocks = outcome::held_back(&review.findings, &review.tally);
    if blocks.is_empty() {
        return None;
    }
    let held = progress.matters.iter().filter(|matter| matter.is_withheld);
    let listed = held.map(|matter| match &matter.ruling {
        Some(ruling) => format!("- {}: {}\n", matter.id, ruling.line()),
        None => format!("- {}: {}\n", matter.id, matter.panel),
    });
    let listed: String = listed.collect();
    Some(format!(
        "# Findings of run {id} that are withheld from published files\n\n{listed}\n{blocks}"
    ))
}

/// The plans that a run had before people decided more. A file that still holds one of them is the
/// run's own, and no person has worked on it since.
#[derive(Default)]
pub(super) struct EarlierPlans {
    pub(super) plans: Vec<DesignPlan>,
    /// What they cited.
    pub(super) places: Vec<String>,
}

impl EarlierPlans {
    /// Tells whether a file is as this run left it.
    fn has_left(&self, path: &Path, name: &str, id: &RunId) -> bool {
        if self.plans.is_empty() || !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
            return false;
        }
        let Ok(text) = fs::read_to_string(path) else { return false };
        match name {
            "plan" => self.plans.iter().any(|plan| *plan.text == *text),
            CITED_PLACES => self.places.contains(&text),
            "tasks" => self.plans.iter().any(|plan| plan.task_list() == text),
            _ => RunRecord::parse(&text).is_ok_and(|record| record.run == id.as_str()),
        }
    }
}

/// The name of the file with the places that the plan cites, without its end.
const CITED_PLACES: &str = "cited-places";

/// Writes the plan, its tasks, what the plan cites and the record of all of them beside the feature's other documents. A file
/// of another author stays, and so does the target of a link: the plan is then written beside it,
/// under the run's name. Returns the plan's path.
pub(super) fn hand_over(
    folder: &Path,
    id: &RunId,
    progress: &DesignOutline,
    record: RunRecord,
    earlier: &EarlierPlans,
    reporter: &Reporter,
) -> Result<PathBuf, Failure> {
    let plan = progress.results.plan.clone().unwrap_or_default();
    let mut files = Vec::new();
    let places = cited_in_plan(&progress.results.citations, &plan.text);
    let cited = places.iter().map(|places| (CITED_PLACES, places.as_str()));
    for (name, text) in
        [("plan", &*plan.text), ("tasks", plan.task_list())].into_iter().chain(cited)
    {
        let name = leave(folder, (name, "md"), id, text, earlier, reporter)?;
        files.push(RecordedFile::of(&name, text));
    }
    let left = files.first().map(|file| folder.join(&file.name)).unwrap_or_default();
    leave(folder, ("manifest", "json"), id, &record.with_files(files).text(), earlier, reporter)?;
    Ok(left)
}

/// Leaves a file, and returns its name.
fn leave(
    folder: &Path,
    (name, kind): (&str, &str),
    id: &RunId,
    text: &str,
    earlier: &EarlierPlans,
    reporter: &Reporter,
) -> Result<String, Failure> {
    let (usual, other) = (format!("{name}.{kind}"), format!("{name}-{id}.{kind}"));
    for ours in [&usual, &other] {
        let path = folder.join(ours);
        if earlier.has_left(&path, name, id) {
            let failed = |source| DesignError::Folder { path: path.clone(), source };
            file::put(&path, text.as_bytes())
                .map_err(|source| Failure::new(ErrorClass::Prerequisite, failed(source)))?;
            return Ok(ours.clone());
        }
    }
    if left(&folder.join(&usual), text)? {
        return Ok(usual);
    }
    let path = folder.join(&other);
    if !left(&path, text)? {
        let source = ErrorKind::AlreadyExists.into();
        return Err(Failure::new(ErrorClass::Prerequisite, DesignError::Folder { path, source }));
    }
    reporter.remark(format!("`{usual}` exists and stays unchanged; the new file is `{other}`"));
    Ok(other)
}

/// Writes a new file; tells whether it is there now with this text.
fn left(path: &Path, text: &str) -> Result<bool, Failure> {
    // A link is never followed, not even a dangling one.
    let written = File::options().write(true).create_new(true).open(path);
    match written.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
            Ok(is_file && fs::read(path).is_ok_and(|found| found == text.as_bytes()))
        }
        Err(source) => {
            let path = path.to_owned();
            Err(Failure::new(ErrorClass::Prerequisite, DesignError::Folder { path, source }))
        }
    }
}

/// Reports which branch a run made and left checked out when it did not complete.
pub(super) fn tell_branch(
    ready: Option<&Ready>,
    ended: &mut Result<EndedDesign, Failure>,
    reporter: &Reporter,
) {
    let Some(Ready { branch, is_new: true, left: Some(left), .. }) = ready else { return };
    let back = if left.is_empty() { "git checkout -" } else { &format!("git switch {left}") };
    match ended {
        Ok(ended) if ended.report.class.is_none() => {}
        Ok(ended) => {
            let why = format!("goes back: you are on {branch}, which this run made");
            ended.report.next.push(NextCommand::new(back, why));
        }
        Err(_) => reporter.remark(format!(
            "the branch `{branch}`, which this run made, is still checked out; `{back}` goes back"
        )),
    }
}
