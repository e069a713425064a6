//! The person at the keyboard, or the file that answers for one.

use std::collections::HashMap;
use std::time::Duration;

use convoke_domain::design::event::Reply;
use convoke_domain::design::walk::Question;

use super::screen::Screen;
use crate::input;
use crate::interrupt;

/// Who answers questions.
pub(super) struct Person {
    /// Answers that were written down, by the question's name.
    written: HashMap<String, String>,
    /// How long a question waits for an answer before the recommendation is taken.
    patience: Option<Duration>,
}

impl Person {
    pub(super) fn new(written: HashMap<String, String>, patience: Option<Duration>) -> Self {
        Self { written, patience }
    }

    /// Reads a file of answers: `1d/2: the answer`, one a line.
    pub(super) fn read(text: &str) -> HashMap<String, String> {
        let line = |line: &str| {
            let line = line.trim();
            let (id, answer) = line.split_once(':').filter(|_| !line.starts_with('#'))?;
            Some((id.trim().to_owned(), answer.trim().to_owned()))
        };
        text.lines().filter_map(line).collect()
    }

    /// Tells whether the answer was written down.
    pub(super) fn has_written(&self, question: &Question) -> bool {
        self.written.contains_key(&question.id.0)
    }

    /// Asks; nothing if there is nobody to answer, or if we are to stop.
    pub(super) fn ask(&self, question: &Question, screen: &mut Screen<'_>) -> Option<Reply> {
        let reply = |answer: &str| match answer.trim() {
            "" => Reply::Recommended,
            words => Reply::Words(words.to_owned()),
        };
        if let Some(answer) = self.written.get(&question.id.0) {
            screen.say(&format!("{}: {answer}", question.title));
            return Some(reply(answer));
        }
        let ask = || screen.say(&asked(question));
        match input::line(ask, self.patience, &interrupt::cancel()) {
            input::Typed::Line(answer) => Some(reply(&answer)),
            input::Typed::TooLate => {
                screen.say("no answer in time; the recommendation stands");
                Some(Reply::Recommended)
            }
            input::Typed::End | input::Typed::Stopped => None,
        }
    }
}

fn asked(question: &Question) -> String {
    let options = (1..).zip(&question.options).map(|(at, option)| format!("  {at}. {option}"));
    let head = format!("\n[{}] {}\n{}", question.id.0, question.title, question.text);
    let tail = format!("Enter takes the recommendation: {}", question.recommended);
    let lines: Vec<_> = std::iter::once(head).chain(options).chain([tail]).collect();
    lines.join("\n")
}
