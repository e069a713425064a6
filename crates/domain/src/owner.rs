//! The owner of an agent that is woken, or of a lane: the process that works on it.

/// A process, distinguished from every other with the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its number, which the system gives to another process later.
    pub pid: u32,
    /// Distinguishes it from every other process with the number; empty where the system does not
    /// support that.
    pub mark: String,
}
