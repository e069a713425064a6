//! How independent the voices of a design really were.

use std::collections::BTreeSet;

use super::Walk;
use crate::design::quote;
use crate::design::seat::Holder;

/// Says that nobody knows.
const UNKNOWN: &str = "unknown";

/// A seat's answer.
pub(super) struct Answered {
    pub(super) label: String,
    pub(super) part: &'static str,
    pub(super) owner: Holder,
    pub(super) runner: Holder,
    pub(super) model: Option<String>,
}

impl Walk<'_> {
    /// States who answered for whom, with which model, and how many different ones voted.
    pub(super) fn independence(&self) -> String {
        let settings = self.settings;
        let name = |holder| settings.panel.named(holder).name();
        let rows = self.answered.iter().map(|it| {
            let asked = settings.chosen(it.runner).model.as_deref().unwrap_or("(its own choice)");
            let model = it.model.as_deref().unwrap_or(UNKNOWN);
            let fallback = if it.owner == it.runner { "" } else { name(it.runner) };
            format!(
                "| {} | {} | {} | {fallback} | {} | {} |\n",
                it.part,
                quote::cell(&it.label),
                name(it.owner),
                quote::cell(asked),
                quote::cell(model)
            )
        });
        let rows: String = rows.collect();
        let recorded =
            if settings.is_rehearsal { "A rehearsal: every answer was recorded.\n" } else { "" };
        let voters = self.voices("vote");
        let judges = self.voices("judge");
        format!(
            "# Independence\n\n{recorded}{voters}{judges}\n\
             | Part | Seat | Of | Filled by | Model asked for | Model that answered |\n\
             |---|---|---|---|---|---|\n{rows}"
        )
    }

    /// Counts the different models among those who decided. Where an agent does not say its model,
    /// the one that it was asked for counts; two of which nobody knows either may be two.
    fn voices(&self, part: &str) -> String {
        let of_part: Vec<_> = self.answered.iter().filter(|it| it.part == part).collect();
        if of_part.is_empty() {
            return String::new();
        }
        let voice = |it: &&Answered| {
            let chosen = self.settings.chosen(it.runner);
            let model = it.model.as_ref().or(chosen.model.as_ref());
            let unknown = || format!("{UNKNOWN} of {}", chosen.agent);
            model.map_or_else(unknown, |model| model.to_lowercase())
        };
        let is_sure = of_part.iter().all(|it| it.model.is_some());
        let most = if is_sure { "" } else { "at most " };
        let different: BTreeSet<_> = of_part.iter().map(voice).collect();
        let count = of_part.len();
        format!("{part}: {count} answered, {most}{} of them different models.\n", different.len())
    }
}
