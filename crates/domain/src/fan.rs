//! Fan-outs: one prompt for many items, with one request for each.
//!
//! A fan-out is a run whose journal says which items there are and the result of each. Everything
//! here follows from those events, so a process that continues a run knows what is missing.

pub mod event;
pub mod item;
pub mod record;
pub mod stop;
pub mod template;

/// How the items of a fan-out are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FanSource {
    /// Each line of a text.
    Lines,
    /// Each line of a text, which is a JSON value.
    JsonLines,
    /// Files of the project.
    Files,
}

impl FanSource {
    /// Every source.
    pub const ALL: [Self; 3] = [Self::Lines, Self::JsonLines, Self::Files];

    /// Returns the word that journals and reports have for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::JsonLines => "json_lines",
            Self::Files => "files",
        }
    }

    /// Returns the source with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }
}
