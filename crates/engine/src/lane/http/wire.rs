//! The requests to a model's API, and the meaning of its responses. This module opens no
//! connection, so every format is tested with strings.

mod chat;
mod messages;
mod responses;

use convoke_domain::lane::event::{FailureKind, LaneEvent, LaneFailure, TurnEnd, Usage};
use serde_json::{Map, Value, json};

use super::endpoint::{Api, Endpoint};
use crate::client::ClientRequest;
use crate::client::failure::{answered, failure, readable};
use crate::json::believed;

/// The longest answer, in bytes.
pub(super) const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// The message about a longer one, in any number of pieces.
const TOO_LONG: &str = "the answer is longer than 16 MB";

/// Returns the body of a request.
pub(super) fn request(endpoint: &Endpoint, asked: &ClientRequest<'_>) -> Map<String, Value> {
    let mut body = Map::new();
    if let Some(model) = asked.model {
        body.insert("model".to_owned(), json!(model));
    }
    body.insert("stream".to_owned(), json!(true));
    let (limit, effort) = (endpoint.max_tokens, asked.effort);
    body.extend(match endpoint.api {
        Api::Chat => chat::request(asked.prompt, limit, effort),
        Api::Responses => responses::request(asked.prompt, limit, effort),
        Api::Messages => messages::request(asked.prompt, limit, effort),
    });
    body
}

/// Returns a smaller request, if the server refused one because of an optional field, or one with
/// an older name.
pub(super) fn lesser(body: &Map<String, Value>, refusal: &str) -> Option<Map<String, Value>> {
    let mut lesser = body.clone();
    if refusal.contains("stream_options") {
        lesser.remove("stream_options")?;
    } else if refusal.contains("max_tokens") && refusal.contains("max_completion_tokens") {
        let limit = lesser.remove("max_tokens")?;
        lesser.insert("max_completion_tokens".to_owned(), limit);
    } else {
        return None;
    }
    Some(lesser)
}

/// Returns what a server's refusal means: by its status, else by its words.
pub(super) fn refusal(status: u16, body: &str, retry_after: Option<&str>) -> LaneFailure {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let words = words(&value).unwrap_or_else(|| body.trim().to_owned());
    let words = if words.is_empty() { "no reason given".to_owned() } else { words };
    let later = retry_after.map(readable).filter(|later| !later.is_empty());
    let later = later.map_or(String::new(), |later| {
        let unit = if later.parse::<f64>().is_ok() { " s" } else { "" };
        format!(" (retry after {later}{unit})")
    });
    answered(u64::from(status), &format!("the server answers {status}: {words}{later}"))
}

/// Returns what an error in JSON says: its kind and its message.
fn words(value: &Value) -> Option<String> {
    let error = value.get("error").unwrap_or(value);
    let message = error.as_str().or_else(|| error["message"].as_str())?;
    let kind = [&error["code"], &error["type"]].into_iter().find_map(Value::as_str);
    Some(kind.map_or_else(|| message.to_owned(), |kind| format!("{message} [{kind}]")))
}

/// Returns what an error within a stream means. It has the status that the head no longer could.
fn told(value: &Value) -> LaneFailure {
    let error = value.get("error").unwrap_or(value);
    let kind = error["type"].as_str().unwrap_or_default();
    let status = match kind {
        "authentication_error" | "permission_error" => Some(401),
        "overloaded_error" => Some(529),
        _ => [&error["status"], &error["code"]].into_iter().find_map(Value::as_u64),
    };
    let words = words(value).unwrap_or_else(|| "the server gives no reason".to_owned());
    answered(status.unwrap_or_default(), &words)
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    /// The model completed its answer.
    Said,
    /// It was cut off, or says no.
    Failed(LaneFailure),
}

impl Stop {
    fn cut_off() -> Self {
        let message = "the answer reached the limit of tokens; raise `max_tokens`";
        Self::Failed(failure(FailureKind::CutOff, message))
    }

    fn refused(why: &str) -> Self {
        Self::Failed(failure(FailureKind::Other, &format!("the model refuses: {why}")))
    }

    fn unexpected(why: &str) -> Self {
        Self::Failed(failure(FailureKind::Other, &format!("the turn ended in `{why}`")))
    }
}

/// The counts so far, where they come in several events.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    input: Option<u64>,
    cached: u64,
    output: Option<u64>,
}

/// The state of an answer while it arrives.
#[derive(Debug, Default)]
struct Answer {
    text: String,
    /// The model's refusal.
    refusal: String,
    model: Option<String>,
    usage: Option<Usage>,
    counts: Counts,
    /// Whether a count is unknown, and so the total.
    is_usage_unknown: bool,
    stop: Option<Stop>,
    /// The server has announced the end.
    is_over: bool,
}

impl Answer {
    fn model(&mut self, value: &Value) {
        if let Some(name) = value.as_str().filter(|name| !name.is_empty()) {
            self.model = Some(name.to_owned());
        }
    }

    fn add(&mut self, text: &Value) {
        let text = text.as_str().unwrap_or_default();
        if self.text.len() + text.len() > LONGEST_ANSWER {
            self.fail(failure(FailureKind::Other, TOO_LONG));
        } else {
            self.text.push_str(text);
        }
    }

    fn refuse(&mut self, text: &Value) {
        let room = LONGEST_ANSWER - self.refusal.len().min(LONGEST_ANSWER);
        self.refusal.extend(text.as_str().unwrap_or_default().chars().take(room));
    }

    fn fail(&mut self, failure: LaneFailure) {
        self.stop = Some(Stop::Failed(failure));
        self.is_over = true;
    }
}

/// Listens to one answer.
#[derive(Debug)]
pub(super) struct Listener {
    api: Api,
    answer: Answer,
    is_told: bool,
    told_model: Option<String>,
}

impl Listener {
    pub(super) fn new(api: Api) -> Self {
        Self { api, answer: Answer::default(), is_told: false, told_model: None }
    }

    /// Takes in the data of one event. Unknown data is ignored.
    pub(super) fn event(&mut self, data: &str) -> Vec<LaneEvent> {
        let answer = &mut self.answer;
        if let Ok(value) = serde_json::from_str::<Value>(data) {
            match self.api {
                Api::Chat => chat::event(&value, answer),
                Api::Responses => responses::event(&value, answer),
                Api::Messages => messages::event(&value, answer),
            }
        } else if data.trim() == "[DONE]" {
            answer.is_over = true;
        }
        if answer.is_over { self.closed() } else { self.news() }
    }

    /// Takes in an answer in one piece, from a server that does not stream.
    pub(super) fn whole(&mut self, body: &str) -> Vec<LaneEvent> {
        let Ok(value) = serde_json::from_str::<Value>(body) else { return Vec::new() };
        let answer = &mut self.answer;
        match self.api {
            _ if value.get("error").is_some_and(|error| !error.is_null()) => {
                answer.fail(told(&value));
            }
            Api::Chat => chat::event(&value, answer),
            Api::Responses => responses::whole(&value, answer),
            Api::Messages => messages::whole(&value, answer),
        }
        self.closed()
    }

    /// Takes in the end of the response. A turn without an end event has not ended.
    pub(super) fn closed(&mut self) -> Vec<LaneEvent> {
        let mut events = self.news();
        if std::mem::replace(&mut self.is_told, true) {
            return events;
        }
        let answer = &mut self.answer;
        let text = std::mem::take(&mut answer.text);
        if !text.trim().is_empty() {
            events.push(LaneEvent::Text(text.clone()));
        }
        events.extend(answer.usage.filter(|_| !answer.is_usage_unknown).map(LaneEvent::Usage));
        let refusal = std::mem::take(&mut answer.refusal);
        let stop = match answer.stop.take() {
            Some(Stop::Said) if text.trim().is_empty() && !refusal.trim().is_empty() => {
                Some(Stop::refused(refusal.trim()))
            }
            stop => stop,
        };
        events.extend(stop.map(|stop| {
            LaneEvent::Ended(match stop {
                Stop::Said => TurnEnd { answer: Some(text), failure: None },
                Stop::Failed(failure) => TurnEnd { answer: None, failure: Some(failure) },
            })
        }));
        events
    }

    /// Takes in that there is more than the longest answer has.
    pub(super) fn too_long(&mut self) -> Vec<LaneEvent> {
        self.answer.fail(failure(FailureKind::Other, TOO_LONG));
        self.closed()
    }

    /// Tells whether the turn ended and was reported.
    pub(super) fn is_over(&self) -> bool {
        self.is_told
    }

    fn news(&mut self) -> Vec<LaneEvent> {
        if self.answer.model == self.told_model {
            return Vec::new();
        }
        self.told_model.clone_from(&self.answer.model);
        self.told_model.iter().cloned().map(LaneEvent::Model).collect()
    }
}

/// Reads the usage of one of the APIs that `OpenAI` made, which differ in the names of both counters.
fn usage(value: &Value, input: &str, output: &str) -> Option<Usage> {
    let detail = |counter: &str, part: &str| count(&value[format!("{counter}_details")][part]);
    Some(Usage {
        input: tokens(&value[input])?,
        cached: detail(input, "cached_tokens"),
        output: tokens(&value[output])?,
        reasoning: detail(output, "reasoning_tokens"),
        micro_dollars: None,
    })
}

/// A part of a count; an invalid or impossible one counts as zero.
fn count(value: &Value) -> u64 {
    tokens(value).unwrap_or_default()
}

/// A number of tokens; `None` if it is missing or impossible.
fn tokens(value: &Value) -> Option<u64> {
    believed(value.as_u64())
}

#[cfg(test)]
mod tests;
