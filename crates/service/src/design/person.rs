//! The person at the keyboard, or the file that answers for one.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use convoke_domain::design::event::{QuestionId, Reply};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::walk::PersonQuestion;

use super::DesignError;
use super::front_end::{DesignFrontEnd, TypedAnswer};
use crate::failure::{ErrorClass, Failure};

/// Answers that were written down.
#[derive(Debug, Default)]
pub(super) struct AnswerFile {
    /// The answers with their lines' numbers, by the question's name.
    answers: HashMap<QuestionId, (usize, String)>,
    /// Errors in some lines, by their numbers.
    pub(super) faults: Vec<(usize, String)>,
}

/// The source of answers to questions.
pub(super) struct Person {
    /// Answers that were written down and not taken yet.
    written: AnswerFile,
    /// How long a question waits for an answer before the recommendation is taken.
    patience: Option<Duration>,
    /// The author's answers in a rehearsal, which asks no person.
    recorded: Option<AnswerFile>,
}

impl Person {
    pub(super) const fn new(written: AnswerFile, patience: Option<Duration>) -> Self {
        Self { written, patience, recorded: None }
    }

    /// Makes the author of a rehearsal. Answers that were written down come before recorded ones, and
    /// a question that has neither gets its recommendation.
    pub(super) const fn recorded(written: AnswerFile, recorded: AnswerFile) -> Self {
        Self { written, patience: None, recorded: Some(recorded) }
    }

    /// Tells whether the answer was written down.
    pub(super) fn has_written(&self, question: &PersonQuestion) -> bool {
        self.written.answers.contains_key(&question.id)
    }

    /// Returns the prepared answers to questions that agents never asked, by their lines' numbers.
    /// Answers to questions that come up only after a problem may well be left.
    pub(super) fn unasked(&self, facts: &Facts) -> Vec<(usize, QuestionId)> {
        let left = self.written.answers.iter();
        let left = left.filter(|(id, _)| id.is_of_interview() && facts.reply(id).is_none());
        let mut lines: Vec<_> = left.map(|(id, (number, _))| (*number, *id)).collect();
        lines.sort_unstable_by_key(|(number, _)| *number);
        lines
    }

    /// Asks the person; `None` if there is no person to answer, or if Convoke must stop. It repeats
    /// the question after invalid input. It takes a prepared answer once.
    pub(super) fn ask(
        &mut self,
        question: &PersonQuestion,
        front_end: &mut dyn DesignFrontEnd,
    ) -> Option<Reply> {
        if let Some((_, answer)) = self.written.answers.remove(&question.id) {
            front_end.say(&format!("{}: {answer}", question.title));
            return Some(taken(question, &answer, front_end));
        }
        if let Some(recorded) = &mut self.recorded {
            front_end.say(&asked(question, "Recommended"));
            let Some((_, answer)) = recorded.answers.remove(&question.id) else {
                front_end.say("no recorded answer; accepting the recommendation");
                return Some(Reply::Recommended);
            };
            front_end.say(&format!("recorded answer: {answer}"));
            return Some(taken(question, &answer, front_end));
        }
        loop {
            let text = asked(question, "Enter accepts the recommendation");
            let answer = match front_end.ask(&text, self.patience) {
                TypedAnswer::Line(answer) => answer,
                TypedAnswer::TooLate => {
                    front_end.say("no answer in time; accepting the recommendation");
                    return Some(Reply::Recommended);
                }
                // A person who leaves a terminal may come back to a run that waits.
                TypedAnswer::End if self.patience.is_some() && !front_end.has_person() => {
                    front_end.say("no terminal to ask at; accepting the recommendation");
                    return Some(Reply::Recommended);
                }
                TypedAnswer::End | TypedAnswer::Stopped => return None,
            };
            match question.read(&answer) {
                // The next line of a pipe is for the next question.
                Err(wrong) if front_end.has_person() => {
                    front_end.say(&format!("{wrong}; try again"));
                }
                Ok(_) | Err(_) => return Some(taken(question, &answer, front_end)),
            }
        }
    }
}

impl AnswerFile {
    /// Reads a file of answers: `1d/2: the answer`, one a line. Lines that begin with `#` are for
    /// people. Of two answers to one question the first counts, as it does for voters.
    pub(super) fn read(text: &str) -> Self {
        let mut written = Self::default();
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parts = line.split_once(':').map(|(id, answer)| (id.trim(), answer.trim()));
            let answered = parts.and_then(|(id, answer)| Some((QuestionId::parse(id)?, answer)));
            let first = answered.and_then(|(id, _)| written.answers.get(&id));
            let fault = match (answered, first) {
                (None, _) => "is not an answer; write it as `1d/2: the answer`".to_owned(),
                (Some((id, _)), Some((first, _))) => {
                    format!("answers `{id}` again; line {first} counts")
                }
                (Some((id, answer)), None) => {
                    written.answers.insert(id, (number, answer.to_owned()));
                    continue;
                }
            };
            written.faults.push((number, fault));
        }
        written
    }
}

/// Reads a file of answers.
pub(super) fn read_answers(path: &Path) -> Result<AnswerFile, Failure> {
    let text = fs::read_to_string(path).map_err(|source| {
        Failure::new(ErrorClass::Usage, DesignError::Folder { path: path.to_owned(), source })
    })?;
    Ok(AnswerFile::read(&text))
}

/// Parses an answer, and shows which option a number means, or why the answer is unusable.
fn taken(question: &PersonQuestion, answer: &str, front_end: &mut dyn DesignFrontEnd) -> Reply {
    match question.read(answer) {
        Ok(reply) => {
            if let Some(option) = question.chosen(answer) {
                front_end.say(&format!("taken: {option}"));
            }
            reply
        }
        Err(wrong) if question.is_open => {
            front_end.warn(&format!("{wrong}; Convoke takes it as an answer in words"));
            Reply::Words(answer.trim().to_owned())
        }
        Err(wrong) => {
            front_end.warn(&format!("{wrong}; Convoke accepts the recommendation"));
            Reply::Recommended
        }
    }
}

fn asked(question: &PersonQuestion, offer: &str) -> String {
    let options = (1..).zip(&question.options).map(|(at, option)| format!("  {at}. {option}"));
    let head = format!("\n[{}] {}\n{}", question.id, question.title, question.text);
    let tail = format!("{offer}: {}", question.recommended);
    let lines: Vec<_> = std::iter::once(head).chain(options).chain([tail]).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_that_answer_nothing_are_known_by_number() {
        let text = "# mine\n\n1d/2: a: b\nwhat?\n1/branch: keep\n3.5/0: x\ntree/nowhere: 1\n\
                    resume/ground: 1\ntree/plan-review-collection: 2\n1b/1: x\n";
        let written = AnswerFile::read(text);
        let numbers: Vec<_> = written.faults.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [4, 6, 7, 10]);
        assert_eq!(written.answers.len(), 4);
        let second = QuestionId::parse("1d/2").unwrap();
        assert_eq!(written.answers[&second], (3, "a: b".to_owned()));
    }

    // As with votes, the first of two answers counts.
    #[test]
    fn the_first_of_two_answers_counts() {
        let written = AnswerFile::read("1d/2: a\n1d/1: b\n1d/2: c\n1d/2: a\n1d/02: d\n");
        let second = QuestionId::parse("1d/2").unwrap();
        assert_eq!(written.answers[&second], (1, "a".to_owned()));
        let again = "answers `1d/2` again; line 1 counts".to_owned();
        assert_eq!(written.faults[..2], [(3, again.clone()), (4, again)]);
        assert_eq!(written.faults[2].0, 5);
    }

    proptest! {
        #[test]
        fn any_file_of_answers_is_read(text in "([13]?[cd.]?5?/[0-9]{1,2}:? ?\\PC{0,3}\n|\\PC*\n)*") {
            let written = AnswerFile::read(&text);
            let said = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            prop_assert_eq!(said.count(), written.answers.len() + written.faults.len());
        }
    }
}
