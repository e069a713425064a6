//! Codex CLI. It runs untrusted hooks only with its bypass flag, which the product never passes.

use std::path::Path;
use std::process::Command;

use super::user::{User, finished};
use super::{compacted, whole_and_once};
use crate::Error;
use crate::model_server::ModelServer;

const FLAGS: [&str; 7] = [
    "--json",
    "--sandbox",
    "read-only",
    "--skip-git-repo-check",
    "--disable",
    "plugins",
    "--dangerously-bypass-hook-trust",
];

/// Begins a session, resumes it, and has it compacted.
pub(super) fn check(user: &User, bin: &Path, server: &ModelServer) -> Result<(), Error> {
    configure(user, server)?;
    user.convoke(&["hooks", "install", "codex", "--user"])?;
    let ask = |words: &[&str]| finished(command(user, bin).args(words));
    let little_room = ["-c", "model_auto_compact_token_limit=5000"];
    ask(&["hello"])?;
    whole_and_once(server, 3)?;
    server.will_count(9000);
    ask(&["resume", "--last", "go on"])?;
    whole_and_once(server, 3)?;
    // Now it is too long, and is compacted before the prompt.
    ask(&[&little_room[..], &["resume", "--last", "and on"]].concat())?;
    compacted(server, "Another language model started")?;
    whole_and_once(server, 3)?;
    ask(&["resume", "--last", "and on and on"])?;
    whole_and_once(server, 3)?;
    user.knows_of_arrival(&["codex", "--user"])
}

/// Writes a configuration with the stand-in as its model.
pub(super) fn configure(user: &User, server: &ModelServer) -> Result<(), Error> {
    let config = format!(
        "model = \"stand-in\"\nmodel_provider = \"stand-in\"\ncheck_for_update_on_startup = false\n\
         [analytics]\nenabled = false\n[model_providers.stand-in]\nname = \"stand-in\"\n\
         base_url = \"{}/v1\"\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n\
         request_max_retries = 1\nstream_max_retries = 1\n",
        server.url()
    );
    user.write("home/.codex/config.toml", &config)
}

/// Prepares it to run once.
pub(super) fn command(user: &User, bin: &Path) -> Command {
    let mut codex = user.scrubbed(&bin.join("codex"));
    codex.arg("exec").args(FLAGS).env("OPENAI_API_KEY", "no-key");
    codex
}
