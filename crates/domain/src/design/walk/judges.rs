//! Step 2a.5, second half: three judges decide the debates, and know nobody's name.

use super::interview::Scope;
use super::sketches::reader;
use super::{Request, Walk, Walked};
use crate::design::anonymity::Hidden;
use crate::design::event::{Boundary, Health, LaneId, Occasion};
use crate::design::judge::{self, Asked, Contest, Judgement};
use crate::design::progress::unnumbered_warning;
use crate::design::prompt::{self, Decided};
use crate::design::resolution::Resolution;
use crate::design::seat::{Available, Holder, Seat};
use crate::design::voting_block::{Poll, Reading};
use crate::lane::collected::CollectedStatus;

impl Walk<'_> {
    /// Has debates judged. Who is there now sits; who was lost before may be back.
    pub(super) fn judged(
        &mut self,
        scope: &Scope,
        contests: &[Contest<'_>],
    ) -> Walked<Vec<Resolution>> {
        let ballot = judge::ballot(contests, &Hidden::of(&self.settings.panel));
        for warning in ballot.warnings() {
            self.warn(warning);
        }
        let mut judgements = Vec::new();
        if let Some(text) = &ballot.text {
            self.file("dialectic-ballot.txt", text.clone());
            let available = self.judges_there()?;
            let seats = self.settings.panel.judges(available);
            let discussion = scope.file();
            let ids: Vec<_> = seats.iter().map(judge_lane).collect();
            let texts = [scope.feature(), &discussion, text];
            let word = self.marker_word(Poll::Judges, &ids, &texts)?;
            let decided =
                Decided { feature: scope.feature(), discussion: &discussion, ballot: text, word };
            let requests = seats.iter().map(|seat| self.judge_request(seat, &decided)).collect();
            let ends = self.lanes(requests, None)?;
            self.tree(Boundary::Judges)?;
            let asked = Asked {
                on_ballot: &ballot.numbers,
                policy: self.settings.policy,
                reading: word.map_or(Reading::Plain, Reading::Marked),
            };
            for (seat, end) in seats.iter().zip(ends) {
                let answer = (end.status == CollectedStatus::Ok).then_some(&*end.answer);
                if answer.is_some() {
                    self.remember("judge", seat, end);
                }
                if seat.runner != Holder::Host {
                    self.file(&seat.file, end.answer.clone());
                }
                let judgement = judge::read(answer, asked);
                if judgement == Judgement::Ineligible {
                    self.warn(judge_failed(&seat.label, &end.reason));
                }
                let near = answer.and_then(|answer| judge::near_votes(&seat.label, answer, asked));
                for warning in judgement.warnings(&seat.label).into_iter().chain(near) {
                    self.warn(warning);
                }
                judgements.push(judgement);
            }
        }
        let resolution = |contest: &Contest<'_>| {
            let Contest { number, decision, defenses } = contest;
            if let Some((_, leak)) = ballot.leaked.iter().find(|(leaked, _)| leaked == number) {
                let claims = defenses.each_ref().map(|it| Some(it.claim.as_str()));
                return Resolution::fallback(*number, decision, claims, &leak.to_string());
            }
            Resolution::judged(*number, decision, defenses, &judge::verdict(*number, &judgements))
        };
        Ok(contests.iter().map(resolution).collect())
    }

    /// Returns which agents answer now, and warns of those that the run still counted on. There is
    /// one warning for each agent that does not answer, in the order of the seats.
    fn judges_there(&mut self) -> Walked<Available> {
        let Health { available, warnings } = self.probe(Occasion::Judges)?;
        let missing = [Holder::First, Holder::Second].into_iter();
        let missing = missing.filter(|holder| !available.has(*holder));
        for (holder, warning) in missing.zip(warnings) {
            if self.available.has(holder) {
                self.warn(warning.clone());
            }
        }
        Ok(*available)
    }

    fn judge_request(&self, seat: &Seat, decided: &Decided<'_>) -> Request {
        let id = judge_lane(seat);
        Request {
            prompt: self.prompt_of(&id, || prompt::judge(decided, reader(seat))),
            id,
            holder: seat.runner,
            step: self.step.0,
            kind: seat.kind.clone(),
            file: seat.file.clone(),
        }
    }
}

fn judge_lane(seat: &Seat) -> LaneId {
    LaneId(format!("judge/{}", seat.label))
}

/// Says that a judge gave no answer.
fn judge_failed(judge: &str, reason: &str) -> String {
    let reason = if reason.is_empty() { "it gave no readable answer" } else { reason };
    unnumbered_warning(&format!("{judge} judge failed — {reason}. It casts no vote."))
}
