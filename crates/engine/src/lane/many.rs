//! Many lanes in parallel, within limits, until all have ended or there are enough answers.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use convoke_domain::lane::event::LaneEvent;
use convoke_domain::lane::queue::{LaneLimits, Queue};

use super::cancel::Cancel;

/// A lane that waits for its turn.
pub struct QueuedLane<'a, T> {
    /// The agent of the lane.
    pub agent: &'a str,
    /// How long it is expected to take.
    pub expected: Duration,
    /// The work. It receives the value that may stop it, and the receiver of its events.
    pub work: LaneWork<'a, T>,
}

/// A lane's work when its turn comes.
pub type LaneWork<'a, T> = Box<dyn FnOnce(&Cancel, &mut dyn FnMut(&LaneEvent)) -> T + Send + 'a>;

/// An event of a lane, by its number.
#[derive(Debug)]
pub enum QueueEvent<'a, T> {
    /// It begins.
    Started,
    /// An event of its agent.
    Said(LaneEvent),
    /// It is over.
    Ended(&'a T),
}

/// Whether there are enough answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnoughAnswers {
    /// Then the others are stopped.
    Yes,
    /// The other lanes go on.
    No,
}

/// Tells what happens, all of it from one thread, and in order for each lane.
pub type OnQueueEvent<'n, T> = dyn FnMut(usize, QueueEvent<'_, T>) -> EnoughAnswers + 'n;

/// A message of a thread.
enum Told<T> {
    Said(usize, LaneEvent),
    Ended(usize, Option<T>),
}

/// Runs lanes, and returns the result of each, in their order; `None` for those that never began.
pub fn run<'a, T: Send>(
    lanes: Vec<QueuedLane<'a, T>>,
    room: LaneLimits,
    cancel: &Cancel,
    notice: &mut OnQueueEvent<'_, T>,
) -> Vec<Option<T>> {
    let cancel = cancel.child();
    let agents: Vec<&str> = lanes.iter().map(|lane| lane.agent).collect();
    let expected = lanes.iter().map(|lane| lane.expected);
    let queue = Queue::new(agents.iter().copied().zip(expected), room);
    let mut results: Vec<Option<T>> = lanes.iter().map(|_| None).collect();
    let mut work: Vec<Option<LaneWork<'a, T>>> =
        lanes.into_iter().map(|lane| Some(lane.work)).collect();
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        let cancel = &cancel;
        let mut spawn = |number: usize| {
            let Some(work) = work[number].take() else { return };
            let mut end = Farewell { number, result: None, sender: sender.clone() };
            scope.spawn(move || {
                let result = work(cancel, &mut |event| {
                    end.sender.send(Told::Said(number, event.clone())).ok();
                });
                end.result = Some(result);
                drop(end);
            });
        };
        let mut crowd = Crowd { queue, cancel, agents: &agents, running: 0 };
        crowd.start(&mut spawn, notice);
        while crowd.running > 0 {
            crowd.hear(&receiver, &mut results, notice);
            crowd.start(&mut spawn, notice);
        }
    });
    results
}

/// Lanes that are under way, and those that wait.
struct Crowd<'c> {
    queue: Queue<'c>,
    cancel: &'c Cancel,
    agents: &'c [&'c str],
    running: usize,
}

impl Crowd<'_> {
    /// Starts all lanes that may start.
    fn start<T>(&mut self, spawn: &mut dyn FnMut(usize), notice: &mut OnQueueEvent<'_, T>) {
        while !self.cancel.is_cancelled() {
            let Some(number) = self.queue.start() else { return };
            self.running += 1;
            self.heed(notice(number, QueueEvent::Started));
            spawn(number);
        }
        self.queue.close();
    }

    /// Takes in one piece of news.
    fn hear<T>(
        &mut self,
        news: &Receiver<Told<T>>,
        results: &mut [Option<T>],
        notice: &mut OnQueueEvent<'_, T>,
    ) {
        match news.recv() {
            Ok(Told::Said(number, event)) => self.heed(notice(number, QueueEvent::Said(event))),
            Ok(Told::Ended(number, result)) => {
                self.running -= 1;
                self.queue.ended(self.agents[number]);
                if let Some(result) = &result {
                    self.heed(notice(number, QueueEvent::Ended(result)));
                }
                results[number] = result;
            }
            // This loop holds a sender itself, so this does not happen.
            Err(_) => self.running = 0,
        }
    }

    fn heed(&self, enough: EnoughAnswers) {
        if enough == EnoughAnswers::Yes {
            self.cancel.cancel();
        }
    }
}

/// Reports the end of a lane when dropped, even if its thread panics: the queue waits for it.
struct Farewell<T> {
    number: usize,
    result: Option<T>,
    sender: Sender<Told<T>>,
}

impl<T> Drop for Farewell<T> {
    fn drop(&mut self) {
        self.sender.send(Told::Ended(self.number, self.result.take())).ok();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn lane<'a, T>(
        agent: &'a str,
        work: impl FnOnce(&Cancel) -> T + Send + 'a,
    ) -> QueuedLane<'a, T> {
        let work: LaneWork<'a, T> = Box::new(move |cancel, _| work(cancel));
        QueuedLane { agent, expected: Duration::ZERO, work }
    }

    /// Waits until it is cancelled.
    fn until_stopped(cancel: &Cancel) -> &'static str {
        let (sender, receiver) = channel();
        let _watch = cancel.watch(move || sender.send(()).unwrap_or_default());
        receiver.recv().map_or("alone", |()| "stopped")
    }

    const ROOM: LaneLimits = LaneLimits { in_all: 3, of_agent: 2 };

    #[test]
    fn all_have_their_turn_and_no_limit_is_passed() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let lanes = (0..20).map(|number| {
            let (running, most) = (&running, &most);
            lane(["a", "b"][number % 2], move |_| {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                number
            })
        });
        let mut started = 0;
        let results = run(lanes.collect(), ROOM, &Cancel::default(), &mut |_, news| {
            started += usize::from(matches!(news, QueueEvent::Started));
            EnoughAnswers::No
        });
        assert_eq!(results, (0..20).map(Some).collect::<Vec<_>>());
        assert!(started == 20 && most.into_inner() <= 3);
    }

    #[test]
    fn enough_answers_stop_the_others() {
        let lanes = vec![
            lane("a", until_stopped),
            lane("b", |_| "answered"),
            lane("a", until_stopped),
            lane("a", |_| "never began"),
        ];
        let outer = Cancel::default();
        let results = run(lanes, ROOM, &outer, &mut |_, news| match news {
            QueueEvent::Ended(&"answered") => EnoughAnswers::Yes,
            QueueEvent::Started | QueueEvent::Said(_) | QueueEvent::Ended(_) => EnoughAnswers::No,
        });
        assert_eq!(results, [Some("stopped"), Some("answered"), Some("stopped"), None]);
        assert!(!outer.is_cancelled(), "who asked for the lanes goes on");
    }

    #[test]
    fn a_cancellation_stops_all_lanes() {
        let cancel = Cancel::default();
        let lanes = vec![lane("a", until_stopped), lane("a", until_stopped)];
        let alone = LaneLimits { in_all: 1, of_agent: 1 };
        let results = run(lanes, alone, &cancel, &mut |_, _| {
            cancel.cancel();
            EnoughAnswers::No
        });
        assert_eq!(results, [Some("stopped"), None]);
    }

    #[test]
    fn events_are_reported_in_order() {
        let work: LaneWork<'_, ()> = Box::new(|_, say| {
            for text in ["one", "two"] {
                say(&LaneEvent::Text(text.to_owned()));
            }
        });
        let lanes = vec![QueuedLane { agent: "a", expected: Duration::ZERO, work }];
        let mut told = Vec::new();
        run(lanes, ROOM, &Cancel::default(), &mut |number, news| {
            told.push(format!("{number} {news:?}"));
            EnoughAnswers::No
        });
        assert_eq!(
            told,
            ["0 Started", "0 Said(Text(\"one\"))", "0 Said(Text(\"two\"))", "0 Ended(())"]
        );
    }
}
