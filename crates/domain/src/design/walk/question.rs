//! A question to a person, and what an answer to it means.

use crate::design::event::{QuestionId, Reply};
use crate::design::quote;

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonQuestion {
    /// The question's id.
    pub id: QuestionId,
    /// A short title.
    pub title: String,
    /// The question's text.
    pub text: String,
    /// Answers to choose from; may be empty.
    pub options: Vec<String>,
    /// The answer that counts if the person gives no other.
    pub recommended: String,
    /// Whether free text is an answer, too.
    pub is_open: bool,
}

/// Input that cannot be an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// A number without an option.
    #[error("option {0} does not exist")]
    NoOption(String),
    /// Free text where only options count.
    #[error("`{0}` is not one of the options")]
    Other(String),
    /// Keys that move a cursor, at a prompt without one.
    #[error("unrecognized input; type a number or text")]
    Keys,
}

/// How much of a wrong answer is repeated, in characters.
const SHOWN: usize = 40;

impl PersonQuestion {
    /// Reads an answer: nothing for the recommendation, the number of an option, or words. Where
    /// only options count, the beginning of one is enough, and it is returned whole.
    pub fn read(&self, answer: &str) -> Result<Reply, NoAnswer> {
        let answer = answer.trim();
        if answer.is_empty() {
            return Ok(Reply::Recommended);
        }
        if has_keys(answer) {
            return Err(NoAnswer::Keys);
        }
        let shown = || quote::line(answer).chars().take(SHOWN).collect();
        match self.chosen(answer) {
            Some(option) if !self.is_open => Ok(Reply::Words(option.to_owned())),
            None if is_number(answer) && !self.options.is_empty() => {
                Err(NoAnswer::NoOption(shown()))
            }
            Some(_) | None if self.is_open => Ok(Reply::Words(answer.to_owned())),
            Some(_) | None => self.begun(answer).ok_or_else(|| NoAnswer::Other(shown())),
        }
    }

    /// Returns the option that an answer chooses by its number.
    pub fn chosen(&self, answer: &str) -> Option<&str> {
        let number = number(answer.trim()).parse::<usize>().ok()?;
        self.options.get(number.checked_sub(1)?).map(String::as_str)
    }

    /// Returns the only option that begins so.
    fn begun(&self, answer: &str) -> Option<Reply> {
        let begins = |option: &&String| {
            let start: String = option.chars().take(answer.chars().count()).collect();
            start.to_lowercase() == answer.to_lowercase()
        };
        let mut found = self.options.iter().filter(begins);
        let option = found.next().filter(|_| found.next().is_none())?;
        Some(Reply::Words(option.clone()))
    }
}

/// A list's mark behind a number is no part of it.
fn number(answer: &str) -> &str {
    answer.trim_end_matches(['.', ')'])
}

fn is_number(answer: &str) -> bool {
    let number = number(answer);
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

/// Tells whether the input contains control keys: a terminal in line mode sends arrows and similar
/// keys as they are.
pub fn has_keys(answer: &str) -> bool {
    answer.contains(|c: char| c.is_control() && c != '\t')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::design::discussion::Round;

    fn question(options: &[&str], is_open: bool) -> PersonQuestion {
        PersonQuestion {
            id: QuestionId::Interview(Round::Scope, 1),
            title: "Retries".to_owned(),
            text: "How many?".to_owned(),
            options: options.iter().map(|&option| option.to_owned()).collect(),
            recommended: "none".to_owned(),
            is_open,
        }
    }

    fn words(text: &str) -> Reply {
        Reply::Words(text.to_owned())
    }

    // A number that has no option is a slip of the finger.
    #[test]
    fn a_number_means_an_option_where_there_are_any() {
        let asked = question(&["none", "three"], true);
        assert_eq!((asked.read(" 2. "), asked.chosen(" 2. ")), (Ok(words("2.")), Some("three")));
        assert_eq!((asked.chosen("three"), asked.chosen("3")), (None, None));
        for wrong in ["3", "0", "22)", "-1", "-2.", "+3", "99999999999999999999999"] {
            assert_eq!(asked.read(wrong), Err(NoAnswer::NoOption(wrong.to_owned())));
        }
        assert_eq!(asked.read("10 of them"), Ok(words("10 of them")));
        assert_eq!(
            (asked.read("-"), asked.read("-1 is odd")),
            (Ok(words("-")), Ok(words("-1 is odd")))
        );
        assert_eq!(asked.read(" \t"), Ok(Reply::Recommended));
        assert_eq!(question(&[], true).read("10"), Ok(words("10")));
    }

    // Pressing arrow keys chooses no option.
    #[test]
    fn keys_are_no_words() {
        for is_open in [true, false] {
            let asked = question(&["none", "[A"], is_open);
            for wrong in ["\u{1b}[A", "\u{1b}[B\u{1b}[B", "2\u{1b}[D", "\u{1b}", "a\u{8}b"] {
                assert_eq!(asked.read(wrong), Err(NoAnswer::Keys), "{wrong:?}");
            }
            assert_eq!(asked.read("\u{1b}[A\r"), Err(NoAnswer::Keys));
        }
        assert_eq!(question(&[], true).read("a\tb\r"), Ok(words("a\tb")));
    }

    #[test]
    fn only_options_answer_a_closed_question() {
        let asked = question(&["A new branch", "Keep it", "Kick it"], false);
        for (answer, option) in
            [("2", "Keep it"), ("ke", "Keep it"), ("A NEW", "A new branch"), ("1)", "A new branch")]
        {
            assert_eq!(asked.read(answer), Ok(words(option)), "{answer}");
        }
        for wrong in ["k", "no", "Keep it all", "ë"] {
            assert_eq!(asked.read(wrong), Err(NoAnswer::Other(wrong.to_owned())));
        }
        assert_eq!(asked.read(""), Ok(Reply::Recommended));
    }

    proptest! {
        #[test]
        fn any_answer_is_read(answer in "[-+0-9.) ]{0,4}|[ä-ü]{0,3}|(?s:.*)", is_open: bool) {
            let asked = question(&["none", "ätsch", "three"], is_open);
            match asked.read(&answer) {
                Ok(Reply::Words(words)) => {
                    prop_assert!(is_open && words == answer.trim() || asked.options.contains(&words));
                }
                Ok(Reply::Recommended) => prop_assert!(answer.trim().is_empty()),
                Err(error) => prop_assert!(error.to_string().chars().count() < 80),
            }
        }
    }
}
