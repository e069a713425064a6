//! Chooses which of many lanes starts next.
//!
//! The slowest first: the whole takes as long as its last lane. A limit for each agent protects one
//! vendor from too many requests, and does not delay the others.

use core::time::Duration;
use std::collections::HashMap;

/// How many lanes may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneLimits {
    /// How many lanes may run in parallel.
    pub in_all: usize,
    /// Lanes of one agent.
    pub of_agent: usize,
}

/// Lanes that wait, and agents that are at work. Lanes are known by their number.
#[derive(Debug, Clone)]
pub struct Queue<'a> {
    /// In the order of their start.
    waiting: Vec<(usize, &'a str)>,
    running: HashMap<&'a str, usize>,
    room: LaneLimits,
}

impl<'a> Queue<'a> {
    /// Lines up lanes: their agents, and how long each is expected to take. Lanes that take equally
    /// long keep their order.
    pub fn new(lanes: impl IntoIterator<Item = (&'a str, Duration)>, room: LaneLimits) -> Self {
        let mut lanes: Vec<_> = lanes.into_iter().enumerate().collect();
        lanes.sort_by_key(|(_, (_, expected))| std::cmp::Reverse(*expected));
        let waiting = lanes.into_iter().map(|(number, (agent, _))| (number, agent)).collect();
        Self { waiting, running: HashMap::new(), room }
    }

    /// Takes out the lane to start now, if one may be started.
    pub fn start(&mut self) -> Option<usize> {
        let running: usize = self.running.values().sum();
        // A limit of none would wait for ever.
        if running >= self.room.in_all.max(1) {
            return None;
        }
        let most = self.room.of_agent.max(1);
        let has_room = |agent: &str| self.running.get(agent).is_none_or(|count| *count < most);
        let at = self.waiting.iter().position(|(_, agent)| has_room(agent))?;
        let (number, agent) = self.waiting.remove(at);
        *self.running.entry(agent).or_default() += 1;
        Some(number)
    }

    /// Takes in that a lane of an agent is over.
    pub fn ended(&mut self, agent: &str) {
        if let Some(count) = self.running.get_mut(agent) {
            *count = count.saturating_sub(1);
        }
    }

    /// Drops all waiting lanes.
    pub fn close(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROOM: LaneLimits = LaneLimits { in_all: 3, of_agent: 2 };

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn all(queue: &mut Queue<'_>) -> Vec<usize> {
        std::iter::from_fn(|| queue.start()).collect()
    }

    #[test]
    fn the_slowest_goes_first_and_no_agent_takes_all_the_room() {
        let lanes = ["a", "a", "a", "b", "b"].into_iter().zip([5, 9, 9, 1, 2].map(seconds));
        let mut queue = Queue::new(lanes, ROOM);
        assert_eq!(all(&mut queue), [1, 2, 4], "the third of `a` has to wait, `b` need not");
        queue.ended("b");
        assert_eq!(all(&mut queue), [3]);
        queue.ended("a");
        assert_eq!(all(&mut queue), [0]);
        queue.close();
        queue.ended("a");
        assert_eq!(all(&mut queue), [0; 0]);
    }

    proptest! {
        #[test]
        fn every_lane_has_its_turn_and_no_limit_is_passed(
            lanes in prop::collection::vec(("[ab]", 0_u64..4), 0..20),
            in_all in 0_usize..4, of_agent in 0_usize..4,
        ) {
            let named = lanes.iter().map(|(agent, time)| (agent.as_str(), seconds(*time)));
            let mut queue = Queue::new(named, LaneLimits { in_all, of_agent });
            let (mut started, mut running) = (Vec::new(), Vec::new());
            loop {
                while let Some(number) = queue.start() {
                    started.push(number);
                    running.push(number);
                    let agent = &lanes[number].0;
                    let same = running.iter().filter(|other| &lanes[**other].0 == agent).count();
                    prop_assert!(running.len() <= in_all.max(1) && same <= of_agent.max(1));
                }
                if running.is_empty() {
                    break;
                }
                queue.ended(&lanes[running.remove(0)].0);
            }
            started.sort_unstable();
            prop_assert_eq!(started, (0..lanes.len()).collect::<Vec<_>>());
        }
    }
}
