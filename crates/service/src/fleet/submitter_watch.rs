//! Whether a lane's submitter is still there, as the lane's worker hears it from the store.

use jiff::{SignedDuration, Timestamp};

/// The longest time between two answers of the store that counts. For longer, the store was away or the
/// worker slept, and the submitter may have had no way to say that it is there.
const LONGEST_GAP: SignedDuration = SignedDuration::from_secs(10);

/// How long a submitter is silent while the store answers its lane's worker.
pub(super) struct SubmitterWatch {
    patience: SignedDuration,
    /// When the store answered last.
    heard_at: Option<Timestamp>,
    /// Since when it answers without a gap.
    since: Timestamp,
}

impl SubmitterWatch {
    pub(super) const fn new(patience: SignedDuration) -> Self {
        Self { patience, heard_at: None, since: Timestamp::MIN }
    }

    /// Takes an answer of the store: its time, and when the submitter was there last. Tells whether the
    /// submitter was silent for too long.
    pub(super) fn is_gone(&mut self, now: Timestamp, watched_at: Timestamp) -> bool {
        let is_gap = self.heard_at.is_none_or(|last| now.duration_since(last) > LONGEST_GAP);
        if is_gap {
            self.since = now;
        }
        self.heard_at = Some(now);
        now.duration_since(self.since.max(watched_at)) > self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: [i64; 0] = [];

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + second).unwrap()
    }

    /// Returns the second of each row in which the submitter is taken for gone.
    fn gone(answers: impl IntoIterator<Item = (i64, i64)>) -> Vec<i64> {
        let mut watch = SubmitterWatch::new(SignedDuration::from_secs(20));
        let answers = answers.into_iter();
        answers
            .filter(|(now, watched)| watch.is_gone(at(*now), at(*watched)))
            .map(|(now, _)| now)
            .collect()
    }

    #[test]
    fn a_submitter_is_gone_after_its_silence_and_not_before() {
        assert_eq!(gone((0..9).map(|beat| (beat * 5, beat * 5 - 1))), NEVER);
        assert_eq!(gone((0..7).map(|beat| (beat * 5, 3))), [25, 30]);
    }

    #[test]
    fn a_time_without_the_store_does_not_count() {
        // The store was away from 10 to 60, and the worker is the first that it answers.
        let answers = [(0, 0), (5, 5), (10, 10), (60, 10), (65, 64), (70, 64)];
        assert_eq!(gone(answers), NEVER);
        // The submitter does not come back with the store.
        assert_eq!(gone([(0, 0), (10, 9), (60, 9), (70, 9), (80, 9), (81, 9)]), [81]);
    }

    #[test]
    fn an_attempt_that_begins_hears_of_its_submitter_first() {
        assert_eq!(gone([(500, 0), (505, 0)]), NEVER, "the lane waited for a worker");
    }
}
