//! Searching what a project has: runs, findings, tasks and messages.
//!
//! An index is a convenience: a store can make it anew at any time, and no other use of the store depends
//! on it. In a file, it has a lock of its own: a program that writes to the store does not wait while
//! Convoke takes messages or findings into the index. A server takes the findings of one run in as one short change.

use convoke_domain::run::RunId;

use crate::error::StoreError;
use crate::journal::Run;

/// The most words of a search that count.
const MOST_WORDS: usize = 8;

/// The kind of thing that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchKind {
    /// A run, by its feature.
    Run,
    /// A finding of a review in a design.
    Finding,
    /// A task, by its content.
    Task,
    /// A message, by its text.
    Message,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// The kind of thing.
    pub kind: SearchKind,
    /// Its id; of a finding, that within its run.
    pub id: String,
    /// The run of a finding.
    pub run: Option<RunId>,
    /// The branch that it belongs to; none for a finding.
    pub branch: Option<String>,
    /// Its title, or who sent it.
    pub title: String,
    /// The rest of what it says.
    pub text: String,
}

/// What a finding says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingText {
    /// Its id within its run.
    pub id: String,
    /// The finding in one line.
    pub title: String,
    /// The rest of what it says.
    pub text: String,
}

/// The words of a search: all of them must occur, each as the beginning of a word or anywhere, without
/// regard to capitals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchWords(Vec<String>);

impl SearchWords {
    /// Reads words; `None` without any.
    pub fn parse(text: &str) -> Option<Self> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<_> = words.take(MOST_WORDS).map(str::to_lowercase).collect();
        (!words.is_empty()).then_some(Self(words))
    }

    /// Returns the words, in lower case.
    pub fn words(&self) -> &[String] {
        &self.0
    }
}

/// Finds things.
pub trait SearchStore {
    /// Takes at most so many messages into the index that it does not have yet, and returns how many it
    /// still lacks. A backend that searches the messages themselves lacks none.
    fn index_messages(&self, most: usize) -> Result<u64, StoreError>;

    /// Returns the last runs of a project with events that the index does not have, at most so many.
    fn unindexed_runs(&self, project: &str, most: usize) -> Result<Vec<Run>, StoreError>;

    /// Takes all findings of a run into the index, as they are after an event.
    fn index_findings(
        &self,
        run: &RunId,
        last_seq: u64,
        findings: &[FindingText],
    ) -> Result<(), StoreError>;

    /// Returns what a project has with all words, at most so many of each kind, the newest first.
    fn search(
        &self,
        project: &str,
        words: &SearchWords,
        most: usize,
    ) -> Result<Vec<SearchHit>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_and_digits() {
        let words = |text| SearchWords::parse(text).map(|words| words.0.join(" "));
        assert_eq!(words(" Foo-bar  \"baz\"* ").as_deref(), Some("foo bar baz"));
        assert_eq!(words("Ünï 1 %_"), Some("ünï 1".to_owned()));
        assert_eq!(words(" -- \" "), None);
        assert_eq!(words(&"a ".repeat(50)).map(|found| found.len()), Some(15));
    }
}
