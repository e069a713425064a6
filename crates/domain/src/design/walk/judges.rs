//! Step 2a.5, second half: three judges decide the debates without knowing the debaters' names.

use std::collections::BTreeSet;

use super::sketches::reader;
use super::{LaneNeed, Walk, Walked};
use crate::design::anonymity::Hidden;
use crate::design::event::{Boundary, Health, LaneId, Occasion};
use crate::design::judge::{self, Asked, Contest, Judgement};
use crate::design::lane_id::LaneKind;
use crate::design::prompt::{self, Decided};
use crate::design::resolution::Resolution;
use crate::design::seat::{Available, Holder, Seat};
use crate::design::voting_block::{Poll, Reading};
use crate::design::warning::{DebateWarning, DesignWarning};
use crate::lane::collected::CollectedStatus;

/// Has debates judged. All agents available now are seated; one that failed before may be back.
pub(super) fn judge_contests(
    walk: &mut Walk<'_>,
    contests: &[Contest<'_>],
) -> Walked<Vec<Resolution>> {
    let ballot = judge::ballot(contests, &Hidden::of(&walk.settings.panel));
    for warning in ballot.warnings() {
        walk.warn(warning);
    }
    let judgements = match &ballot.text {
        Some(text) => judgements(walk, text, &ballot.numbers)?,
        None => Vec::new(),
    };
    let resolution = |contest: &Contest<'_>| {
        let Contest { number, decision, defenses } = contest;
        if let Some((_, leak)) = ballot.leaked.iter().find(|(leaked, _)| leaked == number) {
            let claims = defenses.each_ref().map(|defense| Some(defense.claim.as_str()));
            return Resolution::fallback(*number, decision, claims, &leak.to_string());
        }
        Resolution::from_verdict(*number, decision, defenses, &judge::verdict(*number, &judgements))
    };
    Ok(contests.iter().map(resolution).collect())
}

/// Sends a ballot to the judges, and reads their votes.
fn judgements(
    walk: &mut Walk<'_>,
    text: &str,
    numbers: &BTreeSet<usize>,
) -> Walked<Vec<Judgement>> {
    walk.results().judges_ballot = Some(text.into());
    let scope = walk.state.results.scope.clone();
    let available = judges_there(walk)?;
    let seats = walk.settings.panel.judges(available);
    let discussion = scope.file();
    let ids: Vec<_> = seats.iter().map(judge_lane).collect();
    let texts = [scope.feature.as_str(), &discussion, text];
    let word = walk.marker_word(Poll::Judges, &ids, &texts)?;
    let decided = Decided { feature: &scope.feature, discussion: &discussion, ballot: text, word };
    let requests = seats.iter().map(|seat| judge_request(walk, seat, &decided)).collect();
    let ends = walk.lanes(requests, None)?;
    walk.check_tree(Boundary::Judges)?;
    let asked = Asked {
        on_ballot: numbers,
        policy: walk.settings.policy,
        reading: word.map_or(Reading::Plain, Reading::Marked),
    };
    let mut judgements = Vec::new();
    for (seat, end) in seats.iter().zip(ends) {
        let answer = (end.status == CollectedStatus::Ok).then_some(&*end.answer);
        if answer.is_some() {
            walk.remember(LaneKind::Judge, seat, end);
        }
        if seat.runner != Holder::Host {
            walk.keep_answer(&seat.file, end);
        }
        let judgement = judge::read(answer, asked);
        if judgement == Judgement::Ineligible {
            let (judge, reason) = (seat.label.clone(), end.reason.clone());
            walk.warn(DebateWarning::JudgeFailed { judge, reason });
        }
        let near = answer.and_then(|answer| judge::near_votes(&seat.label, answer, asked));
        for warning in judgement.warnings(&seat.label).into_iter().chain(near) {
            walk.warn(warning);
        }
        judgements.push(judgement);
    }
    Ok(judgements)
}

/// Returns which agents answer now, and warns of those that the run still counted on. There is
/// one warning for each agent that does not answer, in the order of the seats.
fn judges_there(walk: &mut Walk<'_>) -> Walked<Available> {
    let Health { available, warnings } = walk.probe(Occasion::Judges)?;
    let missing = [Holder::First, Holder::Second].into_iter();
    let missing = missing.filter(|holder| !available.has(*holder));
    for (holder, warning) in missing.zip(warnings) {
        if walk.state.roster.available.has(holder) {
            walk.warn(DesignWarning::Unavailable(warning.clone()));
        }
    }
    Ok(*available)
}

fn judge_request(walk: &Walk<'_>, seat: &Seat, decided: &Decided<'_>) -> LaneNeed {
    let id = judge_lane(seat);
    LaneNeed {
        prompt: walk.prompt_of(&id, || prompt::judge(decided, reader(seat))),
        id,
        holder: seat.runner,
        step: walk.state.step.0,
        kind: seat.kind.clone(),
        file: seat.file.clone(),
    }
}

fn judge_lane(seat: &Seat) -> LaneId {
    LaneId::new(LaneKind::Judge, &seat.label)
}
