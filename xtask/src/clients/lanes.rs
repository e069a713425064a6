//! Real clients in lanes: asked, resumed, and accounted for, through `convoke lane run` alone.

use std::path::Path;

use serde_json::{Value, json};

use super::user::{User, finished};
use super::{claude, codex};
use crate::Error;
use crate::model_server::{Answer, ModelServer};

/// Runs two rounds of one session. Returns whether this client is driven here.
pub(super) fn check(
    client: &str,
    user: &User,
    bin: &Path,
    server: &ModelServer,
) -> Result<bool, Error> {
    let design = user.project().join("notes.md").display().to_string();
    user.write("project/notes.md", "# Notes\n")?;
    let (variables, read) = match client {
        "claude" => (claude::variables(server), ("Read", json!({ "file_path": design }))),
        "codex" => {
            codex::configure(user, server)?;
            let cat = json!({ "cmd": format!("cat {design}") });
            (vec![("OPENAI_API_KEY".to_owned(), "no-key".to_owned())], ("exec_command", cat))
        }
        _ => return Ok(false),
    };
    let ask = |prompt: &str, more: &[&str]| -> Result<Value, Error> {
        let program = std::env::current_exe()?.with_file_name("convoke");
        let mut convoke = user.scrubbed(&program);
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let node = crate::packages::folder_of("node").unwrap_or_default();
        convoke.env("PATH", format!("{path}:{node}")).envs(variables.iter().cloned());
        convoke.args(["lane", "run", "--agent", client, "--json"]).args(more).args(["--", prompt]);
        Ok(serde_json::from_str(&finished(&mut convoke)?)?)
    };
    server.will_answer([Answer::Tool { name: read.0, input: read.1 }]);
    let first = ask("-v is what this prompt begins with", &[])?;
    holds(&first, "outcome", &json!("answered"))?;
    holds(&first, "answer", &json!("Noted."))?;
    let session = first["session"].as_str().ok_or("it named no session")?;
    let second = ask("and on", &["--resume", session])?;
    holds(&second, "outcome", &json!("answered"))?;
    holds(&second, "session", &json!(session))?;
    if second["usage"]["output_tokens"].as_u64().unwrap_or_default() == 0 {
        return Err(format!("nothing was counted: {second}").into());
    }
    Ok(true)
}

fn holds(report: &Value, name: &str, expected: &Value) -> Result<(), Error> {
    if report[name] == *expected {
        return Ok(());
    }
    Err(format!("`{name}` is not {expected}: {report:#}").into())
}
