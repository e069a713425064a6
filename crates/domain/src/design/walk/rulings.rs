//! Step 6: what a person decided after the panel, and the plan revised for it.

use super::chair::{Flawed, Said, Task};
use super::interview::Scope;
use super::plan::{Plan, is_same, left_as_it_was};
use super::{Ending, Halt, NOBODY_LOST, Need, Walk, Walked};
use crate::design::event::Export;
use crate::design::facts::Ruled;
use crate::design::matter::{Matter, MatterId, Ruling};
use crate::design::outcome;
use crate::design::progress::{Shown, Step};
use crate::design::prompt;
use crate::design::quote;
use crate::design::resolution;

/// What is said of a finding until the plan is revised for it.
const NOT_YET: &str = "The plan has still to be revised for it.";

/// What is said of a finding if the revision says nothing of it.
const NOT_SAID: &str = "The plan was revised; the agent did not say how.";

impl Walk<'_> {
    /// Says what the panel left to a person: what is withheld, and what is undecided.
    pub(super) fn left_to_people(&mut self) {
        let matters = self.docket.matters(&[]);
        let withheld: Vec<_> = matters.iter().filter(|matter| matter.is_withheld).collect();
        if !withheld.is_empty() {
            let accepted = withheld.iter().filter(|matter| matter.is_accepted()).count();
            let (count, ids) = (findings(withheld.len()), ids(&withheld));
            self.say(format!(
                "**ℹ Withheld from published files: {count} out of scope that may be about \
                 security ({ids}; {accepted} accepted).**"
            ));
        }
        let open: Vec<_> = matters.iter().filter(|matter| matter.is_open()).collect();
        if !open.is_empty() {
            let listed = open.iter().map(|matter| format!("{} ({})", matter.id, matter.panel));
            let listed: Vec<_> = listed.collect();
            self.say(format!(
                "**ℹ Undecided: {}. `convoke decide` lists them and records your decisions.**",
                listed.join(", ")
            ));
        }
    }

    /// Acts on what people decided, in order. A decision that no agent can act on now waits, unless
    /// a person has changed it since: then it is left as if it had never been made.
    pub(super) fn rulings(&mut self, scope: &Scope, mut plan: Plan) -> Walked<()> {
        let rulings = self.facts.rulings();
        if rulings.is_empty() {
            return Ok(());
        }
        let available = self.available;
        self.at(rulings[0].at);
        self.begin(Step::Decisions);
        for (place, Ruled { at, ruling, exports }) in rulings.iter().enumerate() {
            self.at(*at);
            let later = rulings[place + 1..].iter().map(|later| &later.ruling);
            let changed = later.into_iter().find(|later| later.matter == ruling.matter);
            let before = self.docket.standing(ruling.matter);
            match (self.ruled(scope, &plan, place, ruling), changed) {
                (Ok(revised), _) => plan = revised.unwrap_or(plan),
                (Err(_), Some(changed)) => {
                    self.docket.reinstate(ruling.matter, before);
                    self.say(format!("**ℹ {}**", ruling.changed_to(changed)));
                }
                (Err(halt), None) => return Err(halt),
            }
            self.docket.close();
            let next = rulings.get(place + 1).map(|next| next.exports);
            if self.settings.session_env.is_some() {
                self.exported_again(*exports, next)?;
            }
        }
        self.available = available;
        Ok(())
    }

    /// Acts on a decision. Returns the plan if it was revised.
    fn ruled(
        &mut self,
        scope: &Scope,
        plan: &Plan,
        place: usize,
        ruling: &Ruling,
    ) -> Walked<Option<Plan>> {
        // An agent that failed long ago may be back.
        (self.available, self.is_host_lost, self.is_chair_lost) = (NOBODY_LOST, false, false);
        self.asked.clear();
        let id = ruling.matter;
        let because = quote::line(&ruling.because);
        let because =
            if self.docket.is_withheld(id) { String::new() } else { format!(": {because}") };
        self.say(format!("**ℹ A person {} {id}{because}**", ruling.choice.past()));
        let before = self.docket.rule(ruling);
        let task = self.docket.task(ruling, before.as_ref());
        if task.is_some() {
            self.docket.note(id, NOT_YET);
        }
        self.review_files();
        self.file("dialectic-resolutions.md", resolution::render(&self.docket.resolutions));
        let Some(task) = task else {
            self.done(&format!("{id} {}; the plan is unchanged", ruling.choice.past()));
            return Ok(None);
        };
        let prompt = || {
            prompt::ruling(&prompt::Revision {
                feature: scope.feature(),
                discussion: &scope.file(),
                plan: &plan.text,
                findings: &task,
            })
        };
        let word = format!("decided-{}", place + 1);
        let writing = Task { word: &word, noun: "revision", form: prompt::REVISION_SKELETON };
        let (reading, notes) = match self.chair(writing, &prompt, &self.changing(plan))? {
            Said::Well(revised) => revised,
            Said::Badly(Flawed { defects, .. }) => {
                let defects = quote::line(&defects.join("; "));
                return Err(self.failed(&format!("no agent revised the plan for {id} ({defects})")));
            }
            Said::Nothing => {
                return Err(self.failed(&format!("no agent revised the plan for {id}")));
            }
        };
        let note = notes.iter().find(|(noted, _)| MatterId::Finding(**noted) == id);
        if is_same(&plan.text, &reading.text) {
            let note = left_as_it_was(note.map(|(_, note)| note.as_str()));
            self.docket.note(id, &note);
            self.review_files();
            self.plan_was_left(&id.to_string());
            self.done(&format!("the plan is unchanged for {id}"));
            return Ok(None);
        }
        self.docket.note(id, note.map_or(NOT_SAID, |(_, note)| note));
        self.review_files();
        let plan = self.keep(&reading);
        if !self.settings.nested {
            self.publish(Shown::RevisedPlan, None, &plan.text);
        }
        self.done(&format!("plan revised for {id}"));
        Ok(Some(plan))
    }

    /// Hands the changed files to the workflow that asked. `first` is the first attempt since the
    /// decision, and `next` the first since the one after it.
    fn exported_again(&mut self, first: usize, next: Option<usize>) -> Walked<()> {
        let facts = self.facts;
        let exports = facts.exports();
        let since = &exports[first..next.unwrap_or(exports.len())];
        let mut failed = None;
        for (at, export) in since {
            self.at(*at);
            let Export::Failed { why, .. } = export else { return Ok(()) };
            let text = format!("design manifest export failed: {}", quote::line(why));
            let line = self.crumbs.warning(Step::Decisions, &text, self.elapsed());
            self.say(line);
            failed = Some(why.clone());
        }
        match failed {
            _ if next.is_some() => Ok(()),
            Some(why) if !facts.is_export_due() => Err(Halt::End(Ending::NotExported(why))),
            Some(_) | None => Err(Halt::Need(Need::Export)),
        }
    }

    /// Writes the files about findings, as far as people and the panel have decided.
    pub(super) fn review_files(&mut self) {
        let Some(review) = &self.docket.review else { return };
        let (findings, tally) = (&review.findings, &review.tally);
        let mut files = vec![
            ("voting-tally.md", review.report()),
            ("rejected-findings.md", outcome::rejected(findings, tally, &review.voters)),
            ("oos.md", outcome::out_of_scope(findings, tally)),
            ("accepted-plan-findings.md", review.accepted()),
        ];
        let accepted = outcome::out_of_scope_accepted(findings, tally);
        let accepted = if self.settings.nested { accepted } else { String::new() };
        let sometimes = [
            ("oos-accepted-design.md", accepted),
            ("held-back.md", outcome::held_back(findings, tally)),
        ];
        for (name, text) in sometimes {
            if text.is_empty() {
                self.files.remove(name);
            } else {
                files.push((name, text));
            }
        }
        for (name, text) in files {
            self.file(name, text);
        }
    }
}

fn ids(matters: &[&Matter]) -> String {
    matters.iter().map(|matter| matter.id.to_string()).collect::<Vec<_>>().join(", ")
}

fn findings(count: usize) -> String {
    format!("{count} finding{}", if count == 1 { "" } else { "s" })
}
