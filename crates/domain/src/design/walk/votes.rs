//! Step 3, second half: three voters decide on every finding.

use super::sketches::reader;
use super::{LaneNeed, Walk, Walked};
use crate::design::ballot;
use crate::design::correction::{is_long, names_vote};
use crate::design::event::{LaneEnd, LaneId};
use crate::design::finding::Finding;
use crate::design::lane_id::LaneKind;
use crate::design::notice::DesignNote;
use crate::design::outline::PhaseResults;
use crate::design::prompt::{self, Decided, VoterRole};
use crate::design::reading_order::ReadingOrder;
use crate::design::seat::{Holder, Seat};
use crate::design::settled::is_vote_settled;
use crate::design::tally::Voter;
use crate::design::vote::{Vote, Votes, near_votes};
use crate::design::voting_block::{Form, Poll, Reading};
use crate::design::warning::{ReviewWarning, VoteOddity};
use crate::lane::collected::CollectedStatus;

/// Asks the voters. One that fails has no vote and no replacement.
pub(super) fn votes(walk: &mut Walk<'_>, findings: &[Finding]) -> Walked<Vec<Voter>> {
    let PhaseResults { scope, plan, citations, .. } = walk.state.results.clone();
    let plan = plan.unwrap_or_default();
    let seats = walk.settings.panel.voters(walk.state.roster.available);
    let lane = |seat: &Seat| LaneId::new(LaneKind::Vote, &seat.label);
    let ids: Vec<_> = seats.iter().map(lane).collect();
    let discussion = scope.file();
    let layout = walk.settings.policy.layout();
    let ballot = |order| ballot::render(findings, layout, order, &citations);
    let written = ballot(ReadingOrder::WRITTEN);
    let texts = [scope.feature.as_str(), &discussion, &plan.text, &written];
    let word = walk.marker_word(Poll::Voters, &ids, &texts)?;
    let orders = walk.reading_orders(word, seats.len());
    let request = |walk: &Walk<'_>, place: usize| {
        let (seat, id) = (&seats[place], ids[place].clone());
        vec![LaneNeed {
            prompt: walk.prompt_of(&id, || {
                let (feature, ballot) = (scope.feature.as_str(), ballot(orders[place]));
                let decided = Decided { feature, discussion: &discussion, ballot: &ballot, word };
                prompt::voter(role(place), &decided, &plan.text, reader(seat))
            }),
            id,
            holder: seat.runner,
            step: walk.state.step.0,
            kind: seat.kind.clone(),
            file: seat.file.clone(),
        }]
    };
    let reading = word.map_or(Reading::Plain, Reading::Marked);
    let policy = walk.settings.policy;
    let is_settled = |ends: &[Vec<&LaneEnd>]| {
        let ends = ends.iter().flatten();
        let voters: Vec<_> =
            seats.iter().zip(ends).map(|(seat, end)| read_voter(seat, end, reading)).collect();
        is_vote_settled(findings, &voters, seats.len() - voters.len(), policy)
    };
    let labels: Vec<_> = seats.iter().map(|seat| seat.label.as_str()).collect();
    let ends = walk.poll(Poll::Voters, &labels, &request, &is_settled)?.concat();
    let is_there: Vec<_> = ends.iter().map(|end| end.status == CollectedStatus::Ok).collect();
    let mut voters = Vec::new();
    for (place, (seat, end)) in seats.iter().zip(ends).enumerate() {
        let cast = if is_there[place] {
            voted(walk, seat, end, findings, reading)
        } else {
            let left = seats.iter().zip(&is_there).filter(|(_, is_there)| **is_there);
            let left = left.map(|(seat, _)| seat.label.clone()).collect();
            let (voter, reason) = (seat.label.clone(), end.reason_text());
            walk.warn(ReviewWarning::VoterFailed { voter, reason, left });
            if end.status != CollectedStatus::BudgetSpent {
                walk.state.roster.lose(seat.runner);
            }
            Votes::default()
        };
        if seat.owner != Holder::Host || seat.runner != Holder::Host {
            walk.keep_answer(&seat.file, end);
        }
        voters.push(Voter { name: seat.label.clone(), votes: cast });
    }
    Ok(voters)
}

/// Reads a voter's votes without a warning; one that failed has none.
fn read_voter(seat: &Seat, end: &LaneEnd, reading: Reading<'_>) -> Voter {
    let is_there = end.status == CollectedStatus::Ok;
    let votes = is_there.then(|| Votes::parse(&end.answer, reading));
    Voter { name: seat.label.clone(), votes: votes.unwrap_or_default() }
}

/// Takes a voter's votes, and warns of irregular ones.
fn voted(
    walk: &mut Walk<'_>,
    seat: &Seat,
    end: &LaneEnd,
    findings: &[Finding],
    reading: Reading<'_>,
) -> Votes {
    walk.remember(LaneKind::Vote, seat, end);
    let who = format!("{} voter", seat.label);
    let cast = Votes::parse(&end.answer, reading);
    let votes_on_any = findings.iter().any(|finding| cast.on(finding.id).is_some());
    if cast.form == Form::Unmarked && votes_on_any {
        walk.warn(VoteOddity::Unmarked.of(&who));
    }
    if let Some(id) = cast.repeated.first() {
        walk.warn(VoteOddity::Repeated { item: id.to_string() }.of(&who));
    }
    for finding in findings {
        if let Some(votes) = cast.contradicted.get(&finding.id) {
            let item = finding.id.to_string();
            let votes = votes.map(Vote::word);
            walk.warn(VoteOddity::Contradicted { item, votes }.of(&who));
        }
    }
    let on_ballot = findings.iter().map(|finding| finding.id);
    for id in on_ballot.clone().filter(|id| cast.withdrawn.contains(id)) {
        walk.warn(VoteOddity::Withdrawn { item: id.to_string() }.of(&who));
    }
    let words = cast.after.clone();
    if names_vote(&words) {
        walk.warn(VoteOddity::AfterThem { words }.of(&who));
    } else if is_long(&words) {
        walk.note(DesignNote::AfterVotes { who: who.clone(), words });
    }
    if let Some(words) = cast.disowned.clone() {
        walk.warn(VoteOddity::Disowned { words }.of(&who));
    }
    if !votes_on_any {
        walk.warn(VoteOddity::Missing.of(&who));
    }
    let lines = near_votes(&end.answer, reading, on_ballot);
    if !lines.is_empty() {
        walk.warn(VoteOddity::Near { lines }.of(&who));
    }
    cast
}

/// The first voter's prompt demands scruple.
const fn role(place: usize) -> VoterRole {
    if place == 0 { VoterRole::SeniorReviewer } else { VoterRole::SeniorEngineer }
}
