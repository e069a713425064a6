//! The part of a run that may leave its machine.
//!
//! Observations that may concern security are withheld from published files, and from reports that
//! travel: the report counts them, and says where they are.

use convoke_service::run::RunShowReport;

use super::shortened::cut;
use crate::diff::{WITHHELD, names_id};

/// Returns a run without what is withheld, each text cut to so many characters. Plans and diagrams
/// keep their length.
pub(super) fn published(report: &RunShowReport, most: usize) -> RunShowReport {
    let mut shown = report.clone();
    let withheld: Vec<String> = report
        .results
        .findings
        .iter()
        .filter(|finding| finding.withheld)
        .map(|finding| finding.id.clone())
        .collect();
    shown.results.findings.retain(|finding| !finding.withheld);
    for matters in [&mut shown.matters.undecided, &mut shown.matters.decided] {
        matters.retain(|matter| !matter.withheld);
    }
    shown.matters.withheld.clear();
    for warning in &mut shown.warnings {
        if withheld.iter().any(|id| names_id(warning, id)) {
            "A warning about a withheld finding.".clone_into(warning);
        }
    }
    for plan in &mut shown.evidence.plans {
        let all = plan.matters.len();
        plan.matters.retain(|id| !withheld.contains(id));
        // Without a word for it, the rest would seem to be the only reason of a revision.
        if plan.matters.len() < all {
            plan.matters.push(WITHHELD.to_owned());
        }
    }
    shown
        .evidence
        .citations
        .retain(|citation| citation.matter.as_ref().is_none_or(|id| !withheld.contains(id)));
    // A journal's later growth, a process's state and the ledger are no part of the journal's past.
    shown.journal.events = shown.journal.at;
    shown.cost = shown.journal_cost.clone();
    shown.artifacts.clear();
    shorten(&mut shown, most);
    shown
}

/// Returns how many findings the report leaves out, because they may concern security.
pub(super) fn withheld_note(all: &RunShowReport) -> Option<String> {
    let count = all.results.findings.iter().filter(|finding| finding.withheld).count();
    match count {
        0 => None,
        1 => Some("1 finding is withheld, because it may concern security.".to_owned()),
        many => Some(format!("{many} findings are withheld, because they may concern security.")),
    }
}

fn shorten(report: &mut RunShowReport, most: usize) {
    let short = |text: &mut String| *text = cut(text, most);
    let maybe = |text: &mut Option<String>| {
        if let Some(text) = text {
            *text = cut(text, most);
        }
    };
    short(&mut report.feature);
    maybe(&mut report.request);
    maybe(&mut report.independence);
    report.warnings.iter_mut().for_each(short);
    for stated in &mut report.evidence.positions {
        for text in [&mut stated.decision, &mut stated.chosen, &mut stated.alternative] {
            short(text);
        }
        for sketch in &mut stated.sketches {
            short(&mut sketch.sketch);
            short(&mut sketch.position);
        }
    }
    for decision in &mut report.results.decisions {
        for text in [
            &mut decision.title,
            &mut decision.chosen,
            &mut decision.alternative,
            &mut decision.tension,
            &mut decision.affected,
        ] {
            short(text);
        }
        maybe(&mut decision.resolution);
        maybe(&mut decision.why);
        maybe(&mut decision.person);
    }
    let parts = report.evidence.debates.iter_mut().flat_map(|debate| &mut debate.defenses);
    parts.flat_map(|defense| &mut defense.parts).for_each(|part| short(&mut part.text));
    let judges = report.evidence.debates.iter_mut().flat_map(|debate| &mut debate.judges);
    judges.for_each(|judge| maybe(&mut judge.reason));
    for finding in &mut report.results.findings {
        short(&mut finding.title);
        short(&mut finding.concern);
        for text in [&mut finding.revision, &mut finding.person, &mut finding.note] {
            maybe(text);
        }
        finding.votes.iter_mut().for_each(|vote| maybe(&mut vote.reason));
    }
    for citation in &mut report.evidence.citations {
        short(&mut citation.place);
        maybe(&mut citation.words);
    }
    for matter in report.matters.undecided.iter_mut().chain(&mut report.matters.decided) {
        short(&mut matter.title);
        short(&mut matter.text);
    }
    shorten_course(report, most);
}

/// Cuts what clients and agents say of themselves.
fn shorten_course(report: &mut RunShowReport, most: usize) {
    let maybe = |text: &mut Option<String>| {
        if let Some(text) = text {
            *text = cut(text, most);
        }
    };
    for voice in &mut report.results.voices {
        maybe(&mut voice.requested_model);
        maybe(&mut voice.model);
    }
    for lane in &mut report.timeline.lanes {
        maybe(&mut lane.requested_model);
        maybe(&mut lane.model);
        maybe(&mut lane.reason);
    }
    for wait in &mut report.timeline.waits {
        wait.reason = cut(&wait.reason, most);
    }
}
