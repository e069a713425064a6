//! The agents that Convoke knows by name, and what keeps each from writing.

use convoke_domain::client::Client;

use crate::client::{ClientRelease, CounterScope, UsageScope};

/// An agent that Convoke knows: how it is started, and how it is kept from writing.
#[derive(Debug)]
pub struct KnownAgent {
    /// The name behind `acp:`.
    pub name: &'static str,
    /// Other names that users may type.
    pub aliases: &'static [&'static str],
    /// The programs to search for, the best first.
    pub programs: &'static [&'static str],
    /// The arguments that make it speak the protocol.
    pub arguments: &'static [&'static str],
    /// The client of the same vendor, whose variables, settings and login it uses.
    pub vendor: Client,
    /// Further variables that it may see.
    pub variables: &'static [&'static str],
    /// How it is kept from writing.
    pub(super) reader: SafeMode,
    /// The mode in which it changes files without a request, if it does not begin in one.
    pub(super) writer_mode: Option<&'static str>,
    /// The flag for a model, where it offers no choice in the conversation.
    pub(super) model_flag: Option<&'static str>,
    /// Whether text without the id of a message is a notice of its own, and never the answer.
    pub(super) answers_have_ids: bool,
    /// The command by which a person logs in.
    pub(super) login: &'static str,
    /// The scope of its counters, as measured.
    pub usage_scope: UsageScope,
    /// The mechanism that keeps a reader from writing, in a word or two.
    pub read_only_by: &'static str,
    /// Whether that mechanism is proven.
    pub proof: ReadOnlyProof,
    /// The package of the version that Convoke's tests drive, where it is not the vendor's client.
    pub package: Option<(&'static str, ClientRelease)>,
}

/// What makes an agent a reader.
#[derive(Debug)]
pub(super) struct SafeMode {
    /// Further arguments.
    pub(super) arguments: &'static [&'static str],
    /// Further variables.
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// A file of the lane, by its name, its text and the flag that names it.
    pub(super) file: Option<(&'static str, &'static str, &'static str)>,
    /// The mode of its session; without it, Convoke sends no prompt.
    pub(super) mode: &'static str,
    /// The `_meta` of a session's beginning, as JSON.
    pub(super) session_meta: Option<&'static str>,
}

/// Whether it is proven that an agent cannot write in a reading lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnlyProof {
    /// Convoke's tests asked this agent to write, and nothing was written.
    Tested,
    /// Only the working tree can tell.
    Unproven,
}

const CLAUDE_PACKAGE: (&str, ClientRelease) =
    ("@agentclientprotocol/claude-agent-acp", ClientRelease::new(0, 99, 1));

const CODEX_PACKAGE: (&str, ClientRelease) =
    ("@agentclientprotocol/codex-acp", ClientRelease::new(2, 6, 0));

/// Every known agent, in the order of lists that users read.
pub const KNOWN_AGENTS: &[KnownAgent] = &[
    KnownAgent {
        name: "claude",
        aliases: &["claude-agent-acp"],
        programs: &["claude-agent-acp"],
        arguments: &[],
        vendor: Client::Claude,
        variables: &["CLAUDE_CODE_EXECUTABLE"],
        reader: SafeMode {
            arguments: &[],
            variables: &[],
            file: None,
            mode: "default",
            session_meta: Some(crate::client::claude::READER_META),
        },
        writer_mode: Some("acceptEdits"),
        model_flag: None,
        answers_have_ids: false,
        login: "claude /login",
        usage_scope: UsageScope { tokens: CounterScope::Run, money: CounterScope::Session },
        read_only_by: "no tools",
        proof: ReadOnlyProof::Tested,
        package: Some(CLAUDE_PACKAGE),
    },
    KnownAgent {
        name: "codex",
        aliases: &["codex-acp"],
        programs: &["codex-acp"],
        arguments: &[],
        vendor: Client::Codex,
        variables: &[],
        reader: SafeMode {
            arguments: &[],
            variables: &[],
            file: None,
            mode: "read-only",
            session_meta: None,
        },
        writer_mode: None,
        model_flag: None,
        answers_have_ids: true,
        login: "codex login",
        usage_scope: UsageScope::RUN,
        read_only_by: "sandbox",
        proof: ReadOnlyProof::Tested,
        package: Some(CODEX_PACKAGE),
    },
    KnownAgent {
        name: "gemini",
        aliases: &["gemini-cli"],
        programs: &["gemini"],
        arguments: &["--acp"],
        vendor: Client::Gemini,
        variables: &[],
        reader: SafeMode {
            arguments: crate::client::gemini::READER_ARGUMENTS,
            variables: &[],
            file: Some((
                "read-only.toml",
                crate::client::gemini::READ_ONLY_POLICY,
                "--admin-policy",
            )),
            mode: "plan",
            session_meta: None,
        },
        writer_mode: Some("autoEdit"),
        model_flag: Some("--model"),
        answers_have_ids: false,
        login: "gemini",
        usage_scope: UsageScope::RUN,
        read_only_by: "policy",
        proof: ReadOnlyProof::Tested,
        package: None,
    },
    KnownAgent {
        name: "opencode",
        aliases: &[],
        programs: &["opencode"],
        arguments: &["acp"],
        vendor: Client::Opencode,
        variables: &[],
        reader: SafeMode {
            arguments: &[],
            variables: &[("OPENCODE_CONFIG_CONTENT", crate::client::opencode::READER)],
            file: None,
            mode: crate::client::opencode::READER_NAME,
            session_meta: None,
        },
        writer_mode: None,
        model_flag: None,
        answers_have_ids: false,
        login: "opencode auth login",
        usage_scope: UsageScope::RUN,
        read_only_by: "no tools",
        proof: ReadOnlyProof::Tested,
        package: None,
    },
    KnownAgent {
        name: "qwen",
        aliases: &["qwen-code"],
        programs: &["qwen"],
        arguments: &["--acp"],
        vendor: Client::Qwen,
        variables: &[],
        reader: SafeMode {
            arguments: crate::client::qwen::READER_ARGUMENTS,
            variables: &[],
            file: None,
            mode: "plan",
            session_meta: None,
        },
        writer_mode: Some("auto-edit"),
        model_flag: Some("--model"),
        answers_have_ids: false,
        login: "qwen",
        usage_scope: UsageScope::RUN,
        read_only_by: "plan mode",
        proof: ReadOnlyProof::Unproven,
        package: None,
    },
];

/// Returns the known agent of this name.
pub fn known_agent(name: &str) -> Option<&'static KnownAgent> {
    KNOWN_AGENTS.iter().find(|agent| agent.name == name || agent.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_agent_is_found_by_each_of_its_names() {
        for agent in KNOWN_AGENTS {
            for name in agent.aliases.iter().chain([&agent.name]) {
                assert_eq!(known_agent(name).map(|found| found.name), Some(agent.name));
            }
            assert!(!agent.reader.mode.is_empty(), "{} has no safe mode", agent.name);
        }
        assert!(known_agent("aider").is_none());
    }
}
