//! One answer while it comes: bytes to events.

use std::fs::File;
use std::io::Write;

use convoke_domain::lane::event::{FailureKind, LaneEvent};

use super::connection::Head;
use super::endpoint::Endpoint;
use super::sse::Events;
use super::wire::{LONGEST_ANSWER, Listener};
use crate::client::failure::failure;

/// One answer while it comes.
pub(super) struct AnswerStream<'a> {
    endpoint: &'a Endpoint,
    pub(super) head: Option<Head>,
    pub(super) listener: Listener,
    events: Events,
    /// The response, if it is not a stream of events.
    whole: Vec<u8>,
    pub(super) is_over: bool,
}

/// A completed answer.
pub(super) enum Closed {
    Answered(Vec<LaneEvent>),
    Refused(Head, String),
}

impl<'a> AnswerStream<'a> {
    pub(super) fn new(endpoint: &'a Endpoint) -> Self {
        Self {
            endpoint,
            head: None,
            listener: Listener::new(endpoint.api),
            events: Events::default(),
            whole: Vec::new(),
            is_over: false,
        }
    }

    /// Takes in bytes. The kept copy is without the key.
    pub(super) fn bytes(&mut self, bytes: &[u8], kept: &mut File) -> Vec<LaneEvent> {
        let is_stream = self.head.as_ref().is_some_and(|head| head.is_stream);
        if !is_stream {
            self.whole.extend_from_slice(bytes);
            self.is_over = self.whole.len() > LONGEST_ANSWER;
            return if self.is_over { self.listener.too_long() } else { Vec::new() };
        }
        let Ok(whole) = self.events.add(bytes) else {
            self.is_over = true;
            return self.listener.too_long();
        };
        let mut events = Vec::new();
        for data in whole {
            let data = match &self.endpoint.key {
                Some(key) => key.hidden_in(&data).into_owned(),
                None => data,
            };
            // A full disk must not stop the reading of the response.
            writeln!(kept, "{data}").ok();
            events.extend(self.listener.event(&data));
            if self.listener.is_over() {
                self.is_over = true;
                break;
            }
        }
        events
    }

    /// Takes in the end of the response. For a response without an answer, the events come as an
    /// error.
    pub(super) fn closed(&mut self) -> Result<Closed, Vec<LaneEvent>> {
        let Some(head) = self.head.take() else { return Err(self.listener.closed()) };
        let text = String::from_utf8_lossy(&self.whole).into_owned();
        if !(200..300).contains(&head.status) {
            let is_elsewhere = (300..400).contains(&head.status);
            let words =
                if is_elsewhere { "Convoke does not follow redirects".to_owned() } else { text };
            return Ok(Closed::Refused(head, words));
        }
        let mut events =
            if head.is_stream { self.listener.closed() } else { self.listener.whole(&text) };
        if events.iter().any(|event| matches!(event, LaneEvent::Ended(_))) {
            return Ok(Closed::Answered(events));
        }
        events.push(trouble(if head.is_stream {
            "the server closed the stream before the turn ended"
        } else {
            "Convoke cannot read the server's answer"
        }));
        Err(events)
    }
}

/// Returns trouble of no known kind.
pub(super) fn trouble(words: &str) -> LaneEvent {
    LaneEvent::Trouble(failure(FailureKind::Other, words))
}
