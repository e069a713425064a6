//! Agents that speak the Agent Client Protocol (ACP), such as `codex-acp` or `gemini --acp`.
//!
//! Such an agent does not take a prompt and print events: it converses, and asks back. So the
//! client that a lane starts is Convoke's own [bridge]: it takes the prompt on its stdin as every
//! client does, holds the conversation, and prints what the agent says, line by line, each inside a
//! line of its own. Supervisor, guardian, limits and ledger know nothing of the protocol.
//!
//! *Denying every permission request does not make an agent read-only*: three of the known agents
//! write without a request. So each has its safe mode in the [table](KnownAgent), and the bridge
//! sends no prompt before that mode is confirmed. Of any other agent nothing is proven.
//!
//! The messages are written by hand, because few are needed and every field of an answer may be
//! missing or wrong.

mod agents;
pub mod bridge;
mod launch;
mod listener;
mod readiness;
mod transcript;

use super::listener::DialectListener;
use super::{ClientAdapter, PrintedEvents, TranscriptFormat, UsageScope, is_not_said};

pub use self::agents::{KNOWN_AGENTS, KnownAgent, ReadOnlyProof, known_agent};
pub use self::launch::AcpCommand;
pub use self::readiness::AgentReadiness;

/// The word by which Convoke's program becomes the bridge.
pub const BRIDGE: &str = "acp-bridge";

pub(super) static ADAPTER: ClientAdapter = ClientAdapter {
    programs: &[],
    variables: &[],
    quiet: &[],
    read_only_by: "its agent's mode",
    tested: None,
    no_prompt: None,
    resumed_by: "by id",
    usage_scope: UsageScope::RUN,
    session_variable: None,
    shell_variable: None,
    home: None,
    transcript: Some(TranscriptFormat {
        line: transcript::line,
        injected: None,
        printed: PrintedEvents::AsGiven,
        own_record: None,
    }),
    usage_records: None,
    hooks: None,
    server: None,
    resumed_with: &[],
    launch: launch::launch,
    listen: || Box::new(DialectListener::<listener::Acp>::default()),
    is_reader_tool: is_not_said,
    // The bridge itself stops an agent that leaves its mode.
    is_reader_mode: is_not_said,
};
