//! Qwen Code, with `--output-format stream-json`.

mod launch;
mod listener;
mod usage;
mod versions;

pub(super) use self::launch::READER_ARGUMENTS;
use super::listener::DialectListener;
use super::server_approval::{FolderTrustRules, TrustDefault};
use super::{ClientAdapter, ClientHome, CounterScope, ServerWiring, UsageScope, UserFile};
use crate::transcript::usage::UsageRecords;

const VARIABLES: &[&str] =
    &["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY"];

/// Qwen Code starts no server in a folder that its user has not trusted, if the user wants to be asked.
const TRUST: FolderTrustRules = FolderTrustRules {
    default: TrustDefault::Trusts,
    needed: "Qwen Code asks you first: start `qwen` in this project and trust the folder",
    refused: "you told Qwen Code not to trust this folder: start `qwen` in this project and run \
              `/permissions`",
};

pub(super) static ADAPTER: ClientAdapter = ClientAdapter {
    programs: &["qwen"],
    variables: VARIABLES,
    quiet: &[],
    read_only_by: "plan mode",
    tested: Some(versions::TESTED),
    no_prompt: launch::NO_PROMPT,
    resumed_by: "by id",
    usage_scope: UsageScope { tokens: CounterScope::Session, money: CounterScope::Session },
    session_variable: None,
    // Set by `packages/core/src/services/shellExecutionService.ts` of QwenLM/qwen-code.
    shell_variable: Some("QWEN_CODE"),
    home: Some(ClientHome {
        variables: &["QWEN_RUNTIME_DIR", "QWEN_HOME"],
        below: "",
        folder: ".qwen",
    }),
    transcript: None,
    usage_records: Some(UsageRecords { read: usage::read }),
    hooks: None,
    server: Some(ServerWiring::servers_in(
        ".qwen/settings.json",
        UserFile::moved_by(".qwen/settings.json", "QWEN_HOME", "settings.json"),
        |places| TRUST.approval(places),
    )),
    resumed_with: launch::RESUME,
    launch: launch::launch,
    listen: || Box::new(DialectListener::<listener::Qwen>::default()),
    is_reader_tool: launch::is_reader_tool,
    is_reader_mode: launch::is_reader_mode,
};
