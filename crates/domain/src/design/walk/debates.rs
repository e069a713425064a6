//! Step 2a.5, first half: contested decisions are debated by one agent each.

use super::interview::Scope;
use super::sketches::Synthesis;
use super::{Request, Walk, Walked};
use crate::design::bucket;
use crate::design::debate::{self, Defense, Fault};
use crate::design::decision;
use crate::design::event::{Boundary, LaneId};
use crate::design::judge::Contest;
use crate::design::progress::{Shown, Step};
use crate::design::prompt;
use crate::design::resolution::{self, Resolution};
use crate::design::seat::{Part, Seat, Side};
use crate::lane::collected::CollectedStatus;

impl Walk<'_> {
    /// Debates and judges what is contested. Agents that fail here are asked again later.
    pub(super) fn dialectic(
        &mut self,
        scope: &Scope,
        synthesis: &Synthesis,
    ) -> Walked<Vec<Resolution>> {
        self.begin(Step::Dialectic);
        if synthesis.decisions.is_empty() {
            self.skip("no contested decisions");
            self.file("dialectic-resolutions.md", String::new());
            return Ok(Vec::new());
        }
        let available = self.available;
        let resolutions = self.resolutions(scope, synthesis)?;
        self.available = available;
        self.docket.decisions.clone_from(&synthesis.decisions);
        self.docket.resolutions.clone_from(&resolutions);
        let text = resolution::render(&resolutions);
        self.file("dialectic-resolutions.md", text.clone());
        // The file has its own heading.
        if !self.settings.nested {
            let body = text.trim_start_matches(Shown::Resolutions.header()).trim();
            self.publish(Shown::Resolutions, None, body);
        }
        self.done(&resolution::counts(&resolutions));
        Ok(resolutions)
    }

    fn resolutions(&mut self, scope: &Scope, synthesis: &Synthesis) -> Walked<Vec<Resolution>> {
        let decisions = &synthesis.decisions;
        let selected = decision::selected(decisions);
        let mut resolved: Vec<Option<Resolution>> = vec![None; decisions.len()];
        for bucket in bucket::skipped(&self.settings.panel, selected, self.available) {
            self.warn(bucket.warning());
            for number in &bucket.decisions {
                let decision = &decisions[number - 1];
                let entry = Resolution::bucket_skipped(*number, decision, &bucket.reason());
                resolved[number - 1] = Some(entry);
            }
        }
        for (place, decision) in decisions.iter().enumerate().skip(selected) {
            resolved[place] = Some(Resolution::over_cap(place + 1, decision));
        }
        let debated = self.debated(scope, synthesis, selected)?;
        let mut contests = Vec::new();
        for (number, defenses) in &debated {
            let decision = &decisions[number - 1];
            match defenses {
                Ok(defenses) => contests.push(Contest { number: *number, decision, defenses }),
                Err((fault, claims)) => {
                    let claims = [claims[0].as_deref(), claims[1].as_deref()];
                    let entry = Resolution::fallback(*number, decision, claims, &fault.reason());
                    resolved[number - 1] = Some(entry);
                }
            }
        }
        if !contests.is_empty() {
            for resolution in self.judged(scope, &contests)? {
                let place = resolution.number - 1;
                resolved[place] = Some(resolution);
            }
        }
        Ok(resolved.into_iter().flatten().collect())
    }

    /// Runs every debate, both sides at once, and says which of them judges may see.
    fn debated(
        &mut self,
        scope: &Scope,
        synthesis: &Synthesis,
        selected: usize,
    ) -> Walked<Vec<Debated>> {
        let mut seats = Vec::new();
        for number in 1..=selected {
            seats
                .extend(self.settings.panel.debaters(number, self.available).into_iter().flatten());
        }
        if seats.is_empty() {
            return Ok(Vec::new());
        }
        let requests =
            seats.iter().map(|seat| self.debate_request(seat, scope, synthesis)).collect();
        let ends = self.lanes(requests, None)?;
        self.tree(Boundary::Debates)?;
        let mut debated = Vec::new();
        for (pair, ends) in seats.chunks(2).zip(ends.chunks(2)) {
            let mut sides = [None, None];
            let mut number = 0;
            for (place, (seat, end)) in pair.iter().zip(ends).enumerate() {
                let (decision, side) = debater(seat);
                number = decision;
                self.file(&seat.file, end.answer.clone());
                if end.status == CollectedStatus::Ok {
                    self.remember("debate", seat, end);
                    sides[place] = Some(&*end.answer);
                } else {
                    let name = self.settings.panel.named(seat.runner).name();
                    self.warn(debate::lane_warning(name, decision, side, &end.reason));
                }
            }
            let gate = debate::gate(sides[0], sides[1]);
            if let Err(fault) = &gate {
                self.warn(fault.warning(number));
            }
            let claims = || {
                [(0, Side::Thesis), (1, Side::Antithesis)].map(|(place, side)| {
                    debate::read(sides[place]?, side).ok().map(|defense| defense.claim)
                })
            };
            debated.push((number, gate.map_err(|fault| (fault, claims()))));
        }
        Ok(debated)
    }

    fn debate_request(&mut self, seat: &Seat, scope: &Scope, synthesis: &Synthesis) -> Request {
        let (number, side) = debater(seat);
        let prompt = debate_prompt(scope, synthesis, number, side);
        self.file(&format!("debate-{number}-{}-prompt.txt", side.word()), prompt.clone());
        Request {
            id: LaneId(format!("debate/{number}/{}", side.word())),
            holder: seat.runner,
            step: self.step.0,
            kind: seat.kind.clone(),
            file: seat.file.clone(),
            prompt,
        }
    }
}

/// A decision's number, and both cases or why there are not two.
type Debated = (usize, Result<[Defense; 2], (Fault, [Option<String>; 2])>);

fn debater(seat: &Seat) -> (usize, Side) {
    match seat.part {
        Part::Debate { decision, side } => (decision, side),
        Part::Sketch(_) | Part::Judge | Part::Review(_) | Part::Vote => (1, Side::Thesis),
    }
}

fn debate_prompt(scope: &Scope, synthesis: &Synthesis, number: usize, side: Side) -> String {
    let decision = &synthesis.decisions[number - 1];
    let debate = prompt::Debate {
        feature: scope.feature(),
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
