//! The person at the keyboard, or the file that answers for one.

use std::collections::HashMap;
use std::time::Duration;

use convoke_domain::design::event::{Boundary, Reply};
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

    /// Reads a file of answers: `1d/2: the answer`, one a line. Lines that begin with `#` are for
    /// people; the numbers of those that answer nothing are returned, too.
    pub(super) fn read(text: &str) -> (HashMap<String, String>, Vec<usize>) {
        let (mut written, mut passed_over) = (HashMap::new(), Vec::new());
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parts = line.split_once(':').map(|(id, answer)| (id.trim(), answer.trim()));
            match parts.filter(|(id, _)| is_question(id)) {
                Some((id, answer)) => drop(written.insert(id.to_owned(), answer.to_owned())),
                None => passed_over.push(number),
            }
        }
        (written, passed_over)
    }

    /// Tells whether the answer was written down.
    pub(super) fn has_written(&self, question: &Question) -> bool {
        self.written.contains_key(&question.id.0)
    }

    /// Asks; nothing if there is nobody to answer, or if we are to stop. Whoever types what nobody
    /// can mean is asked again.
    pub(super) fn ask(&self, question: &Question, screen: &mut Screen<'_>) -> Option<Reply> {
        if let Some(answer) = self.written.get(&question.id.0) {
            screen.say(&format!("{}: {answer}", question.title));
            return Some(taken(question, answer, screen));
        }
        loop {
            let ask = || screen.say(&asked(question));
            let answer = match input::line(ask, self.patience, &interrupt::cancel()) {
                input::Typed::Line(answer) => answer,
                input::Typed::TooLate => {
                    screen.say("no answer in time; the recommendation stands");
                    return Some(Reply::Recommended);
                }
                input::Typed::End | input::Typed::Stopped => return None,
            };
            match question.read(&answer) {
                // The next line of a pipe is for the next question.
                Err(wrong) if input::has_person() => screen.say(&format!("{wrong}; once more")),
                Ok(_) | Err(_) => return Some(taken(question, &answer, screen)),
            }
        }
    }
}

/// Takes an answer, and says which where it is only a number, or what nobody can mean.
fn taken(question: &Question, answer: &str, screen: &mut Screen<'_>) -> Reply {
    match question.read(answer) {
        Ok(reply) => {
            if let Some(option) = question.chosen(answer) {
                screen.say(&format!("taken: {option}"));
            }
            reply
        }
        Err(wrong) if question.is_open => {
            screen.say(&format!("warning: {wrong}; it is taken as an answer in words"));
            Reply::Words(answer.trim().to_owned())
        }
        Err(wrong) => {
            screen.say(&format!("warning: {wrong}; the recommendation stands"));
            Reply::Recommended
        }
    }
}

/// Tells whether a question can be called so.
fn is_question(id: &str) -> bool {
    let asked_by_us = ["1/branch", "resume/ground"].contains(&id);
    asked_by_us
        || id.split_once('/').is_some_and(|(step, which)| match step {
            "tree" => Boundary::ALL.iter().any(|boundary| boundary.name() == which),
            "1c" | "1d" | "3.5" => which.parse().is_ok_and(|number: usize| number > 0),
            _ => false,
        })
}

fn asked(question: &Question) -> String {
    let options = (1..).zip(&question.options).map(|(at, option)| format!("  {at}. {option}"));
    let head = format!("\n[{}] {}\n{}", question.id.0, question.title, question.text);
    let tail = format!("Enter takes the recommendation: {}", question.recommended);
    let lines: Vec<_> = std::iter::once(head).chain(options).chain([tail]).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_answer_nothing_are_known_by_number() {
        let text = "# mine\n\n1d/2: a: b\nwhat?\n1/branch: keep\n3.5/0: x\ntree/nowhere: 1\n\
                    resume/ground: 1\ntree/plan-review-collection: 2\n1b/1: x\n";
        let (written, passed_over) = Person::read(text);
        assert_eq!(passed_over, [4, 6, 7, 10]);
        assert_eq!(written.len(), 4);
        assert_eq!(written["1d/2"], "a: b");
    }
}
