//! Wrong passwords: each makes the next one from the same place wait, and no other.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use tokio::time::Instant;

use crate::secret::Secret;

/// How many wrong passwords in a row are refused without a pause.
const FREE_GUESSES: u32 = 5;

/// The longest pause between two passwords, in seconds.
const LONGEST_PAUSE: u64 = 60;

/// How many places with wrong passwords are known; the one whose pause ends first is forgotten for
/// another.
const MOST_PLACES: usize = 1024;

/// The address that a connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl Peer {
    /// Returns one address for each place: one person can use every address of an IPv6 network, so that
    /// is one place.
    fn place(self) -> IpAddr {
        match self.0.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
            }
        }
    }
}

/// Wrong passwords in a row, by the place that they come from. One that guesses must not lock out a
/// person elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Guesses {
    places: BTreeMap<IpAddr, WrongGuesses>,
}

#[derive(Debug, Default)]
struct WrongGuesses {
    wrong: u32,
    /// Until when no password from there is looked at.
    pause_ends: Option<Instant>,
}

/// What a given password leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PasswordCheck {
    Right,
    Wrong,
    /// It was not looked at, because there were too many wrong ones: for so many seconds.
    Paused(u64),
}

impl Guesses {
    /// Looks at a password, or refuses to for a while: each wrong one doubles the pause.
    pub(crate) fn check(
        &mut self,
        password: &Secret,
        given: &str,
        from: Peer,
        now: Instant,
    ) -> PasswordCheck {
        let place = from.place();
        let pause_ends = self.places.get(&place).and_then(|guesses| guesses.pause_ends);
        let left = pause_ends.map(|end| end.saturating_duration_since(now));
        if let Some(left) = left.filter(|left| !left.is_zero()) {
            return PasswordCheck::Paused(left.as_secs() + 1);
        }
        if password.is(given) {
            self.places.remove(&place);
            return PasswordCheck::Right;
        }
        self.make_room_for(place);
        let guesses = self.places.entry(place).or_default();
        guesses.wrong = guesses.wrong.saturating_add(1);
        if guesses.wrong >= FREE_GUESSES {
            let doubled = 1_u64.checked_shl(guesses.wrong - FREE_GUESSES);
            let pause = doubled.unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE);
            guesses.pause_ends = now.checked_add(Duration::from_secs(pause));
        }
        PasswordCheck::Wrong
    }

    fn make_room_for(&mut self, place: IpAddr) {
        if self.places.len() < MOST_PLACES || self.places.contains_key(&place) {
            return;
        }
        let first = self.places.iter().min_by_key(|(_, guesses)| guesses.pause_ends);
        if let Some(first) = first.map(|(place, _)| *place) {
            self.places.remove(&first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Peer = Peer(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

    fn peer(address: &str) -> Peer {
        Peer(address.parse().unwrap())
    }

    #[test]
    fn wrong_passwords_make_the_next_ones_wait() {
        let (password, mut guesses) = (Secret::new("right"), Guesses::default());
        let mut check = |given, now| guesses.check(&password, given, HERE, now);
        let now = Instant::now();
        for _ in 0..FREE_GUESSES {
            assert_eq!(check("wrong", now), PasswordCheck::Wrong);
        }
        assert_eq!(check("right", now), PasswordCheck::Paused(2));
        let mut later = now;
        for _ in 0..100 {
            later += Duration::from_secs(LONGEST_PAUSE);
            assert_eq!(check("wrong", later), PasswordCheck::Wrong);
        }
        assert_eq!(check("right", later), PasswordCheck::Paused(LONGEST_PAUSE + 1));
        later += Duration::from_secs(LONGEST_PAUSE);
        assert_eq!(check("right", later), PasswordCheck::Right);
        assert_eq!(check("wrong", later), PasswordCheck::Wrong);
    }

    #[test]
    fn wrong_passwords_from_elsewhere_make_no_one_wait() {
        let (password, now) = (Secret::new("right"), Instant::now());
        for (attacker, person, is_paused) in [
            ("10.0.0.66", "10.0.0.7", false),
            ("10.0.0.66", "10.0.0.66", true),
            ("10.0.0.66", "::ffff:10.0.0.66", true),
            // One household or machine has all addresses of such a network.
            ("fd00:0:0:1::66", "fd00:0:0:1:ffff::7", true),
            ("fd00:0:0:1::66", "fd00:0:0:2::66", false),
        ] {
            let mut guesses = Guesses::default();
            for _ in 0..FREE_GUESSES {
                guesses.check(&password, "wrong", peer(attacker), now);
            }
            let checked = guesses.check(&password, "right", peer(person), now);
            let expected = if is_paused { PasswordCheck::Paused(2) } else { PasswordCheck::Right };
            assert_eq!(checked, expected, "{attacker} {person}");
        }
    }

    // One with many addresses cannot fill the memory, and a long pause is not forgotten first.
    #[test]
    fn only_so_many_places_are_known() {
        let (password, now) = (Secret::new("right"), Instant::now());
        let mut guesses = Guesses::default();
        for _ in 0..FREE_GUESSES {
            guesses.check(&password, "wrong", HERE, now);
        }
        for number in 0..5000_u32 {
            let other = Peer(IpAddr::V4(std::net::Ipv4Addr::from_bits(0x0a00_0000 + number)));
            guesses.check(&password, "wrong", other, now);
        }
        assert_eq!(guesses.places.len(), MOST_PLACES);
        assert_eq!(guesses.check(&password, "right", HERE, now), PasswordCheck::Paused(2));
    }
}
