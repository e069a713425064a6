//! Real clients that are sent to read two files with `convoke lane run --read`, and read one.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::lanes::{Row, timed};
use super::user::User;
use super::{claude, codex};
use crate::Error;
use crate::model_server::{Answer, ModelServer};
use crate::packages::folder_of;

/// Checks that what they print tells the one from the other.
pub(super) fn check(bins: &[PathBuf; 2], rows: &mut Vec<Row>) -> Result<(), Error> {
    for (client, bin) in ["claude", "codex"].into_iter().zip(bins) {
        let (took, outcome) = timed(|| sent_to_read(client, bin))?;
        rows.push(Row { client, case: "sent to read", outcome, took });
    }
    Ok(())
}

fn sent_to_read(client: &'static str, bin: &Path) -> Result<String, Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    codex::configure(&user, &server)?;
    user.write("project/one.md", "# One\nAlpha\n")?;
    user.write("project/two.md", "# Two\nBeta\n")?;
    let one = user.project().join("one.md").display().to_string();
    let read = match client {
        "claude" => Answer::Tool { name: "Read", input: json!({ "file_path": one }) },
        _ => Answer::Tool { name: "exec_command", input: json!({ "cmd": format!("cat {one}") }) },
    };
    server.will_answer([read, Answer::Text("I read both.".to_owned())]);
    let program = std::env::current_exe()?.with_file_name("convoke");
    let mut convoke = user.plain(&program);
    let node = folder_of("node").unwrap_or_default();
    convoke.env("PATH", format!("{}:/usr/bin:/bin:{node}", bin.display()));
    convoke.env("OPENAI_API_KEY", "no-key").envs(claude::variables(&server));
    convoke.args(["lane", "run", "--agent", client, "--json", "--limit", "100"]);
    let output = convoke.args(["--read", "one.md", "--read", "two.md", "What is it?"]).output()?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let standings = [0, 1].map(|at| report["receipts"][at]["standing"].as_str());
    let is_right = standings == [Some("whole"), Some("not_read")]
        && report["unproven"] == json!(["two.md"])
        && output.status.code() == Some(1);
    if is_right {
        return Ok("two.md: not read".to_owned());
    }
    Err(format!("{client}: what it read is not told: {report:#}").into())
}
