//! Step 2a.5, first half: contested decisions are debated by one agent each.

use super::judges::judge_contests;
use super::phases::Passage;
use super::{LaneNeed, Walk, Walked};
use crate::design::bucket;
use crate::design::citation::CitedIn;
use crate::design::debate::{self, DebateFault, Defense};
use crate::design::decision;
use crate::design::event::{Boundary, LaneId};
use crate::design::evidence::{DebateEvidence, DefenseEvidence};
use crate::design::judge::Contest;
use crate::design::lane_id::LaneKind;
use crate::design::notice::ToldArtifact;
use crate::design::outline::{SettledScope, Synthesis};
use crate::design::progress::Step;
use crate::design::prompt;
use crate::design::recount::debate_prompt_file;
use crate::design::resolution::{self, Resolution};
use crate::design::seat::{Seat, SeatPart, Side};
use crate::design::warning::DebateWarning;
use crate::lane::collected::CollectedStatus;

/// Debates and judges the contested decisions. An agent that fails here stays available for later
/// phases.
pub(super) fn dialectic(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Dialectic);
    let synthesis = walk.state.results.synthesis.clone().unwrap_or_default();
    if synthesis.decisions.is_empty() {
        walk.skip("no contested decisions");
        walk.results().resolutions = Some(Vec::new());
        return Ok(Passage::On);
    }
    let available = walk.state.roster.available;
    let resolutions = resolve(walk, &synthesis)?;
    walk.state.roster.available = available;
    walk.show(ToldArtifact::Resolutions(resolutions.clone()));
    walk.done(&resolution::counts(&resolutions));
    walk.results().resolutions = Some(resolutions);
    Ok(Passage::On)
}

fn resolve(walk: &mut Walk<'_>, synthesis: &Synthesis) -> Walked<Vec<Resolution>> {
    let decisions = &synthesis.decisions;
    let selected = decision::selected(decisions);
    let mut resolved: Vec<Option<Resolution>> = vec![None; decisions.len()];
    let available = walk.state.roster.available;
    for bucket in bucket::skipped(&walk.settings.panel, selected, available) {
        walk.warn(DebateWarning::BucketSkipped(bucket.clone()));
        for number in &bucket.decisions {
            let decision = &decisions[number - 1];
            let entry = Resolution::bucket_skipped(*number, decision, &bucket.reason());
            resolved[number - 1] = Some(entry);
        }
    }
    for (place, decision) in decisions.iter().enumerate().skip(selected) {
        resolved[place] = Some(Resolution::over_cap(place + 1, decision));
    }
    let debated = debate_all(walk, synthesis, selected)?;
    let mut contests = Vec::new();
    for (number, defenses) in &debated {
        let decision = &decisions[number - 1];
        match defenses {
            Ok(defenses) => {
                let looked_up = [None, None];
                contests.push(Contest { number: *number, decision, defenses, looked_up });
            }
            Err((fault, claims)) => {
                let claims = [claims[0].as_deref(), claims[1].as_deref()];
                let entry = Resolution::fallback(*number, decision, claims, &fault.reason());
                resolved[number - 1] = Some(entry);
            }
        }
    }
    if !contests.is_empty() {
        let lines = look_up_cases(walk, &contests)?;
        for (contest, lines) in contests.iter_mut().zip(&lines) {
            contest.looked_up = lines.each_ref().map(Option::as_deref);
        }
        for resolution in judge_contests(walk, &contests)? {
            let place = resolution.number - 1;
            resolved[place] = Some(resolution);
        }
    }
    Ok(resolved.into_iter().flatten().collect())
}

/// Looks up what both sides of debates cite, before judges go by it; returns a line for each case.
fn look_up_cases(
    walk: &mut Walk<'_>,
    contests: &[Contest<'_>],
) -> Walked<Vec<[Option<String>; 2]>> {
    let cases = |contest: &Contest<'_>| contest.defenses.each_ref().map(Defense::text);
    let texts: Vec<_> = contests.iter().flat_map(cases).collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    walk.look_up(CitedIn::Debates, &texts)?;
    let book = &walk.state.results.citations;
    Ok(contests.iter().map(|contest| cases(contest).map(|text| book.line(&text))).collect())
}

/// Runs every debate, both sides in parallel, and returns which of them judges may see.
fn debate_all(walk: &mut Walk<'_>, synthesis: &Synthesis, selected: usize) -> Walked<Vec<Debated>> {
    let (panel, available) = (&walk.settings.panel, walk.state.roster.available);
    let seats: Vec<_> =
        (1..=selected).filter_map(|number| panel.debaters(number, available)).flatten().collect();
    if seats.is_empty() {
        return Ok(Vec::new());
    }
    let requests = seats.iter().map(|seat| debate_request(walk, seat, synthesis)).collect();
    let ends = walk.lanes(requests, None)?;
    walk.check_tree(Boundary::Debates)?;
    let (mut debated, mut evidence) = (Vec::new(), Vec::new());
    for (pair, ends) in seats.chunks(2).zip(ends.chunks(2)) {
        let mut sides = [None, None];
        let mut number = 0;
        for (place, (seat, end)) in pair.iter().zip(ends).enumerate() {
            let (decision, side) = debater(seat);
            number = decision;
            walk.keep_answer(&seat.file, end);
            if end.status == CollectedStatus::Ok {
                walk.remember(LaneKind::Debate, seat, end);
                sides[place] = Some(&*end.answer);
            } else {
                let agent = walk.settings.panel.named(seat.runner).name().to_owned();
                let reason = end.reason_text();
                walk.warn(DebateWarning::SideFailed { agent, decision, side, reason });
            }
        }
        let gate = debate::gate(sides[0], sides[1]);
        if let Err(fault) = &gate {
            walk.warn(DebateWarning::NoQuorum { decision: number, fault: *fault });
        }
        let claims = || {
            [(0, Side::Thesis), (1, Side::Antithesis)].map(|(place, side)| {
                debate::read(sides[place]?, side).ok().map(|defense| defense.claim)
            })
        };
        evidence.extend(debate_evidence(number, pair, sides));
        debated.push((number, gate.map_err(|fault| (fault, claims()))));
    }
    walk.results().evidence.debates = evidence.into();
    Ok(debated)
}

/// Keeps both cases, also one that does not reach the judges.
fn debate_evidence(
    number: usize,
    seats: &[Seat],
    answers: [Option<&str>; 2],
) -> Option<DebateEvidence> {
    let [thesis, antithesis] = seats else { return None };
    let case = |seat: &Seat, answer: Option<&str>| {
        let (_, side) = debater(seat);
        let read = |answer| debate::read(answer, side);
        let defense = answer.map_or(Err(DebateFault::NoOutput), read);
        DefenseEvidence { side, runner: seat.runner, defense }
    };
    Some(DebateEvidence { number, sides: [case(thesis, answers[0]), case(antithesis, answers[1])] })
}

fn debate_request(walk: &mut Walk<'_>, seat: &Seat, synthesis: &Synthesis) -> LaneNeed {
    let (number, side) = debater(seat);
    let prompt = debate_prompt(&walk.state.results.scope, synthesis, number, side);
    let file = debate_prompt_file(number, side);
    walk.results().answers.insert(file, prompt.as_str().into());
    LaneNeed {
        id: LaneId::new(LaneKind::Debate, &format!("{number}/{}", side.word())),
        holder: seat.runner,
        step: walk.state.step.0,
        kind: seat.kind.clone(),
        file: seat.file.clone(),
        prompt,
    }
}

/// A decision's number, and both cases or why there are not two.
type Debated = (usize, Result<[Defense; 2], (DebateFault, [Option<String>; 2])>);

fn debater(seat: &Seat) -> (usize, Side) {
    match seat.part {
        SeatPart::Debate { decision, side } => (decision, side),
        SeatPart::Sketch(_) | SeatPart::Judge | SeatPart::Review(_) | SeatPart::Vote => {
            (1, Side::Thesis)
        }
    }
}

fn debate_prompt(scope: &SettledScope, synthesis: &Synthesis, number: usize, side: Side) -> String {
    let decision = &synthesis.decisions[number - 1];
    let debate = prompt::Debate {
        feature: &scope.feature,
        discussion: &scope.file(),
        synthesis: &synthesis.text,
        decision_block: &decision.block(number),
        chosen: &decision.chosen,
        alternative: &decision.alternative,
        tension: &decision.tension,
        affected_files: &decision.affected,
    };
    prompt::debate(side, &debate)
}
