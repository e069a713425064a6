//! What bounds every request of a client: a place to work in, an end, and the client's cancellation.

use std::sync::Arc;
use std::time::Duration;

use convoke_engine::lane::cancel::Cancel;
use convoke_service::failure::{ErrorClass, Failure};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use crate::tools::{Desk, status};

/// How many calls are worked on in parallel; others wait.
const MOST_CALLS: usize = 8;

/// The threads that read the client's requests and write the answers. No call ever takes one of them, so
/// that a client can cancel calls however many there are.
const STREAM_THREADS: usize = 2;

/// How many threads the server needs for work that blocks.
pub(crate) const BLOCKING_THREADS: usize = MOST_CALLS + STREAM_THREADS;

/// A call that came to no result of its tool.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("there is no tool `{0}`")]
    Unknown(String),
    #[error("the user has switched `{0}` off")]
    Off(&'static str),
    #[error("the tool broke off; this is a bug in Convoke")]
    Broken,
    #[error("the client cancelled the call")]
    Cancelled,
    #[error("the call took longer than {} seconds; call it again", status::LONGEST.as_secs())]
    Slow,
}

impl CallError {
    /// Returns the failure that a client gets.
    pub(crate) fn into_failure(self) -> Failure {
        let class = match self {
            Self::Cancelled | Self::Slow => ErrorClass::Interrupted,
            Self::Unknown(_) => ErrorClass::Usage,
            Self::Off(_) => ErrorClass::Refused,
            Self::Broken => ErrorClass::Bug,
        };
        Failure::new(class, self)
    }
}

/// The places in which calls work, and how long each call may take.
#[derive(Debug, Clone)]
pub(crate) struct CallLimits {
    places: Arc<Semaphore>,
    longest: Duration,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(MOST_CALLS)), longest: status::LONGEST }
    }
}

impl CallLimits {
    /// Returns when a call that begins now must end.
    pub(crate) fn end(&self) -> Instant {
        Instant::now() + self.longest
    }

    /// Does blocking work in one of the places. Work that its caller no longer waits for keeps its place
    /// until it ends.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        desk: &Desk,
        work: impl FnOnce(&Desk) -> T + Send + 'static,
    ) -> Result<T, CallError> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_closed| CallError::Broken)?;
        let desk = desk.clone();
        let done = spawn_blocking(move || {
            let _place = place;
            work(&desk)
        });
        done.await.map_err(|_broken| CallError::Broken)
    }
}

/// Answers a request until its end, or until its client cancels it. Then what the request does here is
/// stopped; what it started in the background goes on.
pub(crate) async fn bounded<T>(
    stop: &Cancel,
    cancelled: impl Future<Output = ()>,
    end: Instant,
    answer: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    let error = tokio::select! {
        // Work that is done counts, also if its end comes in the same moment.
        biased;
        answered = answer => return answered,
        () = cancelled => CallError::Cancelled,
        () = sleep_until(end) => CallError::Slow,
    };
    stop.cancel();
    Err(error)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::future::{pending, ready};
    use std::path::PathBuf;
    use std::sync::mpsc::channel;

    use convoke_domain::scope::AgentName;
    use convoke_service::environment::Environment;
    use convoke_service::interruption::CallerInterruption;
    use convoke_service::session::Session;
    use tempfile::TempDir;

    use super::*;

    /// Only work that is never stopped waits so long.
    pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

    impl CallLimits {
        /// Returns limits under which a call has so long.
        pub(crate) fn of(longest: Duration) -> Self {
            Self { longest, ..Self::default() }
        }

        /// Does work that ends when the returned sender is dropped in every place.
        pub(crate) async fn fill(&self, desk: &Desk) -> Vec<std::sync::mpsc::Sender<()>> {
            let mut held = Vec::new();
            for _ in 0..MOST_CALLS {
                let (release, released) = channel::<()>();
                let (tell_start, started) = tokio::sync::oneshot::channel();
                let (limits, desk) = (self.clone(), desk.clone());
                tokio::spawn(async move {
                    let wait = move |_: &Desk| {
                        tell_start.send(()).ok();
                        released.recv_timeout(DEADLINE).ok();
                    };
                    limits.work(&desk, wait).await.ok();
                });
                started.await.unwrap();
                held.push(release);
            }
            held
        }
    }

    pub(crate) fn test_session(folder: &TempDir) -> Session {
        let variables = [("HOME".into(), folder.path().into())];
        let environment = Environment::new(variables, None, PathBuf::new());
        let session = Session::new(folder.path().to_owned(), environment);
        let stop = CallerInterruption::new(session.cancel().child());
        Session { interruption: Arc::new(stop), ..session }
    }

    pub(crate) fn test_desk(folder: &TempDir) -> Desk {
        let agent = AgentName::parse("june").unwrap();
        let limits = CallLimits::default();
        Desk::new(test_session(folder), agent, Arc::new([]), Arc::default(), limits)
    }

    /// Does work that ends when it is stopped, and returns the error and whether it was.
    fn stopped_work(cancelled: impl Future<Output = ()>, end: Duration) -> (CallError, bool) {
        let folder = TempDir::new().unwrap();
        let desk = test_desk(&folder);
        let (ended, was_stopped) = channel();
        let until_stopped = move |desk: &Desk| {
            let (stop, stopped) = channel();
            let _watch = desk.session.cancel().watch(move || {
                stop.send(()).ok();
            });
            ended.send(stopped.recv_timeout(DEADLINE).is_ok()).ok();
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let end = Instant::now() + end;
        let stop = desk.session.cancel();
        let work = desk.work(until_stopped);
        let error = runtime.block_on(bounded(&stop, cancelled, end, work)).unwrap_err();
        (error, was_stopped.recv_timeout(DEADLINE).unwrap())
    }

    #[test]
    fn work_that_its_client_cancels_is_stopped() {
        let (error, was_stopped) = stopped_work(ready(()), 2 * DEADLINE);
        assert!(matches!(error, CallError::Cancelled), "{error}");
        assert!(was_stopped);
    }

    #[test]
    fn work_that_takes_too_long_is_stopped() {
        let (error, was_stopped) = stopped_work(pending(), Duration::ZERO);
        let words = "the call took longer than 45 seconds; call it again";
        assert_eq!(error.to_string(), words);
        assert!(was_stopped);
    }

    #[test]
    fn a_call_that_waits_for_a_place_ends_like_any_other() {
        let folder = TempDir::new().unwrap();
        let desk = test_desk(&folder);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(async {
            let held = desk.limits.fill(&desk).await;
            let end = Instant::now() + 2 * DEADLINE;
            let stop = desk.session.cancel();
            let error = bounded(&stop, ready(()), end, desk.work(|_| ())).await;
            drop(held);
            error
        });
        assert!(matches!(error, Err(CallError::Cancelled)), "{error:?}");
    }
}
