//! The names of questions to a person.

use std::fmt;

use super::discussion::Round;
use super::event::Boundary;

/// Names a question to a person, as files of answers do: `1d/2`, `tree/sketch-collection`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuestionId {
    /// A question of an interview: which interview, and its number from one.
    Interview(Round, usize),
    /// Whether a design begins on the branch that is checked out.
    Branch,
    /// A question about a changed working tree.
    Tree(Boundary),
    /// A question about a run that is resumed in another state than it was stopped.
    Ground,
}

/// The interviews.
const ROUNDS: [Round; 3] = [Round::Clarifying, Round::Scope, Round::Design];

const BRANCH: &str = "1/branch";
const GROUND: &str = "resume/ground";

impl QuestionId {
    /// Reads a name. It is written in one way only.
    pub fn parse(name: &str) -> Option<Self> {
        let (place, which) = name.split_once('/')?;
        let round = || {
            let round = ROUNDS.into_iter().find(|round| round.step().number() == place)?;
            let number = which.parse().ok().filter(|number: &usize| *number > 0)?;
            Some(Self::Interview(round, number))
        };
        let found = match name {
            BRANCH => Some(Self::Branch),
            GROUND => Some(Self::Ground),
            _ if place == "tree" => Boundary::parse(which).map(Self::Tree),
            _ => round(),
        };
        found.filter(|id| id.to_string() == name)
    }

    /// Tells whether an agent wrote the question.
    pub const fn is_of_interview(self) -> bool {
        matches!(self, Self::Interview(..))
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interview(round, number) => write!(f, "{}/{number}", round.step().number()),
            Self::Branch => f.write_str(BRANCH),
            Self::Tree(boundary) => write!(f, "tree/{}", boundary.name()),
            Self::Ground => f.write_str(GROUND),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_one_name() {
        let interviews = ROUNDS.map(|round| QuestionId::Interview(round, 12));
        let trees = Boundary::ALL.map(QuestionId::Tree);
        let others = [QuestionId::Branch, QuestionId::Ground];
        for id in interviews.into_iter().chain(trees).chain(others) {
            assert_eq!(QuestionId::parse(&id.to_string()), Some(id));
        }
        for name in ["", "1d", "1d/", "1d/0", "1d/02", "1d/+1", "2/1", "tree/x", "1/Branch", "/1"] {
            assert_eq!(QuestionId::parse(name), None, "{name}");
        }
    }
}
