//! Answers of judges to a ballot with `DECISION_1` and `DECISION_2`.
//!
//! The word of the ballot and the keys are those of `votes.rs`. `+near` means that a warning shows
//! lines that look like votes.

use convoke_domain::design::judge::{Asked, Judgement, near_votes, read};
use convoke_domain::design::policy::Policy;
use convoke_domain::design::voting_block::{MarkerWord, Reading};

use super::cases::Case;
use super::votes::{WORD, reading, told};

pub(crate) fn verdict(case: &Case) -> String {
    let word = MarkerWord::parse(WORD).unwrap();
    let reading = reading(case, &word);
    let policy = if reading == Reading::Plain { Policy::Seed } else { Policy::Safe };
    let asked = Asked { on_ballot: &[1, 2].into(), policy, reading };
    let answer = case.text();
    let near = near_votes("A", &answer, asked).map(|_| "+near".to_owned());
    let votes = match read(Some(&answer), asked) {
        Judgement::Ineligible => return "ineligible".to_owned(),
        Judgement::Disowned(_) => return "disowned".to_owned(),
        Judgement::Unparseable => return near.unwrap_or_else(|| "nothing".to_owned()),
        Judgement::Votes(votes) => votes,
    };
    let said = [1, 2].into_iter().filter_map(|number| {
        let word = if votes.contradicted.contains(&number) {
            "both"
        } else if votes.withdrawn.contains(&number) {
            "withdrawn"
        } else {
            votes.votes.get(&number)?.side.token()
        };
        Some(format!("DECISION_{number}={word}"))
    });
    told(&said.collect::<Vec<_>>(), votes.form, near)
}
