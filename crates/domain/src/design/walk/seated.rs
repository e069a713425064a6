//! Lanes of a panel: all seats in parallel, and the host in place of an agent that fails.

use super::lanes::Watched;
use super::{LaneNeed, Walk, Walked};
use crate::design::board::Table;
use crate::design::event::{LaneEnd, LaneId};
use crate::design::lane_id::LaneKind;
use crate::design::outline::Voice;
use crate::design::progress::unnumbered_warning;
use crate::design::quote;
use crate::design::seat::{Holder, Seat};
use crate::lane::collected::CollectedStatus;

/// A phase in which every seat is asked.
pub(super) struct SeatedPhase<'p> {
    /// What its lanes are asked for.
    pub(super) kind: LaneKind,
    /// How it is called in a warning.
    pub(super) noun: &'static str,
    /// Where its progress is shown.
    pub(super) table: Table,
    /// What a seat is asked.
    pub(super) prompt: &'p dyn Fn(&Seat) -> String,
    /// What is wrong with an answer, if anything is.
    pub(super) flaw: &'p dyn Fn(&str) -> Option<(CollectedStatus, String)>,
    /// What a seat is asked once more, after an answer with this flaw.
    pub(super) again: &'p dyn Fn(&Seat, &str, &str) -> String,
    /// Whether the beginning of an answer that was cut off is worth having.
    pub(super) takes_beginnings: bool,
}

impl SeatedPhase<'_> {
    /// Says why an answer cannot be used.
    fn refuses(&self, end: &LaneEnd) -> Option<String> {
        let flaw = || (self.flaw)(&end.answer).map(|(_, reason)| reason);
        if end.status == CollectedStatus::Ok {
            return flaw();
        }
        let is_enough = self.takes_beginnings && end.is_cut_off() && flaw().is_none();
        (!is_enough).then(|| end.reason.clone())
    }
}

/// An answer that will do, and the seat that gave it.
pub(super) struct Taken<'f> {
    pub(super) seat: Seat,
    pub(super) answer: &'f str,
}

/// An answer that will do, or the end of the lane and why there is none.
type Found<'f> = Result<Taken<'f>, (&'f LaneEnd, String)>;

impl<'f> Walk<'f> {
    /// Asks every seat. Where an agent fails, the host is asked in its place, once, and the agent not
    /// at all any more; a seat that has no answer even then is left empty. An agent that answers in
    /// another form is asked once more before that, and keeps its seat for later phases.
    pub(super) fn seated(
        &mut self,
        seats: &[Seat],
        phase: &SeatedPhase<'_>,
    ) -> Walked<Vec<Taken<'f>>> {
        let will_do = |end: &LaneEnd| phase.refuses(end).is_none();
        let mut watched = Watched::new(phase.table, seats, &will_do);
        let everybody: Vec<_> = seats.iter().cloned().enumerate().collect();
        let mut places = self.asked_twice(&everybody, phase, "", &mut watched)?;
        let mut again = Vec::new();
        for (place, seat) in seats.iter().enumerate() {
            let Err((end, reason)) = &places[place] else { continue };
            self.fell_out(seat, end, reason, phase);
            if seat.runner != Holder::Host && !self.state.roster.is_host_lost {
                again.push((place, seat.taken_by(Holder::Host, &self.settings.panel)));
            }
        }
        let replaced = self.asked_twice(&again, phase, "/host", &mut watched)?;
        for ((place, seat), found) in again.into_iter().zip(replaced) {
            places[place] = found;
            if let Err((_, reason)) = &places[place] {
                let reason = quote::line(reason);
                self.left_empty(&seat, &reason, phase);
            }
        }
        Ok(places.into_iter().filter_map(Result::ok).collect())
    }

    /// Asks seats, each for its place, and those once more that answered in another form.
    fn asked_twice(
        &mut self,
        asked: &[(usize, Seat)],
        phase: &SeatedPhase<'_>,
        suffix: &str,
        watched: &mut Watched<'_>,
    ) -> Walked<Vec<Found<'f>>> {
        let request =
            |(_, seat): &(usize, Seat)| self.request(seat, phase, suffix, &|| (phase.prompt)(seat));
        let requests = asked.iter().map(request).collect();
        let places: Vec<_> = asked.iter().map(|(place, _)| *place).collect();
        let ends = self.lanes(requests, Some((watched, &places)))?;
        let mut found: Vec<Found<'f>> = Vec::new();
        for ((_, seat), end) in asked.iter().zip(ends) {
            found.push(self.taken(seat, end, phase));
        }
        if !self.settings.policy.forgives_form() {
            return Ok(found);
        }
        let (mut slipped, mut requests) = (Vec::new(), Vec::new());
        for (at, (_, seat)) in asked.iter().enumerate() {
            let Err((end, reason)) = &found[at] else { continue };
            if end.status == CollectedStatus::Ok {
                let prompt = || (phase.again)(seat, &end.answer, reason);
                requests.push(self.request(seat, phase, &format!("{suffix}/again"), &prompt));
                slipped.push(at);
            }
        }
        let places: Vec<_> = slipped.iter().map(|at| asked[*at].0).collect();
        let ends = self.lanes(requests, Some((watched, &places)))?;
        for (at, end) in slipped.into_iter().zip(ends) {
            found[at] = self.taken(&asked[at].1, end, phase);
        }
        Ok(found)
    }

    fn request(
        &self,
        seat: &Seat,
        phase: &SeatedPhase<'_>,
        suffix: &str,
        prompt: &dyn Fn() -> String,
    ) -> LaneNeed {
        let id = LaneId::new(phase.kind, &format!("{}{suffix}", seat.label));
        LaneNeed {
            prompt: self.prompt_of(&id, prompt),
            id,
            holder: seat.runner,
            step: self.state.step.0,
            kind: seat.kind.clone(),
            file: seat.file.clone(),
        }
    }

    /// Takes an answer that will do; else returns why not.
    fn taken(&mut self, seat: &Seat, end: &'f LaneEnd, phase: &SeatedPhase<'_>) -> Found<'f> {
        self.keep_answer(&seat.file, end);
        if let Some(reason) = phase.refuses(end) {
            return Err((end, reason));
        }
        if end.is_cut_off() {
            let (label, noun) = (&seat.label, phase.noun);
            let text = format!("{label} {noun} is only a beginning: {}.", quote::line(&end.reason));
            self.warn(unnumbered_warning(&text));
        }
        self.remember(phase.kind, seat, end);
        Ok(Taken { seat: seat.clone(), answer: &end.answer })
    }

    /// Keeps who answered, for the statement of independence.
    pub(super) fn remember(&mut self, kind: LaneKind, seat: &Seat, end: &LaneEnd) {
        self.results().voices.push(Voice {
            label: seat.label.clone(),
            kind,
            owner: seat.owner,
            runner: seat.runner,
            model: end.model.clone(),
        });
    }

    fn fell_out(&mut self, seat: &Seat, end: &LaneEnd, reason: &str, phase: &SeatedPhase<'_>) {
        let panel = &self.settings.panel;
        let (name, host) = (panel.named(seat.runner).name(), panel.named(Holder::Host).name());
        let reason = quote::line(reason);
        if seat.runner == Holder::Host {
            self.left_empty(seat, &reason, phase);
            return;
        }
        // Nobody failed if nothing may be spent any more.
        if end.status == CollectedStatus::BudgetSpent {
            return;
        }
        // An answer in another form says nothing about the next one.
        if end.status == CollectedStatus::Ok && self.settings.policy.forgives_form() {
            let (noun, label) = (phase.noun, &seat.label);
            let text = format!(
                "{name} gave no usable {noun} in two tries ({label}): {reason}. {host} answers in \
                 its place; {name} keeps its later seats."
            );
            self.warn(unnumbered_warning(&text));
            return;
        }
        let was_lost = !self.state.roster.available.has(seat.runner);
        self.state.roster.lose(seat.runner);
        let text =
            format!("{name} failed — {reason}. Using {host} replacement for remainder of session.");
        let warning = unnumbered_warning(&text);
        if !was_lost {
            self.warn(warning);
        } else if !self.log.warnings.contains(&warning) {
            self.log.warnings.push(warning);
        }
    }

    /// Says that not even the host fills a seat, and which.
    fn left_empty(&mut self, seat: &Seat, reason: &str, phase: &SeatedPhase<'_>) {
        let name = self.settings.panel.named(Holder::Host).name();
        let (noun, label) = (phase.noun, &seat.label);
        let text = format!("{name} {noun} failed ({label}): {reason}. Going on without it.");
        self.warn(unnumbered_warning(&text));
    }
}
