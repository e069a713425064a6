//! A lane as it happens, for programs: one JSON document in each line.

use convoke_domain::lane::event::{
    GrantedRights, LaneEvent, LaneFailure as Trouble, TurnEnd, Usage,
};
use convoke_engine::lane::agent_ref::AgentRef;
use jiff::Timestamp;
use serde::Serialize;

use super::LaneReport;

/// One line of a lane that is watched. What an agent says is inside of a string, which cannot end the
/// line.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneEventLine<'a> {
    /// The event.
    #[serde(flatten)]
    happening: Happening<'a>,
    /// When.
    at: String,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
enum Happening<'a> {
    /// The first line, unless it may not start.
    Started {
        /// Its number in the ledger.
        lane: Option<i64>,
        /// The agent that answers.
        agent: String,
        /// The client's version, in its own words.
        version: Option<String>,
        /// The `convoke` process that runs it, which `lane stop` signals.
        pid: u32,
    },
    /// The client names its session.
    Session {
        /// The session's id.
        id: &'a str,
    },
    /// The client names its model.
    Model {
        /// The model.
        name: &'a str,
    },
    /// The client reports the agent's rights.
    Rights {
        /// The client's word for its permission mode.
        mode: Option<&'a str>,
        /// The tools that it has.
        tools: &'a [String],
    },
    /// A text of the agent.
    Text {
        /// A piece of the answer, as the client printed it.
        text: &'a str,
    },
    /// The agent uses a tool.
    Tool {
        /// The tool.
        name: &'a str,
    },
    /// As the client counts; what the run spent is in the report.
    Usage {
        /// Tokens that the model read.
        input_tokens: u64,
        /// Those of them that were cached.
        cached_tokens: u64,
        /// Tokens that the model wrote.
        output_tokens: u64,
        /// Tokens that it thought with.
        reasoning_tokens: u64,
        /// Millionths of a dollar, where the client knows them.
        micro_dollars: Option<u64>,
    },
    /// A failure that does not end the turn.
    Trouble {
        /// The kind of failure.
        kind: &'static str,
        /// The client's message.
        message: &'a str,
    },
    /// The agent's turn is over; its client still has to go.
    Turn {
        /// Why it failed.
        failure: Option<&'a str>,
    },
    /// The last line.
    Ended {
        /// The lane's report, as `lane run --json` prints it.
        report: &'a LaneReport,
    },
}

impl<'a> LaneEventLine<'a> {
    fn new(happening: Happening<'a>, now: Timestamp) -> Self {
        Self { happening, at: now.to_string() }
    }

    /// Returns the first line.
    pub fn started(
        agent: &AgentRef,
        lane: Option<i64>,
        version: Option<String>,
        now: Timestamp,
    ) -> Self {
        let pid = std::process::id();
        Self::new(Happening::Started { lane, agent: agent.to_string(), version, pid }, now)
    }

    /// Returns the line of an event.
    pub fn said(event: &'a LaneEvent, now: Timestamp) -> Self {
        let happening = match event {
            LaneEvent::Session(id) => Happening::Session { id },
            LaneEvent::Model(name) => Happening::Model { name },
            LaneEvent::Rights(GrantedRights { mode, tools }) => {
                Happening::Rights { mode: mode.as_deref(), tools }
            }
            LaneEvent::Text(text) => Happening::Text { text },
            LaneEvent::Tool(name) => Happening::Tool { name },
            LaneEvent::Usage(usage) => usage_line(*usage),
            LaneEvent::Trouble(Trouble { kind, message, .. }) => {
                Happening::Trouble { kind: kind.name(), message }
            }
            LaneEvent::Ended(TurnEnd { failure, .. }) => Happening::Turn {
                failure: failure.as_ref().map(|failure| failure.message.as_str()),
            },
        };
        Self::new(happening, now)
    }

    /// Returns the last line.
    pub fn ended(report: &'a LaneReport, now: Timestamp) -> Self {
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
