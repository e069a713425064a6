//! How an agent of the protocol is started: by Convoke's bridge.

use std::path::PathBuf;

use convoke_domain::lane::counted::UsageExtent;

use super::BRIDGE;
use super::agents::{KnownAgent, ReadOnlyProof};
use super::bridge::BridgeRequest;
use crate::client::command::{as_words, one_line};
use crate::client::{ClientCommand, ClientRequest, Rights, UsageScope, adapter};

/// The program of an agent, and what Convoke knows about it.
#[derive(Debug, Clone)]
pub struct AcpCommand {
    /// The path of its program.
    pub program: PathBuf,
    /// The arguments that make it speak the protocol.
    pub arguments: Vec<String>,
    /// The known agent of this name.
    pub known: Option<&'static KnownAgent>,
    /// The mode that the user configured for readers.
    pub read_mode: Option<String>,
    /// Whether it is proven that a reader cannot write.
    pub proof: ReadOnlyProof,
}

impl AcpCommand {
    /// Returns the scope of the agent's counters.
    pub fn usage_scope(&self) -> UsageScope {
        self.known.map_or(UsageScope::RUN, |known| known.usage_scope)
    }

    /// Returns how much of its usage the agent reports.
    pub fn usage_extent(&self) -> UsageExtent {
        self.known
            .map_or(UsageExtent::Whole, |known| UsageExtent::of(&format!("acp:{}", known.name)))
    }
}

pub(super) fn launch(request: &ClientRequest<'_>, command: &mut ClientCommand) {
    command.arguments(&[BRIDGE]);
    // Without an agent the bridge has nothing to read, and says so.
    let Some(agent) = request.acp else { return command.stdin = None };
    let mut arguments = agent.arguments.clone();
    if let Some(known) = agent.known {
        equip(known, request, &mut arguments, command);
    }
    let flag = agent.known.and_then(|known| known.model_flag);
    let model = request.model.map(one_line).filter(|model| !model.is_empty());
    let asked = BridgeRequest {
        program: agent.program.display().to_string(),
        arguments: with_option(arguments, flag, model.as_deref()),
        folder: request.folder.to_owned(),
        prompt: as_words(request.prompt).into_owned(),
        model: model.filter(|_| flag.is_none()),
        effort: request.effort.map(one_line).filter(|effort| !effort.is_empty()),
        resume: request.resume.map(one_line).filter(|session| !session.is_empty()),
        mode: mode(agent, request.rights),
        may_write: request.rights == Rights::Write,
        session_meta: session_meta(agent, request.rights),
        answers_have_ids: agent.known.is_some_and(|known| known.answers_have_ids),
        login: agent.known.map(|known| known.login.to_owned()),
    };
    command.stdin = Some(asked.text());
}

/// Adds what the agent needs beside the protocol: its vendor's quiet, and what makes it a reader.
fn equip(
    known: &KnownAgent,
    request: &ClientRequest<'_>,
    arguments: &mut Vec<String>,
    command: &mut ClientCommand,
) {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    command.variables.extend(adapter(known.vendor).quiet.iter().map(owned));
    if request.rights == Rights::Write {
        return;
    }
    let safe = &known.reader;
    arguments.extend(safe.arguments.iter().map(|argument| (*argument).to_owned()));
    command.variables.extend(safe.variables.iter().map(owned));
    if let Some((name, text, flag)) = safe.file {
        let path = format!("{}/{name}", one_line(request.scratch));
        arguments.push(format!("{flag}={path}"));
        command.files.push((path, text.to_owned()));
    }
}

fn with_option(mut arguments: Vec<String>, flag: Option<&str>, value: Option<&str>) -> Vec<String> {
    arguments.extend(flag.zip(value).map(|(flag, value)| format!("{flag}={value}")));
    arguments
}

fn mode(agent: &AcpCommand, rights: Rights) -> Option<String> {
    match rights {
        Rights::ReadOnly => {
            // No setting may take the place of a mode that is known to be safe.
            let safe = agent.known.map(|known| known.reader.mode.to_owned());
            safe.or_else(|| agent.read_mode.clone())
        }
        Rights::Write => agent.known.and_then(|known| known.writer_mode).map(str::to_owned),
    }
}

fn session_meta(agent: &AcpCommand, rights: Rights) -> Option<serde_json::Value> {
    let meta = agent.known.filter(|_| rights == Rights::ReadOnly)?.reader.session_meta?;
    serde_json::from_str(meta).ok()
}
