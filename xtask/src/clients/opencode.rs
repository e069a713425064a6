//! opencode, through the plugin that `convoke hooks install` writes.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::user::{User, finished};
use super::{compacted, whole_and_once};
use crate::Error;
use crate::model_server::ModelServer;

const QUIET: [&str; 4] = [
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
];

/// Begins a session, resumes it, and has it compacted.
pub(super) fn check(user: &User, bin: &Path, server: &ModelServer) -> Result<(), Error> {
    configure(user, server)?;
    user.convoke(&["hooks", "install", "opencode"])?;
    let ask = |prompt: &str, session: &[&str]| finished(command(user, bin, prompt)?.args(session));
    let printed = ask("hello", &[])?;
    whole_and_once(server, 1)?;
    let session = session(&printed).ok_or("it named no session")?;
    let resumed = ["-s", session.as_str()];
    ask("go on", &resumed)?;
    whole_and_once(server, 1)?;
    // Now it is too long, is compacted after the answer, and continues.
    server.will_count(50_000);
    ask("and on", &resumed)?;
    compacted(server, "What did we do so far?")?;
    whole_and_once(server, 1)?;
    ask("and on and on", &resumed)?;
    whole_and_once(server, 1)?;
    user.knows_of_arrival(&["opencode"])
}

/// Every line names the session.
fn session(printed: &str) -> Option<String> {
    let line: Value = serde_json::from_str(printed.lines().next()?).ok()?;
    Some(line["sessionID"].as_str()?.to_owned())
}

/// Writes settings with the stand-in as its model.
pub(super) fn configure(user: &User, server: &ModelServer) -> Result<(), Error> {
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": format!("{}/v1", server.url()), "apiKey": "no-key" },
        "models": { "stand-in": { "limit": { "context": 20000, "output": 1000 } } }
    });
    let config = json!({
        "autoupdate": false, "share": "disabled", "model": "here/stand-in",
        "small_model": "here/stand-in", "provider": { "here": provider }
    });
    user.write("home/opencode.json", &config.to_string())
}

/// Prepares it to be asked once.
pub(super) fn command(user: &User, bin: &Path, prompt: &str) -> Result<Command, Error> {
    user.write("home/prompt", prompt)?;
    let prompt = std::fs::File::open(user.home().join("prompt"))?;
    let mut opencode = user.scrubbed(&bin.join("opencode"));
    opencode.args(["run", "--format", "json"]).stdin(Stdio::from(prompt));
    opencode.env("OPENCODE_CONFIG", user.home().join("opencode.json"));
    // It waits for a package that the plugin does not need, longer where there is no registry.
    opencode.envs(QUIET.map(|name| (name, "1"))).env("npm_config_fetch_retries", "0");
    Ok(opencode)
}
