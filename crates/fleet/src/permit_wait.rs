//! The pauses of a submitter that waits for a permit.
//!
//! Each try takes the lock for which all writers of the store wait, and hundreds may wait for one agent.

use std::time::Duration;

/// The first pause, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// Pauses that grow, and differ between submitters.
pub(crate) struct PermitWait {
    next: Duration,
}

impl PermitWait {
    pub(crate) const fn new() -> Self {
        Self { next: PAUSES.0 }
    }

    /// Returns the next pause, between half of its length and all of it, by a random number.
    pub(crate) fn pause(&mut self, random: u64) -> Duration {
        let longest = self.next;
        self.next = (longest * 2).min(PAUSES.1);
        let half = longest / 2;
        let share = u32::try_from(random % 1000).unwrap_or_default();
        half + half * share / 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_two_seconds_and_differ() {
        let pauses = |random: u64| -> Vec<u128> {
            let mut wait = PermitWait::new();
            (0..6).map(|_| wait.pause(random).as_millis()).collect()
        };
        assert_eq!(pauses(0), [100, 200, 400, 800, 1000, 1000]);
        assert_eq!(pauses(500), [150, 300, 600, 1200, 1500, 1500]);
        assert!(pauses(u64::MAX).iter().all(|pause| (100..=2000).contains(pause)));
    }
}
