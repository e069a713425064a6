//! The prompts of judges and voters.

use super::super::quote::{self, Tag};
use super::super::voting_block::MarkerWord;
use super::template::fill;
use super::{EFFORT, Reader, data, settled};

/// Convoke rendered the ballot, so its tags are kept. It is part of the prompt, because a read-only
/// client may not be able to read outside of the project.
const READ: &str = "The ballot is at the end.";

/// The texts that judges and voters decide by. A line that could be repeated as a vote is marked,
/// so that its copy does not count.
#[derive(Debug, Clone, Copy)]
pub struct Decided<'a> {
    /// The feature to build.
    pub feature: &'a str,
    /// The author's answers; may be empty.
    pub discussion: &'a str,
    /// The items to vote on.
    pub ballot: &'a str,
    /// The word in the marker lines. Without one, the prompt requests votes in plain lines.
    pub word: Option<&'a MarkerWord>,
}

/// Returns the prompt of a judge of the debates.
pub fn judge(decided: &Decided<'_>, reader: Reader) -> String {
    let form = Form {
        item: "decision",
        id: "`DECISION_N`",
        all: "all of them",
        lines: "    DECISION_N: THESIS|ANTI_THESIS \u{2014} reason",
    };
    fill(
        include_str!("vote/judge.md"),
        &[
            ("READ", READ),
            ("DATA", data()),
            ("FORM", &form.text(decided.word)),
            ("EFFORT", reader.effort()),
            ("FEATURE_DESCRIPTION", &quote::voteless(Tag::Feature, decided.feature)),
            ("SETTLED", &settled(decided.discussion)),
            ("BALLOT", &quote::enclosed(Tag::Ballot, decided.ballot)),
        ],
    )
}

/// Which of the voters' prompts a seat gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoterRole {
    /// The first voter, whose prompt demands scruple and effort in any client.
    SeniorReviewer,
    /// The other voters, and their replacements.
    SeniorEngineer,
}

/// Returns the prompt of a voter on findings about a plan.
pub fn voter(role: VoterRole, decided: &Decided<'_>, plan: &str, reader: Reader) -> String {
    let (who, measure, effort) = match role {
        VoterRole::SeniorReviewer => {
            (include_str!("vote/reviewer.md"), include_str!("vote/scrupulous.md"), EFFORT)
        }
        VoterRole::SeniorEngineer => {
            (include_str!("vote/engineer.md"), include_str!("vote/proportion.md"), reader.effort())
        }
    };
    let form = Form {
        item: "item",
        id: "`FINDING_N` or `OOS_N`",
        all: "every item",
        lines: "    FINDING_N: YES|NO|EXONERATE \u{2014} reason\n    \
                OOS_N: YES|NO|EXONERATE \u{2014} reason",
    };
    fill(
        include_str!("vote/voter.md"),
        &[
            ("ROLE", who),
            ("READ", READ),
            ("DATA", data()),
            ("MEASURE", measure),
            ("FORM", &form.text(decided.word)),
            ("EFFORT", effort),
            ("FEATURE_DESCRIPTION", &quote::voteless(Tag::Feature, decided.feature)),
            ("SETTLED", &settled(decided.discussion)),
            ("PLAN_TEXT", &quote::voteless(Tag::Plan, plan)),
            ("BALLOT", &quote::enclosed(Tag::Ballot, decided.ballot)),
        ],
    )
}

/// The form of votes. The example has a placeholder for every significant word, so repeating it
/// casts no vote.
struct Form {
    item: &'static str,
    id: &'static str,
    all: &'static str,
    lines: &'static str,
}

impl Form {
    fn text(&self, word: Option<&MarkerWord>) -> String {
        let (template, begin, end) = match word {
            Some(word) => (include_str!("vote/block.md"), word.begin(), word.end()),
            None => (include_str!("vote/lines.md"), String::new(), String::new()),
        };
        fill(
            template,
            &[
                ("ITEM", self.item),
                ("ID", self.id),
                ("ALL", self.all),
                ("BEGIN", &begin),
                ("LINES", self.lines),
                ("END", &end),
            ],
        )
    }
}
