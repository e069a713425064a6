//! A lane as it happens, for programs: one JSON document in each line.

use convoke_domain::lane::event::{
    GrantedRights, LaneEvent, LaneFailure as Trouble, TurnEnd, Usage,
};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_service::lane::LaneReport;
use jiff::Timestamp;
use serde::Serialize;

/// One line. Text of an agent is inside of a JSON string, which cannot end the line.
#[derive(Serialize)]
pub(super) struct EventLine<'a> {
    #[serde(flatten)]
    happening: Happening<'a>,
    at: String,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Happening<'a> {
    /// The first line, unless it may not start.
    Started {
        /// Its number in the ledger.
        lane: Option<i64>,
        agent: String,
        /// What the client says that it is.
        version: Option<String>,
        /// The convoke that runs it, which `lane stop` asks to stop.
        pid: u32,
    },
    Session {
        id: &'a str,
    },
    Model {
        name: &'a str,
    },
    Rights {
        mode: Option<&'a str>,
        tools: &'a [String],
    },
    Text {
        text: &'a str,
    },
    Tool {
        name: &'a str,
    },
    /// As the client counts; what the run spent is in the report.
    Usage {
        input_tokens: u64,
        cached_tokens: u64,
        output_tokens: u64,
        reasoning_tokens: u64,
        micro_dollars: Option<u64>,
    },
    Trouble {
        kind: &'static str,
        message: &'a str,
    },
    /// The agent's turn is over; its client still has to go.
    Turn {
        failure: Option<&'a str>,
    },
    /// The last line.
    Ended {
        report: &'a LaneReport,
    },
}

impl<'a> EventLine<'a> {
    fn new(happening: Happening<'a>, now: Timestamp) -> Self {
        Self { happening, at: now.to_string() }
    }

    pub(super) fn started(
        agent: &AgentRef,
        lane: Option<i64>,
        version: Option<String>,
        now: Timestamp,
    ) -> Self {
        let pid = std::process::id();
        Self::new(Happening::Started { lane, agent: agent.to_string(), version, pid }, now)
    }

    pub(super) fn said(event: &'a LaneEvent, now: Timestamp) -> Self {
        let happening = match event {
            LaneEvent::Session(id) => Happening::Session { id },
            LaneEvent::Model(name) => Happening::Model { name },
            LaneEvent::Rights(GrantedRights { mode, tools }) => {
                Happening::Rights { mode: mode.as_deref(), tools }
            }
            LaneEvent::Text(text) => Happening::Text { text },
            LaneEvent::Tool(name) => Happening::Tool { name },
            LaneEvent::Usage(usage) => usage_line(*usage),
            LaneEvent::Trouble(Trouble { kind, message }) => {
                Happening::Trouble { kind: kind.name(), message }
            }
            LaneEvent::Ended(TurnEnd { failure, .. }) => Happening::Turn {
                failure: failure.as_ref().map(|failure| failure.message.as_str()),
            },
        };
        Self::new(happening, now)
    }

    pub(super) fn ended(report: &'a LaneReport, now: Timestamp) -> Self {
        Self::new(Happening::Ended { report }, now)
    }
}

fn usage_line(usage: Usage) -> Happening<'static> {
    Happening::Usage {
        input_tokens: usage.input,
        cached_tokens: usage.cached,
        output_tokens: usage.output,
        reasoning_tokens: usage.reasoning,
        micro_dollars: usage.micro_dollars,
    }
}
