//! Lanes that met the limit of their agent, and the wait for its end.

use convoke_domain::design::event::{LaneEnd, ParkedHolder, Settings};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::seat::Holder;
use convoke_domain::design::walk::LaneNeed;
use jiff::Timestamp;

use super::event_loop::{LaneNews, OnLaneNews};
use super::ground;
use super::stage::Stage;
use crate::failure::Failure;
use crate::lane::{ParkEnd, ParkVerdict, announcement, wait_until};

impl<'a> Stage<'a> {
    /// Tells that a lane has ended, to the calling workflow, too.
    pub(super) fn lane_ended(
        &mut self,
        settings: &Settings,
        request: &LaneNeed,
        end: &LaneEnd,
        tell: &mut OnLaneNews<'_, 'a>,
    ) -> Result<(), Failure> {
        if let Some(caller) = &self.caller {
            caller.lane(self.session, &settings.panel, request, end);
        }
        tell(self, LaneNews::Ended(request.id.clone(), Box::new(end.clone())))
    }

    /// Tells which limits the run waits for, once all lanes beside have ended. An agent that never says when
    /// its limit ends cannot be waited for.
    pub(super) fn lanes_limited(
        &mut self,
        settings: &Settings,
        requests: &[LaneNeed],
        limited: &[(usize, Option<Timestamp>, LaneEnd)],
        tell: &mut OnLaneNews<'_, 'a>,
    ) -> Result<(), Failure> {
        for holder in [Holder::First, Holder::Second, Holder::Host] {
            let of_holder = limited.iter().filter(|(lane, ..)| requests[*lane].holder == holder);
            let until = of_holder.clone().filter_map(|(_, until, _)| *until).max();
            if let Some(until) = until {
                let until = until.as_millisecond();
                tell(self, LaneNews::Parked(ParkedHolder { holder, until }))?;
                continue;
            }
            for (lane, _, end) in of_holder {
                if let Some(refusal) = self.park.and_then(|park| park.refusal(ParkVerdict::Unknown))
                {
                    self.session.reporter().warn(refusal);
                }
                self.lane_ended(settings, &requests[*lane], end, tell)?;
            }
        }
        Ok(())
    }

    /// Waits until a limit ends, and then goes on only in the project in which a resumed run would.
    pub(super) fn park(&mut self, until: Timestamp, facts: &Facts) -> Result<ParkEnd, Failure> {
        self.front_end.say(&announcement(until));
        let held = self.session.interruption.hold();
        let front_end = &mut *self.front_end;
        let end = wait_until(self.session, until, &mut |text| front_end.works(Some(&text)));
        self.front_end.works(None);
        match end {
            ParkEnd::Over => ground::check(self, facts)?,
            ParkEnd::Stopped => self.stopping = Some(held),
        }
        Ok(end)
    }
}
