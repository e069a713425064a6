//! How independent the voices of a design really were.

use std::collections::{BTreeMap, BTreeSet};

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
        let voices: Vec<_> = self.voices().map(|voices| voices + ".\n").collect();
        let voices = voices.concat();
        format!(
            "# Independence\n\n{recorded}{voices}\n\
             | Part | Seat | Of | Filled by | Model asked for | Model that answered |\n\
             |---|---|---|---|---|---|\n{rows}"
        )
    }

    /// Says the same in one sentence: how many different models decided, and who answered for whom.
    pub(super) fn independence_in_short(&self) -> Option<String> {
        let name = |holder| self.settings.panel.named(holder).name();
        let mut replaced = BTreeMap::<_, usize>::new();
        for it in self.answered.iter().filter(|it| it.owner != it.runner) {
            *replaced.entry((name(it.runner), name(it.owner))).or_default() += 1;
        }
        let replaced = replaced.into_iter().map(|((runner, owner), count)| {
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            format!("{runner} answered for {owner} {times}")
        });
        let mut parts: Vec<_> = self.voices().collect();
        if parts.is_empty() {
            parts.push("nobody has voted or judged".to_owned());
        }
        let decided = parts.len();
        parts.extend(replaced);
        if parts.len() == decided {
            parts.push("nobody was replaced".to_owned());
        }
        (!self.answered.is_empty()).then(|| parts.join("; "))
    }

    /// Says of those who voted and those who judged how many different models they were.
    fn voices(&self) -> impl Iterator<Item = String> {
        ["vote", "judge"].into_iter().filter_map(|part| self.voices_of(part))
    }

    /// Counts the different models among those who decided. Where an agent does not say its model,
    /// the one that it was asked for counts; two of which nobody knows either may be two.
    fn voices_of(&self, part: &str) -> Option<String> {
        let of_part: Vec<_> = self.answered.iter().filter(|it| it.part == part).collect();
        let voice = |it: &&Answered| {
            let chosen = self.settings.chosen(it.runner);
            let model = it.model.as_ref().or(chosen.model.as_ref());
            let unknown = || format!("{UNKNOWN} of {}", chosen.agent);
            model.map_or_else(unknown, |model| model.to_lowercase())
        };
        let is_sure = of_part.iter().all(|it| it.model.is_some());
        let most = if is_sure { "" } else { "at most " };
        let different: BTreeSet<_> = of_part.iter().map(voice).collect();
        let (count, different) = (of_part.len(), different.len());
        let said =
            || format!("{part}: {count} answered, {most}{different} of them different models");
        (count > 0).then(said)
    }
}
