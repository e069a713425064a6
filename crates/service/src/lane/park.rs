//! Waiting for the end of an agent's limit.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::lane::reset::{ResetClock, reset_in_words, reset_of_hint};
use convoke_domain::tree::TreeStatus;
use convoke_engine::lane::drive::LaneTranscript;
use convoke_engine::time_zone::{own_zone, zone_named};
use jiff::{SignedDuration, Timestamp};

use super::parked_ground::wait_on_ground;
use super::report::sentence;
use super::tree::TreeLook;
use super::{LaneProgress, LaneRequest, LaneRun, OnProgress, TreeWatching};
use crate::failure::Failure;
use crate::observer::Reporter;
use crate::session::Session;

/// How often Convoke compares the time of the machine with the reset. A machine that was suspended
/// notices within this time that the reset is over.
const TICK: Duration = Duration::from_secs(1);

/// How a lane waits for the end of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParkTerms {
    /// The longest that it waits.
    pub longest: Duration,
    /// Whether the working tree must be as it was. The commit and the branch must always be.
    pub tree: TreeWatching,
}

/// What follows from a lane's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParkVerdict {
    /// The lane ended for another reason.
    NoLimit,
    /// Convoke can wait until this time.
    Until(Timestamp),
    /// The agent says no time that can be meant.
    Unknown,
    /// The limit ends later than the terms allow.
    TooLate(Timestamp),
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParkEnd {
    /// The time has come.
    Over,
    /// The user stopped Convoke.
    Stopped,
}

impl ParkTerms {
    /// Decides whether to wait.
    pub(crate) fn judge(
        self,
        outcome: LaneOutcome,
        resets_at: Option<Timestamp>,
        now: Timestamp,
    ) -> ParkVerdict {
        if outcome != LaneOutcome::RateLimited {
            return ParkVerdict::NoLimit;
        }
        let Some(until) = resets_at else { return ParkVerdict::Unknown };
        let longest = SignedDuration::try_from(self.longest).unwrap_or(SignedDuration::MAX);
        if until.duration_since(now) > longest {
            return ParkVerdict::TooLate(until);
        }
        ParkVerdict::Until(until)
    }

    /// Says why Convoke does not wait; nothing if it does, or has no reason to.
    pub(crate) fn refusal(self, verdict: ParkVerdict) -> Option<String> {
        match verdict {
            ParkVerdict::NoLimit | ParkVerdict::Until(_) => None,
            ParkVerdict::Unknown => Some(
                "cannot park: the agent does not say when its limit ends, or not clearly"
                    .to_owned(),
            ),
            ParkVerdict::TooLate(until) => Some(format!(
                "cannot park: the limit ends at {}, and `--park-limit` is {} s",
                shown(until),
                self.longest.as_secs()
            )),
        }
    }
}

impl LaneRequest<'_> {
    /// Runs it in the project, tells a caller what happens meanwhile, and records it. Under a
    /// budget that is used up it is not started. A lane that may park waits for the end of its agent's
    /// limit, and asks once more if the project is then as it was.
    pub fn run_with_progress(
        &self,
        session: &Session,
        scratch: &Path,
        reporter: &Reporter,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<LaneRun, Failure> {
        let mut first = self.run_once(session, scratch, reporter, on_progress)?;
        let Some(terms) = self.park else { return Ok(first) };
        let verdict = terms.judge(first.transcript.outcome, first.resets_at, session.now());
        if let Some(refusal) = terms.refusal(verdict) {
            reporter.warn(refusal);
        }
        let ParkVerdict::Until(until) = verdict else { return Ok(first) };
        // The user sees what a reader changed before Convoke asks that reader for more.
        if first.tree.as_ref().is_some_and(|tree| tree.status == TreeStatus::Dirty) {
            return Ok(first);
        }
        reporter.say(sentence(&first.transcript, None));
        let goes_on = on_progress(LaneProgress::Parked).is_continue();
        let look = TreeLook { session, reporter, limit: self.limits.wall };
        let again = "repeat the command to ask about the project as it is";
        if goes_on && wait_on_ground(&look, terms.tree, until, again)? == ParkEnd::Over {
            return self.run_once(session, scratch, reporter, on_progress);
        }
        first.transcript.outcome = LaneOutcome::Cancelled;
        reporter.hint(format!("repeat the command; the limit ends at {}", shown(until)));
        Ok(first)
    }
}

/// Returns when the limit ends that a lane met; nothing if its agent does not say it clearly.
pub(crate) fn reset_time(transcript: &LaneTranscript, now: Timestamp) -> Option<Timestamp> {
    if transcript.outcome != LaneOutcome::RateLimited {
        return None;
    }
    let failure = transcript.output.failure().or(transcript.output.trouble.as_ref())?;
    if let Some(hint) = failure.reset {
        return reset_of_hint(hint, now);
    }
    let clock = ResetClock { now: now.to_zoned(own_zone()), zone: &zone_named };
    reset_in_words(&failure.message, &clock)
}

/// Returns a time as people of this machine read it.
pub fn shown(at: Timestamp) -> String {
    at.to_zoned(own_zone()).strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

/// Tells until when Convoke waits. Its messages can go to a file of the project, so this comes before the
/// snapshot that a wait begins with.
pub(super) fn announce(until: Timestamp, reporter: &Reporter) {
    reporter.say(announcement(until));
}

/// Returns the sentence that says until when Convoke waits.
pub(crate) fn announcement(until: Timestamp) -> String {
    format!("parked until {}; Ctrl-C stops", shown(until))
}

/// Waits until a time, by the machine's clock, and tells how long that still takes.
pub(crate) fn wait_until(
    session: &Session,
    until: Timestamp,
    tell: &mut dyn FnMut(String),
) -> ParkEnd {
    let (sender, stopped) = channel();
    let cancel = session.cancel();
    let _watch = cancel.watch(move || sender.send(()).unwrap_or_default());
    loop {
        let left = until.duration_since(session.now());
        if cancel.is_cancelled() {
            return ParkEnd::Stopped;
        }
        let Some(left) = Duration::try_from(left).ok().filter(|left| !left.is_zero()) else {
            return ParkEnd::Over;
        };
        tell(format!(
            "parked until {}, {} left; Ctrl-C stops",
            shown(until),
            in_words(left.as_secs())
        ));
        match stopped.recv_timeout(left.min(TICK)) {
            Ok(()) => return ParkEnd::Stopped,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
}

fn in_words(seconds: u64) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;
    use crate::clock::Clock;
    use crate::environment::Environment;

    /// A clock that advances by so many seconds whenever it is read.
    struct Advancing(AtomicI64, i64);

    impl Clock for Advancing {
        fn now(&self) -> Timestamp {
            Timestamp::from_second(self.0.fetch_add(self.1, Ordering::SeqCst)).unwrap()
        }
    }

    fn session(step: i64) -> Session {
        let clock = Arc::new(Advancing(AtomicI64::new(0), step));
        Session { clock, ..Session::new(PathBuf::from("/"), Environment::default()) }
    }

    // P-403: a night in which the machine slept is one tick.
    #[test]
    fn a_wait_goes_by_the_clock_of_the_machine() {
        let session = session(8 * 3600);
        let until = Timestamp::from_second(9 * 3600).unwrap();
        assert_eq!(wait_until(&session, until, &mut drop), ParkEnd::Over);
        let looks = session.now().as_second() / (8 * 3600);
        assert_eq!(looks, 3, "at the beginning, after a tick, and here");
        let past = Timestamp::from_second(-1).unwrap();
        assert_eq!(wait_until(&session, past, &mut drop), ParkEnd::Over);
    }

    // P-404
    #[test]
    fn a_stopped_user_waits_no_longer() {
        let session = session(0);
        session.cancel().cancel();
        let until = Timestamp::from_second(9 * 3600).unwrap();
        assert_eq!(wait_until(&session, until, &mut drop), ParkEnd::Stopped);
    }

    // P-402
    #[test]
    fn only_a_limit_with_a_near_end_is_waited_for() {
        let terms = ParkTerms { longest: Duration::from_secs(100), tree: TreeWatching::Tree };
        let at = |second| Timestamp::from_second(second).unwrap();
        let limited = LaneOutcome::RateLimited;
        for (outcome, resets_at, expected) in [
            (LaneOutcome::Failed, Some(at(50)), ParkVerdict::NoLimit),
            (LaneOutcome::Answered, Some(at(50)), ParkVerdict::NoLimit),
            (limited, None, ParkVerdict::Unknown),
            (limited, Some(at(100)), ParkVerdict::Until(at(100))),
            (limited, Some(at(101)), ParkVerdict::TooLate(at(101))),
        ] {
            let verdict = terms.judge(outcome, resets_at, at(0));
            assert_eq!(verdict, expected, "{outcome:?} {resets_at:?}");
            let is_refused = matches!(verdict, ParkVerdict::Unknown | ParkVerdict::TooLate(_));
            assert_eq!(terms.refusal(verdict).is_some(), is_refused);
        }
    }

    #[test]
    fn a_wait_is_short_words() {
        let all = [0, 59, 61, 3600, 90_000].map(in_words);
        assert_eq!(all, ["0 s", "59 s", "1 min 1 s", "1 h 0 min", "25 h 0 min"]);
    }
}
