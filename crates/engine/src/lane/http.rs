//! One prompt to one model's API, under the limits that clients have too.
//!
//! A thread of its own makes the request, because a blocked read cannot be interrupted; it passes
//! the response on in pieces, so that little of it is in memory.

mod answer_stream;
mod connection;
pub mod endpoint;
mod sse;
mod wire;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use convoke_domain::lane::event::{LaneEvent, LaneFailure, TurnEnd};
use convoke_domain::lane::outcome::ProcessEnd;
use serde_json::{Map, Value};

use self::answer_stream::{AnswerStream, Closed, trouble};
use self::connection::{Head, News, Request, agent};
pub(crate) use self::connection::{PostAnswer, Poster};
use self::endpoint::Endpoint;
use super::stopwatch::Stopwatch;
use super::supervisor::{ExitReport, Limits, Supervision, TurnState};
use crate::client::ClientRequest;
use crate::file::create_private;

/// How many chunks may wait to be processed.
const WAITING: usize = 16;

/// The result of one request.
enum Asked {
    Over(ProcessEnd),
    Refused {
        head: Head,
        words: String,
    },
    /// The connection broke before the server sent anything.
    Reset {
        words: String,
    },
}

/// Returns in words why an endpoint's address does not answer; `None` if it does.
pub fn unanswered(endpoint: &Endpoint, most: Duration) -> Option<String> {
    let error = connection::is_answered(endpoint, most).err()?;
    Some(endpoint.key.as_ref().map_or(error.clone(), |key| key.hidden_in(&error).into_owned()))
}

/// Sends a prompt and listens to the answer. A request that a server refuses for what can be done
/// without is sent once more without it, and so is one that was lost on the way.
pub(super) fn run(
    endpoint: &Endpoint,
    request: &ClientRequest<'_>,
    supervision: Supervision<'_>,
    take: &mut dyn FnMut(Vec<LaneEvent>) -> TurnState,
) -> io::Result<ExitReport> {
    let scratch = Path::new(request.scratch);
    create_private(&scratch.join("stdin"))?.write_all(request.prompt.as_bytes())?;
    let mut exchange = Exchange {
        endpoint,
        supervision,
        watch: Stopwatch::start(),
        last: None,
        bytes: 0,
        kept: create_private(&scratch.join("stdout"))?,
    };
    let mut body = wire::request(endpoint, request);
    let mut was_reset = false;
    let end = loop {
        match exchange.ask(&body, take) {
            Asked::Over(end) => break end,
            Asked::Reset { .. } if !was_reset => was_reset = true,
            Asked::Reset { words } => {
                exchange.tell(take, vec![trouble(&format!("the connection failed: {words}"))]);
                break ProcessEnd::Exited(1);
            }
            Asked::Refused { head, words } => {
                let is_about_us = matches!(head.status, 400 | 422);
                let less = wire::lesser(&body, &words).filter(|_| is_about_us);
                let Some(less) = less else {
                    let Head { status, retry_after, reset, .. } = head;
                    let failure = wire::refusal(status, &words, retry_after.as_deref());
                    let failure = LaneFailure { reset, ..failure };
                    let ended = TurnEnd { answer: None, failure: Some(failure) };
                    exchange.tell(take, vec![LaneEvent::Ended(ended)]);
                    break ProcessEnd::Exited(1);
                };
                body = less;
            }
        }
    };
    let Exchange { watch, bytes, .. } = exchange;
    Ok(ExitReport { end, took: watch.elapsed(), bytes, stderr: String::new() })
}

/// The state while an answer arrives.
struct Exchange<'a> {
    endpoint: &'a Endpoint,
    supervision: Supervision<'a>,
    watch: Stopwatch,
    /// The time of the server's last data.
    last: Option<Duration>,
    bytes: u64,
    kept: File,
}

impl Exchange<'_> {
    fn ask(
        &mut self,
        body: &Map<String, Value>,
        take: &mut dyn FnMut(Vec<LaneEvent>) -> TurnState,
    ) -> Asked {
        let agent = agent(&self.endpoint.url, self.supervision.limits);
        let request = Request {
            address: self.endpoint.address(),
            headers: self.endpoint.headers(),
            body: Value::Object(body.clone()).to_string(),
        };
        // Neither the address nor the body: they hold keys and the prompt.
        let (api, bytes) = (self.endpoint.api.name(), request.body.len());
        tracing::debug!(api, bytes, "sending the request to the model's API");
        let (sender, news) = sync_channel(WAITING);
        let asked_to_stop = {
            let sender = sender.clone();
            // Without room in the channel the loop is busy reading, and checks the cancellation
            // itself.
            self.supervision
                .cancel
                .watch(move || sender.try_send(News::Cancelled).unwrap_or_default())
        };
        let theirs = agent.clone();
        thread::spawn(move || request.send(&theirs, &sender));
        let asked = self.listen(&news, take);
        drop(asked_to_stop);
        // Ends the other thread's request, at any stage.
        agent.shutdown();
        asked
    }

    fn listen(
        &mut self,
        news: &Receiver<News>,
        take: &mut dyn FnMut(Vec<LaneEvent>) -> TurnState,
    ) -> Asked {
        let mut stream = AnswerStream::new(self.endpoint);
        loop {
            let (deadline, end) = self.deadline();
            let left = deadline.saturating_sub(self.watch.elapsed());
            let next = if self.supervision.cancel.is_cancelled() {
                Ok(News::Cancelled)
            } else if left.is_zero() {
                Err(RecvTimeoutError::Timeout)
            } else {
                news.recv_timeout(left)
            };
            let end = match next {
                Ok(News::Head(head)) => {
                    self.last = Some(self.watch.elapsed());
                    tracing::debug!(status = head.status, "the model's API responds");
                    stream.head = Some(head);
                    continue;
                }
                Ok(News::Bytes(bytes)) => {
                    self.last = Some(self.watch.elapsed());
                    self.bytes += bytes.len() as u64;
                    let events = stream.bytes(&bytes, &mut self.kept);
                    self.tell(take, events);
                    if !stream.is_over {
                        continue;
                    }
                    ProcessEnd::Exited(0)
                }
                Ok(News::Closed) => match stream.closed() {
                    Ok(Closed::Refused(head, words)) => return Asked::Refused { head, words },
                    Ok(Closed::Answered(events)) => {
                        self.tell(take, events);
                        return Asked::Over(ProcessEnd::Exited(0));
                    }
                    Err(events) => {
                        self.tell(take, events);
                        return Asked::Over(ProcessEnd::Exited(1));
                    }
                },
                Ok(News::Broken { is_reset, words }) if stream.head.is_none() => {
                    if is_reset {
                        return Asked::Reset { words };
                    }
                    let words = format!("cannot reach {}: {words}", self.endpoint.url);
                    self.tell(take, vec![trouble(&words)]);
                    return Asked::Over(ProcessEnd::NotStarted);
                }
                Ok(News::Broken { words, .. }) => {
                    self.tell(take, stream.listener.closed());
                    self.tell(take, vec![trouble(&format!("the connection failed: {words}"))]);
                    ProcessEnd::Exited(1)
                }
                Ok(News::Cancelled) => ProcessEnd::Cancelled,
                Err(RecvTimeoutError::Timeout) => end,
                Err(RecvTimeoutError::Disconnected) => ProcessEnd::Exited(1),
            };
            self.tell(take, stream.listener.closed());
            return Asked::Over(end);
        }
    }

    /// Passes on events, with the key removed from every text.
    fn tell(&self, take: &mut dyn FnMut(Vec<LaneEvent>) -> TurnState, events: Vec<LaneEvent>) {
        let hidden = |text: &mut String| {
            if let Some(key) = &self.endpoint.key {
                *text = key.hidden_in(text).into_owned();
            }
        };
        let events = events.into_iter().map(|mut event| {
            match &mut event {
                LaneEvent::Text(text)
                | LaneEvent::Model(text)
                | LaneEvent::Session(text)
                | LaneEvent::Tool(text) => hidden(text),
                LaneEvent::Trouble(failure) => hidden(&mut failure.message),
                LaneEvent::Ended(TurnEnd { answer, failure }) => {
                    answer.iter_mut().for_each(hidden);
                    failure.iter_mut().map(|failure| &mut failure.message).for_each(hidden);
                }
                LaneEvent::Usage(_) | LaneEvent::Rights(_) => {}
            }
            event
        });
        take(events.collect());
    }

    /// Returns the next limit, and what it means to reach it.
    fn deadline(&self) -> (Duration, ProcessEnd) {
        let Limits { wall, first_byte, stall, .. } = self.supervision.limits;
        let (silence, end) = match self.last {
            None => (first_byte, ProcessEnd::FirstByteLimit),
            Some(last) => (last + stall, ProcessEnd::StallLimit),
        };
        if wall <= silence { (wall, ProcessEnd::WallLimit) } else { (silence, end) }
    }
}
