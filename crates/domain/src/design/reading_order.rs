//! The order in which one voter or judge reads a ballot.
//!
//! Agents favour what they read first. So each seat reads the items in an order of its own, and the
//! two cases of a decision in an order of its own, drawn from the ballot's marker word: the journal has
//! the word, so that everyone can draw the order again.

use super::seat::Side;
use super::voting_block::MarkerWord;

/// The order of one seat's ballot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingOrder {
    /// `None` for the order in which the ballot is written down.
    drawn: Option<u64>,
    /// The seat's place among those who vote.
    place: usize,
    /// How many vote.
    seats: usize,
    spacing: Spacing,
    /// Whether all of it is the other way round.
    is_turned: bool,
}

/// How far from each other seats begin in the circle of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// By whole steps, so that the last seats can begin where the first do.
    Stepped,
    /// Evenly: no two seats begin at one item, unless there are more seats than items.
    Even,
}

/// In how many orders each judge reads its ballot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JudgeOrders {
    /// In one.
    #[default]
    One,
    /// In one and in its reverse, each time without knowing of the other.
    Both,
}

impl ReadingOrder {
    /// The order in which the ballot is written down.
    pub const WRITTEN: Self =
        Self { drawn: None, place: 0, seats: 1, spacing: Spacing::Even, is_turned: false };

    /// Draws the order for the seat at a place among all. Recorded answers were given to a ballot as
    /// it is written down.
    pub fn draw(word: &MarkerWord, place: usize, seats: usize, spacing: Spacing) -> Self {
        let is_drawn = *word != MarkerWord::for_recordings();
        let drawn = is_drawn.then(|| fingerprint(word.as_str()));
        Self { drawn, place, seats: seats.max(1), spacing, is_turned: false }
    }

    /// Returns the reverse order: the last item comes first, and so does the other case of each.
    #[must_use]
    pub const fn turned(self) -> Self {
        Self { is_turned: !self.is_turned, ..self }
    }

    /// Returns the items in the order of this seat. All seats read the same circle of items, each from
    /// another point: no item is early for all of them, or late.
    pub fn items<T>(self, items: &[T]) -> Vec<&T> {
        let mut circle: Vec<&T> = items.iter().collect();
        if let Some(mut state) = self.drawn {
            for last in (1..circle.len()).rev() {
                state = mixed(state);
                circle.swap(last, below(state, last + 1));
            }
            if !circle.is_empty() {
                let start = match self.spacing {
                    Spacing::Stepped => self.place * circle.len().div_ceil(self.seats),
                    Spacing::Even => self.place * circle.len() / self.seats,
                };
                let start = start % circle.len();
                circle.rotate_left(start);
            }
        }
        if self.is_turned {
            circle.reverse();
        }
        circle
    }

    /// Returns the side of a decision whose case this seat reads first.
    pub fn first_side(self, decision: usize) -> Side {
        if self.chosen_is_first(decision) { Side::Thesis } else { Side::Antithesis }
    }

    /// Tells whether this seat reads the case for the chosen option of a decision first. Every
    /// other seat does.
    pub fn chosen_is_first(self, decision: usize) -> bool {
        let is_first = match self.drawn {
            None => !decision.is_multiple_of(2),
            Some(drawn) => {
                let coin = below(mixed(drawn ^ mixed(decision as u64)), 2);
                (coin + self.place).is_multiple_of(2)
            }
        };
        is_first != self.is_turned
    }
}

/// Makes a number of a word (FNV-1a).
fn fingerprint(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Returns the number that follows another, with all bits mixed (`SplitMix64`).
const fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Reduces a mixed number to one below a limit. The limits are small, so each is nearly as likely.
fn below(number: u64, limit: usize) -> usize {
    usize::try_from(number % (limit as u64)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn word(number: u64) -> MarkerWord {
        MarkerWord::from_random(number)
    }

    #[test]
    fn recorded_answers_were_given_to_the_written_order() {
        let order = ReadingOrder::draw(&MarkerWord::for_recordings(), 2, 3, Spacing::Even);
        assert_eq!(order.items(&[1, 2, 3]), [&1, &2, &3]);
        for decision in 1..=4 {
            let written = ReadingOrder::WRITTEN.chosen_is_first(decision);
            assert_eq!(order.chosen_is_first(decision), written);
        }
    }

    /// The journal keeps the word alone: a program that draws another order from it would tell
    /// something false about every earlier run.
    #[test]
    fn the_order_of_a_word_never_changes() {
        let word = MarkerWord::parse("bcdfghjklm").unwrap();
        let read = |spacing| {
            [0, 1, 2].map(|place| {
                let order = ReadingOrder::draw(&word, place, 3, spacing);
                let items: Vec<_> =
                    order.items(&[1, 2, 3, 4, 5]).into_iter().map(i32::to_string).collect();
                let letter = |decision| if order.chosen_is_first(decision) { "A" } else { "B" };
                format!("{} {}", items.concat(), (1..=6).map(letter).collect::<String>())
            })
        };
        let stepped = ["41532 ABBAAA", "53241 BAABBB", "24153 ABBAAA"];
        assert_eq!(read(Spacing::Stepped), stepped);
        let even = ["41532 ABBAAA", "15324 BAABBB", "32415 ABBAAA"];
        assert_eq!(read(Spacing::Even), even);
    }

    proptest! {
        #[test]
        fn every_seat_reads_every_item_once(number: u64, count in 0_usize..40, seats in 1_usize..10) {
            let items: Vec<_> = (0..count).collect();
            let mut firsts = BTreeSet::<usize>::new();
            for place in 0..seats {
                let order = ReadingOrder::draw(&word(number), place, seats, Spacing::Even);
                let mut read = order.items(&items);
                firsts.extend(read.first().copied());
                read.sort();
                prop_assert_eq!(read, items.iter().collect::<Vec<_>>());
            }
            // As many items are first as can be.
            prop_assert_eq!(firsts.len(), count.min(seats), "{:?}", firsts);
        }

        // P-388
        #[test]
        fn a_turned_order_is_the_reverse_in_everything(number: u64, count in 0_usize..20, place in 0_usize..3) {
            let items: Vec<_> = (0..count).collect();
            let drawn = ReadingOrder::draw(&word(number), place, 3, Spacing::Even);
            for order in [drawn, ReadingOrder::WRITTEN] {
                let mut turned = order.turned().items(&items);
                turned.reverse();
                prop_assert_eq!(turned, order.items(&items));
                for decision in 1..9 {
                    prop_assert_ne!(order.first_side(decision), order.turned().first_side(decision));
                }
                prop_assert_eq!(order.turned().turned(), order);
            }
        }

        #[test]
        fn each_side_is_first_for_half_of_the_seats(
            number: u64,
            decision in 1_usize..1000,
            seats in 2_usize..10,
        ) {
            let order = |place| ReadingOrder::draw(&word(number), place, seats, Spacing::Even);
            let first = (0..seats).filter(|place| order(*place).chosen_is_first(decision)).count();
            prop_assert!(first == seats / 2 || first == seats.div_ceil(2), "{}", first);
        }
    }

    #[test]
    fn both_sides_and_all_items_are_first_about_equally_often() {
        let (mut chosen, mut firsts) = (0, [0; 5]);
        for number in 0..2000 {
            let order = ReadingOrder::draw(&word(number * 7919), 0, 3, Spacing::Even);
            chosen += usize::from(order.chosen_is_first(1));
            firsts[*order.items(&[0, 1, 2, 3, 4])[0]] += 1;
        }
        assert!((900..1100).contains(&chosen), "{chosen}");
        assert!(firsts.iter().all(|times| (320..480).contains(times)), "{firsts:?}");
    }
}
