//! Step 2a.5, second half: judges decide the debates without knowing the debaters' names.

use std::collections::BTreeSet;

use super::sketches::reader;
use super::{LaneNeed, Walk, Walked};
use crate::design::anonymity::Hidden;
use crate::design::event::{Boundary, Health, LaneEnd, LaneId, Occasion};
use crate::design::evidence::JudgeEvidence;
use crate::design::judge::{self, Asked, Contest, Judgement, OrderCheck};
use crate::design::lane_id::LaneKind;
use crate::design::prompt::{self, Decided};
use crate::design::reading_order::{JudgeOrders, ReadingOrder};
use crate::design::resolution::Resolution;
use crate::design::seat::{Available, Holder, Seat};
use crate::design::settled::is_judgement_settled;
use crate::design::voting_block::{Poll, Reading};
use crate::design::warning::DebateWarning;
use crate::lane::collected::CollectedStatus;

/// Has debates judged. All agents available now are seated; one that failed before may be back.
pub(super) fn judge_contests(
    walk: &mut Walk<'_>,
    contests: &[Contest<'_>],
) -> Walked<Vec<Resolution>> {
    let hidden = Hidden::of(&walk.settings.panel);
    let ballot = judge::ballot(contests, &hidden, ReadingOrder::WRITTEN);
    for warning in ballot.warnings() {
        walk.warn(warning);
    }
    let judgements = match &ballot.text {
        Some(text) => judgements(walk, contests, text, &ballot.numbers)?,
        None => Vec::new(),
    };
    let resolution = |contest: &Contest<'_>| {
        let Contest { number, decision, defenses, .. } = contest;
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
    contests: &[Contest<'_>],
    text: &str,
    numbers: &BTreeSet<usize>,
) -> Walked<Vec<Judgement>> {
    walk.results().judges_ballot = Some(text.into());
    let scope = walk.state.results.scope.clone();
    let available = judges_there(walk)?;
    let seats = walk.settings.panel.judges(available);
    let discussion = scope.file();
    let ids: Vec<_> =
        seats.iter().flat_map(|seat| lanes_of(seat, walk.settings.judge_orders)).collect();
    let texts = [scope.feature.as_str(), &discussion, text];
    let word = walk.marker_word(Poll::Judges, &ids, &texts)?;
    let hidden = Hidden::of(&walk.settings.panel);
    let orders = walk.reading_orders(word, seats.len());
    let request = |walk: &Walk<'_>, place: usize| {
        let (seat, order) = (&seats[place], orders[place]);
        let lanes = lanes_of(seat, walk.settings.judge_orders);
        let needs = lanes.into_iter().zip([order, order.turned()]).map(|(id, order)| {
            let ballot = judge::ballot(contests, &hidden, order).text.unwrap_or_default();
            let (feature, discussion) = (scope.feature.as_str(), discussion.as_str());
            judge_request(walk, seat, id, &Decided { feature, discussion, ballot: &ballot, word })
        });
        needs.collect()
    };
    let asked = Asked {
        on_ballot: numbers,
        policy: walk.settings.policy,
        reading: word.map_or(Reading::Plain, Reading::Marked),
    };
    let is_settled = |ends: &[Vec<&LaneEnd>]| {
        let read = ends.iter().filter_map(|ends| Some(read_checked(ends, asked)?.0));
        let read: Vec<_> = read.collect();
        is_judgement_settled(numbers, &read, seats.len() - read.len())
    };
    let labels: Vec<_> = seats.iter().map(|seat| seat.label.as_str()).collect();
    let ends = walk.poll(Poll::Judges, &labels, &request, &is_settled)?;
    walk.check_tree(Boundary::Judges)?;
    let heard = seats.iter().zip(orders).zip(&ends);
    let evidence: Vec<_> =
        heard.filter_map(|((seat, order), ends)| hear(walk, seat, order, ends, asked)).collect();
    let judgements = evidence.iter().map(|judge| judge.judgement.clone()).collect();
    walk.results().evidence.judges = evidence.into();
    Ok(judgements)
}

/// Takes in a judge's answers, and warns of what is odd about them.
fn hear(
    walk: &mut Walk<'_>,
    seat: &Seat,
    order: ReadingOrder,
    ends: &[&LaneEnd],
    asked: Asked<'_>,
) -> Option<JudgeEvidence> {
    let (judgement, order_check) = read_checked(ends, asked)?;
    let end = ends.first()?;
    let answer = answer_of(end);
    if answer.is_some() {
        walk.remember(LaneKind::Judge, seat, end);
        if let Some(voice) = walk.results().voices.last_mut() {
            voice.order_check.clone_from(&order_check);
        }
    }
    if seat.runner != Holder::Host {
        walk.keep_answer(&seat.file, end);
    }
    if judgement == Judgement::Ineligible {
        let (judge, reason) = (seat.label.clone(), end.reason_text());
        walk.warn(DebateWarning::JudgeFailed { judge, reason });
    }
    if let Some(failed) = ends.get(1).filter(|end| answer_of(end).is_none()) {
        let judge = format!("{} (reverse order)", seat.label);
        walk.warn(DebateWarning::JudgeFailed { judge, reason: failed.reason_text() });
    }
    let near = answer.and_then(|answer| judge::near_votes(&seat.label, answer, asked));
    for warning in judgement.warnings(&seat.label).into_iter().chain(near) {
        walk.warn(warning);
    }
    Some(JudgeEvidence {
        label: seat.label.clone(),
        owner: seat.owner,
        runner: seat.runner,
        order,
        judgement,
        order_check,
    })
}

/// Reads a judge's answer, and compares it with the one to the turned ballot, if there is one.
fn read_checked(ends: &[&LaneEnd], asked: Asked<'_>) -> Option<(Judgement, Option<OrderCheck>)> {
    let (first, turned) = ends.split_first()?;
    let mut judgement = judge::read(answer_of(first), asked);
    let turned = turned.first().map(|end| judge::read(answer_of(end), asked));
    let check = turned.map(|turned| judgement.check_with(&turned));
    Some((judgement, check))
}

/// Returns the answer of a lane that has one.
fn answer_of(end: &LaneEnd) -> Option<&str> {
    (end.status == CollectedStatus::Ok).then_some(&*end.answer)
}

/// Returns which agents answer now, and warns of those that the run still counted on. Early journals
/// have one sentence for each agent that does not answer, in the order of the seats.
fn judges_there(walk: &mut Walk<'_>) -> Walked<Available> {
    let Health { available, absences } = walk.probe(Occasion::Judges)?;
    let mut missing =
        [Holder::First, Holder::Second].into_iter().filter(|holder| !available.has(*holder));
    for absence in absences {
        let holder = absence.holder().or_else(|| missing.next());
        if holder.is_some_and(|holder| walk.state.roster.available.has(holder)) {
            walk.warn(absence.warning(walk.settings, Occasion::Judges, *available));
        }
    }
    Ok(*available)
}

fn judge_request(walk: &Walk<'_>, seat: &Seat, id: LaneId, decided: &Decided<'_>) -> LaneNeed {
    // Only the answer in the first order is an artifact of the run.
    let is_turned = id != judge_lane(seat);
    LaneNeed {
        prompt: walk.prompt_of(&id, || prompt::judge(decided, reader(seat))),
        id,
        holder: seat.runner,
        step: walk.state.step.0,
        kind: seat.kind.clone(),
        file: if is_turned { String::new() } else { seat.file.clone() },
    }
}

/// Returns a judge's lanes: one for each order in which it reads the ballot.
fn lanes_of(seat: &Seat, orders: JudgeOrders) -> Vec<LaneId> {
    let turned = || LaneId::new(LaneKind::Judge, &format!("{}/turned", seat.label));
    match orders {
        JudgeOrders::One => vec![judge_lane(seat)],
        JudgeOrders::Both => vec![judge_lane(seat), turned()],
    }
}

fn judge_lane(seat: &Seat) -> LaneId {
    LaneId::new(LaneKind::Judge, &seat.label)
}
