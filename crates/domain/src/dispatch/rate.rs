//! How often readers did not say, or did not prove, that they read.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// How a role was dispatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// With a full prompt.
    Fresh,
    /// With a delta, into a session that goes on.
    Resume,
    /// With a full prompt, because the session could not be resumed.
    Fallback,
}

impl Mode {
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
    /// The command.
    pub command: String,
    /// The role.
    pub role: String,
    /// Which round.
    pub iteration: u32,
    /// How.
    pub mode: Mode,
    /// How long the prompt was, if it is known.
    pub prompt_chars: Option<u64>,
    /// The files that had to be read.
    pub artifacts: Vec<String>,
    /// Whether the answer said that it read; `None` where nothing was demanded.
    pub confirmed: Option<bool>,
    /// The files that it did not name.
    pub missing: Vec<String>,
    /// The files that no record shows to have been read; `None` if there was no record.
    pub unproven: Option<Vec<String>>,
    /// When.
    pub at: Timestamp,
}

/// Counts over some dispatches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    /// Dispatches that demanded reading.
    pub dispatches: u64,
    /// Those whose answer did not say that it read.
    pub warnings: u64,
    /// Those with a record.
    pub recorded: u64,
    /// Those whose record does not show all that had to be read.
    pub unproven: u64,
}

impl Rate {
    /// Counts entries. What was resumed demanded nothing.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a LedgerEntry>) -> Self {
        let mut rate = Self::default();
        for entry in entries {
            let Some(confirmed) = entry.confirmed.filter(|_| entry.mode != Mode::Resume) else {
                continue;
            };
            rate.dispatches += 1;
            rate.warnings += u64::from(!confirmed);
            if let Some(unproven) = &entry.unproven {
                rate.recorded += 1;
                rate.unproven += u64::from(!unproven.is_empty());
            }
        }
        rate
    }

    /// Returns the share of warnings in tenths of a percent.
    pub fn per_mille(self) -> Option<u64> {
        (self.warnings * 1000).checked_div(self.dispatches)
    }

    /// Tells whether more than a fifth did not say that it read.
    pub const fn escalates(self) -> bool {
        self.warnings * 5 > self.dispatches
    }
}

/// How many features are looked at before the whole approach is judged.
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
    /// Over everything.
    pub all: Rate,
}

/// Counts a whole ledger.
pub fn rates(ledger: &[LedgerEntry]) -> Rates {
    let mut began: BTreeMap<&str, Timestamp> = BTreeMap::new();
    for entry in ledger {
        let at = began.entry(&entry.feature).or_insert(entry.at);
        *at = entry.at.min(*at);
    }
    let mut order: Vec<_> = began.into_iter().collect();
    order.sort_by_key(|(feature, at)| (*at, *feature));
    let of_feature = |feature: &str| Rate::of(ledger.iter().filter(|it| it.feature == feature));
    let roles = ledger.iter().map(|entry| entry.role.clone()).map(|role| {
        let rate = Rate::of(ledger.iter().filter(|entry| entry.role == role));
        (role, rate)
    });
    let first: Vec<_> = order.iter().take(FIRST).map(|(feature, _)| *feature).collect();
    Rates {
        roles: roles.collect(),
        first_features: Rate::of(ledger.iter().filter(|it| first.contains(&it.feature.as_str()))),
        features: order
            .iter()
            .map(|(feature, _)| ((*feature).to_owned(), of_feature(feature)))
            .collect(),
        all: Rate::of(ledger),
    }
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
            mode: Mode::Fresh,
            prompt_chars: Some(700),
            artifacts: vec!["spec.md".to_owned()],
            confirmed,
            missing: Vec::new(),
            unproven: None,
            at: Timestamp::from_second(second).unwrap(),
        }
    }

    // D-52, D-53: more than a fifth, strictly, over the first three features.
    #[test]
    fn the_first_three_features_decide() {
        let mut ledger = vec![entry("d", "a", Some(false), 9)];
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

    // D-40: what was resumed, or demanded nothing, does not count.
    #[test]
    fn only_what_demanded_reading_counts() {
        let resumed = LedgerEntry { mode: Mode::Resume, ..entry("a", "x", Some(false), 1) };
        let fallback = LedgerEntry { mode: Mode::Fallback, ..entry("a", "x", Some(false), 1) };
        let proven = LedgerEntry { unproven: Some(vec![]), ..entry("a", "x", Some(true), 1) };
        let unproven = LedgerEntry { unproven: Some(vec!["spec.md".to_owned()]), ..proven.clone() };
        let rate = Rate::of(&[resumed, entry("a", "x", None, 1), fallback, proven, unproven]);
        assert_eq!(rate, Rate { dispatches: 3, warnings: 1, recorded: 2, unproven: 1 });
    }
}
