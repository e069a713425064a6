//! What Convoke found at the places that agents cite, for every text of a run.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::claim::{CitedPassage, cited_places_under};
use super::{Citation, CitationRule, MOST, Missing};
use crate::design::quote;

/// The most places that one text shows.
const MOST_SHOWN: usize = 20;

/// When Convoke looks up what agents cite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CitedIn {
    /// After the sketches, before the chair reads them.
    Sketches,
    /// After the debates, before the judges read them.
    Debates,
    /// After the reviews, before the voters read them.
    Findings,
    /// At the end: the plan, and the reasons of judges and voters.
    Plan,
    /// After the plan was revised for a person's decision, by its place.
    Ruling(usize),
}

impl CitedIn {
    /// Returns the word that is written down.
    pub fn word(self) -> String {
        match self {
            Self::Sketches => "sketches".to_owned(),
            Self::Debates => "debates".to_owned(),
            Self::Findings => "findings".to_owned(),
            Self::Plan => "plan".to_owned(),
            Self::Ruling(place) => format!("ruling/{place}"),
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        if let Some(place) = word.strip_prefix("ruling/") {
            return place.parse().ok().map(Self::Ruling);
        }
        [Self::Sketches, Self::Debates, Self::Findings, Self::Plan]
            .into_iter()
            .find(|known| known.word() == word)
    }
}

/// What is at a cited place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceFinding {
    /// The lines are there, and so are the words, if any are quoted.
    Holds,
    /// The lines are there, and the words are on this line instead.
    Elsewhere(u32),
    /// The lines are there, and the words are nowhere in the file.
    NoWords,
    /// The lines are there; the file is too long to search it for the words.
    WordsUnchecked,
    /// The lines are not there, or could not be looked up.
    Missing(Missing),
}

/// The weight of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CitationVerdict {
    /// What the text says of the place is so.
    Holds,
    /// What the text says of the place is not so.
    Fails,
    /// It is not known.
    Unknown,
}

impl CitationVerdict {
    /// Returns the word that users and programs read.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Unknown => "unknown",
        }
    }
}

/// A cited place with the result for it; without one, Convoke did not look it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedCitation {
    /// The place and the words.
    pub cited: CitedPassage,
    /// What is there.
    pub found: Option<PlaceFinding>,
}

impl CheckedCitation {
    /// Weighs the result.
    pub const fn verdict(&self) -> CitationVerdict {
        match self.found {
            Some(PlaceFinding::Holds) => CitationVerdict::Holds,
            Some(
                PlaceFinding::Elsewhere(_)
                | PlaceFinding::NoWords
                | PlaceFinding::Missing(Missing::NoFile | Missing::Lines(_)),
            ) => CitationVerdict::Fails,
            Some(PlaceFinding::WordsUnchecked | PlaceFinding::Missing(Missing::Unchecked))
            | None => CitationVerdict::Unknown,
        }
    }

    /// Returns the result in a few words.
    pub fn words(&self) -> String {
        let has_words = self.cited.words.is_some();
        match self.found {
            Some(PlaceFinding::Holds) if has_words => "the quoted words are there".to_owned(),
            Some(PlaceFinding::Holds) => "exists".to_owned(),
            Some(PlaceFinding::Elsewhere(line)) => {
                format!("exists, but the quoted words are on line {line}")
            }
            Some(PlaceFinding::NoWords) => {
                "exists, but the quoted words are not in the file".to_owned()
            }
            Some(PlaceFinding::WordsUnchecked) => {
                "exists; the file is too long to search it for the quoted words".to_owned()
            }
            Some(PlaceFinding::Missing(Missing::NoFile)) => {
                "does not exist: no such file".to_owned()
            }
            Some(PlaceFinding::Missing(Missing::Lines(1))) => {
                "does not exist: the file has 1 line".to_owned()
            }
            Some(PlaceFinding::Missing(Missing::Lines(lines))) => {
                format!("does not exist: the file has {lines} lines")
            }
            Some(PlaceFinding::Missing(Missing::Unchecked)) => "could not be checked".to_owned(),
            None => "was not looked up".to_owned(),
        }
    }

    fn shown(&self) -> String {
        format!("`{}` {}", quote::line(&self.cited.shown()), self.words())
    }
}

/// Lines and words.
type Claim = (Citation, Option<String>);

/// Everything that Convoke looked up in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CitationBook {
    /// Nothing in runs that look up nothing here: they must not say that a place was not looked up.
    found: Option<BTreeMap<Claim, PlaceFinding>>,
    /// The forms that the run reads.
    rule: CitationRule,
}

impl CitationBook {
    /// Returns which forms the run reads.
    pub const fn rule(&self) -> CitationRule {
        self.rule
    }

    /// Takes in results. The first result for a place stays.
    pub fn take(&mut self, rule: CitationRule, looked_up: &[(CitedPassage, PlaceFinding)]) {
        self.rule = rule;
        let known = self.found.get_or_insert_default();
        for (cited, found) in looked_up {
            known.entry((cited.place.clone(), cited.words.clone())).or_insert(*found);
        }
    }

    /// Returns what texts cite that was not looked up yet, each once.
    pub fn unknown<'t>(
        &self,
        rule: CitationRule,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Vec<CitedPassage> {
        let cited = texts.into_iter().flat_map(|text| cited_places_under(rule, text));
        let mut unknown: BTreeMap<Claim, CitedPassage> = BTreeMap::new();
        for cited in cited.filter(|cited| self.found_at(cited).is_none()) {
            match unknown.entry((cited.place.clone(), cited.words.clone())) {
                Entry::Occupied(mut known) => known.get_mut().add_doubts_of(&cited),
                Entry::Vacant(free) => {
                    free.insert(cited);
                }
            }
        }
        unknown.into_values().take(MOST).collect()
    }

    fn found_at(&self, cited: &CitedPassage) -> Option<PlaceFinding> {
        let claim = (cited.place.clone(), cited.words.clone());
        self.found.as_ref()?.get(&claim).copied()
    }

    /// Returns what a text cites, with the results. A word that may be no citation counts only if it
    /// was found to be one.
    pub fn checked(&self, text: &str) -> Vec<CheckedCitation> {
        if self.found.is_none() {
            return Vec::new();
        }
        let checked = cited_places_under(self.rule, text).into_iter().map(|cited| {
            let found = self.found_at(&cited);
            CheckedCitation { cited, found }
        });
        checked
            .filter(|checked| checked.found.is_some() || checked.cited.place.is_certain())
            .collect()
    }

    /// Renders what a text cites, with the results, on one line; nothing if it cites nothing.
    pub fn line(&self, text: &str) -> Option<String> {
        line_of(&self.checked(text))
    }

    /// Renders what a text cites and what does not hold, on one line; nothing if all of it holds.
    pub fn failures(&self, text: &str) -> Option<String> {
        let mut checked = self.checked(text);
        checked.retain(|checked| checked.verdict() == CitationVerdict::Fails);
        line_of(&checked)
    }
}

fn line_of(checked: &[CheckedCitation]) -> Option<String> {
    if checked.is_empty() {
        return None;
    }
    // What does not hold comes first, so that a flood of others cannot hide it.
    let (failing, others): (Vec<_>, Vec<_>) =
        checked.iter().partition(|checked| checked.verdict() == CitationVerdict::Fails);
    let mut shown: Vec<_> =
        failing.into_iter().chain(others).take(MOST_SHOWN).map(CheckedCitation::shown).collect();
    if let more @ 1.. = checked.len().saturating_sub(MOST_SHOWN) {
        shown.push(format!("{more} more"));
    }
    Some(shown.join("; "))
}

#[cfg(test)]
mod tests {
    use super::super::claim::cited_places;
    use super::*;

    fn book(results: &[(&str, PlaceFinding)]) -> CitationBook {
        let mut book = CitationBook::default();
        for (text, found) in results {
            book.take(CitationRule::EveryForm, &[(cited_places(text).remove(0), *found)]);
        }
        book
    }

    #[test]
    fn every_place_has_its_result_and_failures_come_first() {
        let book = book(&[
            ("a.rs:1", PlaceFinding::Holds),
            ("b.rs:2: \"every token is signed\"", PlaceFinding::NoWords),
            ("c.rs:3", PlaceFinding::Missing(Missing::Lines(1))),
            ("d.rs:4", PlaceFinding::Missing(Missing::Unchecked)),
        ]);
        let text =
            "See a.rs:1, b.rs:2: \"every token is signed\", c.rs:3, d.rs:4, e.rs:5, or/so:6.";
        let line = book.line(text).unwrap();
        assert_eq!(
            line,
            "`b.rs:2` exists, but the quoted words are not in the file; `c.rs:3` does not exist: the \
             file has 1 line; `a.rs:1` exists; `d.rs:4` could not be checked; `e.rs:5` was not \
             looked up"
        );
        assert_eq!(book.failures("a.rs:1 d.rs:4 e.rs:5"), None, "only what is known to be wrong");
        assert_eq!(book.line("no citation"), None);
        let none = CitationBook::default();
        assert_eq!(none.line(text), None, "a run of an earlier program looked up nothing");
        let words =
            book.checked(text).iter().map(|checked| checked.verdict().word()).collect::<Vec<_>>();
        assert_eq!(words, ["holds", "fails", "fails", "unknown", "unknown"]);
    }

    #[test]
    fn only_what_is_new_is_looked_up() {
        let book = book(&[("a.rs:1", PlaceFinding::Holds)]);
        let unknown = book.unknown(
            CitationRule::EveryForm,
            ["a.rs:1 and b.rs:2", "b.rs:2 and a.rs:1: \"other words here\""],
        );
        let shown: Vec<_> = unknown.iter().map(CitedPassage::shown).collect();
        assert_eq!(shown, ["a.rs:1", "b.rs:2"], "the same lines with words are another claim");
    }

    #[test]
    fn every_moment_has_its_word() {
        for moment in [
            CitedIn::Sketches,
            CitedIn::Debates,
            CitedIn::Findings,
            CitedIn::Plan,
            CitedIn::Ruling(3),
        ] {
            assert_eq!(CitedIn::parse(&moment.word()), Some(moment));
        }
        assert_eq!(CitedIn::parse("elsewhere"), None);
        assert_eq!(CitedIn::parse("ruling/x"), None);
    }
}
