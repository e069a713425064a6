//! Token arithmetic: amounts in exact tenths, budgets, and the one trait that prices text.
//!
//! The estimate multiplies by 1.10, and that product is compared with whole numbers. In floating
//! point more than half of the interesting products land just above the integer they should equal,
//! so an amount is kept as a whole number of tenths and never as a fraction.

use std::fmt;
use std::iter::Sum;
use std::num::NonZeroU64;
use std::ops::{Add, AddAssign};

use crate::text::{CharOffset, Text};

/// An amount of tokens, exact to the tenth. Prints with one decimal digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tokens {
    tenths: u64,
}

impl Tokens {
    /// Returns a whole number of tokens. Amounts past 2⁶⁴ tenths stay there: no text is that long.
    pub const fn whole(count: u64) -> Self {
        Self { tenths: count.saturating_mul(10) }
    }

    /// Returns an amount given in tenths.
    pub const fn from_tenths(tenths: u64) -> Self {
        Self { tenths }
    }

    /// Returns the amount in tenths.
    pub const fn tenths(self) -> u64 {
        self.tenths
    }

    /// Returns this amount minus `used`, at least zero.
    #[must_use]
    pub const fn less(self, used: Self) -> Self {
        Self { tenths: self.tenths.saturating_sub(used.tenths) }
    }
}

impl Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { tenths: self.tenths.saturating_add(other.tenths) }
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}", self.tenths / 10, self.tenths % 10))
    }
}

/// The most tokens a block may hold: at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Budget(NonZeroU64);

impl Budget {
    /// Returns a budget of `tokens`, or `None` for zero.
    pub const fn new(tokens: u64) -> Option<Self> {
        match NonZeroU64::new(tokens) {
            Some(tokens) => Some(Self(tokens)),
            None => None,
        }
    }

    /// Returns a budget of `tokens`, or of one token for zero.
    pub const fn at_least_one(tokens: u64) -> Self {
        match NonZeroU64::new(tokens) {
            Some(tokens) => Self(tokens),
            None => Self(NonZeroU64::MIN),
        }
    }

    /// Returns the budget as a plain number of tokens.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// Returns the budget as an amount. A text fits when it costs at most this much.
    pub const fn tokens(self) -> Tokens {
        Tokens::whole(self.get())
    }
}

/// The user's choice of a tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vocabulary {
    /// A quarter of the characters and a tenth on top; for models whose vocabulary is not public.
    #[default]
    Estimate,
    /// The public `o200k_base` vocabulary.
    O200k,
    /// The public `cl100k_base` vocabulary.
    Cl100k,
}

impl Vocabulary {
    /// Every way of counting, in the order shown to users.
    pub const ALL: [Self; 3] = [Self::Estimate, Self::O200k, Self::Cl100k];

    /// Returns the word users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Estimate => "estimate",
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
        }
    }

    /// Returns the way of counting that users call `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vocabulary| vocabulary.name() == name)
    }

    /// Tells whether counts are those of a real model or only an estimate.
    pub const fn is_exact(self) -> bool {
        !matches!(self, Self::Estimate)
    }
}

/// Prices text. Implementations must give the same answer for the same text.
pub trait Tokenizer: Send + Sync {
    /// Returns which way of counting this is.
    fn vocabulary(&self) -> Vocabulary;

    /// Returns what the text costs.
    fn count(&self, text: Text<'_>) -> Tokens;

    /// Returns an offset whose prefix costs at most `room`, as far into the text as can be found.
    fn reach(&self, text: Text<'_>, room: Tokens) -> CharOffset;
}

/// `ceil(chars / 4) × 1.10`. Blind to scripts: Hangul and Han text costs real models more.
#[derive(Debug, Clone, Copy, Default)]
pub struct Estimate;

impl Estimate {
    const CHARS_PER_QUARTER: usize = 4;
    const TENTHS_PER_QUARTER: u64 = 11;

    /// Returns `ceil(chars / 4)`, the whole number that the estimate multiplies.
    pub const fn quarters(chars: usize) -> u64 {
        chars.div_ceil(Self::CHARS_PER_QUARTER) as u64
    }

    /// Returns what a text of so many characters costs.
    pub const fn of_chars(chars: usize) -> Tokens {
        Tokens::from_tenths(Self::TENTHS_PER_QUARTER.saturating_mul(Self::quarters(chars)))
    }
}

impl Tokenizer for Estimate {
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::Estimate
    }

    fn count(&self, text: Text<'_>) -> Tokens {
        Self::of_chars(text.chars())
    }

    fn reach(&self, text: Text<'_>, room: Tokens) -> CharOffset {
        let quarters = room.tenths() / Self::TENTHS_PER_QUARTER;
        let chars = usize::try_from(quarters).unwrap_or(usize::MAX);
        CharOffset::new(chars.saturating_mul(Self::CHARS_PER_QUARTER).min(text.chars()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-54: what the known skills cost.
    #[test]
    fn the_cost_of_real_skills_is_known() {
        for (chars, expected) in [
            (9_658, "2656.5"),
            (27_751, "7631.8"),
            (9_726, "2675.2"),
            (8_868, "2438.7"),
            (2_263, "622.6"),
            (9_763, "2685.1"),
            (3_138, "863.5"),
            (6_761, "1860.1"),
            (5_256, "1445.4"),
            (6_559, "1804.0"),
            (3_971, "1092.3"),
            (6_816, "1874.4"),
            (2_023, "556.6"),
            (2_157, "594.0"),
        ] {
            assert_eq!(estimate(chars).to_string(), expected, "{chars}");
        }
    }

    fn estimate(chars: usize) -> Tokens {
        Estimate.count(Text::new(&"x".repeat(chars)))
    }

    // B-30, B-34: the ceiling applies to the quarter only, and one decimal digit is printed.
    #[test]
    fn the_estimate_is_a_ceiled_quarter_and_a_tenth() {
        let cases = [
            (0, "0.0"),
            (1, "1.1"),
            (4, "1.1"),
            (5, "2.2"),
            (24_000, "6600.0"),
            (88_730, "24401.3"),
            (29_092, "8000.3"),
            (21_085, "5799.2"),
            (9_588, "2636.7"),
            (10_748, "2955.7"),
        ];
        for (chars, expected) in cases {
            assert_eq!(estimate(chars).to_string(), expected, "{chars} characters");
        }
    }

    // B-31: every multiple of ten below 200 000 must equal its whole number.
    #[test]
    fn a_cost_equal_to_the_budget_is_never_over_it() {
        for quarters in (10..200_000_u64).step_by(10) {
            let cost = Tokens::from_tenths(Estimate::TENTHS_PER_QUARTER * quarters);
            let budget = Budget::new(quarters * 11 / 10).unwrap();
            assert_eq!(cost, budget.tokens(), "{quarters} quarters");
        }
    }

    // B-32: files are priced one by one and the prices added.
    #[test]
    fn a_sum_of_files_is_not_the_price_of_their_sum() {
        let apart: Tokens = [estimate(1), estimate(1)].into_iter().sum();
        assert_eq!(apart.to_string(), "2.2");
        assert_eq!(estimate(2).to_string(), "1.1");
    }

    // B-33, B-35: every character counts the same, in any script and encoding.
    #[test]
    fn characters_count_alike_in_every_script() {
        for text in ["abcd", "가나다라", "\u{feff}\r\n\n", "😀😀😀😀"] {
            assert_eq!(Estimate.count(Text::new(text)).tenths(), 11, "{text:?}");
        }
    }

    // B-34: the default budget holds one file of at most 72 724 characters.
    #[test]
    fn the_default_budget_reaches_18181_quarters() {
        let room = Tokens::whole(20_000);
        let long = "x".repeat(100_000);
        assert_eq!(Estimate.reach(Text::new(&long), room).get(), 4 * 18_181);
        assert!(estimate(72_724) <= room);
        assert!(estimate(72_725) > room);
    }

    #[test]
    fn absurd_amounts_stop_at_the_end_of_the_scale() {
        let endless = Tokens::whole(u64::MAX);
        assert_eq!(endless + endless, endless);
        assert_eq!(Estimate.reach(Text::new("abc"), endless).get(), 3);
        assert_eq!(Tokens::default().less(endless), Tokens::default());
    }

    #[test]
    fn a_vocabulary_is_found_by_its_own_name_only() {
        for vocabulary in Vocabulary::ALL {
            assert_eq!(Vocabulary::parse(vocabulary.name()), Some(vocabulary));
        }
        assert_eq!(Vocabulary::parse("O200K"), None);
    }
}
