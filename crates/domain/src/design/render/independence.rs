//! The statement of how independent the voices of a design were.

use std::collections::{BTreeMap, BTreeSet};

use crate::design::event::Settings;
use crate::design::lane_id::LaneKind;
use crate::design::outline::Voice;
use crate::design::quote;
use crate::design::seat::Holder;

/// Represents a model that no client names.
const UNKNOWN: &str = "unknown";

/// Lists which agent answered for which seat, with which model, and counts the different models
/// that voted.
pub(super) fn independence(voices: &[Voice], settings: &Settings) -> String {
    let name = |holder| settings.panel.named(holder).name();
    let rows = voices.iter().map(|voice| {
        let asked = settings.chosen(voice.runner).model.as_deref().unwrap_or("(its own choice)");
        let model = voice.model.as_deref().unwrap_or(UNKNOWN);
        let fallback = if voice.owner == voice.runner { "" } else { name(voice.runner) };
        format!(
            "| {} | {} | {} | {fallback} | {} | {} |\n",
            voice.kind.word(),
            quote::cell(&voice.label),
            name(voice.owner),
            quote::cell(asked),
            quote::cell(model)
        )
    });
    let rows: String = rows.collect();
    let recorded =
        if settings.is_rehearsal { "A rehearsal: every answer was recorded.\n" } else { "" };
    let counted: String = counts(voices, settings).map(|count| count + ".\n").collect();
    format!(
        "# Independence\n\n{recorded}{counted}\n\
         | Part | Seat | Of | Filled by | Model asked for | Model that answered |\n\
         |---|---|---|---|---|---|\n{rows}"
    )
}

/// Summarizes in one sentence how many different models decided, and which agents answered for
/// others.
pub fn independence_in_short(voices: &[Voice], settings: &Settings) -> Option<String> {
    let name = |holder: Holder| settings.panel.named(holder).name();
    let mut replaced = BTreeMap::<_, usize>::new();
    for voice in voices.iter().filter(|voice| voice.owner != voice.runner) {
        *replaced.entry((name(voice.runner), name(voice.owner))).or_default() += 1;
    }
    let replaced = replaced.into_iter().map(|((runner, owner), count)| {
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        format!("{runner} answered for {owner} {times}")
    });
    let mut parts: Vec<_> = counts(voices, settings).collect();
    if parts.is_empty() {
        parts.push("nobody has voted or judged".to_owned());
    }
    let decided = parts.len();
    parts.extend(replaced);
    if parts.len() == decided {
        parts.push("nobody was replaced".to_owned());
    }
    (!voices.is_empty()).then(|| parts.join("; "))
}

/// Counts the different models among the voters and among the judges, and the judges' votes that
/// changed with the order of the ballot.
fn counts(voices: &[Voice], settings: &Settings) -> impl Iterator<Item = String> {
    let kinds = [LaneKind::Vote, LaneKind::Judge].into_iter();
    kinds.filter_map(|kind| count(kind, voices, settings)).chain(flips(voices))
}

/// Tells how many votes changed with the order; nothing where judges read one.
fn flips(voices: &[Voice]) -> Option<String> {
    let checks: Vec<_> = voices.iter().filter_map(|voice| voice.order_check.as_ref()).collect();
    let compared: usize = checks.iter().map(|check| check.compared.len()).sum();
    let flipped: usize = checks.iter().map(|check| check.flipped.len()).sum();
    let said = || format!("{flipped} of {compared} judges' votes changed with the order");
    (!checks.is_empty()).then(said)
}

/// Counts the different models among those that decided. Where a client does not report its model,
/// the requested model counts; two unknown models count as two.
fn count(kind: LaneKind, voices: &[Voice], settings: &Settings) -> Option<String> {
    let of_part: Vec<_> = voices.iter().filter(|voice| voice.kind == kind).collect();
    let model_of = |voice: &&Voice| {
        let chosen = settings.chosen(voice.runner);
        let model = voice.model.as_ref().or(chosen.model.as_ref());
        let unknown = || format!("{UNKNOWN} of {}", chosen.agent);
        model.map_or_else(unknown, |model| model.to_lowercase())
    };
    let is_sure = of_part.iter().all(|voice| voice.model.is_some());
    let most = if is_sure { "" } else { "at most " };
    let different: BTreeSet<_> = of_part.iter().map(model_of).collect();
    let (count, different) = (of_part.len(), different.len());
    let part = kind.word();
    let said = || format!("{part}: {count} answered, {most}{different} of them different models");
    (count > 0).then(said)
}
