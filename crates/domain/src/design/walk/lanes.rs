//! Lanes on the way: what came of them, and how they stood meanwhile.

use super::{Ending, Halt, Line, Need, Request, Walk, Walked, seconds};
use crate::design::event::{LaneEnd, Millis};
use crate::design::facts::Course;
use crate::design::progress::{Standing, Table, status};
use crate::design::seat::Seat;
use crate::lane::collected::Status;

impl<'f> Walk<'f> {
    /// Returns what came of lanes, in their order, when all of them are over.
    pub(super) fn lanes(
        &mut self,
        requests: Vec<Request>,
        table: Option<(Table, &[Seat])>,
    ) -> Walked<Vec<&'f LaneEnd>> {
        let facts = self.facts;
        let courses: Vec<_> = requests.iter().map(|request| facts.lane(&request.id)).collect();
        self.show_course(&courses, table);
        let ends: Vec<_> = courses
            .iter()
            .filter_map(|course| course.and_then(|course| course.ended.as_ref()))
            .map(|(_, _, end)| end.as_ref())
            .collect();
        if ends.len() == requests.len() {
            return Ok(ends);
        }
        if let Some((_, text)) = facts.budget() {
            return Err(Halt::End(Ending::OverBudget(text.to_owned())));
        }
        let open = requests.into_iter().zip(courses).filter_map(|(request, course)| {
            course.is_none_or(|course| course.ended.is_none()).then_some(request)
        });
        Err(Halt::Need(Need::Lanes(open.collect())))
    }

    /// Follows lanes through time, and shows how they stand whenever that changes.
    fn show_course(&mut self, courses: &[Option<&'f Course>], table: Option<(Table, &[Seat])>) {
        let mut moments: Vec<(u64, Millis, usize, Option<Standing>)> = Vec::new();
        for (place, course) in courses.iter().enumerate() {
            let Some(course) = course else { continue };
            moments.extend(course.started.map(|(order, at)| (order, at, place, None)));
            moments.extend(course.ended.as_ref().map(|(order, at, end)| {
                let took = seconds(i64::try_from(end.took).unwrap_or(i64::MAX));
                let is_answer = end.status == Status::Ok;
                let standing =
                    if is_answer { Standing::Done(took) } else { Standing::Failed(took) };
                (*order, *at, place, Some(standing))
            }));
        }
        moments.sort_by_key(|(order, ..)| *order);
        let mut standings = vec![Standing::Running; courses.len()];
        for (index, (_, at, place, standing)) in moments.into_iter().enumerate() {
            self.at(at);
            if let Some(standing) = standing {
                standings[place] = standing;
            }
            // When the first of them starts, so do the others.
            if let Some((table, seats)) = table.filter(|_| index == 0 || standing.is_some()) {
                let line = status(table, seats.iter().zip(standings.iter().copied()));
                self.lines.push(Line::Table(line));
            }
        }
    }
}
