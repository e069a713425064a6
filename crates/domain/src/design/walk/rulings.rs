//! Step 6: what a person decided after the panel, and the plan revised for it.

use super::chair::{Flawed, Said, Task};
use super::phases::Passage;
use super::plan::{changing, is_same, keep, left_as_it_was, plan_was_left};
use super::state::Roster;
use super::{DesignEnding, Halt, Need, Walk, Walked};
use crate::design::citation::CitedIn;
use crate::design::event::Export;
use crate::design::evidence::PlanCause;
use crate::design::facts::RecordedRuling;
use crate::design::lane_id::ChairTask;
use crate::design::matter::{MatterId, Ruling};
use crate::design::notice::{DesignNote, ReasonDisplay, ToldArtifact};
use crate::design::outline::PhaseResults;
use crate::design::policy::Policy;
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
        let findings = withheld.iter().map(|matter| matter.id).collect();
        walk.note(DesignNote::Withheld { findings, accepted });
    }
    let open = matters.iter().filter(|matter| matter.is_open());
    let open: Vec<_> = open.map(|matter| (matter.id, matter.panel)).collect();
    if !open.is_empty() {
        walk.note(DesignNote::Undecided(open));
    }
}

/// Acts on the next decision of a person, and ends the design after the last. A decision that no
/// agent can act on now waits, unless a person has changed it since: then it is left as if it had
/// never been made.
pub(super) fn rulings(walk: &mut Walk<'_>) -> Walked<Passage> {
    let rulings = walk.facts.rulings();
    let place = walk.state.results.rulings.done;
    let Some(RecordedRuling { at, ruling, exports }) = rulings.get(place) else {
        let available = walk.state.before_rulings.unwrap_or(walk.state.roster.available);
        walk.state.roster.available = available;
        return Err(Halt::End(walk.complete()));
    };
    walk.state.at(*at);
    if place == 0 {
        walk.state.before_rulings = Some(walk.state.roster.available);
        walk.begin(Step::Decisions);
    }
    let plan_before = walk.results().plan.clone();
    let before = walk.state.results.earlier_ruling(ruling.matter);
    if let Err(halt) = rule(walk, place, ruling) {
        let mut later = rulings[place + 1..].iter().map(|later| &later.ruling);
        let Some(changed) = later.find(|later| later.matter == ruling.matter) else {
            return Err(halt);
        };
        walk.results().reinstate(ruling.matter, before);
        let (before, after) = (ruling.clone(), changed.clone());
        walk.note(DesignNote::RulingChanged { before, after });
    }
    if walk.results().plan != plan_before {
        walk.look_up_plan(CitedIn::Ruling(place + 1))?;
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
    let is_withheld = walk.state.results.is_withheld(id);
    let reason = if is_withheld { ReasonDisplay::Withheld } else { ReasonDisplay::Shown };
    walk.note(DesignNote::Ruled { ruling: ruling.clone(), reason });
    let before = walk.results().rule(ruling);
    let Some(task) = walk.state.results.task(ruling, before.as_ref()) else {
        walk.done(&format!("{id} {}; the plan is unchanged", ruling.choice.past()));
        return Ok(());
    };
    walk.results().note(id, NOT_YET);
    let results = walk.state.results.clone();
    let PhaseResults { scope, plan, .. } = &results;
    let plan = plan.clone().unwrap_or_default();
    let discussion = match walk.settings.policy {
        Policy::Safe => results.settled_so_far(),
        Policy::Seed => scope.file(),
    };
    let prompt = || {
        prompt::ruling(&prompt::Revision {
            feature: &scope.feature,
            discussion: &discussion,
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
    let plan = keep(walk, &reading, PlanCause::Matters(vec![id]));
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
        let (why, seconds) = (why.to_string(), walk.state.elapsed());
        walk.note(DesignNote::NotExportedAgain { why: why.clone(), seconds });
        failed = Some(why);
    }
    match failed {
        _ if next.is_some() => Ok(()),
        Some(why) if !facts.is_export_due() => Err(Halt::End(DesignEnding::NotExported(why))),
        Some(_) | None => Err(Halt::Need(Need::Export)),
    }
}
