//! The heavy part of a design, where a process of its own does it: nothing is shown until it is over,
//! and then what was made.

use super::{Ending, Halt, Walk, Walked};
use crate::design::facts::Worker;
use crate::design::heavy::Worked;
use crate::design::progress::{Shown, Step};

impl Walk<'_> {
    /// From here on another process goes on, if that was asked for. Those that failed before stay
    /// told.
    pub(super) fn heavy_begins(&mut self) {
        if !self.settings.is_heavy() {
            return;
        }
        let facts = self.facts;
        let place = self.crumbs.place(Step::Sketches);
        for Worker { at, worked, folder, warnings } in facts.workers() {
            self.at(*at);
            let Worked::Failed(reason) = worked else { continue };
            let then = if self.settings.nested {
                "No design manifest will be exported. Parent /implement will see MANIFEST_FAILED at \
                 Step 1 and re-invoke /design."
                    .to_owned()
            } else {
                format!("Preserving {folder} for inspection.")
            };
            let why = reason.as_str();
            self.say(format!("**⚠ {place} — heavy worker subagent failed: {why}. {then}**"));
            self.say(self.crumbs.start(Step::Cleanup));
            self.say_all(warnings);
        }
        self.is_heavy = true;
    }

    /// Everything is there that another process was to do; if there was one.
    pub(super) fn heavy_ends(&mut self) -> Walked<()> {
        if !std::mem::take(&mut self.is_heavy) {
            return Ok(());
        }
        if let Some(why) = self.facts.worker_failure() {
            return Err(Halt::End(Ending::HeavyFailed(why.to_owned())));
        }
        if !self.settings.nested {
            self.show_artifacts();
        }
        Ok(())
    }

    fn show_artifacts(&mut self) {
        let text = |walk: &Self, name: &str| walk.files.get(name).cloned().unwrap_or_default();
        for (name, header) in [
            ("plan.txt", Shown::Plan.header()),
            ("voting-tally.md", "## Voting Tally and Reviewer Competition Scoreboard"),
            ("accepted-plan-findings.md", Shown::Accepted.header()),
            ("oos.md", Shown::OutOfScope.header()),
        ] {
            self.show_under(header, &text(self, name));
        }
        if !self.settings.auto {
            return;
        }
        let diagram = text(self, "architecture-diagram.md");
        match diagram.trim_start().strip_prefix(Shown::Diagram.header()) {
            Some(body) => self.show_under(Shown::Diagram.header(), body),
            None if self.issues.is_empty() => self.say(
                "**⚠ Architecture diagram unavailable (Step 3b generation failed in subagent).**",
            ),
            None => {
                self.say("**⚠ Architecture diagram unavailable (rejected by sanitizer).**");
            }
        }
        match &*text(self, "rejected-findings.md") {
            "" => self.say("## Plan Review — All Suggestions Implemented"),
            rejected => self.show_under(Shown::Rejected.header(), rejected),
        }
    }

    fn show_under(&mut self, header: &str, text: &str) {
        if !text.trim().is_empty() {
            self.say(format!("{header}\n\n{}", text.trim()));
        }
    }
}
