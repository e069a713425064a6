//! Rates of dispatches whose agents did not confirm, or did not prove, their reading.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// How a role was dispatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DispatchMode {
    /// With a full prompt.
    Fresh,
    /// With a delta, into a resumed session.
    Resume,
    /// With a full prompt, because the session could not be resumed.
    Fallback,
}

impl DispatchMode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Fresh, Self::Resume, Self::Fallback];

    /// Returns the word that is stored and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Resume => "resume",
            Self::Fallback => "fallback",
        }
    }

    /// Returns the mode stored as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// One dispatch, as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The feature's folder name.
    pub feature: String,
    /// The command that dispatched the role.
    pub command: String,
    /// The role's name without its command.
    pub role: String,
    /// The round, from one.
    pub iteration: u32,
    /// Whether the prompt was whole, or a delta for a session.
    pub mode: DispatchMode,
    /// How long the prompt was, if it is known.
    pub prompt_chars: Option<u64>,
    /// The files that the agent had to read.
    pub artifacts: Vec<String>,
    /// Whether the answer confirms reading; `None` where the prompt required none.
    pub confirmed: Option<bool>,
    /// The files that it did not name.
    pub missing: Vec<String>,
    /// The files that no record shows to have been read; `None` if there was no record.
    pub unproven: Option<Vec<String>>,
    /// The files that a record shows to have been read whole.
    pub proven: Vec<String>,
    /// What the record shows of each file, as the report's JSON; `None` without a record.
    pub receipts: Option<String>,
    /// The verdict's word; `None` where none was expected.
    pub verdict: Option<String>,
    /// Why the session was resumed or not, as a code.
    pub reason: Option<String>,
    /// How long a whole prompt would have been.
    pub fresh_chars: Option<u64>,
    /// When the entry was written.
    pub at: Timestamp,
}

/// Counts over some dispatches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    /// Dispatches that demanded reading.
    pub dispatches: u64,
    /// Those whose answer did not confirm reading.
    pub warnings: u64,
    /// Those with a record.
    pub recorded: u64,
    /// Those whose record does not show all that had to be read.
    pub unproven: u64,
    /// Dispatches into a session that went on.
    pub resumed: u64,
    /// Dispatches that began afresh because a session could not go on.
    pub fallbacks: u64,
}

impl Rate {
    /// Counts one entry. A resumed dispatch required no reading.
    fn count(&mut self, entry: &LedgerEntry) {
        self.resumed += u64::from(entry.mode == DispatchMode::Resume);
        self.fallbacks += u64::from(entry.mode == DispatchMode::Fallback);
        let Some(confirmed) = entry.confirmed.filter(|_| entry.mode != DispatchMode::Resume) else {
            return;
        };
        self.dispatches += 1;
        self.warnings += u64::from(!confirmed);
        if let Some(unproven) = &entry.unproven {
            self.recorded += 1;
            self.unproven += u64::from(!unproven.is_empty());
        }
    }

    /// Tells whether more than a fifth of the tries to resume ended in a fresh start.
    pub const fn resumes_badly(self) -> bool {
        self.fallbacks * 5 > self.fallbacks + self.resumed
    }

    /// Returns the share of warnings in tenths of a percent.
    pub fn per_mille(self) -> Option<u64> {
        (self.warnings * 1000).checked_div(self.dispatches)
    }

    /// Tells whether more than a fifth did not confirm reading.
    pub const fn escalates(self) -> bool {
        self.warnings * 5 > self.dispatches
    }
}

/// The first features, by which the whole approach is judged.
const FIRST: usize = 3;

/// Rates by role and feature, and the one that decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rates {
    /// By role.
    pub roles: BTreeMap<String, Rate>,
    /// By feature, in the order they began.
    pub features: Vec<(String, Rate)>,
    /// Over the first three features.
    pub first_features: Rate,
    /// The rate over all dispatches.
    pub all: Rate,
}

/// Counts a whole ledger.
pub fn rates(ledger: &[LedgerEntry]) -> Rates {
    let mut found = Rates::default();
    let mut features: BTreeMap<&str, (Timestamp, Rate)> = BTreeMap::new();
    for entry in ledger {
        found.all.count(entry);
        found.roles.entry(entry.role.clone()).or_default().count(entry);
        let (began, rate) = features.entry(&entry.feature).or_insert((entry.at, Rate::default()));
        *began = entry.at.min(*began);
        rate.count(entry);
    }
    let mut order: Vec<_> = features.into_iter().collect();
    order.sort_by_key(|(feature, (began, _))| (*began, *feature));
    let first: Vec<_> = order.iter().take(FIRST).map(|(feature, _)| *feature).collect();
    for entry in ledger.iter().filter(|entry| first.contains(&entry.feature.as_str())) {
        found.first_features.count(entry);
    }
    found.features =
        order.iter().map(|(feature, (_, rate))| ((*feature).to_owned(), *rate)).collect();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(feature: &str, role: &str, confirmed: Option<bool>, second: i64) -> LedgerEntry {
        LedgerEntry {
            feature: feature.to_owned(),
            command: "implement".to_owned(),
            role: role.to_owned(),
            iteration: 1,
            mode: DispatchMode::Fresh,
            prompt_chars: Some(700),
            artifacts: vec!["spec.md".to_owned()],
            confirmed,
            missing: Vec::new(),
            unproven: None,
            proven: Vec::new(),
            receipts: None,
            verdict: None,
            reason: None,
            fresh_chars: None,
            at: Timestamp::from_second(second).unwrap(),
        }
    }

    // D-52, D-53: more than a fifth, strictly, over the first three features.
    #[test]
    fn the_first_three_features_decide() {
        let mut ledger = vec![entry("d", "a", Some(false), 9), entry("a", "z", None, 99)];
        for (second, feature) in [(1, "c"), (2, "b"), (3, "a")] {
            ledger.push(entry(feature, "x", Some(true), second));
        }
        ledger.push(entry("a", "y", Some(true), 4));
        ledger.push(entry("a", "y", Some(false), 5));
        let found = rates(&ledger);
        let names: Vec<_> = found.features.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["c", "b", "a", "d"]);
        assert_eq!((found.first_features.dispatches, found.first_features.warnings), (5, 1));
        assert!(!found.first_features.escalates(), "exactly a fifth is not more");
        assert!(found.all.escalates(), "two of six are");
        assert_eq!(
            (found.roles["y"].per_mille(), found.roles["a"].per_mille()),
            (Some(500), Some(1000))
        );
        assert_eq!(Rate::default().per_mille(), None);
        assert!(!Rate::default().escalates());
    }

    // D-40: resumed dispatches and those that required no reading do not count.
    #[test]
    fn only_what_demanded_reading_counts() {
        let resumed = LedgerEntry { mode: DispatchMode::Resume, ..entry("a", "x", Some(false), 1) };
        let fallback =
            LedgerEntry { mode: DispatchMode::Fallback, ..entry("a", "x", Some(false), 1) };
        let proven = LedgerEntry { unproven: Some(vec![]), ..entry("a", "x", Some(true), 1) };
        let unproven = LedgerEntry { unproven: Some(vec!["spec.md".to_owned()]), ..proven.clone() };
        let rate = rates(&[resumed, entry("a", "x", None, 1), fallback, proven, unproven]).all;
        assert_eq!((rate.dispatches, rate.warnings), (3, 1));
        assert_eq!((rate.recorded, rate.unproven), (2, 1));
        // D-68: one of two tries to resume ended in a fresh start.
        assert_eq!((rate.resumed, rate.fallbacks, rate.resumes_badly()), (1, 1, true));
        assert!(!Rate { resumed: 4, fallbacks: 1, ..rate }.resumes_badly(), "exactly a fifth");
    }
}
