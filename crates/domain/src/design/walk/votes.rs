//! Step 3, second half: three voters decide on every finding.

use super::interview::Scope;
use super::plan::Plan;
use super::sketches::reader;
use super::{Request, Walk, Walked};
use crate::design::correction::{after_note, after_warning, withdrawn_warning};
use crate::design::event::{LaneEnd, LaneId};
use crate::design::finding::Finding;
use crate::design::progress::unnumbered_warning;
use crate::design::prompt::{self, Decided, VoterRole};
use crate::design::seat::{Holder, Seat};
use crate::design::tally::{Voter, voter_failed};
use crate::design::vote::{
    Vote, Votes, contradicted_warning, disowned_warning, near_votes, near_votes_warning,
    unmarked_warning,
};
use crate::design::voting_block::{Poll, Reading};
use crate::lane::collected::CollectedStatus;

impl<'f> Walk<'f> {
    /// Asks three voters. One that fails has no vote; nobody takes its place.
    pub(super) fn votes(
        &mut self,
        scope: &Scope,
        plan: &Plan,
        findings: &[Finding],
        ballot: &str,
    ) -> Walked<Vec<Voter>> {
        let seats = self.settings.panel.voters(self.available);
        let lane = |seat: &Seat| LaneId(format!("vote/{}", seat.label));
        let ids: Vec<_> = seats.iter().map(lane).collect();
        let discussion = scope.file();
        let texts = [scope.feature(), &discussion, &plan.text, ballot];
        let word = self.marker_word(Poll::Voters, &ids, &texts)?;
        let decided = Decided { feature: scope.feature(), discussion: &discussion, ballot, word };
        let request = |(place, (seat, id)): (usize, (&Seat, LaneId))| Request {
            prompt: self
                .prompt_of(&id, || prompt::voter(role(place), &decided, &plan.text, reader(seat))),
            id,
            holder: seat.runner,
            step: self.step.0,
            kind: seat.kind.clone(),
            file: seat.file.clone(),
        };
        let requests = seats.iter().zip(ids).enumerate().map(request).collect();
        let ends = self.lanes(requests, None)?;
        let is_there: Vec<_> = ends.iter().map(|end| end.status == CollectedStatus::Ok).collect();
        let reading = word.map_or(Reading::Plain, Reading::Marked);
        let mut voters = Vec::new();
        for (place, (seat, end)) in seats.iter().zip(ends).enumerate() {
            let cast = if is_there[place] {
                self.voted(seat, end, findings, reading)
            } else {
                let left = seats.iter().zip(&is_there).filter(|(_, is_there)| **is_there);
                let left: Vec<_> = left.map(|(seat, _)| seat.label.as_str()).collect();
                self.warn(voter_failed(&seat.label, &end.reason, &left));
                if end.status != CollectedStatus::CapHit {
                    self.lose(seat.runner);
                }
                Votes::default()
            };
            if seat.owner != Holder::Host || seat.runner != Holder::Host {
                self.file(&seat.file, end.answer.clone());
            }
            voters.push(Voter { name: seat.label.clone(), votes: cast });
        }
        Ok(voters)
    }

    /// Takes a voter's votes, and says what is not as it should be with them.
    fn voted(
        &mut self,
        seat: &Seat,
        end: &'f LaneEnd,
        findings: &[Finding],
        reading: Reading<'_>,
    ) -> Votes {
        self.remember("vote", seat, end);
        let who = format!("{} voter", seat.label);
        let cast = Votes::parse(&end.answer, reading);
        let votes_on_any = findings.iter().any(|finding| cast.on(finding.id).is_some());
        if let Some(warning) = unmarked_warning(&who, cast.form).filter(|_| votes_on_any) {
            self.warn(warning);
        }
        if let Some(id) = cast.repeated.first() {
            let text = format!("{who} voted on {id} twice; the first vote counts.");
            self.warn(unnumbered_warning(&text));
        }
        for finding in findings {
            if let Some(votes) = cast.contradicted.get(&finding.id) {
                let item = finding.id.to_string();
                self.warn(contradicted_warning(&who, &item, votes.map(Vote::word)));
            }
        }
        let on_ballot = findings.iter().map(|finding| finding.id);
        for id in on_ballot.clone().filter(|id| cast.withdrawn.contains(id)) {
            self.warn(withdrawn_warning(&who, &id.to_string()));
        }
        if let Some(warning) = after_warning(&who, &cast.after) {
            self.warn(warning);
        }
        if let Some(note) = after_note(&who, &cast.after) {
            self.say(note);
        }
        if let Some(words) = &cast.disowned {
            self.warn(disowned_warning(&who, words));
        }
        if !votes_on_any {
            let text = format!("{who} output holds no vote — treated as abstention on everything.");
            self.warn(unnumbered_warning(&text));
        }
        let near = near_votes(&end.answer, reading, on_ballot);
        if let Some(warning) = near_votes_warning(&who, &near) {
            self.warn(warning);
        }
        cast
    }
}

/// The first voter is told to be scrupulous.
const fn role(place: usize) -> VoterRole {
    if place == 0 { VoterRole::SeniorReviewer } else { VoterRole::SeniorEngineer }
}
