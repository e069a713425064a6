//! Steps 4 and 5: rejected findings, the export, and the warnings of the run.

use super::phases::Passage;
use super::rulings::left_to_people;
use super::{DesignEnding, Halt, Need, Walk, Walked, heavy};
use crate::design::citation::CitedIn;
use crate::design::event::Export;
use crate::design::notice::{DesignNote, Notice, ToldArtifact};
use crate::design::progress::{Saved, Step};

/// Reports the rejected findings. The heavy part ends with it.
pub(super) fn rejected(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Rejected);
    match walk.results().voted_review() {
        Some(review) if review.has_rejected() => {
            walk.publish(ToldArtifact::Rejected(review), Saved::Rejected);
        }
        _ => walk.done("all suggestions implemented"),
    }
    heavy::end(walk)
}

/// Exports the design, and repeats the warnings.
pub(super) fn clean_up(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Cleanup);
    walk.look_up_plan(CitedIn::Plan)?;
    walk.results().is_independence_stated = true;
    if walk.settings.session_env.is_some() {
        export(walk)?;
    }
    remind(walk);
    if !walk.settings.nested {
        let voices = walk.results().voices.clone();
        if !voices.is_empty() {
            walk.tell(Notice::Independence(voices));
        }
        left_to_people(walk);
        if walk.crumbs().is_alone() {
            walk.done("design complete!");
        }
    }
    Ok(Passage::On)
}

/// Exports the design to the workflow that requested it.
fn export(walk: &mut Walk<'_>) -> Walked<()> {
    let facts = walk.facts;
    let mut failed = None;
    let ruled = facts.rulings().first();
    let before = ruled.map_or(facts.exports().len(), |ruled| ruled.exports);
    for (at, export) in &facts.exports()[..before] {
        walk.state.at(*at);
        let Export::Failed { folder, why } = export else { return Ok(()) };
        failed = Some(why.to_string());
        walk.note(DesignNote::NotExported { folder: folder.clone() });
        remind(walk);
    }
    match failed {
        // A person's decision changes the files, and the export comes after that.
        _ if ruled.is_some() => Ok(()),
        Some(why) if !facts.is_export_due() => Err(Halt::End(DesignEnding::NotExported(why))),
        _ => Err(Halt::Need(Need::Export)),
    }
}

/// Tells every warning again.
fn remind(walk: &mut Walk<'_>) {
    for warning in walk.log.warnings.clone() {
        walk.tell(Notice::Reminder(warning));
    }
}
