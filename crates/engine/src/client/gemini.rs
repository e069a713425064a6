//! Gemini CLI, with `--output-format stream-json`.

mod hooks;
mod injected;
mod launch;
mod listener;
mod transcript;
mod usage;
mod versions;

pub(super) use self::launch::{READ_ONLY_POLICY, READER_ARGUMENTS};
use super::listener::DialectListener;
use super::server_approval::{FolderTrustRules, TrustDefault};
use super::{
    ClientAdapter, ClientHome, PrintedEvents, ServerWiring, TranscriptFormat, UsageScope, UserFile,
    is_not_said,
};
use crate::transcript::usage::UsageRecords;

const VARIABLES: &[&str] = &[
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_GENAI_USE_VERTEXAI",
];

const QUIET: &[(&str, &str)] = &[
    // In an untrusted folder it changes the requested mode.
    ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    // Its outer process would not pass signals on.
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
];

const USER_SETTINGS: UserFile =
    UserFile::moved_by(".gemini/settings.json", "GEMINI_CLI_HOME", ".gemini/settings.json");

/// Gemini CLI starts no server in a folder that its user has not trusted.
const TRUST: FolderTrustRules = FolderTrustRules {
    default: TrustDefault::Asks,
    needed: "Gemini CLI asks you first: start `gemini` in this project and trust the folder",
    refused: "you told Gemini CLI not to trust this folder: start `gemini` in this project and run \
              `/permissions`",
};

pub(super) static ADAPTER: ClientAdapter = ClientAdapter {
    programs: &["gemini"],
    variables: VARIABLES,
    quiet: QUIET,
    read_only_by: "no tools",
    tested: Some(versions::TESTED),
    no_prompt: launch::NO_PROMPT,
    resumed_by: "by id, repeats tools",
    usage_scope: UsageScope::RUN,
    session_variable: None,
    shell_variable: Some("GEMINI_CLI"),
    home: Some(ClientHome { variables: &["GEMINI_CLI_HOME"], below: ".gemini", folder: ".gemini" }),
    transcript: Some(TranscriptFormat {
        line: transcript::line,
        injected: Some(injected::injected),
        printed: PrintedEvents::AsGiven,
        own_record: None,
    }),
    usage_records: Some(UsageRecords { read: usage::read }),
    hooks: Some(hooks::WIRING),
    server: Some(ServerWiring::servers_in(".gemini/settings.json", USER_SETTINGS, |places| {
        TRUST.approval(places)
    })),
    resumed_with: launch::RESUME,
    launch: launch::launch,
    listen: || Box::new(DialectListener::<listener::Gemini>::default()),
    is_reader_tool: is_not_said,
    is_reader_mode: is_not_said,
};
