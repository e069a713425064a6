//! Step 6: what a person decided after the panel, and the plan revised for it.

use super::chair::{Flawed, Said, Task};
use super::phases::Passage;
use super::plan::{changing, is_same, keep, left_as_it_was, plan_was_left};
use super::state::Roster;
use super::{DesignEnding, Halt, Need, Walk, Walked};
use crate::design::event::Export;
use crate::design::facts::Ruled;
use crate::design::lane_id::ChairTask;
use crate::design::matter::{Matter, MatterId, Ruling};
use crate::design::notice::ToldArtifact;
use crate::design::outline::PhaseResults;
use crate::design::progress::Step;
use crate::design::prompt;
use crate::design::quote;

/// The text about a finding until the plan is revised for it.
const NOT_YET: &str = "The plan has still to be revised for it.";

/// The text about a finding that the revision does not mention.
const NOT_SAID: &str = "The plan was revised; the agent did not say how.";

/// Reports the matters that the panel left to a person: withheld and undecided ones.
pub(super) fn left_to_people(walk: &mut Walk<'_>) {
    let matters = walk.state.results.matters(&[]);
    let withheld: Vec<_> = matters.iter().filter(|matter| matter.is_withheld).collect();
    if !withheld.is_empty() {
        let accepted = withheld.iter().filter(|matter| matter.is_accepted()).count();
        let (count, ids) = (findings(withheld.len()), ids(&withheld));
        walk.say(format!(
            "**ℹ Withheld from published files: {count} out of scope that may be about \
             security ({ids}; {accepted} accepted).**"
        ));
    }
    let open: Vec<_> = matters.iter().filter(|matter| matter.is_open()).collect();
    if !open.is_empty() {
        let listed = open.iter().map(|matter| format!("{} ({})", matter.id, matter.panel));
        let listed: Vec<_> = listed.collect();
        walk.say(format!(
            "**ℹ Undecided: {}. `convoke decide` lists them and records your decisions.**",
            listed.join(", ")
        ));
    }
}

/// Acts on the next decision of a person, and ends the design after the last. A decision that no
/// agent can act on now waits, unless a person has changed it since: then it is left as if it had
/// never been made.
pub(super) fn rulings(walk: &mut Walk<'_>) -> Walked<Passage> {
    let rulings = walk.facts.rulings();
    let place = walk.state.results.rulings.done;
    let Some(Ruled { at, ruling, exports }) = rulings.get(place) else {
        let available = walk.state.before_rulings.unwrap_or(walk.state.roster.available);
        walk.state.roster.available = available;
        return Err(Halt::End(walk.complete()));
    };
    walk.state.at(*at);
    if place == 0 {
        walk.state.before_rulings = Some(walk.state.roster.available);
        walk.begin(Step::Decisions);
    }
    let before = walk.state.results.earlier_ruling(ruling.matter);
    if let Err(halt) = rule(walk, place, ruling) {
        let mut later = rulings[place + 1..].iter().map(|later| &later.ruling);
        let Some(changed) = later.find(|later| later.matter == ruling.matter) else {
            return Err(halt);
        };
        walk.results().reinstate(ruling.matter, before);
        walk.say(format!("**ℹ {}**", ruling.changed_to(changed)));
    }
    walk.results().rulings.done += 1;
    let next = rulings.get(place + 1).map(|next| next.exports);
    if walk.settings.session_env.is_some() {
        export_again(walk, *exports, next)?;
    }
    Ok(Passage::Again)
}

/// Acts on a decision.
fn rule(walk: &mut Walk<'_>, place: usize, ruling: &Ruling) -> Walked<()> {
    // An agent that failed long ago may be back.
    walk.state.roster = Roster::FULL;
    walk.state.asked.clear();
    let id = ruling.matter;
    let because = quote::line(&ruling.because);
    let is_withheld = walk.state.results.is_withheld(id);
    let because = if is_withheld { String::new() } else { format!(": {because}") };
    walk.say(format!("**ℹ A person {} {id}{because}**", ruling.choice.past()));
    let before = walk.results().rule(ruling);
    let Some(task) = walk.state.results.task(ruling, before.as_ref()) else {
        walk.done(&format!("{id} {}; the plan is unchanged", ruling.choice.past()));
        return Ok(());
    };
    walk.results().note(id, NOT_YET);
    let PhaseResults { scope, plan, .. } = walk.state.results.clone();
    let plan = plan.unwrap_or_default();
    let prompt = || {
        prompt::ruling(&prompt::Revision {
            feature: &scope.feature,
            discussion: &scope.file(),
            plan: &plan.text,
            findings: &task,
        })
    };
    let word = ChairTask::Decided(place + 1);
    let writing = Task { word, noun: "revision", form: prompt::REVISION_SKELETON };
    let (reading, notes) = match walk.chair(writing, &prompt, &changing(walk, &plan))? {
        Said::Well(revised) => revised,
        Said::Badly(Flawed { defects, .. }) => {
            let defects = quote::line(&defects.join("; "));
            return Err(walk.failed(&format!("no agent revised the plan for {id} ({defects})")));
        }
        Said::Nothing => {
            return Err(walk.failed(&format!("no agent revised the plan for {id}")));
        }
    };
    let note = notes.iter().find(|(noted, _)| MatterId::Finding(**noted) == id);
    if is_same(&plan.text, &reading.text) {
        let note = left_as_it_was(note.map(|(_, note)| note.as_str()));
        walk.results().note(id, &note);
        plan_was_left(walk, &id.to_string());
        walk.done(&format!("the plan is unchanged for {id}"));
        return Ok(());
    }
    walk.results().note(id, note.map_or(NOT_SAID, |(_, note)| note));
    let plan = keep(walk, &reading);
    walk.show(ToldArtifact::RevisedPlan(plan));
    walk.done(&format!("plan revised for {id}"));
    Ok(())
}

/// Exports the changed files to the calling workflow. `first` is the first attempt since the
/// decision, and `next` the first since the one after it.
fn export_again(walk: &mut Walk<'_>, first: usize, next: Option<usize>) -> Walked<()> {
    let facts = walk.facts;
    let exports = facts.exports();
    let since = &exports[first..next.unwrap_or(exports.len())];
    let mut failed = None;
    for (at, export) in since {
        walk.state.at(*at);
        let Export::Failed { why, .. } = export else { return Ok(()) };
        let text = format!("design manifest export failed: {}", quote::line(why));
        let line = walk.crumbs().warning(Step::Decisions, &text, walk.state.elapsed());
        walk.say(line);
        failed = Some(why.clone());
    }
    match failed {
        _ if next.is_some() => Ok(()),
        Some(why) if !facts.is_export_due() => Err(Halt::End(DesignEnding::NotExported(why))),
        Some(_) | None => Err(Halt::Need(Need::Export)),
    }
}

fn ids(matters: &[&Matter]) -> String {
    matters.iter().map(|matter| matter.id.to_string()).collect::<Vec<_>>().join(", ")
}

fn findings(count: usize) -> String {
    format!("{count} finding{}", if count == 1 { "" } else { "s" })
}
