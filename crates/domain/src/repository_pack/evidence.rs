//! What one file says about a feature: which of its words are in the path, in definitions, in the text.

use super::definition::{Definition, definitions};
use super::query::FeatureQuery;

/// How often a word of the feature occurs in a file, place by place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TermCount {
    pub(super) path: u32,
    pub(super) symbol: u32,
    pub(super) text: u32,
}

/// What one file says about a feature. It depends on the file and the feature alone.
#[derive(Debug, Clone, Default)]
pub struct FileEvidence {
    /// Terms that occur, by their index, in order.
    pub(super) counts: Vec<(usize, TermCount)>,
    /// Words of the text.
    pub(super) words: usize,
}

impl FileEvidence {
    /// Searches a file for the words of a feature; a file that gave no text has a path nevertheless.
    pub fn of(query: &FeatureQuery, path: &str, text: Option<&str>) -> Self {
        let mut counts = vec![TermCount::default(); query.terms.len()];
        query.each_term(path, |term| counts[term].path += 1);
        let mut words = 0;
        if let Some(text) = text {
            words = query.each_term(text, |term| counts[term].text += 1);
            if counts.iter().any(|count| count.text > 0) {
                let lines: Vec<&str> = text.lines().collect();
                for Definition { signature, .. } in definitions(path, &lines) {
                    query.each_term(signature, |term| counts[term].symbol += 1);
                }
            }
        }
        let counts = counts.into_iter().enumerate();
        let counts = counts.filter(|(_, count)| *count != TermCount::default()).collect();
        Self { counts, words }
    }

    /// Returns how many different words of the feature the file holds.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }
}
