//! Runs: their ids and states.

use std::collections::HashSet;
use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A run's id: when it began, to the second in UTC, and five hexadecimal digits. Ids sort by the
/// second, and one is also the name of a folder, so it holds no character with a meaning in a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

/// The beginning of every fan-out's id.
const FAN: &str = "fan-";

/// A text that is no id of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a run's id")]
pub struct InvalidRunId {
    given: String,
}

impl RunId {
    const LONGEST: usize = 64;

    /// How much of a hash a fan-out's id has.
    const FAN_DIGITS: usize = 12;

    /// Makes an id from a time and a random number, of which the low 20 bits are used.
    pub fn new(began: Timestamp, random: u64) -> Self {
        let time = began.to_zoned(TimeZone::UTC).datetime();
        let (date, clock) = (time.date(), time.time());
        Self(format!(
            "{:04}{:02}{:02}-{:02}{:02}{:02}-{:05x}",
            date.year(),
            date.month(),
            date.day(),
            clock.hour(),
            clock.minute(),
            clock.second(),
            random & 0xf_ffff
        ))
    }

    /// Makes the id of a fan-out from the hash of all that its answers depend on, so that the same
    /// request finds its run again. No other run's id begins like it.
    pub fn of_fan(digest: &str) -> Result<Self, InvalidRunId> {
        let digits: String = digest.chars().take(Self::FAN_DIGITS).collect();
        Self::parse(&format!("{FAN}{digits}"))
    }

    /// Tells whether this is the id of a fan-out, or the beginning of one.
    pub fn is_fan(&self) -> bool {
        self.0.starts_with(FAN)
    }

    /// Reads an id, or the beginning of one: letters, digits and `-`, not beginning with `-`.
    pub fn parse(given: &str) -> Result<Self, InvalidRunId> {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let usable = given.starts_with(|c: char| c.is_ascii_alphanumeric())
            && given.len() <= Self::LONGEST
            && given.chars().all(word);
        if usable {
            Ok(Self(given.to_owned()))
        } else {
            Err(InvalidRunId { given: given.to_owned() })
        }
    }

    /// Returns the id as it is typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A run's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// It is in progress, or its process was killed.
    Running,
    /// It completed.
    Ended,
    /// It was not allowed to begin.
    Refused,
    /// It was stopped on the way, and can be taken up again.
    Stopped,
}

impl RunState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Running, Self::Ended, Self::Refused, Self::Stopped];

    /// Returns the state as it is kept and printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ended => "ended",
            Self::Refused => "refused",
            Self::Stopped => "stopped",
        }
    }

    /// Returns the state now of a run that was recorded so. `worked_on` are the runs that a process
    /// works on: one that is killed cannot record that it stopped.
    #[must_use]
    pub fn seen(self, run: &RunId, worked_on: &HashSet<RunId>) -> Self {
        match self {
            Self::Ended | Self::Refused => self,
            Self::Running | Self::Stopped if worked_on.contains(run) => Self::Running,
            Self::Running | Self::Stopped => Self::Stopped,
        }
    }

    /// Returns the state with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_can_be_read_and_sorts_by_time() {
        let began: Timestamp = "2026-03-04T05:06:07Z".parse().unwrap();
        let first = RunId::new(began, 0xfff_abcde);
        assert_eq!(first.as_str(), "20260304-050607-abcde");
        let later = RunId::new(began + SignedDuration::from_secs(1), 0);
        assert!(first < later);
        assert_eq!(RunId::parse(first.as_str()), Ok(first));
    }

    #[test]
    fn the_id_of_a_fan_out_shows_what_it_is() {
        let id = RunId::of_fan("0123456789abcdef0123").unwrap();
        assert_eq!((id.as_str(), id.is_fan()), ("fan-0123456789ab", true));
        assert!(!RunId::new(Timestamp::UNIX_EPOCH, 0xf_a000).is_fan());
    }

    #[test]
    fn every_state_has_its_name() {
        for state in RunState::ALL {
            assert_eq!(RunState::parse(state.name()), Some(state));
        }
        assert_eq!(RunState::parse("Running"), None);
    }

    #[test]
    fn only_a_run_with_a_process_is_running() {
        use RunState::{Ended, Refused, Running, Stopped};
        let [run, other] = ["a", "b"].map(|id| RunId::parse(id).unwrap());
        let seen = |worked_on: &RunId| {
            RunState::ALL.map(|state| state.seen(&run, &HashSet::from([worked_on.clone()])))
        };
        assert_eq!(seen(&run), [Running, Ended, Refused, Running]);
        assert_eq!(seen(&other), [Stopped, Ended, Refused, Stopped]);
    }

    proptest! {
        // A folder is named after the id.
        #[test]
        fn an_id_stays_where_it_is_put(text in "[-./a-z~]{0,8}|.*") {
            if let Ok(id) = RunId::parse(&text) {
                prop_assert!(!id.as_str().is_empty());
                prop_assert!(!id.as_str().contains(['/', '.', '\\', '\0', '~']));
                prop_assert!(!id.as_str().starts_with('-'));
            }
        }
    }
}
