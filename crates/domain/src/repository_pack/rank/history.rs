//! Signals of the past: commits with similar words, recent changes, files that change together.

use std::collections::HashMap;

use super::super::query::FeatureQuery;
use super::{PastChange, normalized, real};

/// Commits with more files are moves or renamings: they say nothing about what belongs together.
const MOST_FILES: usize = 40;

/// After so many commits, a change counts half in how recent a file is.
const HALF_RECENT: f64 = 40.0;

/// After so many commits, a similar commit counts half.
const HALF_SIMILAR: f64 = 600.0;

/// So many of the best files name those that change with them.
const SEEDS: usize = 8;

/// What the past says of each file, each signal from 0 to 1.
pub(super) struct HistorySignals {
    pub(super) similar: Vec<f64>,
    pub(super) recent: Vec<f64>,
    /// With the file that it changes with most.
    pub(super) together: Vec<(f64, Option<usize>)>,
}

struct Change {
    files: Vec<usize>,
    similarity: f64,
    age: f64,
}

pub(super) fn signals(
    query: &FeatureQuery,
    past: &[PastChange],
    by_path: &HashMap<&str, usize>,
    first: &[f64],
) -> HistorySignals {
    let changes = changes(query, past, by_path);
    let mut similar = vec![0.0; first.len()];
    let mut recent = vec![0.0; first.len()];
    for change in &changes {
        let share = 1.0 / real(change.files.len()).sqrt();
        for &file in &change.files {
            recent[file] += share * halved(change.age, HALF_RECENT);
            similar[file] += share * change.similarity * halved(change.age, HALF_SIMILAR);
        }
    }
    // Many changes tell little more than some.
    let recent = normalized(recent.into_iter().map(f64::ln_1p).collect());
    let similar = normalized(similar);
    let scores: Vec<f64> =
        first.iter().zip(&similar).map(|(first, similar)| first + 0.6 * similar).collect();
    HistorySignals { together: together(&changes, &scores), similar, recent }
}

fn halved(age: f64, half: f64) -> f64 {
    (-age / half).exp2()
}

fn changes(
    query: &FeatureQuery,
    past: &[PastChange],
    by_path: &HashMap<&str, usize>,
) -> Vec<Change> {
    let mut holders = vec![0_usize; query.terms.len()];
    let found: Vec<_> = past
        .iter()
        .map(|change| {
            let mut terms = Vec::new();
            let words = query.each_term(&change.message, |term| terms.push(term));
            terms.sort_unstable();
            terms.dedup();
            for term in &terms {
                holders[*term] += 1;
            }
            (terms, words)
        })
        .collect();
    let all = real(past.len());
    let rarity = |term: usize| (all / (real(holders[term]) + 1.0)).ln_1p();
    let kept = past.iter().zip(found).enumerate().filter_map(|(age, (change, (terms, words)))| {
        if change.paths.len() > MOST_FILES {
            return None;
        }
        let files: Vec<_> =
            change.paths.iter().filter_map(|path| by_path.get(path.as_str()).copied()).collect();
        let overlap: f64 =
            terms.iter().map(|term| query.terms[*term].weight * rarity(*term).powi(2)).sum();
        let similarity = overlap / (4.0 + real(words)).sqrt();
        (!files.is_empty()).then_some(Change { files, similarity, age: real(age) })
    });
    kept.collect()
}

/// Files that changed in the same commits as the best files so far, each with its strongest partner.
fn together(changes: &[Change], scores: &[f64]) -> Vec<(f64, Option<usize>)> {
    let mut order: Vec<_> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    let mut total = vec![0.0; scores.len()];
    let mut strongest: Vec<(f64, Option<usize>)> = vec![(0.0, None); scores.len()];
    for &seed in order.iter().take(SEEDS).filter(|seed| scores[**seed] > 0.0) {
        let with: Vec<_> = changes.iter().filter(|change| change.files.contains(&seed)).collect();
        let mut beside: HashMap<usize, f64> = HashMap::new();
        for change in &with {
            let share = halved(change.age, HALF_SIMILAR) / real(change.files.len()).sqrt();
            for &file in change.files.iter().filter(|file| **file != seed) {
                *beside.entry(file).or_default() += share;
            }
        }
        let all: f64 = with.iter().map(|change| halved(change.age, HALF_SIMILAR)).sum();
        for (file, weight) in beside {
            let strength = scores[seed] * weight / (1.0 + all);
            total[file] += strength;
            if strength > strongest[file].0 {
                strongest[file] = (strength, Some(seed));
            }
        }
    }
    let total = normalized(total);
    total.into_iter().zip(strongest).map(|(total, (_, partner))| (total, partner)).collect()
}
