//! Lanes of a panel: all seats in parallel, and the host in place of an agent that fails.

use super::lanes::Watched;
use super::{LaneNeed, Walk, Walked};
use crate::design::board::Table;
use crate::design::event::{LaneEnd, LaneId};
use crate::design::lane_id::LaneKind;
use crate::design::outline::Voice;
use crate::design::quote;
use crate::design::seat::{Holder, Seat};
use crate::design::warning::{DesignWarning, SeatWarning};
use crate::lane::collected::CollectedStatus;

/// A phase in which every seat answers.
pub(super) struct SeatedPhase<'p> {
    /// The kind of work of its lanes.
    pub(super) kind: LaneKind,
    /// The answer's name in a warning.
    pub(super) noun: &'static str,
    /// The board that shows its progress.
    pub(super) table: Table,
    /// Returns a seat's prompt.
    pub(super) prompt: &'p dyn Fn(&Seat) -> String,
    /// Returns the flaw of an answer, if it has one.
    pub(super) flaw: &'p dyn Fn(&str) -> Option<(CollectedStatus, String)>,
    /// Returns the second prompt of a seat, after an answer with this flaw.
    pub(super) again: &'p dyn Fn(&Seat, &str, &str) -> String,
    /// Whether the beginning of an answer that was cut off is worth having.
    pub(super) takes_beginnings: bool,
}

impl SeatedPhase<'_> {
    /// Returns why an answer cannot be used.
    fn refuses(&self, end: &LaneEnd) -> Option<String> {
        let flaw = || (self.flaw)(&end.answer).map(|(_, reason)| reason);
        if end.status == CollectedStatus::Ok {
            return flaw();
        }
        let is_enough = self.takes_beginnings && end.is_cut_off() && flaw().is_none();
        (!is_enough).then(|| end.reason_text())
    }
}

/// A usable answer, and the seat that gave it.
pub(super) struct Taken<'f> {
    pub(super) seat: Seat,
    pub(super) answer: &'f str,
}

/// A usable answer, or the end of the lane and why it gave none.
type Found<'f> = Result<Taken<'f>, (&'f LaneEnd, String)>;

impl<'f> Walk<'f> {
    /// Asks every seat. If an agent fails, the host replaces it, once, and the agent is out of the
    /// run; a seat without an answer even then stays empty. An agent whose answer has the wrong
    /// form gets a second request first, and keeps its seat for later phases.
    pub(super) fn seated(
        &mut self,
        seats: &[Seat],
        phase: &SeatedPhase<'_>,
    ) -> Walked<Vec<Taken<'f>>> {
        let is_usable = |end: &LaneEnd| phase.refuses(end).is_none();
        let mut watched = Watched::new(phase.table, seats, &is_usable);
        let all_seats: Vec<_> = seats.iter().cloned().enumerate().collect();
        let mut places = self.asked_twice(&all_seats, phase, "", &mut watched)?;
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

    /// Asks seats, each for its place, and repeats the request to those that answered in another
    /// form.
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

    /// Takes a usable answer, or returns why it is unusable.
    fn taken(&mut self, seat: &Seat, end: &'f LaneEnd, phase: &SeatedPhase<'_>) -> Found<'f> {
        self.keep_answer(&seat.file, end);
        if let Some(reason) = phase.refuses(end) {
            return Err((end, reason));
        }
        if end.is_cut_off() {
            let (seat, noun) = (seat.label.clone(), phase.noun);
            let reason = end.reason_text();
            self.warn(SeatWarning::OnlyABeginning { seat, noun, reason });
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
            order_check: None,
        });
    }

    fn fell_out(&mut self, seat: &Seat, end: &LaneEnd, reason: &str, phase: &SeatedPhase<'_>) {
        let panel = &self.settings.panel;
        let agent = panel.named(seat.runner).name().to_owned();
        let host = panel.named(Holder::Host).name().to_owned();
        let reason = quote::line(reason);
        if seat.runner == Holder::Host {
            self.left_empty(seat, &reason, phase);
            return;
        }
        // A spent budget is not an agent's failure.
        if end.status == CollectedStatus::BudgetSpent {
            return;
        }
        // An answer in another form says nothing about the next one.
        if end.status == CollectedStatus::Ok && self.settings.policy.forgives_form() {
            let (noun, seat) = (phase.noun, seat.label.clone());
            self.warn(SeatWarning::MissedForm { agent, host, seat, noun, reason });
            return;
        }
        let was_lost = !self.state.roster.available.has(seat.runner);
        self.state.roster.lose(seat.runner);
        let warning = DesignWarning::from(SeatWarning::Failed { agent, host, reason });
        if !was_lost {
            self.warn(warning);
        } else if !self.log.warnings.contains(&warning) {
            self.log.warnings.push(warning);
        }
    }

    /// Warns that a seat stays empty because even the host failed.
    fn left_empty(&mut self, seat: &Seat, reason: &str, phase: &SeatedPhase<'_>) {
        let host = self.settings.panel.named(Holder::Host).name().to_owned();
        let (noun, seat, reason) = (phase.noun, seat.label.clone(), reason.to_owned());
        self.warn(SeatWarning::Empty { host, seat, noun, reason });
    }
}
