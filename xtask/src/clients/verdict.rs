//! Real clients as reviewers that answer ambiguously first and clearly when Convoke asks again.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::lanes::{Row, timed};
use super::user::User;
use super::{claude, codex};
use crate::Error;
use crate::model_server::{Answer, ModelServer};
use crate::packages::folder_of;

/// An approval after words that refuse it.
const UNCLEAR: &str = "Files read: spec.md (2 lines), design.md (2 lines)\n\nI do not approve.\n\n\
    {\"approved\": true, \"issues\": []}";

const CLEAR: &str = "{\"approved\": false, \"issues\": [{\"severity\": \"blocker\", \
    \"description\": \"No limit.\", \"location\": \"spec.md:2\"}]}";

/// Checks that the second answer counts, and that the session is the first one's.
pub(super) fn check(bins: &[PathBuf; 2], rows: &mut Vec<Row>) -> Result<(), Error> {
    for (client, bin) in ["claude", "codex"].into_iter().zip(bins) {
        let (took, outcome) = timed(|| reviewed(client, bin))?;
        rows.push(Row { client, case: "an ambiguous review", outcome, took });
    }
    Ok(())
}

fn reviewed(client: &'static str, bin: &Path) -> Result<String, Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    codex::configure(&user, &server)?;
    user.write("project/docs/features/031-login/spec.md", "# Spec\nRetry.\n")?;
    user.write("project/docs/features/031-login/design.md", "# Design\nA token.\n")?;
    server.will_answer([UNCLEAR, CLEAR].map(|text| Answer::Text(text.to_owned())));
    let program = std::env::current_exe()?.with_file_name("convoke");
    let mut convoke = user.plain(&program);
    let node = folder_of("node").unwrap_or_default();
    convoke.env("PATH", format!("{}:/usr/bin:/bin:{node}", bin.display()));
    convoke.env("OPENAI_API_KEY", "no-key").envs(claude::variables(&server));
    convoke.args(["dispatch", "run", "implement/security-reviewer", "--feature", "031"]);
    let output = convoke.args(["--client", client, "--json", "--limit", "100"]).output()?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let is_right = report["verdict"] == "FAIL"
        && report["first_ambiguity"]["reason"] == "disclaimed"
        && report["issues"][0]["description"] == "No limit."
        && report["earlier_lanes"][0]["session"] == report["lane"]["session"]
        && report["confirmation"]["confirmed"] == json!(true)
        && output.status.code() == Some(1);
    let prompts = server.prompts();
    let last = prompts.last().map(String::as_str).unwrap_or_default();
    // The client sends the whole session, so the model sees its earlier answer.
    let is_asked = last.contains("has no clear verdict") && last.contains("I do not approve.");
    if is_right && is_asked {
        return Ok("asked again: FAIL".to_owned());
    }
    Err(format!("{client}: an ambiguous review is not asked for again: {report:#}").into())
}
