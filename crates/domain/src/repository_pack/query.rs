//! What a feature's text asks for: words, names in code, and paths.

use std::collections::HashMap;

use super::words::{each_part, identifiers, is_common, is_compound, write_stem};

/// A longer feature adds no more words.
const MOST_TERMS: usize = 256;

/// Words of the first paragraph count this many times as much as those below it.
const TITLE_WEIGHT: f64 = 2.0;

/// A whole name in code says more than the words in it.
const NAME_WEIGHT: f64 = 2.0;

/// One word or name to search for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QueryTerm {
    /// As the feature writes it.
    pub(super) shown: String,
    pub(super) weight: f64,
    pub(super) is_name: bool,
}

/// A feature, as it is searched for.
#[derive(Debug, Clone, Default)]
pub struct FeatureQuery {
    pub(super) terms: Vec<QueryTerm>,
    by_stem: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
    /// Words that may be paths, or the last parts of some.
    pub(super) paths: Vec<String>,
}

impl FeatureQuery {
    /// Reads a feature: its first paragraph is its title.
    pub fn new(feature: &str) -> Self {
        let mut query = Self::default();
        let title_end = feature.trim_start().find("\n\n").unwrap_or(feature.len());
        let start = feature.len() - feature.trim_start().len();
        let title_end = (start + title_end).min(feature.len());
        let (title, body) = feature.split_at(title_end);
        query.add(title, TITLE_WEIGHT);
        query.add(body, 1.0);
        query
    }

    fn add(&mut self, text: &str, weight: f64) {
        let mut stem = String::new();
        for word in text.split_whitespace() {
            let bare = bare_path(word);
            if looks_like_path(bare) && !self.paths.iter().any(|path| path == bare) {
                self.paths.push(bare.to_owned());
            }
            // A reference to a page or an issue is no word of the code.
            if word.contains("://") {
                continue;
            }
            for identifier in identifiers(word) {
                if is_compound(identifier) {
                    let name = identifier.to_lowercase();
                    self.note(name, identifier, weight * NAME_WEIGHT, Kind::Name);
                }
                each_part(identifier, |part| {
                    if !is_common(part) {
                        write_stem(part, &mut stem);
                        self.note(stem.clone(), part, weight, Kind::Word);
                    }
                });
            }
        }
    }

    fn note(&mut self, key: String, shown: &str, weight: f64, kind: Kind) {
        let (terms, known) = match kind {
            Kind::Name => (&mut self.terms, &mut self.by_name),
            Kind::Word => (&mut self.terms, &mut self.by_stem),
        };
        if let Some(&index) = known.get(&key) {
            // A repeated word counts more, but a hundred times is no more than a few.
            let term: &mut QueryTerm = &mut terms[index];
            term.weight += (weight / term.weight.max(1.0)) / 2.0;
        } else if terms.len() < MOST_TERMS {
            known.insert(key, terms.len());
            let is_name = kind == Kind::Name;
            terms.push(QueryTerm { shown: shown.to_owned(), weight, is_name });
        }
    }

    /// Tells whether nothing can be searched for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.paths.is_empty()
    }

    /// Calls `take` with every term that a text holds, as often as it does, and returns how many words
    /// the text has.
    pub(super) fn each_term(&self, text: &str, mut take: impl FnMut(usize)) -> usize {
        let (mut stem, mut words) = (String::new(), 0);
        for identifier in identifiers(text) {
            words += 1;
            if !self.by_name.is_empty() && identifier.len() > 3 {
                stem.clear();
                stem.extend(identifier.chars().flat_map(char::to_lowercase));
                if let Some(index) = self.by_name.get(&stem) {
                    take(*index);
                }
            }
            each_part(identifier, |part| {
                write_stem(part, &mut stem);
                if let Some(index) = self.by_stem.get(&stem) {
                    take(*index);
                }
            });
        }
        words
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Name,
    Word,
}

/// Takes quotes, brackets and the end of a sentence off a word, and the line of a citation.
fn bare_path(word: &str) -> &str {
    let bare = word.trim_matches(|c: char| "\"'`*()[]<>,;!?".contains(c));
    let bare = bare.trim_end_matches(['.', ':']).trim_start_matches("./");
    match bare.split_once(':') {
        Some((path, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => path,
        _ => bare,
    }
}

fn looks_like_path(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/+@".contains(c);
    if word.len() < 3 || word.contains("//") || !word.chars().all(is_plain) {
        return false;
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=6).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    let is_shouted = name.len() > 3 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    has_ending || word.contains('/') || is_shouted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_names_words_names_and_paths() {
        let query = FeatureQuery::new(
            "lane: read `read_budget` in src/lane.rs:12-14\n\nSee CHANGELOG and https://x.io/read.",
        );
        assert_eq!(query.paths, ["src/lane.rs", "CHANGELOG"]);
        let names: Vec<_> = query.terms.iter().filter(|term| term.is_name).collect();
        assert_eq!(names.len(), 1);
        assert_eq!(names[0].shown, "read_budget");
        let mut seen = Vec::new();
        let words = query.each_term("fn read_budget(lane: Lanes) {}", |term| seen.push(term));
        assert_eq!(words, 4);
        let shown: Vec<_> = seen.iter().map(|term| query.terms[*term].shown.as_str()).collect();
        assert_eq!(shown, ["read_budget", "read", "budget", "lane", "lane"]);
    }

    proptest::proptest! {
        #[test]
        fn any_feature_is_read(feature in "\\PC{0,200}", text in "\\PC{0,200}") {
            let query = FeatureQuery::new(&feature);
            query.each_term(&text, |term| assert!(term < query.terms.len()));
        }
    }
}
