//! Steps 4 and 5: what was not taken up, handing over, and what went wrong on the way.

use super::{Ending, Halt, Need, Walk, Walked};
use crate::design::event::Export;
use crate::design::progress::{Saved, Shown, Step};

impl Walk<'_> {
    /// Says what was not taken up.
    pub(super) fn rejected(&mut self) {
        self.begin(Step::Rejected);
        for name in ["rejected-findings.md", "accepted-plan-findings.md", "oos.md"] {
            self.files.entry(name.to_owned()).or_default();
        }
        let rejected = self.files["rejected-findings.md"].clone();
        if rejected.is_empty() {
            self.done("all suggestions implemented");
        } else {
            self.publish(Shown::Rejected, Some(Saved::Rejected), &rejected);
        }
    }

    pub(super) fn clean_up(&mut self) -> Walked<()> {
        self.begin(Step::Cleanup);
        let independence = self.independence();
        self.file("independence.md", independence);
        if self.settings.session_env.is_some() {
            self.export()?;
        }
        self.replay_warnings();
        if let Some(short) = self.independence_in_short().filter(|_| !self.settings.nested) {
            self.say(format!("**ℹ Independence — {short}. More in independence.md.**"));
        }
        if !self.settings.nested {
            self.left_to_people();
        }
        let line = self.crumbs.complete(self.elapsed()).filter(|_| !self.settings.nested);
        if let Some(line) = line {
            self.say(line);
        }
        Ok(())
    }

    /// Hands what was made to the workflow that asked for it.
    fn export(&mut self) -> Walked<()> {
        let facts = self.facts;
        let mut failed = None;
        let ruled = facts.rulings().first();
        let before = ruled.map_or(facts.exports().len(), |ruled| ruled.exports);
        for (at, export) in &facts.exports()[..before] {
            self.at(*at);
            let Export::Failed { folder, why } = export else { return Ok(()) };
            failed = Some(why.clone());
            let place = self.crumbs.place(Step::Cleanup);
            self.say(format!(
                "**⚠ {place} — design manifest export failed. Parent /implement will rerun /design. \
                 Preserving {folder} for inspection.**"
            ));
            self.replay_warnings();
        }
        match failed {
            // What a person decided changes the files, and they are handed over after that.
            _ if ruled.is_some() => Ok(()),
            Some(why) if !facts.is_export_due() => Err(Halt::End(Ending::NotExported(why))),
            _ => Err(Halt::Need(Need::Export)),
        }
    }

    pub(super) fn replay_warnings(&mut self) {
        for warning in self.warnings.clone() {
            self.say(warning);
        }
    }
}
