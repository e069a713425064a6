//! One line of a cassette.

use std::fmt;
use std::time::Duration;

use convoke_domain::lane::event::{self, GrantedRights, LaneEvent, Usage};
use convoke_domain::lane::outcome::ProcessEnd;
use serde::{Deserialize, Serialize};

use super::{CassetteMatching, CassetteRequest};

/// One line, as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line {
    Cassette {
        version: u32,
        #[serde(default)]
        pace: f64,
    },
    Request(RequestLine),
    Session {
        #[serde(default)]
        at_ms: u64,
        id: String,
    },
    Model {
        #[serde(default)]
        at_ms: u64,
        name: String,
    },
    Rights {
        at_ms: u64,
        mode: Option<String>,
        tools: Vec<String>,
    },
    Text {
        #[serde(default)]
        at_ms: u64,
        text: String,
    },
    Tool {
        #[serde(default)]
        at_ms: u64,
        name: String,
    },
    Usage(UsageLine),
    Trouble {
        #[serde(default)]
        at_ms: u64,
        kind: String,
        message: String,
    },
    Ended {
        #[serde(default)]
        at_ms: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<FailureLine>,
    },
    End {
        how: String,
        #[serde(default)]
        took_ms: u64,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestLine {
    #[serde(default)]
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(default, rename = "match")]
    matching: MatchWord,
    #[serde(default)]
    agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    recorded_at: String,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MatchWord {
    #[default]
    Exact,
    Label,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(super) struct UsageLine {
    at_ms: u64,
    input: u64,
    cached: u64,
    output: u64,
    reasoning: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    micro_dollars: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FailureLine {
    kind: String,
    message: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl From<RequestLine> for CassetteRequest {
    fn from(line: RequestLine) -> Self {
        Self {
            hash: line.hash,
            label: line.label,
            matching: match line.matching {
                MatchWord::Exact => CassetteMatching::Exact,
                MatchWord::Label => CassetteMatching::Label,
            },
            agent: line.agent,
            model: line.model,
            prompt: line.prompt,
            recorded_at: line.recorded_at,
        }
    }
}

impl Line {
    /// Returns the line that begins a lane.
    pub(super) fn request(request: &CassetteRequest, clean: &dyn Fn(&str) -> String) -> Self {
        Self::Request(RequestLine {
            hash: request.hash.clone(),
            label: request.label.as_deref().map(clean),
            matching: match request.matching {
                CassetteMatching::Exact => MatchWord::Exact,
                CassetteMatching::Label => MatchWord::Label,
            },
            agent: clean(&request.agent),
            model: request.model.clone(),
            prompt: clean(&request.prompt),
            recorded_at: request.recorded_at.clone(),
        })
    }

    /// Returns the line for an event.
    pub(super) fn of(at: Duration, event: &LaneEvent, clean: &dyn Fn(&str) -> String) -> Self {
        let at_ms = millis(at);
        let failed = |failure: &event::LaneFailure| FailureLine {
            kind: failure.kind.name().to_owned(),
            message: clean(&failure.message),
        };
        match event {
            LaneEvent::Session(id) => Self::Session { at_ms, id: id.clone() },
            LaneEvent::Model(name) => Self::Model { at_ms, name: name.clone() },
            LaneEvent::Rights(GrantedRights { mode, tools }) => {
                Self::Rights { at_ms, mode: mode.clone(), tools: tools.clone() }
            }
            LaneEvent::Text(text) => Self::Text { at_ms, text: clean(text) },
            LaneEvent::Tool(name) => Self::Tool { at_ms, name: clean(name) },
            LaneEvent::Usage(Usage { input, cached, output, reasoning, micro_dollars }) => {
                Self::Usage(UsageLine {
                    at_ms,
                    input: *input,
                    cached: *cached,
                    output: *output,
                    reasoning: *reasoning,
                    micro_dollars: *micro_dollars,
                })
            }
            LaneEvent::Trouble(failure) => {
                let FailureLine { kind, message } = failed(failure);
                Self::Trouble { at_ms, kind, message }
            }
            LaneEvent::Ended(ended) => Self::Ended {
                at_ms,
                answer: ended.answer.as_deref().map(clean),
                failure: ended.failure.as_ref().map(failed),
            },
        }
    }

    /// Returns the line that ends a lane.
    pub(super) fn ended(end: ProcessEnd, took: Duration) -> Self {
        Self::End { how: end.to_string(), took_ms: millis(took) }
    }

    /// Returns the event and its time; `None` if it names a failure of unknown kind.
    pub(super) fn event(self) -> Option<(Duration, LaneEvent)> {
        let failed = |kind: &str, message| {
            let kind = event::FailureKind::parse(kind)?;
            Some(event::LaneFailure { kind, message, reset: None })
        };
        let (at_ms, event) = match self {
            Self::Session { at_ms, id } => (at_ms, LaneEvent::Session(id)),
            Self::Model { at_ms, name } => (at_ms, LaneEvent::Model(name)),
            Self::Rights { at_ms, mode, tools } => {
                (at_ms, LaneEvent::Rights(GrantedRights { mode, tools }))
            }
            Self::Text { at_ms, text } => (at_ms, LaneEvent::Text(text)),
            Self::Tool { at_ms, name } => (at_ms, LaneEvent::Tool(name)),
            Self::Usage(UsageLine { at_ms, input, cached, output, reasoning, micro_dollars }) => {
                (at_ms, LaneEvent::Usage(Usage { input, cached, output, reasoning, micro_dollars }))
            }
            Self::Trouble { at_ms, kind, message } => {
                (at_ms, LaneEvent::Trouble(failed(&kind, message)?))
            }
            Self::Ended { at_ms, answer, failure } => {
                let failure = match failure {
                    Some(FailureLine { kind, message }) => Some(failed(&kind, message)?),
                    None => None,
                };
                (at_ms, LaneEvent::Ended(event::TurnEnd { answer, failure }))
            }
            Self::Cassette { .. } | Self::Request(_) | Self::End { .. } => return None,
        };
        Some((Duration::from_millis(at_ms), event))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
