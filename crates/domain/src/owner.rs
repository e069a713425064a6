//! The process that answers for something while it works: for an agent that is woken, or for a lane.

/// A process, told from every other that had or will have its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its number, which the system gives to another process later.
    pub pid: u32,
    /// What tells it from every other process that had the number; empty where the system does not
    /// say.
    pub mark: String,
}
