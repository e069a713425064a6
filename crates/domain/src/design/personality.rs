//! Personalities: the angles of seats, and the agent that has each.

use super::seat::Holder;

/// The angle of a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Personality {
    /// Architecture and standards.
    Arch,
    /// Edge cases and failures.
    Edge,
    /// Ideas beyond the request.
    Innovation,
    /// The smallest safe change.
    Pragmatic,
    /// No particular angle.
    Generic,
}

impl Personality {
    /// The four that a full panel has, in the order of their seats.
    pub const FOUR: [Self; 4] = [Self::Arch, Self::Edge, Self::Innovation, Self::Pragmatic];

    /// Returns the word in file names.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Arch => "arch",
            Self::Edge => "edge",
            Self::Innovation => "innovation",
            Self::Pragmatic => "pragmatic",
            Self::Generic => "generic",
        }
    }

    /// Returns the word in a seat's label.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Arch => "Arch",
            Self::Edge => "Edge",
            Self::Innovation => "Innovation",
            Self::Pragmatic => "Pragmatic",
            Self::Generic => "Generic",
        }
    }

    /// Returns the role as the prompt names it; a generic seat has none.
    pub const fn role(self) -> Option<&'static str> {
        match self {
            Self::Arch => Some("Architecture/Standards"),
            Self::Edge => Some("Edge-cases/Failure-modes"),
            Self::Innovation => Some("Innovation/Exploration"),
            Self::Pragmatic => Some("Pragmatism/Safety"),
            Self::Generic => None,
        }
    }

    /// Returns who holds the personality. Each belongs to one agent, on every panel.
    pub(super) const fn owner(self) -> Holder {
        match self {
            Self::Arch | Self::Edge | Self::Generic => Holder::First,
            Self::Innovation | Self::Pragmatic => Holder::Second,
        }
    }
}
