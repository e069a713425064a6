//! Answers of voters to a ballot with `FINDING_1` to `FINDING_3` and `OOS_1`.
//!
//! The word of the ballot is `qzvkwtrbnx`. A verdict lists the votes that count, `both` for items
//! with different votes, `withdrawn` for those whose vote was taken back, their place, and how many
//! lines a warning shows because they look like votes. With `policy: seed` the original's rules
//! hold.

use convoke_domain::design::finding::{FindingId, FindingScope};
use convoke_domain::design::vote::{Votes, near_votes};
use convoke_domain::design::voting_block::{Form, MarkerWord, Reading};

use super::cases::Case;

/// The word of every ballot in the data.
pub(crate) const WORD: &str = "qzvkwtrbnx";

const BALLOT: [(FindingScope, u32); 4] =
    [(FindingScope::In, 1), (FindingScope::In, 2), (FindingScope::In, 3), (FindingScope::Out, 1)];

pub(crate) fn verdict(case: &Case) -> String {
    let word = MarkerWord::parse(WORD).unwrap();
    let reading = reading(case, &word);
    let answer = case.text();
    let votes = Votes::parse(&answer, reading);
    let ids = BALLOT.map(|(scope, number)| FindingId { scope, number });
    let said = ids.iter().filter_map(|id| {
        if votes.contradicted.contains_key(id) {
            return Some(format!("{id}=both"));
        }
        if votes.withdrawn.contains(id) {
            return Some(format!("{id}=withdrawn"));
        }
        votes.on(*id).map(|cast| format!("{id}={}", cast.vote.word()))
    });
    let said: Vec<_> = said.collect();
    let near = near_votes(&answer, reading, ids.into_iter()).len();
    if votes.disowned.is_some() && said.is_empty() {
        return "disowned".to_owned();
    }
    told(&said, votes.form, (near > 0).then(|| format!("+{near} near")))
}

/// Returns where a case's votes count.
pub(crate) fn reading<'w>(case: &Case, word: &'w MarkerWord) -> Reading<'w> {
    match case.keys.get("policy").map(String::as_str) {
        Some("seed") => Reading::Plain,
        Some(other) => panic!("`{}`: there is no policy `{other}`", case.name),
        None => Reading::Marked(word),
    }
}

/// Puts a verdict in one line.
pub(crate) fn told(votes: &[String], form: Form, near: Option<String>) -> String {
    let place = match form {
        Form::Marked => "in block",
        Form::Unmarked => "without block",
        Form::Plain => "in plain lines",
    };
    let counted = (!votes.is_empty()).then(|| format!("{} {place}", votes.join(" ")));
    match (counted, near) {
        (Some(counted), Some(near)) => format!("{counted} {near}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => "nothing".to_owned(),
    }
}
