//! How each client is directed to the stand-in for its model, and by which tools its agent reads
//! and writes.

use serde_json::{Value, json};

use crate::Error;
use crate::clients::user::User;
use crate::clients::{claude, codex};
use crate::model_server::{Answer, ModelServer};

/// A fixed model, so that it sends no request to choose one; and few retries.
const GEMINI: &str = r#"{ "security": { "auth": { "selectedType": "gemini-api-key" } },
    "privacy": { "usageStatisticsEnabled": false }, "telemetry": { "enabled": false },
    "general": { "enableAutoUpdate": false, "maxAttempts": 2 },
    "model": { "name": "gemini-3-flash" } }"#;

const QWEN: &str = r#"{ "security": { "auth": { "selectedType": "openai" } },
    "privacy": { "usageStatisticsEnabled": false }, "telemetry": { "enabled": false },
    "general": { "enableAutoUpdate": false, "disableAutoUpdate": true } }"#;

/// Writes what a client's user has configured, and returns their variables.
pub(in crate::clients) fn configure(
    client: &str,
    user: &User,
    server: &ModelServer,
) -> Result<Vec<(String, String)>, Error> {
    let key = |name: &str| (name.to_owned(), "no-key".to_owned());
    Ok(match client {
        "claude" => claude::variables(server),
        "codex" => {
            codex::configure(user, server)?;
            vec![key("OPENAI_API_KEY")]
        }
        "gemini" => {
            user.write("home/.gemini/settings.json", GEMINI)?;
            vec![key("GEMINI_API_KEY"), ("GOOGLE_GEMINI_BASE_URL".to_owned(), server.url())]
        }
        "opencode" => {
            user.write("home/opencode.json", &opencode(server).to_string())?;
            let path = user.home().join("opencode.json").display().to_string();
            vec![("OPENCODE_CONFIG".to_owned(), path)]
        }
        "qwen" => {
            user.write("home/.qwen/settings.json", QWEN)?;
            qwen_variables(server)
        }
        other => return Err(format!("there is no setup for {other}").into()),
    })
}

/// Returns what directs Qwen to the stand-in.
pub(in crate::clients) fn qwen_variables(server: &ModelServer) -> Vec<(String, String)> {
    let url = format!("{}/v1", server.url());
    [("OPENAI_API_KEY", "no-key"), ("OPENAI_BASE_URL", &url), ("OPENAI_MODEL", "stand-in")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

fn opencode(server: &ModelServer) -> Value {
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": format!("{}/v1", server.url()), "apiKey": "no-key" },
        "models": { "stand-in": { "limit": { "context": 20000, "output": 1000 } } }
    });
    json!({ "autoupdate": false, "share": "disabled", "model": "here/stand-in",
            "small_model": "here/stand-in", "provider": { "here": provider } })
}

fn call(name: &'static str, input: Value) -> Answer {
    Answer::Tool { name, input }
}

/// Returns the model's request to read a file.
pub(super) fn reads(client: &str, path: &str) -> Answer {
    match client {
        "claude" => call("Read", json!({ "file_path": path })),
        "codex" => call("exec_command", json!({ "cmd": format!("cat {path}") })),
        "opencode" => call("read", json!({ "filePath": path })),
        _ => call("read_file", json!({ "file_path": path })),
    }
}

/// The model wants to write a file, by every tool that could.
pub(super) fn writes(client: &str, path: &str) -> Vec<Answer> {
    let touch = format!("touch {path}");
    match client {
        "claude" => vec![
            call("Write", json!({ "file_path": path, "content": "x" })),
            call("Bash", json!({ "command": touch })),
        ],
        "codex" => vec![call("exec_command", json!({ "cmd": touch }))],
        "opencode" => vec![
            call("write", json!({ "filePath": path, "content": "x" })),
            call("bash", json!({ "command": touch, "description": "makes a file" })),
        ],
        _ => vec![
            call("write_file", json!({ "file_path": path, "content": "x" })),
            call("run_shell_command", json!({ "command": touch, "is_background": false })),
        ],
    }
}
