//! Steps 4 and 5: what was not taken up, handing over, and what went wrong on the way.

use super::phases::Passage;
use super::rulings::left_to_people;
use super::{DesignEnding, Halt, Need, Walk, Walked, heavy};
use crate::design::event::Export;
use crate::design::notice::{DesignNote, Notice, ToldArtifact};
use crate::design::progress::{Saved, Step};

/// Says what was not taken up. The heavy part ends with it.
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

/// Hands over what was made, and says once more what went wrong.
pub(super) fn clean_up(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Cleanup);
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

/// Hands what was made to the workflow that asked for it.
fn export(walk: &mut Walk<'_>) -> Walked<()> {
    let facts = walk.facts;
    let mut failed = None;
    let ruled = facts.rulings().first();
    let before = ruled.map_or(facts.exports().len(), |ruled| ruled.exports);
    for (at, export) in &facts.exports()[..before] {
        walk.state.at(*at);
        let Export::Failed { folder, why } = export else { return Ok(()) };
        failed = Some(why.clone());
        walk.note(DesignNote::NotExported { folder: folder.clone() });
        remind(walk);
    }
    match failed {
        // What a person decided changes the files, and they are handed over after that.
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
