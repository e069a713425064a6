//! Step 3, second half: three voters decide on every finding.

use super::sketches::reader;
use super::{Request, Walk, Walked};
use crate::design::event::LaneId;
use crate::design::finding::Finding;
use crate::design::progress::unnumbered_warning;
use crate::design::prompt::{self, VoterRole};
use crate::design::seat::{Holder, Seat};
use crate::design::tally::{Voter, voter_failed};
use crate::design::vote::{Votes, near_votes, near_votes_warning};
use crate::lane::collected::Status;

impl Walk<'_> {
    /// Asks three voters. One that fails has no vote; nobody takes its place.
    pub(super) fn votes(&mut self, findings: &[Finding], ballot: &str) -> Walked<Vec<Voter>> {
        let seats = self.settings.panel.voters(self.available);
        let request = |(place, seat): (usize, &Seat)| {
            let id = LaneId(format!("vote/{}", seat.label));
            Request {
                prompt: self.prompt_of(&id, || prompt::voter(role(place), ballot, reader(seat))),
                id,
                holder: seat.runner,
                step: self.step.0,
                kind: seat.kind.clone(),
                file: seat.file.clone(),
            }
        };
        let requests = seats.iter().enumerate().map(request).collect();
        let ends = self.lanes(requests, None)?;
        let is_there: Vec<_> = ends.iter().map(|end| end.status == Status::Ok).collect();
        let mut voters = Vec::new();
        for (place, (seat, end)) in seats.iter().zip(ends).enumerate() {
            let cast = if is_there[place] {
                self.remember("vote", seat, end);
                Votes::parse(&end.answer)
            } else {
                let left = seats.iter().zip(&is_there).filter(|(_, is_there)| **is_there);
                let left: Vec<_> = left.map(|(seat, _)| seat.label.as_str()).collect();
                self.warn(voter_failed(&seat.label, &end.reason, &left));
                if end.status != Status::CapHit {
                    self.lose(seat.runner);
                }
                Votes::default()
            };
            if seat.owner != Holder::Host || seat.runner != Holder::Host {
                self.file(&seat.file, end.answer.clone());
            }
            let votes_on_any = findings.iter().any(|finding| cast.on(finding.id).is_some());
            if let Some(id) = cast.repeated.first() {
                let text =
                    format!("{} voter voted on {id} twice; the first vote counts.", seat.label);
                self.warn(unnumbered_warning(&text));
            }
            if is_there[place] && !votes_on_any {
                let text = format!(
                    "{} voter output holds no vote — treated as abstention on everything.",
                    seat.label
                );
                self.warn(unnumbered_warning(&text));
            }
            if is_there[place] {
                let near = near_votes(&end.answer, findings.iter().map(|finding| finding.id));
                if let Some(warning) = near_votes_warning(&format!("{} voter", seat.label), &near) {
                    self.warn(warning);
                }
            }
            voters.push(Voter { name: seat.label.clone(), votes: cast });
        }
        Ok(voters)
    }
}

/// The first voter is told to be scrupulous.
const fn role(place: usize) -> VoterRole {
    if place == 0 { VoterRole::SeniorReviewer } else { VoterRole::SeniorEngineer }
}
