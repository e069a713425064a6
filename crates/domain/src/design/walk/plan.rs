//! Step 2b, and every later change of the plan.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::chair::{Flawed, Said, Task};
use super::interview::Scope;
use super::sketches::Synthesis;
use super::{Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::finding::{Finding, FindingId};
use crate::design::outcome;
use crate::design::parts;
use crate::design::plan::{PlanReading, check, is_begun, read};
use crate::design::progress::{Saved, Shown, Step, unnumbered_warning};
use crate::design::prompt::{self, PLAN_SKELETON};
use crate::design::resolution::{self, Resolution};
use crate::design::rules::RulesVersion;

/// A plan's file.
const FILE: &str = "plan.txt";

/// What is said when nothing that the chair wrote is one.
const NO_PLAN: &str = "nobody wrote a plan";

/// What is wrong with a revision that revises nothing.
const UNCHANGED: &str = "the plan is the same as before; change it for what was accepted, or return \
    it once more and say in the resolutions why it needs no change";

/// The parts of a revision.
const PARTS: [&str; 2] = [FILE, "resolutions"];

const WRITE: Task = Task { word: "plan", noun: "plan", form: PLAN_SKELETON };
const REVISE: Task = Task { word: "revision", noun: "revision", form: prompt::REVISION_SKELETON };
const UPDATE: Task = Task { word: "update", noun: "update of the plan", form: PLAN_SKELETON };

/// A plan.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) text: String,
}

impl Walk<'_> {
    pub(super) fn plan(
        &mut self,
        scope: &Scope,
        synthesis: &Synthesis,
        resolutions: &[Resolution],
    ) -> Walked<Plan> {
        self.begin(Step::Plan);
        let prompt = || {
            prompt::plan(&prompt::Plan {
                feature: scope.feature(),
                discussion: &scope.file(),
                synthesis: &synthesis.text,
                resolutions: &resolution::render(resolutions),
            })
        };
        let reading = match self.chair(WRITE, &prompt, &whole)? {
            Said::Well(reading) => reading,
            Said::Badly(Flawed { salvaged, defects }) => {
                self.chair_was_poor(WRITE, &defects);
                salvaged.ok_or_else(|| self.failed(NO_PLAN))?
            }
            Said::Nothing => return Err(self.failed(NO_PLAN)),
        };
        let plan = self.keep(&reading);
        self.publish(Shown::Plan, Some(Saved::Plan), &plan.text);
        Ok(plan)
    }

    /// Has the plan revised for findings, and returns what was done about each.
    pub(super) fn revised(
        &mut self,
        scope: &Scope,
        plan: Plan,
        findings: &[&Finding],
    ) -> Walked<(Plan, BTreeMap<FindingId, String>)> {
        if findings.is_empty() {
            return Ok((plan, BTreeMap::new()));
        }
        let prompt = || {
            prompt::revision(&prompt::Revision {
                feature: scope.feature(),
                discussion: &scope.file(),
                plan: &plan.text,
                findings: &outcome::listing(findings),
            })
        };
        match self.chair(REVISE, &prompt, &self.changing(&plan))? {
            Said::Well((reading, notes)) if is_same(&plan.text, &reading.text) => {
                let ids: Vec<_> = findings.iter().map(|finding| finding.id.to_string()).collect();
                self.plan_was_left(&ids.join(", "));
                let note = |id| left_as_it_was(notes.get(&id).map(String::as_str));
                let notes = findings.iter().map(|finding| (finding.id, note(finding.id)));
                Ok((plan, notes.collect()))
            }
            Said::Well((reading, resolutions)) => Ok((self.keep(&reading), resolutions)),
            // A plan that has all it needs is not given up for one that has not.
            Said::Badly(Flawed { defects, .. }) => {
                self.chair_was_poor(REVISE, &defects);
                Ok((plan, not_revised(findings)))
            }
            Said::Nothing => {
                let text = "The plan is not revised: nobody answered as the chair.";
                self.warn(unnumbered_warning(text));
                Ok((plan, not_revised(findings)))
            }
        }
    }

    /// Returns what takes a revision of a plan apart. The first that changes nothing is a defect, so
    /// that Convoke asks the chair again; a second one is the chair's answer. Runs that began under
    /// earlier rules hold no second answer.
    pub(super) fn changing(
        &self,
        plan: &Plan,
    ) -> impl Fn(&str) -> Result<Revised, Flawed<Revised>> + use<> {
        let before = plan.text.clone();
        let is_asked_again = Cell::new(self.facts.rules() < RulesVersion::UNCHANGED_PLANS);
        move |answer| {
            let revised = revision(answer)?;
            if is_same(&before, &revised.0.text) && !is_asked_again.replace(true) {
                return Err(Flawed::useless(vec![UNCHANGED.to_owned()]));
            }
            Ok(revised)
        }
    }

    /// Warns that the chair revised nothing.
    pub(super) fn plan_was_left(&mut self, ids: &str) {
        let text = format!("The chair left the plan as it was for {ids}.");
        self.warn(unnumbered_warning(&text));
    }

    /// Has the plan changed for what a person answered. An answer that will not do changes nothing.
    pub(super) fn updated(&mut self, plan: Plan, answers: &str) -> Walked<Plan> {
        let prompt = || prompt::update(&plan.text, answers);
        match self.chair(UPDATE, &prompt, &whole)? {
            Said::Well(reading) => Ok(self.keep(&reading)),
            Said::Badly(Flawed { defects, .. }) => {
                self.chair_was_poor(UPDATE, &defects);
                Ok(plan)
            }
            Said::Nothing => Ok(plan),
        }
    }

    /// Keeps a plan, and says how it differs from what the chair wrote.
    pub(super) fn keep(&mut self, reading: &PlanReading) -> Plan {
        if let Some(note) = reading.note() {
            self.say(format!("**ℹ The chair's plan: {note}.**"));
        }
        let text = format!("{}\n", reading.text.trim_end());
        self.file(FILE, text.clone());
        Plan { text }
    }
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

/// A revised plan, and what was done about each finding.
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

/// Says of a finding that the plan was not changed for it, and what the chair says of that.
pub(super) fn left_as_it_was(note: Option<&str>) -> String {
    let said = note.map_or_else(String::new, |note| format!(" The chair says: {note}"));
    format!("The chair left the plan as it was.{said}")
}

fn not_revised(findings: &[&Finding]) -> BTreeMap<FindingId, String> {
    let note = "Accepted by the voters; the plan was not revised for it.";
    findings.iter().map(|finding| (finding.id, note.to_owned())).collect()
}
