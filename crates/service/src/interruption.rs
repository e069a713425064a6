//! How a front end stops a use case that runs.

use std::any::Any;

use convoke_engine::lane::cancel::Cancel;

/// Stops use cases. A terminal connects it to signals, a server to its clients.
pub trait Interruption: Send + Sync {
    /// Returns the value that stops all running work, in order.
    fn cancel(&self) -> Cancel;

    /// Returns the value that is set right before the process ends: only immediate work follows.
    fn urgent(&self) -> Cancel;

    /// Keeps the process from ending while the returned value lives. A use case holds it while it
    /// writes down that it was stopped.
    fn hold(&self) -> ExitHold;
}

/// Keeps the process from ending while it lives.
pub struct ExitHold {
    _guard: Box<dyn Any>,
}

impl ExitHold {
    /// Wraps the guard that a front end's lock returns.
    pub fn new(guard: impl Any) -> Self {
        Self { _guard: Box::new(guard) }
    }
}

/// An interruption that the caller itself triggers; by default it never comes.
#[derive(Debug, Clone, Default)]
pub struct CallerInterruption {
    cancel: Cancel,
}

impl CallerInterruption {
    /// Stops when the caller cancels this.
    pub const fn new(cancel: Cancel) -> Self {
        Self { cancel }
    }
}

impl Interruption for CallerInterruption {
    fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    fn urgent(&self) -> Cancel {
        Cancel::default()
    }

    fn hold(&self) -> ExitHold {
        ExitHold::new(())
    }
}
