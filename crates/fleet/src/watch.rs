//! A submitted lane from its submitter's side: handed to Temporal, watched in the store, cancelled with
//! the submitter.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use convoke::exit::Exit;
use convoke::output::Output;
use convoke_engine::chance::random_number;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::fleet::{LaneLook, LaneSubmission, StopReason, SubmittedLane};
use convoke_service::session::Session;
use convoke_service::settings::fleet::FleetSettings;
use convoke_service::workspace::Workspace;
use convoke_store::fleet::{EventPlace, FleetEvent, FleetLane, FleetLaneState};
use jiff::{SignedDuration, Timestamp};
use serde_json::value::RawValue;
use temporalio_client::errors::{ActivityResultError, StartActivityError};
use temporalio_client::{
    ActivityCancelOptions, ActivityIdReusePolicy, ActivityStartOptions, Client,
};
use temporalio_common::RetryPolicy;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use crate::activity::FleetLanes;
use crate::lines::OwnLine;
use crate::permit_wait::PermitWait;
use crate::temporal::{LaneTicket, TemporalError};

/// The time between two looks for new lines in the store.
const STEP: Duration = Duration::from_millis(200);

/// The submitter says that it is there every so many steps.
const STEPS_OF_A_LOOK: u32 = 5;

/// A lane without a line gets one every so many steps: a supervisor must see that it is not stuck.
const STEPS_OF_A_SIGN: u32 = 150;

/// The time between attempts at a lane whose worker ended.
const PAUSE: Duration = Duration::from_secs(1);

/// How many times a lane may come back from workers that cannot begin it, beside its attempts. The store
/// counts those; Temporal must only end at some time.
const RETURNS: u32 = 1000;

/// How long after the end of all attempts their report may still come.
const LATE: Duration = Duration::from_secs(5);

/// How long a lane may take on a worker beyond its own limit, for checking out and for the store.
const BESIDES: Duration = Duration::from_mins(30);

/// How long cancelling may take.
const CANCELLING: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
enum WatchError {
    #[error("cannot hand the lane to Temporal")]
    NotStarted(#[source] Box<StartActivityError>),
}

/// A lane on its way.
pub(crate) struct LaneWatch<'a> {
    pub(crate) session: &'a Session,
    pub(crate) workspace: &'a Workspace,
    pub(crate) settings: &'a FleetSettings,
    pub(crate) threads: &'a Runtime,
    pub(crate) client: &'a Client,
    pub(crate) submission: &'a LaneSubmission,
    /// The process whose ledger counts the lane.
    pub(crate) owner: u32,
}

/// How the watch of a generation ended.
enum Followed {
    /// The lane is over.
    Ended(Exit),
    /// It waits for the end of its agent's limit, in the next generation.
    Again(Duration),
}

/// What was printed so far.
#[derive(Default)]
struct Printed {
    place: EventPlace,
    attempt: (u64, u64),
    silent_steps: u32,
}

impl LaneWatch<'_> {
    /// Submits the lane and follows it to its end.
    pub(crate) fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        let Some(mut lane) = self.submit(output)? else { return Ok(Exit::Interrupted) };
        let begun = self.session.now();
        let wall = SignedDuration::try_from(Duration::from_millis(self.submission.order.wall_ms));
        let until = begun.saturating_add(wall.unwrap_or(SignedDuration::MAX)).unwrap_or(begun);
        let mut delay = Duration::ZERO;
        let followed = loop {
            let followed = self.follow(&mut lane, delay, until, output);
            match followed {
                Ok(Followed::Again(wait)) => delay = wait,
                Ok(Followed::Ended(exit)) => break Ok(exit),
                Err(failure) => break Err(failure),
            }
        };
        // However the watch ended, no agent works on for a submitter that is gone. Only a run that was
        // killed comes back for its answers, and would have its agents asked twice.
        let is_over = matches!(followed, Ok(Exit::Done | Exit::LaneFailed));
        let goes_on = self.submission.name.is_some() && is_ending(self.owner);
        if !(is_over || goes_on) {
            self.cancel(&lane);
        }
        followed
    }

    /// Submits the lane, as soon as its agent's limit lets it; `None` if it was cancelled before.
    fn submit(&self, output: &mut Output) -> Result<Option<SubmittedLane>, Failure> {
        let (mut wait, mut silence) = (PermitWait::new(), STEP * STEPS_OF_A_SIGN);
        loop {
            if self.session.is_stopped() {
                return Ok(None);
            }
            if let Some(lane) = self.submission.submit(self.workspace, self.session)? {
                let SubmittedLane { id, queue, generation, .. } = &lane;
                let (fleet_lane, generation) = (id.as_str(), *generation);
                output.json_line(&OwnLine::Submitted { fleet_lane, generation, queue })?;
                return Ok(Some(lane));
            }
            if silence >= STEP * STEPS_OF_A_SIGN {
                silence = Duration::ZERO;
                output.json_line(&OwnLine::Waiting { reason: "the limit of its agent" })?;
            }
            let pause = wait.pause(random_number());
            silence += pause;
            self.rest(pause);
        }
    }

    /// Waits for a time, or until the watch is stopped.
    fn rest(&self, mut pause: Duration) {
        while !pause.is_zero() && !self.session.is_stopped() {
            let step = pause.min(STEP);
            thread::sleep(step);
            pause -= step;
        }
    }

    /// Hands the lane to Temporal, and prints its lines until it ends.
    fn follow(
        &self,
        lane: &mut SubmittedLane,
        delay: Duration,
        until: Timestamp,
        output: &mut Output,
    ) -> Result<Followed, Failure> {
        let mut printed = Printed { place: lane.heard, ..Printed::default() };
        let first = lane.look(self.workspace, self.session, printed.place)?;
        // A lane that was found by its name may have ended.
        let over = if first.is_over() { None } else { Some(self.start(lane, delay)?) };
        let mut look = first;
        let mut lost: Option<(String, Duration)> = None;
        loop {
            print(&look, &mut printed, output)?;
            if look.is_over() {
                let left = until.duration_since(self.session.now());
                let (workspace, session) = (self.workspace, self.session);
                let later = self.submission.submit_later(workspace, session, &look.lane, left)?;
                let Some((next, wait)) = later else {
                    return end(&look.lane, output).map(Followed::Ended);
                };
                *lane = next;
                output.json_line(&OwnLine::Waiting { reason: "the end of its agent's limit" })?;
                return Ok(Followed::Again(wait.unsigned_abs()));
            }
            if look.is_taken_over(lane.generation) {
                return taken_over(output).map(Followed::Ended);
            }
            if let Some(why) = lane.refusal(self.workspace, self.session, &look.lane)? {
                return self.lose(lane, &why, output).map(Followed::Ended);
            }
            if let Some(over) = &over
                && lost.is_none()
                && let Some(why) = ended(over)
            {
                lost = Some((why, Duration::ZERO));
            }
            if let Some((why, waited)) = &mut lost {
                if *waited >= LATE {
                    return self.lose(lane, why, output).map(Followed::Ended);
                }
                *waited += STEP * STEPS_OF_A_LOOK;
            }
            for _ in 0..STEPS_OF_A_LOOK {
                if self.session.is_stopped() {
                    return Ok(Followed::Ended(Exit::Interrupted));
                }
                thread::sleep(STEP);
                let events = lane.lines(self.workspace, self.session, printed.place)?;
                if events.is_empty() {
                    continue;
                }
                let of_attempt = |event: &FleetEvent| (event.place.generation, event.place.attempt);
                let is_known = events.iter().all(|event| of_attempt(event) == printed.attempt);
                // The lane's row names the worker of an attempt that is heard for the first time.
                look = if is_known {
                    LaneLook { lane: look.lane, events }
                } else {
                    lane.look(self.workspace, self.session, printed.place)?
                };
                print(&look, &mut printed, output)?;
            }
            look = lane.look(self.workspace, self.session, printed.place)?;
        }
    }

    /// Hands the lane to Temporal, and returns what tells how all attempts ended. A lane that Temporal
    /// has already is not handed over again.
    fn start(&self, lane: &SubmittedLane, delay: Duration) -> Result<Receiver<String>, Failure> {
        let ticket = LaneTicket { lane: lane.id.clone(), generation: lane.generation };
        let wall = Duration::from_millis(self.submission.order.wall_ms);
        let retries = RetryPolicy::builder()
            .initial_interval(PAUSE)
            .backoff_coefficient(1.0)
            .maximum_attempts(self.settings.attempts.saturating_add(RETURNS))
            .build();
        let options = ActivityStartOptions::with_start_to_close_timeout(
            lane.queue.clone(),
            lane.ticket(),
            wall.saturating_add(BESIDES),
        )
        .heartbeat_timeout(self.settings.lease)
        .retry_policy(retries)
        .id_reuse_policy(ActivityIdReusePolicy::RejectDuplicate)
        .maybe_start_delay(Some(delay).filter(|delay| !delay.is_zero()))
        .build();
        let started = self.threads.block_on(async {
            self.client.start_activity(FleetLanes::run_lane, ticket, options).await
        });
        match started {
            Ok(_) | Err(StartActivityError::AlreadyStarted { .. }) => {}
            Err(error) => {
                let error = WatchError::NotStarted(Box::new(error));
                return Err(Failure::new(ErrorClass::Prerequisite, error));
            }
        }
        let (tell, over) = channel();
        let (client, id) = (self.client.clone(), lane.ticket());
        self.threads.spawn(async move {
            let handle = client.get_activity_handle(FleetLanes::run_lane, id, None);
            loop {
                let why = match handle.result().await {
                    Ok(outcome) => format!("its last attempt ended as {outcome}"),
                    Err(ActivityResultError::Cancelled { .. }) => "it was cancelled".to_owned(),
                    Err(ActivityResultError::Terminated) => "it was terminated".to_owned(),
                    Err(ActivityResultError::NotFound(_)) => "Temporal does not know it".to_owned(),
                    Err(ActivityResultError::ActivityFailed(error)) => {
                        format!("all attempts failed: {error}")
                    }
                    Err(ActivityResultError::TimedOut(kind)) => format!("it timed out: {kind:?}"),
                    // Temporal is away, and may come back.
                    Err(_) => {
                        sleep(PAUSE).await;
                        continue;
                    }
                };
                tell.send(why).ok();
                return;
            }
        });
        Ok(over)
    }

    /// Ends a lane that no worker works on any more.
    fn lose(&self, lane: &SubmittedLane, why: &str, output: &mut Output) -> Result<Exit, Failure> {
        // Unless a report came at the last moment.
        if !lane.stop(self.workspace, self.session, StopReason::Lost)? {
            let look = lane.look(self.workspace, self.session, EventPlace::default())?;
            // What waits or runs is another submitter's.
            return if look.is_over() { end(&look.lane, output) } else { taken_over(output) };
        }
        let why = format!("no worker ended the lane: {why}");
        output.json_line(&OwnLine::Lost { why: &why })?;
        Ok(Exit::LaneFailed)
    }

    /// Cancels the lane by both ways: the store refuses its worker, and Temporal tells it.
    fn cancel(&self, lane: &SubmittedLane) {
        lane.stop(self.workspace, self.session, StopReason::Cancelled).ok();
        let handle = self.client.get_activity_handle(FleetLanes::run_lane, lane.ticket(), None);
        let options = ActivityCancelOptions::builder().reason("its submitter ended").build();
        self.threads.block_on(async {
            timeout(CANCELLING, handle.cancel(options)).await.ok();
        });
    }
}

/// Tells whether a process is gone or on its way out. Its guardian ends this program a moment before the
/// system forgets it.
fn is_ending(pid: u32) -> bool {
    /// The system's `PF_EXITING`.
    const EXITING: u32 = 4;
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return Path::new("/proc/self").exists();
    };
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<_> = rest.split_whitespace().collect();
    let flags = fields.get(6).and_then(|flags| flags.parse::<u32>().ok());
    fields.first() == Some(&"Z") || flags.is_some_and(|flags| flags & EXITING != 0)
}

/// Prints the events since the last look, or after a while a sign that the lane goes on.
fn print(look: &LaneLook, printed: &mut Printed, output: &mut Output) -> Result<(), Failure> {
    for event in &look.events {
        place(&look.lane, (event.place.generation, event.place.attempt), printed, output)?;
        output.data(&format!("{}\n", event.line))?;
        output.flush()?;
        printed.place = event.place;
        printed.silent_steps = 0;
    }
    printed.silent_steps += STEPS_OF_A_LOOK;
    if printed.silent_steps >= STEPS_OF_A_SIGN {
        printed.silent_steps = 0;
        match look.lane.state {
            FleetLaneState::Waiting => {
                if look.lane.not_before.is_some_and(|at| at > look.lane.watched_at) {
                    return output
                        .json_line(&OwnLine::Waiting { reason: "the end of its agent's limit" });
                }
                let complaint = look.lane.complaints.iter().next_back();
                let reason = complaint.map_or_else(
                    || "a worker".to_owned(),
                    |(who, why)| format!("another worker; {who}: {why}"),
                );
                output.json_line(&OwnLine::Waiting { reason: &reason })?;
            }
            FleetLaneState::Running => output.json_line(&OwnLine::Running {})?,
            FleetLaneState::Ended => {}
        }
    }
    Ok(())
}

/// Says that an attempt begins, before its first line.
fn place(
    lane: &FleetLane,
    attempt: (u64, u64),
    printed: &mut Printed,
    output: &mut Output,
) -> Result<(), Failure> {
    if printed.attempt == attempt {
        return Ok(());
    }
    printed.attempt = attempt;
    let is_present = (lane.generation, lane.attempt) == attempt;
    let worker = lane.worker.as_deref().filter(|_| is_present).unwrap_or_default();
    let (generation, attempt) = attempt;
    output.json_line(&OwnLine::Placed { worker, generation, attempt })
}

/// Prints the last line of a lane that has ended.
fn end(lane: &FleetLane, output: &mut Output) -> Result<Exit, Failure> {
    let report = lane.report.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let report: Option<&RawValue> = report;
    let outcome = lane.outcome.as_deref().unwrap_or("unknown");
    if let Some(report) = report {
        output.json_line(&OwnLine::Ended { report })?;
    } else {
        let words: Vec<_> =
            lane.complaints.iter().map(|(who, why)| format!("; {who}: {why}")).collect();
        let why = format!("the lane was ended as {outcome}, without a report{}", words.concat());
        output.json_line(&OwnLine::Lost { why: &why })?;
    }
    Ok(if outcome == "answered" { Exit::Done } else { Exit::LaneFailed })
}

/// Ends the watch of a generation that another submitter of the same name has replaced.
fn taken_over(output: &mut Output) -> Result<Exit, Failure> {
    let why = "another submitter of the same name submitted the lane again";
    output.json_line(&OwnLine::Lost { why })?;
    Ok(Exit::LaneFailed)
}

/// Returns why no attempt works on a lane any more, if that is so.
fn ended(over: &Receiver<String>) -> Option<String> {
    match over.try_recv() {
        Ok(why) => Some(why),
        Err(TryRecvError::Empty) => None,
        Err(TryRecvError::Disconnected) => Some(TemporalError::Stopped.to_string()),
    }
}
