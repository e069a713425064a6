//! How a design ended: what is said of it, and what it leaves in a feature's folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use convoke_domain::design::walk::{Ending, Progress};
use convoke_domain::run::RunId;
use convoke_engine::design::run::Outcome;
use serde::Serialize;

use super::DesignError;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

#[derive(Serialize)]
struct Report<'a> {
    run: &'a str,
    ending: String,
    degraded: &'a [String],
    artifacts: &'a BTreeMap<String, String>,
}

/// Says how it ended, and what can be done next.
pub(super) fn told(
    app: &App,
    id: &RunId,
    outcome: &Outcome,
    progress: &Progress,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (exit, ending, degraded, hint) = match outcome {
        Outcome::Ended(Ending::Complete { degraded }) => {
            let exit = Exit::Done;
            (exit, "complete".to_owned(), degraded.as_slice(), format!("convoke show {id}"))
        }
        Outcome::Ended(Ending::Refused(_)) => {
            (Exit::Surroundings, "refused".to_owned(), &[][..], String::new())
        }
        Outcome::Ended(Ending::DirtyTree) => {
            (Exit::DirtyTree, "dirty tree".to_owned(), &[][..], String::new())
        }
        Outcome::Ended(Ending::Failed(why)) => {
            (Exit::LaneFailed, format!("failed: {why}"), &[][..], "convoke doctor".to_owned())
        }
        Outcome::Ended(Ending::OverBudget(why)) => {
            (Exit::Budget, format!("over budget: {why}"), &[][..], format!("convoke resume {id}"))
        }
        Outcome::Interrupted => {
            (Exit::Interrupted, "interrupted".to_owned(), &[][..], format!("convoke resume {id}"))
        }
        Outcome::TreeNeedsAPerson => (
            Exit::DirtyTree,
            "the working tree was changed; put it in order".to_owned(),
            &[][..],
            format!("convoke resume {id}"),
        ),
    };
    if app.format == Format::Json {
        let artifacts = &progress.files;
        output.json(&Report { run: id.as_str(), ending, degraded, artifacts })?;
        return Ok(exit);
    }
    if !degraded.is_empty() {
        output.say(&format!("DEGRADED: {} warnings; see independence.md", degraded.len()));
    }
    output.say(&format!("run {id}: {ending}"));
    if !hint.is_empty() {
        output.say(&format!("hint: {hint}"));
    }
    Ok(exit)
}

/// Leaves the plan and its tasks with the feature's other documents.
pub(super) fn hand_over(folder: &Path, progress: &Progress) -> Result<(), Failure> {
    let plan = progress.files.get("plan.txt").map_or("", String::as_str);
    let tasks = plan.find("## Tasks").map_or("", |at| &plan[at..]);
    for (name, text) in [("plan.md", plan), ("tasks.md", tasks)] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|source| {
            Failure::new(Exit::Surroundings, DesignError::Folder { path: path.clone(), source })
        })?;
    }
    Ok(())
}
