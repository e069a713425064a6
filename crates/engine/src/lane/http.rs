//! The door to the network: one prompt to one model's API, under the limits that clients have too.
//!
//! The request is made in a thread of its own, because nothing can be asked of a connection while it
//! is waited for; what comes is handed on in pieces, and of it little is held in memory.

pub mod endpoint;
mod sse;
mod wire;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use convoke_domain::lane::event::{Ended, Event, Failure, FailureKind};
use convoke_domain::lane::outcome::End;
use serde_json::{Map, Value};
use ureq::Agent;
use ureq::http::header::{CONTENT_TYPE, RETRY_AFTER};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use self::endpoint::Endpoint;
use self::sse::Events;
use self::wire::Listener;
use super::adapter::failure::failure;
use super::drive::{Lane, Ran};
use super::stopwatch::Stopwatch;
use super::supervisor::{Limits, Talk};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// How many chunks may wait to be looked at.
const WAITING: usize = 16;

/// The longest answer that does not come in events.
const LONGEST_WHOLE: usize = 16 * 1024 * 1024;

/// How much longer than a limit of ours a connection is left alone; whoever waits for it gives up
/// earlier, and says why.
const SLACK: Duration = Duration::from_secs(1);

/// The start of an answer.
struct Head {
    status: u16,
    is_stream: bool,
    retry_after: Option<String>,
}

/// What the thread that speaks with the server hands on.
enum News {
    Head(Head),
    Bytes(Vec<u8>),
    /// Nothing follows.
    Closed,
    Broken {
        is_reset: bool,
        words: String,
    },
    /// Somebody wants it to stop.
    Cancelled,
}

/// What came of one request.
enum Asked {
    Over(End),
    Refused {
        head: Head,
        words: String,
    },
    /// The connection broke before the server said anything.
    Reset {
        words: String,
    },
}

/// Sends a prompt and listens to the answer. A request that a server refuses for what can be done
/// without is sent once more without it, and so is one that was lost on the way.
pub(super) fn run(
    endpoint: &Endpoint,
    lane: &Lane<'_>,
    take: &mut dyn FnMut(Vec<Event>) -> Talk,
) -> io::Result<Ran> {
    let scratch = Path::new(lane.errand.scratch);
    fs::write(scratch.join("stdin"), lane.errand.prompt)?;
    let mut exchange = Exchange {
        endpoint,
        lane,
        watch: Stopwatch::start(),
        last: None,
        bytes: 0,
        kept: File::create(scratch.join("stdout"))?,
    };
    let mut body = wire::request(endpoint, &lane.errand);
    let mut was_reset = false;
    let end = loop {
        match exchange.ask(&body, take) {
            Asked::Over(end) => break end,
            Asked::Reset { .. } if !was_reset => was_reset = true,
            Asked::Reset { words } => {
                exchange.tell(take, vec![trouble(&format!("the connection broke: {words}"))]);
                break End::Exited(1);
            }
            Asked::Refused { head, words } => {
                let is_about_us = matches!(head.status, 400 | 422);
                let less = wire::lesser(&body, &words).filter(|_| is_about_us);
                let Some(less) = less else {
                    let failure = wire::refusal(head.status, &words, head.retry_after.as_deref());
                    let ended = Ended { answer: None, failure: Some(failure) };
                    exchange.tell(take, vec![Event::Ended(ended)]);
                    break End::Exited(1);
                };
                body = less;
            }
        }
    };
    let Exchange { watch, bytes, .. } = exchange;
    Ok(Ran { end, took: watch.elapsed(), bytes, stderr: String::new() })
}

/// What is known while an answer comes.
struct Exchange<'a> {
    endpoint: &'a Endpoint,
    lane: &'a Lane<'a>,
    watch: Stopwatch,
    /// When the server last said something.
    last: Option<Duration>,
    bytes: u64,
    kept: File,
}

impl Exchange<'_> {
    fn ask(
        &mut self,
        body: &Map<String, Value>,
        take: &mut dyn FnMut(Vec<Event>) -> Talk,
    ) -> Asked {
        let agent = agent(self.endpoint, self.lane.limits);
        let request = Request {
            address: self.endpoint.address(),
            headers: self.endpoint.headers(),
            body: Value::Object(body.clone()).to_string(),
        };
        let (sender, news) = sync_channel(WAITING);
        let asked_to_stop = {
            let sender = sender.clone();
            // If there is no room, we are busy listening, and see by ourselves.
            self.lane.cancel.watch(move || sender.try_send(News::Cancelled).unwrap_or_default())
        };
        let theirs = agent.clone();
        thread::spawn(move || request.send(&theirs, &sender));
        let asked = self.listen(&news, take);
        drop(asked_to_stop);
        // Ends the other thread's request, wherever it is.
        agent.shutdown();
        asked
    }

    fn listen(&mut self, news: &Receiver<News>, take: &mut dyn FnMut(Vec<Event>) -> Talk) -> Asked {
        let mut hearing = Hearing::new(self.endpoint);
        loop {
            let (deadline, end) = self.deadline();
            let left = deadline.saturating_sub(self.watch.elapsed());
            let next = if self.lane.cancel.is_asked() {
                Ok(News::Cancelled)
            } else if left.is_zero() {
                Err(RecvTimeoutError::Timeout)
            } else {
                news.recv_timeout(left)
            };
            let end = match next {
                Ok(News::Head(head)) => {
                    self.last = Some(self.watch.elapsed());
                    hearing.head = Some(head);
                    continue;
                }
                Ok(News::Bytes(bytes)) => {
                    self.last = Some(self.watch.elapsed());
                    self.bytes += bytes.len() as u64;
                    let events = hearing.bytes(&bytes, &mut self.kept);
                    self.tell(take, events);
                    if !hearing.is_over {
                        continue;
                    }
                    End::Exited(0)
                }
                Ok(News::Closed) => match hearing.closed() {
                    Ok(Closed::Refused(head, words)) => return Asked::Refused { head, words },
                    Ok(Closed::Answered(events)) => {
                        self.tell(take, events);
                        return Asked::Over(End::Exited(0));
                    }
                    Err(events) => {
                        self.tell(take, events);
                        return Asked::Over(End::Exited(1));
                    }
                },
                Ok(News::Broken { is_reset, words }) if hearing.head.is_none() => {
                    if is_reset {
                        return Asked::Reset { words };
                    }
                    let words = format!("cannot reach {}: {words}", self.endpoint.url);
                    self.tell(take, vec![trouble(&words)]);
                    return Asked::Over(End::NotStarted);
                }
                Ok(News::Broken { words, .. }) => {
                    self.tell(take, hearing.listener.closed());
                    self.tell(take, vec![trouble(&format!("the connection broke: {words}"))]);
                    End::Exited(1)
                }
                Ok(News::Cancelled) => End::Cancelled,
                Err(RecvTimeoutError::Timeout) => end,
                Err(RecvTimeoutError::Disconnected) => End::Exited(1),
            };
            self.tell(take, hearing.listener.closed());
            return Asked::Over(end);
        }
    }

    /// Hands on events, without the key wherever it may stand in them.
    fn tell(&self, take: &mut dyn FnMut(Vec<Event>) -> Talk, events: Vec<Event>) {
        let hidden = |text: &mut String| {
            if let Some(key) = &self.endpoint.key {
                *text = key.hidden_in(text).into_owned();
            }
        };
        let events = events.into_iter().map(|mut event| {
            match &mut event {
                Event::Text(text)
                | Event::Model(text)
                | Event::Session(text)
                | Event::Tool(text) => hidden(text),
                Event::Trouble(failure) => hidden(&mut failure.message),
                Event::Ended(Ended { answer, failure }) => {
                    answer.iter_mut().for_each(hidden);
                    failure.iter_mut().map(|failure| &mut failure.message).for_each(hidden);
                }
                Event::Usage(_) | Event::Rights(_) => {}
            }
            event
        });
        take(events.collect());
    }

    /// Returns the next limit, and what it means to reach it.
    fn deadline(&self) -> (Duration, End) {
        let Limits { wall, first_byte, stall, .. } = self.lane.limits;
        let (silence, end) = match self.last {
            None => (first_byte, End::FirstByteLimit),
            Some(last) => (last + stall, End::StallLimit),
        };
        if wall <= silence { (wall, End::WallLimit) } else { (silence, end) }
    }
}

/// One answer while it comes.
struct Hearing<'a> {
    endpoint: &'a Endpoint,
    head: Option<Head>,
    listener: Listener,
    events: Events,
    /// What came, where it is no stream of events.
    whole: Vec<u8>,
    is_over: bool,
}

/// An answer that came to its end.
enum Closed {
    Answered(Vec<Event>),
    Refused(Head, String),
}

impl<'a> Hearing<'a> {
    fn new(endpoint: &'a Endpoint) -> Self {
        Self {
            endpoint,
            head: None,
            listener: Listener::new(endpoint.api),
            events: Events::default(),
            whole: Vec::new(),
            is_over: false,
        }
    }

    /// Takes in bytes. What is kept of them is without the key.
    fn bytes(&mut self, bytes: &[u8], kept: &mut File) -> Vec<Event> {
        let is_stream = self.head.as_ref().is_some_and(|head| head.is_stream);
        if !is_stream {
            let room = LONGEST_WHOLE.saturating_sub(self.whole.len());
            self.whole.extend_from_slice(&bytes[..bytes.len().min(room)]);
            return Vec::new();
        }
        let Ok(whole) = self.events.add(bytes) else {
            self.is_over = true;
            let mut events = self.listener.closed();
            events.push(trouble("the server's stream has an event of more than 16 MB"));
            return events;
        };
        let mut events = Vec::new();
        for data in whole {
            let data = match &self.endpoint.key {
                Some(key) => key.hidden_in(&data).into_owned(),
                None => data,
            };
            // A full disk must not stop the server from being heard.
            writeln!(kept, "{data}").ok();
            events.extend(self.listener.event(&data));
            if self.listener.is_over() {
                self.is_over = true;
                break;
            }
        }
        events
    }

    /// Takes in that nothing follows. The events of what is no answer come as an error.
    fn closed(&mut self) -> Result<Closed, Vec<Event>> {
        let Some(head) = self.head.take() else { return Err(self.listener.closed()) };
        let text = String::from_utf8_lossy(&self.whole).into_owned();
        if !(200..300).contains(&head.status) {
            let is_elsewhere = (300..400).contains(&head.status);
            let words = if is_elsewhere { "redirects are not followed".to_owned() } else { text };
            return Ok(Closed::Refused(head, words));
        }
        let mut events =
            if head.is_stream { self.listener.closed() } else { self.listener.whole(&text) };
        if events.iter().any(|event| matches!(event, Event::Ended(_))) {
            return Ok(Closed::Answered(events));
        }
        events.push(trouble(if head.is_stream {
            "the server closed the stream before the turn ended"
        } else {
            "the server's answer is not understood"
        }));
        Err(events)
    }
}

fn trouble(words: &str) -> Event {
    let failure: Failure = failure(FailureKind::Other, words);
    Event::Trouble(failure)
}

/// A request, as the thread that makes it needs it.
struct Request {
    address: String,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Request {
    /// Makes the request and hands on what comes, until nobody wants it any more.
    fn send(self, agent: &Agent, news: &SyncSender<News>) {
        let heard = self.exchange(agent, |piece| news.send(piece).is_ok());
        // Whoever listened may be gone.
        news.send(match heard {
            Ok(()) => News::Closed,
            Err(error) => broken(&error),
        })
        .ok();
    }

    fn exchange(self, agent: &Agent, hand_on: impl Fn(News) -> bool) -> Result<(), ureq::Error> {
        let post = agent.post(&self.address);
        let post = self.headers.iter().fold(post, |post, (name, value)| post.header(*name, value));
        let response = post.send(self.body)?;
        let header = |name| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let kind: Option<String> = header(CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let status = response.status().as_u16();
        let mut goes_on =
            hand_on(News::Head(Head { status, is_stream, retry_after: header(RETRY_AFTER) }));
        let mut reader = response.into_body().into_reader();
        let mut chunk = vec![0; CHUNK];
        while goes_on {
            let count = reader.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            goes_on = hand_on(News::Bytes(chunk[..count].to_vec()));
        }
        Ok(())
    }
}

fn broken(error: &ureq::Error) -> News {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let ureq::Error::Io(error) = error else {
        return News::Broken { is_reset: false, words: error.to_string() };
    };
    let resets = [BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof];
    News::Broken { is_reset: resets.contains(&error.kind()), words: error.to_string() }
}

/// What speaks with the server. It follows nobody elsewhere, keeps nothing, and on this machine asks
/// no proxy.
fn agent(endpoint: &Endpoint, limits: Limits) -> Agent {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(0)
        .user_agent(concat!("convoke/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(limits.first_byte + SLACK))
        .timeout_global(Some(limits.wall + SLACK));
    if endpoint.url.is_loopback() {
        config = config.proxy(None);
    }
    if endpoint.url.is_encrypted() || !endpoint.url.is_loopback() {
        config = config.tls_config(encryption());
    }
    config.build().into()
}

/// Whom the machine trusts, we trust.
fn encryption() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs();
    let roots = found.certs.iter().map(|root| Certificate::from_der(root).to_owned());
    TlsConfig::builder()
        .root_certs(RootCerts::from(roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}
