//! What judges and voters are asked.

use super::super::quote::{self, Tag};
use super::template::fill;
use super::{EFFORT, data};

/// Where a ballot is.
#[derive(Debug, Clone, Copy)]
pub enum Ballot<'a> {
    /// In a file, for an agent of its own.
    File(&'a str),
    /// Here, for a host. It was rendered by us, so its own tags are kept.
    Inline(&'a str),
}

impl Ballot<'_> {
    fn read(&self) -> String {
        match self {
            Self::File(path) => format!("Read the ballot in the file `{}`.", quote::line(path)),
            Self::Inline(_) => "The ballot stands at the end.".to_owned(),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::File(_) => String::new(),
            Self::Inline(ballot) => quote::enclosed(Tag::Ballot, ballot),
        }
    }

    const fn effort(&self) -> &'static str {
        match self {
            Self::File(_) => EFFORT,
            Self::Inline(_) => "",
        }
    }
}

/// What a judge of the debates is asked.
pub fn judge(ballot: Ballot<'_>) -> String {
    fill(
        include_str!("vote/judge.md"),
        &[
            ("READ", &ballot.read()),
            ("DATA", data()),
            ("EFFORT", ballot.effort()),
            ("BALLOT", &ballot.text()),
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
pub fn voter(role: VoterRole, ballot: Ballot<'_>) -> String {
    let (who, measure, effort) = match role {
        VoterRole::SeniorReviewer => {
            (include_str!("vote/reviewer.md"), include_str!("vote/scrupulous.md"), EFFORT)
        }
        VoterRole::SeniorEngineer => {
            (include_str!("vote/engineer.md"), include_str!("vote/proportion.md"), ballot.effort())
        }
    };
    fill(
        include_str!("vote/voter.md"),
        &[
            ("ROLE", who),
            ("READ", &ballot.read()),
            ("DATA", data()),
            ("MEASURE", measure),
            ("EFFORT", effort),
            ("BALLOT", &ballot.text()),
        ],
    )
}
