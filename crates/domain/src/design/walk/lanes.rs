//! Lanes of a walk: their results, and their states over time.

use super::{DesignEnding, Halt, LaneNeed, Need, Walk, Walked, seconds};
use crate::design::board::{Board, Cell, Standing, Table};
use crate::design::event::{LaneEnd, LaneId, Millis};
use crate::design::facts::Course;
use crate::design::notice::Notice;
use crate::design::seat::Seat;

/// A board that lanes are followed on.
pub(super) struct Watched<'w> {
    board: Board,
    /// Tells whether an answer is one that can be used.
    is_usable: &'w dyn Fn(&LaneEnd) -> bool,
}

impl<'w> Watched<'w> {
    /// Makes a board on which no lane has started.
    pub(super) fn new(
        table: Table,
        seats: &[Seat],
        is_usable: &'w dyn Fn(&LaneEnd) -> bool,
    ) -> Self {
        let cell = |seat: &Seat| Cell {
            label: seat.label.clone(),
            lane: None,
            standing: Standing::NotStarted,
        };
        Self { board: Board { table, cells: seats.iter().map(cell).collect() }, is_usable }
    }
}

impl<'f> Walk<'f> {
    /// Returns a lane's prompt; empty if the lane has ended. The walk repeats with every event, and
    /// prompts are the longest texts it writes.
    pub(super) fn prompt_of(&self, id: &LaneId, prompt: impl FnOnce() -> String) -> String {
        let is_over = self.facts.lane(id).is_some_and(|course| course.ended.is_some());
        if is_over { String::new() } else { prompt() }
    }

    /// Returns the results of lanes, in their order, when all have ended. With a board, each lane
    /// belongs to a cell of it.
    pub(super) fn lanes(
        &mut self,
        requests: Vec<LaneNeed>,
        watched: Option<(&mut Watched<'_>, &[usize])>,
    ) -> Walked<Vec<&'f LaneEnd>> {
        let facts = self.facts;
        self.state.asked.extend(requests.iter().map(|request| request.id.clone()));
        let courses: Vec<_> = requests.iter().map(|request| facts.lane(&request.id)).collect();
        self.show_course(&requests, &courses, watched);
        let ends: Vec<_> = courses
            .iter()
            .filter_map(|course| course.and_then(|course| course.ended.as_ref()))
            .map(|(_, _, end)| end.as_ref())
            .collect();
        if ends.len() == requests.len() {
            return Ok(ends);
        }
        if let Some((_, stop)) = facts.budget() {
            return Err(Halt::End(DesignEnding::OverBudget(stop.clone())));
        }
        let open = requests.into_iter().zip(courses).filter_map(|(request, course)| {
            course.is_none_or(|course| course.ended.is_none()).then_some(request)
        });
        let open = open.map(|request| self.with_material(request)).collect();
        Err(Halt::Need(Need::Lanes(open)))
    }

    fn with_material(&self, request: LaneNeed) -> LaneNeed {
        let LaneNeed { id, holder, prompt, .. } = &request;
        let prompt = self.settings.with_material(id.kind(), *holder, prompt);
        LaneNeed { prompt, ..request }
    }

    /// Follows lanes through time, and shows their states whenever one changes.
    fn show_course(
        &mut self,
        requests: &[LaneNeed],
        courses: &[Option<&'f Course>],
        watched: Option<(&mut Watched<'_>, &[usize])>,
    ) {
        let mut moments: Vec<(u64, Millis, usize, Option<&LaneEnd>)> = Vec::new();
        for (lane, course) in courses.iter().enumerate() {
            let Some(course) = course else { continue };
            moments.extend(course.started.map(|(order, at)| (order, at, lane, None)));
            moments.extend(
                course.ended.as_ref().map(|(order, at, end)| (*order, *at, lane, Some(&**end))),
            );
        }
        moments.sort_by_key(|(order, ..)| *order);
        let Some((watched, places)) = watched else {
            for (_, at, ..) in moments {
                self.state.at(at);
            }
            return;
        };
        for (index, (_, at, lane, end)) in moments.into_iter().enumerate() {
            self.state.at(at);
            // When the first of them starts, so do the others.
            if index == 0 {
                for (request, place) in requests.iter().zip(places) {
                    let cell = &mut watched.board.cells[*place];
                    (cell.lane, cell.standing) = (Some(request.id.clone()), Standing::Running);
                }
            }
            if let Some(end) = end {
                let took = seconds(i64::try_from(end.took).unwrap_or(i64::MAX));
                let standing = if (watched.is_usable)(end) {
                    Standing::Done(took)
                } else {
                    Standing::Failed(took)
                };
                watched.board.cells[places[lane]].standing = standing;
            }
            if index == 0 || end.is_some() {
                self.tell(Notice::LaneBoard(watched.board.clone()));
            }
        }
    }
}
