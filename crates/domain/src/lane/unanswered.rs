//! Why a lane has no answer: the facts, and the words of scripts for them.

use std::fmt;

use super::budget_stop::BudgetStop;
use super::substance::Thin;

/// The code of a process that took too long.
pub(super) const TOO_LONG: i32 = 124;

/// The longest reason, in characters.
const LONGEST_REASON: usize = 500;

/// The longest reason why an answer has no substance.
const LONGEST_DIAGNOSIS: usize = 200;

/// The words for a process that ended successfully without output.
const NO_OUTPUT: &str = "Process exited successfully but produced no output";

/// Why a lane has no answer, or only the beginning of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// The words of the client, the API or the system, which [`Unanswered::said`] shortens.
    Said(String),
    /// The process ended with this code, without a word.
    ExitCode(i32),
    /// The process took longer than it may, or was silent for too long.
    TimedOut,
    /// The process ended successfully, without output.
    NoOutput,
    /// It did so on the second attempt, too.
    NoOutputAgain {
        /// The client's words, if there are any.
        said: Option<String>,
    },
    /// How the process ended is unknown.
    Lost,
    /// The lane was not started: the budget is spent.
    OverBudget {
        /// The budget and the amounts. `None` in the words of scripts.
        stop: Option<BudgetStop>,
    },
    /// The answer lacks substance.
    Thin(Thin),
    /// The answer has more bytes than a run keeps.
    TooLong {
        /// The most bytes that are kept.
        most: usize,
    },
    /// The lane could not start; the text is the error's.
    NotRun(String),
    /// A reason of a journal from before journals held facts.
    Sentence(String),
}

impl Unanswered {
    /// Returns what a client, an API or the system says, on one line that fits in a table.
    pub fn said(text: &str) -> Self {
        Self::Said(short_line(text))
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(words) | Self::NotRun(words) | Self::Sentence(words) => f.write_str(words),
            Self::ExitCode(code) => write!(f, "Process failed with exit code {code}"),
            Self::TimedOut => write!(f, "Process timed out (exit code {TOO_LONG})"),
            Self::NoOutput => f.write_str(NO_OUTPUT),
            Self::NoOutputAgain { said } => {
                let said = said.as_deref().unwrap_or(NO_OUTPUT);
                f.write_str(&short_line(&format!("Retry also failed: {said}")))
            }
            Self::Lost => f.write_str(
                "Process did not complete (sentinel file missing — possible crash or system kill)",
            ),
            Self::OverBudget { stop: Some(stop) } => stop.fmt(f),
            Self::OverBudget { stop: None } => BudgetStop::Unstated.fmt(f),
            Self::Thin(thin) => {
                let diagnosis = short_line(&thin.to_string().replace('|', "/"));
                f.write_str(&diagnosis.chars().take(LONGEST_DIAGNOSIS).collect::<String>())
            }
            Self::TooLong { most } => write!(f, "the answer is longer than {most} bytes"),
        }
    }
}

/// Makes a reason one line that fits in a table.
pub(super) fn short_line(text: &str) -> String {
    let words = text.replace('|', " ");
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_REASON {
        return line;
    }
    line.chars().take(LONGEST_REASON - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // P-148, P-149
    #[test]
    fn a_second_silence_names_the_first_and_stays_short() {
        let silent = Unanswered::NoOutputAgain { said: None };
        assert_eq!(
            silent.to_string(),
            "Retry also failed: Process exited successfully but produced no output"
        );
        let long = Unanswered::NoOutputAgain { said: Some("x".repeat(499)) };
        assert_eq!(long.to_string().chars().count(), 500);
    }

    proptest! {
        // Shortened words that are put into a sentence give the line that the whole words would.
        #[test]
        fn shortening_twice_changes_nothing(text in "(?s)[a |\n\té]{0,20}.{0,20}", times in 1..80_usize) {
            let text = text.repeat(times);
            let once = short_line(&text);
            prop_assert_eq!(short_line(&once), once.clone());
            let again = |said: &str| {
                Unanswered::NoOutputAgain { said: Some(said.to_owned()) }.to_string()
            };
            prop_assert_eq!(again(&text), again(&once));
        }
    }
}
