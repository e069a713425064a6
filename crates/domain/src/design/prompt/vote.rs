//! What judges and voters are asked.

use super::super::quote::{self, Tag};
use super::template::fill;
use super::{EFFORT, Reader, data};

/// A ballot was rendered by us, so its own tags are kept. It is given with the question, because a
/// client that may only read cannot be counted on to read outside of the project.
const READ: &str = "The ballot stands at the end.";

/// What a judge of the debates is asked.
pub fn judge(ballot: &str, reader: Reader) -> String {
    fill(
        include_str!("vote/judge.md"),
        &[
            ("READ", READ),
            ("DATA", data()),
            ("EFFORT", reader.effort()),
            ("BALLOT", &quote::enclosed(Tag::Ballot, ballot)),
        ],
    )
}

/// Who votes on findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoterRole {
    /// The first voter, who is told to be scrupulous and to work hard wherever it runs.
    SeniorReviewer,
    /// The others, and whoever sits in for them.
    SeniorEngineer,
}

/// What a voter is asked.
pub fn voter(role: VoterRole, ballot: &str, reader: Reader) -> String {
    let (who, measure, effort) = match role {
        VoterRole::SeniorReviewer => {
            (include_str!("vote/reviewer.md"), include_str!("vote/scrupulous.md"), EFFORT)
        }
        VoterRole::SeniorEngineer => {
            (include_str!("vote/engineer.md"), include_str!("vote/proportion.md"), reader.effort())
        }
    };
    fill(
        include_str!("vote/voter.md"),
        &[
            ("ROLE", who),
            ("READ", READ),
            ("DATA", data()),
            ("MEASURE", measure),
            ("EFFORT", effort),
            ("BALLOT", &quote::enclosed(Tag::Ballot, ballot)),
        ],
    )
}
