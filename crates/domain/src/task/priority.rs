//! How urgent a task is among its siblings.

/// A task's priority. The more urgent of two is the smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum TaskPriority {
    /// Before its siblings.
    High,
    /// In its place.
    #[default]
    Normal,
    /// After its siblings.
    Low,
}

impl TaskPriority {
    /// Every priority, the most urgent first.
    pub const ALL: [Self; 3] = [Self::High, Self::Normal, Self::Low];

    /// Returns the word that is typed, stored and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }

    /// Returns the priority called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.name() == name)
    }
}
