//! Step 2b, and every later change of the plan.

use std::collections::BTreeMap;

use super::chair::Said;
use super::interview::Scope;
use super::sketches::Synthesis;
use super::{Walk, Walked};
use crate::design::finding::{Finding, FindingId};
use crate::design::outcome;
use crate::design::parts;
use crate::design::plan::{check, is_begun, list};
use crate::design::progress::{Saved, Shown, Step, unnumbered_warning};
use crate::design::prompt;
use crate::design::resolution::{self, Resolution};

/// A plan's file.
const FILE: &str = "plan.txt";

/// What is said when nothing that the chair wrote is one.
const NO_PLAN: &str = "nobody wrote a plan";

/// The parts of a revision.
const PARTS: [&str; 2] = [FILE, "resolutions"];

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
        let text = match self.chair("plan", &prompt, &whole)? {
            Said::Well(plan) => plan,
            Said::Badly { text, complaint } => {
                self.chair_was_poor("plan", &complaint);
                let plan = parts::document(text);
                if !is_begun(plan) {
                    return Err(self.failed(NO_PLAN));
                }
                plan.to_owned()
            }
            Said::Nothing => return Err(self.failed(NO_PLAN)),
        };
        let plan = self.keep(&text);
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
        match self.chair("revision", &prompt, &revision)? {
            Said::Well((text, resolutions)) => Ok((self.keep(&text), resolutions)),
            // A plan that has all it needs is not given up for one that has not.
            Said::Badly { complaint, .. } => {
                self.chair_was_poor("revision", &complaint);
                Ok((plan, not_revised(findings)))
            }
            Said::Nothing => {
                let text = "The plan is not revised: nobody answered as the chair.";
                self.warn(unnumbered_warning(text));
                Ok((plan, not_revised(findings)))
            }
        }
    }

    /// Has the plan changed for what a person answered. An answer that will not do changes nothing.
    pub(super) fn updated(&mut self, plan: Plan, answers: &str) -> Walked<Plan> {
        let prompt = || prompt::update(&plan.text, answers);
        match self.chair("update", &prompt, &whole)? {
            Said::Well(text) => Ok(self.keep(&text)),
            Said::Badly { complaint, .. } => {
                self.chair_was_poor("update of the plan", &complaint);
                Ok(plan)
            }
            Said::Nothing => Ok(plan),
        }
    }

    pub(super) fn keep(&mut self, text: &str) -> Plan {
        let text = format!("{}\n", text.trim_end());
        self.file(FILE, text.clone());
        Plan { text }
    }
}

/// Takes a plan that has all it needs.
fn whole(answer: &str) -> Result<String, String> {
    let plan = parts::document(answer);
    let complaints = check(plan);
    if complaints.is_empty() { Ok(plan.to_owned()) } else { Err(list(&complaints)) }
}

/// Takes a revision apart, if its plan has all it needs.
pub(super) fn revision(answer: &str) -> Result<(String, BTreeMap<FindingId, String>), String> {
    let [plan, notes] = parts::split(answer, PARTS).map_err(|error| error.to_string())?;
    let complaints = check(plan);
    if complaints.is_empty() {
        Ok((plan.to_owned(), outcome::resolutions(notes)))
    } else {
        Err(list(&complaints))
    }
}

fn not_revised(findings: &[&Finding]) -> BTreeMap<FindingId, String> {
    let note = "Accepted by the voters; the plan was not revised for it.";
    findings.iter().map(|finding| (finding.id, note.to_owned())).collect()
}
