//! Gemini CLI. It passes on texts of any length, and does not report a compaction.

use std::path::Path;
use std::process::Command;

use super::user::{User, finished};
use super::{compacted, whole_and_once};
use crate::Error;
use crate::model_server::ModelServer;

const SESSION: &str = "7b0c9b7e-52f1-4d0e-9a55-0f5b1f6d2a12";

const SETTINGS: &str = r#"{ "security": { "auth": { "selectedType": "gemini-api-key" } },
    "privacy": { "usageStatisticsEnabled": false }, "telemetry": { "enabled": false },
    "general": { "enableAutoUpdate": false, "maxAttempts": 2 }, "model": MODEL }"#;

/// Begins a session, resumes it, and has it compacted.
pub(super) fn check(user: &User, bin: &Path, server: &ModelServer) -> Result<(), Error> {
    let settings = |model: &str| configure(user, model);
    settings("{}")?;
    user.convoke(&["hooks", "install", "gemini"])?;
    let ask = |prompt: &str, session: [&str; 2]| {
        finished(command(user, bin, server).args(["-p", prompt]).args(session))
    };
    let resumed = ["--resume", SESSION];
    let long = format!("hello {}", "and hello again ".repeat(4000));
    ask(&long, ["--session-id", SESSION])?;
    whole_and_once(server, 1)?;
    ask(&long, resumed)?;
    whole_and_once(server, 1)?;
    // Now it is too long, and is compacted after the prompt.
    settings(r#"{ "compressionThreshold": 0.001 }"#)?;
    ask("go on", resumed)?;
    settings("{}")?;
    compacted(server, "Got it. Thanks for the additional context!")?;
    ask("and on", resumed)?;
    whole_and_once(server, 1)?;
    ask("and on and on", resumed)?;
    whole_and_once(server, 1)?;
    user.knows_of_arrival(&["gemini"])
}

/// Writes settings for a key, with these about the model.
pub(super) fn configure(user: &User, model: &str) -> Result<(), Error> {
    user.write("home/.gemini/settings.json", &SETTINGS.replace("MODEL", model))
}

/// Prepares it to talk only to the stand-in.
pub(super) fn command(user: &User, bin: &Path, server: &ModelServer) -> Command {
    let mut gemini = user.scrubbed(&bin.join("gemini"));
    gemini.args(["-o", "json", "-m", "gemini-3-flash"]);
    gemini.env("GOOGLE_GEMINI_BASE_URL", server.url()).env("GEMINI_API_KEY", "no-key");
    gemini.env("GEMINI_CLI_TRUST_WORKSPACE", "true").env("GEMINI_CLI_NO_RELAUNCH", "true");
    gemini.env("TERM", "xterm-256color");
    gemini
}
