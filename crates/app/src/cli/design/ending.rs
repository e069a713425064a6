//! How a design ended: what is said of it, and what it leaves in a feature's folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;

use convoke_domain::design::walk::{Ending, Failed, Progress};
use convoke_domain::run::RunId;
use convoke_engine::design::run::Outcome;
use convoke_engine::file;
use convoke_engine::manifest::record::{Entry, Record};
use serde::Serialize;

use super::DesignError;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use convoke_service::design::{texts, warning_count};
use convoke_service::run::{self, MattersReport, RunKind};

#[derive(Serialize)]
struct Report<'a> {
    run: &'a str,
    ending: String,
    degraded: &'a [String],
    #[serde(flatten)]
    matters: MattersReport,
    /// Where only its user can read what is withheld from published files.
    withheld_file: Option<String>,
    artifacts: BTreeMap<String, String>,
}

/// With which code a design is refused because of the branch that is checked out.
const OTHER_BRANCH: u8 = 1;

/// What helps then.
const STAY: &str =
    "`convoke design --no-branch` stays on what is checked out; it has no `--skip-branch-check`";

/// Says how it ended, and what can be done next.
pub(super) fn told(
    app: &App,
    id: &RunId,
    outcome: &Outcome,
    progress: &Progress,
    withheld: Option<&Path>,
    kind: RunKind,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (exit, ending, degraded, hint) = summary(id, outcome);
    if app.format == Format::Json {
        output.json(&Report {
            run: id.as_str(),
            ending,
            degraded,
            matters: MattersReport::new(progress),
            withheld_file: withheld.map(|path| path.display().to_string()),
            artifacts: texts(&progress.files),
        })?;
        return Ok(exit);
    }
    if degraded.is_empty() {
        output.say(&format!("run {id}: {ending}"));
    } else {
        let warnings = warning_count(degraded.len());
        output.say(&format!("DEGRADED: {warnings}, repeated in step 5"));
        output.say(&format!("run {id}: {ending}, DEGRADED ({warnings})"));
    }
    if matches!(outcome, Outcome::Ended(Ending::Complete { .. } | Ending::NotExported(_))) {
        left_to_people(id, progress, withheld, kind, output);
    }
    if !hint.is_empty() {
        output.say(&format!("hint: {hint}"));
    }
    Ok(exit)
}

/// Returns what the process exits with, how the run ended, its warnings, and what can be done next.
fn summary<'o>(id: &RunId, outcome: &'o Outcome) -> (Exit, String, &'o [String], String) {
    match outcome {
        Outcome::Ended(Ending::Complete { degraded }) => {
            let exit = Exit::Done;
            let hint = format!("convoke show {id} --artifact plan");
            (exit, "complete".to_owned(), degraded.as_slice(), hint)
        }
        Outcome::Ended(Ending::Refused(code)) => {
            // The line about another branch is a contract, and names a flag of another program.
            let hint = if *code == OTHER_BRANCH { STAY } else { "" };
            (Exit::Surroundings, "refused".to_owned(), &[][..], hint.to_owned())
        }
        Outcome::Ended(Ending::DirtyTree) => {
            (Exit::DirtyTree, "dirty tree".to_owned(), &[][..], String::new())
        }
        Outcome::Ended(Ending::Failed(Failed { why, .. })) => {
            let hint =
                format!("convoke resume {id} asks again; convoke doctor says who can answer");
            (Exit::LaneFailed, format!("failed: {why}"), &[][..], hint)
        }
        Outcome::Ended(Ending::OverBudget(why)) => {
            let hint = format!("convoke resume {id} --budget MORE");
            (Exit::Budget, format!("over budget: {why}"), &[][..], hint)
        }
        Outcome::Ended(Ending::HeavyFailed(why)) => (
            Exit::LaneFailed,
            format!("the heavy part failed: {why}"),
            &[][..],
            format!("convoke resume {id}"),
        ),
        Outcome::Ended(Ending::NotExported(why)) => (
            Exit::Surroundings,
            format!("complete, but not exported: {why}"),
            &[][..],
            format!("convoke resume {id}"),
        ),
        Outcome::Interrupted => {
            (Exit::Interrupted, "interrupted".to_owned(), &[][..], format!("convoke resume {id}"))
        }
        Outcome::HeavyDone => (Exit::Done, "heavy part done".to_owned(), &[][..], String::new()),
        Outcome::TreeNeedsAPerson => (
            Exit::DirtyTree,
            "the working tree was changed; put it in order".to_owned(),
            &[][..],
            format!("convoke resume {id}"),
        ),
    }
}

/// Says what a person has still to look at: what is withheld, and what is undecided.
fn left_to_people(
    id: &RunId,
    progress: &Progress,
    withheld: Option<&Path>,
    kind: RunKind,
    output: &Output,
) {
    let held: Vec<_> = progress.matters.iter().filter(|matter| matter.is_withheld).collect();
    if !held.is_empty() {
        let accepted = held.iter().filter(|matter| matter.is_accepted()).count();
        let place = withheld.map(|path| format!(" They are in {}.", path.display()));
        output.say(&format!(
            "withheld from published files: {} out of scope, perhaps about security \
             ({accepted} accepted).{} `convoke show {id}` lists them.",
            findings(held.len()),
            place.unwrap_or_default()
        ));
    }
    let open = run::open(progress);
    let Some(first) = open.first() else { return };
    let listed: Vec<_> =
        open.iter().map(|matter| format!("{} ({})", matter.id, matter.panel)).collect();
    output.say(&format!("undecided: {}", listed.join(", ")));
    output.say(&format!("hint: {}", run::way_out(id, first, kind)));
}

fn findings(count: usize) -> String {
    format!("{count} finding{}", if count == 1 { "" } else { "s" })
}

/// Returns the file of what a run withholds from published files; nothing if it withholds nothing.
pub(super) fn withheld(id: &RunId, progress: &Progress) -> Option<String> {
    let blocks = progress.files.get("held-back.md")?;
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
pub(super) struct Earlier {
    pub(super) plans: Vec<Arc<str>>,
}

impl Earlier {
    /// Tells whether a file is as this run left it.
    fn has_left(&self, path: &Path, name: &str, id: &RunId) -> bool {
        if self.plans.is_empty() || !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
            return false;
        }
        let Ok(text) = fs::read_to_string(path) else { return false };
        match name {
            "plan" => self.plans.iter().any(|plan| **plan == text),
            "tasks" => self.plans.iter().any(|plan| tasks(plan) == text),
            _ => Record::parse(&text).is_ok_and(|record| record.run == id.as_str()),
        }
    }
}

/// Returns the part of a plan that lists its tasks.
fn tasks(plan: &str) -> &str {
    plan.find("## Tasks").map_or("", |at| &plan[at..])
}

/// Leaves the plan, its tasks and the record of both with the feature's other documents. What
/// somebody else wrote there stays, and so does whatever a link points to: then they are left beside
/// it, under the run's name.
pub(super) fn hand_over(
    folder: &Path,
    id: &RunId,
    progress: &Progress,
    record: Record,
    earlier: &Earlier,
    output: &Output,
) -> Result<(), Failure> {
    let plan = progress.files.get("plan.txt").map_or("", |text| &**text);
    let mut files = Vec::new();
    for (name, text) in [("plan", plan), ("tasks", tasks(plan))] {
        let name = leave(folder, (name, "md"), id, text, earlier, output)?;
        files.push(Entry::of(&name, text));
    }
    leave(folder, ("manifest", "json"), id, &record.with_files(files).text(), earlier, output)
        .map(drop)
}

/// Leaves a file, and returns its name.
fn leave(
    folder: &Path,
    (name, kind): (&str, &str),
    id: &RunId,
    text: &str,
    earlier: &Earlier,
    output: &Output,
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
    output.say(&format!(
        "note: `{usual}` was there already and is not touched; the new one is `{other}`"
    ));
    Ok(other)
}

/// Writes a new file; tells whether it is there now with this text.
fn left(path: &Path, text: &str) -> Result<bool, Failure> {
    // A link is never followed, not even one that points nowhere.
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
