//! Step 2b, and every later change of the plan.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::chair::{Flawed, Said, Task};
use super::phases::Passage;
use super::{Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::design_file::DesignFile;
use crate::design::evidence::{PlanCause, PlanVersion};
use crate::design::finding::{Finding, FindingId};
use crate::design::lane_id::ChairTask;
use crate::design::matter::MatterId;
use crate::design::notice::{DesignNote, ToldArtifact};
use crate::design::outcome;
use crate::design::outline::{DesignPlan, PhaseResults};
use crate::design::parts;
use crate::design::plan::{PlanReading, check, is_begun, read};
use crate::design::policy::Policy;
use crate::design::progress::{Saved, Step};
use crate::design::prompt::{self, PLAN_SKELETON};
use crate::design::resolution;
use crate::design::rules::RulesVersion;
use crate::design::warning::ChairWarning;

/// The error if no document of the chair is a plan.
const NO_PLAN: &str = "no agent wrote a usable plan";

/// The defect of a revision that equals the plan.
const UNCHANGED: &str = "the plan is the same as before; change it for what was accepted, or return \
    it once more and say in the resolutions why it needs no change";

/// The parts of a revision.
const PARTS: [&str; 2] = [DesignFile::Plan.name(), "resolutions"];

const WRITE: Task = Task { word: ChairTask::Plan, noun: "plan", form: PLAN_SKELETON };
const REVISE: Task =
    Task { word: ChairTask::Revision, noun: "revision", form: prompt::REVISION_SKELETON };
const UPDATE: Task =
    Task { word: ChairTask::Update, noun: "update of the plan", form: PLAN_SKELETON };

pub(super) fn plan(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Plan);
    let PhaseResults { scope, synthesis, resolutions, .. } = walk.state.results.clone();
    let (synthesis, resolutions) = (synthesis.unwrap_or_default(), resolutions.unwrap_or_default());
    let prompt = || {
        prompt::plan(&prompt::PlanMaterial {
            feature: &scope.feature,
            discussion: &scope.file(),
            synthesis: &synthesis.text,
            resolutions: &resolution::render(&resolutions),
        })
    };
    let reading = match walk.chair(WRITE, &prompt, &whole)? {
        Said::Well(reading) => reading,
        Said::Badly(Flawed { salvaged, defects }) => {
            walk.chair_was_poor(WRITE, &defects);
            salvaged.ok_or_else(|| walk.failed(NO_PLAN))?
        }
        Said::Nothing => return Err(walk.failed(NO_PLAN)),
    };
    let plan = keep(walk, &reading, PlanCause::Draft);
    walk.publish(ToldArtifact::Plan(plan), Saved::Plan);
    Ok(Passage::On)
}

/// Has the plan revised for findings, and returns the revision's words about each.
pub(super) fn revise(
    walk: &mut Walk<'_>,
    plan: DesignPlan,
    findings: &[&Finding],
) -> Walked<(DesignPlan, BTreeMap<FindingId, String>)> {
    if findings.is_empty() {
        return Ok((plan, BTreeMap::new()));
    }
    let scope = walk.state.results.scope.clone();
    let prompt = || {
        prompt::revision(&prompt::Revision {
            feature: &scope.feature,
            discussion: &scope.file(),
            plan: &plan.text,
            findings: &outcome::listing(findings),
        })
    };
    match walk.chair(REVISE, &prompt, &changing(walk, &plan))? {
        Said::Well((reading, notes)) if is_same(&plan.text, &reading.text) => {
            let ids: Vec<_> = findings.iter().map(|finding| finding.id.to_string()).collect();
            plan_was_left(walk, &ids.join(", "));
            let note = |id| left_as_it_was(notes.get(&id).map(String::as_str));
            let notes = findings.iter().map(|finding| (finding.id, note(finding.id)));
            Ok((plan, notes.collect()))
        }
        Said::Well((reading, resolutions)) => {
            let matters = findings.iter().map(|finding| MatterId::Finding(finding.id)).collect();
            Ok((keep(walk, &reading, PlanCause::Matters(matters)), resolutions))
        }
        // A complete plan is not replaced by an incomplete one.
        Said::Badly(Flawed { defects, .. }) => {
            walk.chair_was_poor(REVISE, &defects);
            Ok((plan, not_revised(findings)))
        }
        Said::Nothing => {
            walk.warn(ChairWarning::NotRevised);
            Ok((plan, not_revised(findings)))
        }
    }
}

/// Returns the parser of a plan's revision. The first revision that changes nothing is a defect, so
/// that Convoke asks the chair again; a second one is the chair's answer. Runs that began under
/// earlier rules hold no second answer.
pub(super) fn changing(
    walk: &Walk<'_>,
    plan: &DesignPlan,
) -> impl Fn(&str) -> Result<Revised, Flawed<Revised>> + use<> {
    let before = plan.text.clone();
    let is_asked_again = Cell::new(walk.facts.rules() < RulesVersion::UNCHANGED_PLANS);
    move |answer| {
        let revised = revision(answer)?;
        if is_same(&before, &revised.0.text) && !is_asked_again.replace(true) {
            return Err(Flawed::useless(vec![UNCHANGED.to_owned()]));
        }
        Ok(revised)
    }
}

/// Warns that the chair revised nothing.
pub(super) fn plan_was_left(walk: &mut Walk<'_>, ids: &str) {
    walk.warn(ChairWarning::PlanUnchanged { ids: ids.to_owned() });
}

/// Has the plan changed for what a person answered. An answer that cannot be used changes nothing.
pub(super) fn update(walk: &mut Walk<'_>, plan: DesignPlan, answers: &str) -> Walked<DesignPlan> {
    let scope = Arc::clone(&walk.results().scope);
    let (feature, settled) = match walk.settings.policy {
        Policy::Safe => (scope.feature.as_str(), scope.file()),
        Policy::Seed => ("", String::new()),
    };
    let prompt = || {
        prompt::update(&prompt::PlanUpdate {
            feature,
            settled: &settled,
            plan: &plan.text,
            answers,
        })
    };
    match walk.chair(UPDATE, &prompt, &whole)? {
        Said::Well(reading) => Ok(keep(walk, &reading, PlanCause::Interview)),
        Said::Badly(Flawed { defects, .. }) => {
            walk.chair_was_poor(UPDATE, &defects);
            Ok(plan)
        }
        Said::Nothing => Ok(plan),
    }
}

/// Keeps a plan, and reports how it differs from the chair's text.
pub(super) fn keep(walk: &mut Walk<'_>, reading: &PlanReading, cause: PlanCause) -> DesignPlan {
    if let Some(changes) = reading.note() {
        walk.note(DesignNote::ChangedPlan(changes));
    }
    let plan = DesignPlan::new(&reading.text);
    let version = PlanVersion { cause, text: plan.text.clone() };
    walk.results().evidence.plans.push(version);
    walk.results().plan = Some(plan.clone());
    plan
}

/// Takes a plan that has all it needs.
fn whole(answer: &str) -> Result<PlanReading, Flawed<PlanReading>> {
    let reading = read(answer);
    let defects = check(&reading.text);
    if defects.is_empty() {
        return Ok(reading);
    }
    let defects = defects.iter().map(ToString::to_string).collect();
    Err(Flawed { defects, salvaged: Some(reading).filter(|reading| is_begun(&reading.text)) })
}

/// A revised plan, and its words about each finding.
pub(super) type Revised = (PlanReading, BTreeMap<FindingId, String>);

/// Takes a revision apart, if its plan has all it needs.
fn revision(answer: &str) -> Result<Revised, Flawed<Revised>> {
    let (spoken, _) = without_asides(answer);
    let useless = |defect: String| Flawed::useless(vec![defect]);
    let [plan, notes] = parts::split(&spoken, PARTS).map_err(|error| useless(error.to_string()))?;
    let reading = whole(plan).map_err(|flawed| Flawed::useless(flawed.defects))?;
    Ok((reading, outcome::resolutions(notes)))
}

/// Tells whether two plans differ in nothing but white space.
pub(super) fn is_same(before: &str, after: &str) -> bool {
    before.split_whitespace().eq(after.split_whitespace())
}

/// Returns the note that the plan was not changed for a finding, with the chair's words.
pub(super) fn left_as_it_was(note: Option<&str>) -> String {
    let said = note.map_or_else(String::new, |note| format!(" The chair says: {note}"));
    format!("The chair left the plan as it was.{said}")
}

fn not_revised(findings: &[&Finding]) -> BTreeMap<FindingId, String> {
    let note = "Accepted by the voters; the plan was not revised for it.";
    findings.iter().map(|finding| (finding.id, note.to_owned())).collect()
}
