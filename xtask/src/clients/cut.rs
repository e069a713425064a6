//! Files that Codex prints completely and shows its agent in part: Convoke must judge what the
//! agent saw.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::codex;
use super::record::codex_session;
use super::user::User;
use crate::Error;
use crate::model_server::{Answer, ModelServer};
use crate::packages::folder_of;

/// A file, how its agent reads it, and the expected state.
struct Case {
    name: &'static str,
    lines: usize,
    most_tokens: Option<u64>,
    standing: &'static str,
}

const CASES: [Case; 3] = [
    Case { name: "20 KB, 1000 tokens", lines: 500, most_tokens: Some(1000), standing: "part" },
    Case { name: "12 KB, unknown model", lines: 300, most_tokens: None, standing: "part" },
    Case { name: "8 KB, unknown model", lines: 200, most_tokens: None, standing: "whole" },
];

const FEATURE: &str = "project/docs/features/001-login";

/// Checks a lane that is to read, printed events with their rollout file, and events without it.
pub(super) fn check(bin: &Path) -> Result<(), Error> {
    CASES.iter().try_for_each(|case| {
        case.in_a_lane(bin)?;
        case.by_events(bin)
    })
}

impl Case {
    fn text(&self) -> String {
        let rule = |n| format!("Rule {n:04}: this first, then that.....\n");
        (0..self.lines).map(rule).collect::<Vec<_>>().concat()
    }

    /// Returns answers that make the agent read the file, and then answer.
    fn answers(&self, path: &Path, answer: &str) -> [Answer; 2] {
        let mut input = json!({ "cmd": format!("cat {}", path.display()) });
        if let Some(tokens) = self.most_tokens {
            input["max_output_tokens"] = json!(tokens);
        }
        [Answer::Tool { name: "exec_command", input }, Answer::Text(answer.to_owned())]
    }

    /// `convoke lane run --read`.
    fn in_a_lane(&self, bin: &Path) -> Result<(), Error> {
        let (user, server) = (User::new()?, ModelServer::start()?);
        codex::configure(&user, &server)?;
        user.write("project/long.md", &self.text())?;
        server.will_answer(self.answers(&user.project().join("long.md"), "I read it."));
        let mut convoke = user.plain(&std::env::current_exe()?.with_file_name("convoke"));
        let node = folder_of("node").unwrap_or_default();
        convoke.env("PATH", format!("{}:/usr/bin:/bin:{node}", bin.display()));
        convoke.env("OPENAI_API_KEY", "no-key");
        convoke.args(["lane", "run", "--agent", "codex", "--json", "--limit", "100"]);
        let output = convoke.args(["--read", "long.md", "What is it?"]).output()?;
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let standing = report["receipts"][0]["standing"].as_str();
        if standing == Some(self.standing) {
            return Ok(());
        }
        Err(format!("{} in a lane is not `{}`: {report:#}", self.name, self.standing).into())
    }

    /// `convoke dispatch check`, with the events that were printed.
    fn by_events(&self, bin: &Path) -> Result<(), Error> {
        let (user, server) = (User::new()?, ModelServer::start()?);
        user.write(&format!("{FEATURE}/design.md"), &self.text())?;
        user.write(&format!("{FEATURE}/spec.md"), "# Spec\nLogging in is fast.\n")?;
        let path = user.project().join("docs/features/001-login/design.md");
        server.will_answer(self.answers(&path, "{\"approved\": true, \"issues\": []}"));
        let recorded = codex_session(&user, bin, &server)?;
        user.write("project/printed.jsonl", &recorded.printed)?;
        self.judged(&user, self.standing)?;
        fs::remove_file(&recorded.transcript)?;
        self.judged(&user, "unsure")
    }

    fn judged(&self, user: &User, expected: &str) -> Result<(), Error> {
        let role = ["dispatch", "check", "implement/security-reviewer", "--feature", "001"];
        let record = ["--client", "codex", "--transcript", "printed.jsonl", "--json", "--dry-run"];
        let judged = user.convoke(&[&role[..], &record].concat())?;
        let report: Value = serde_json::from_str(&judged)?;
        let receipts = report["receipts"].as_array().cloned().unwrap_or_default();
        let design = receipts.iter().find(|receipt| receipt["name"] == "design.md");
        if design.is_some_and(|receipt| receipt["standing"] == expected) {
            return Ok(());
        }
        Err(format!("{} by its events is not `{expected}`: {report:#}", self.name).into())
    }
}
