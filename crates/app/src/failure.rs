//! An error on its way to the user: what, why, and what to do next.

use std::error::Error;
use std::io;

use crate::exit::Exit;

/// Ends a command. Printed by [`crate::output`] as message, causes and hints, each on its line.
#[derive(Debug)]
pub struct Failure {
    /// What the process exits with.
    pub exit: Exit,
    /// The message, with its causes behind it.
    pub error: Box<dyn Error + Send + Sync>,
    /// What the user can do next.
    pub hints: Vec<String>,
}

impl Failure {
    /// Wraps an error.
    pub fn new(exit: Exit, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { exit, error: error.into(), hints: Vec::new() }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds what to do next, if anything is known.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hints.extend(hint);
        self
    }

    /// Tells whether the reader of our output went away.
    pub fn is_closed_pipe(&self) -> bool {
        let io_error = self.error.downcast_ref::<OutputError>().map(|OutputError(error)| error);
        io_error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Output could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write output")]
pub struct OutputError(#[source] pub io::Error);

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::new(Exit::Surroundings, error)
    }
}

/// Returns the listed word nearest to a mistyped one, as a hint.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(given, word), word))
        .filter(|(distance, word)| *distance <= word.len().div_ceil(3))
        .min()
        .map(|(_, word)| format!("did you mean `{word}`?"))
}
