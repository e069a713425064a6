//! The two rule sets of a panel, where the original's rules changed.

use super::ballot::Layout;

/// The rules of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// A panel that lost voters accepts nothing without a majority, and voters do not see who
    /// raised a finding. Judges' votes count in any form that can mean nothing else.
    #[default]
    Safe,
    /// As the first version had it: with fewer than two votes everything is accepted, and the
    /// ballot names the reviewers. Judges' votes count in their exact form alone.
    Seed,
}

impl Policy {
    /// Returns the word in the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Seed => "seed",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Safe, Self::Seed].into_iter().find(|policy| policy.word() == word)
    }

    /// Tells whether an agent whose answer cannot be parsed gets a second request and keeps its
    /// seat.
    pub const fn forgives_form(self) -> bool {
        matches!(self, Self::Safe)
    }

    /// Returns how the ballot is written.
    pub const fn layout(self) -> Layout {
        match self {
            Self::Safe => Layout::Blocks,
            Self::Seed => Layout::Lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-263, P-274
    #[test]
    fn the_safe_rules_are_the_default() {
        assert_eq!(Policy::default(), Policy::Safe);
        assert_eq!(Policy::Safe.layout(), Layout::Blocks);
        assert_eq!(Policy::Seed.layout(), Layout::Lines);
        for policy in [Policy::Safe, Policy::Seed] {
            assert_eq!(Policy::parse(policy.word()), Some(policy));
        }
        assert_eq!(Policy::parse("other"), None);
    }
}
