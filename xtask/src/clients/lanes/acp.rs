//! Agents of the Agent Client Protocol in lanes: asked to read, resumed and asked to write, and
//! cancelled.

use std::path::Path;
use std::process::Stdio;

use convoke_engine::client::acp::{KnownAgent, ReadOnlyProof, known_agent};
use serde_json::{Value, json};

use super::{Driver, Row, holds, setup, timed, until};
use crate::model_server::Reply;
use crate::process::succeeds;
use crate::{Error, say};

/// Generous: four agents start two processes each, and one takes a minute alone.
const LIMITS: [&str; 6] = ["--limit", "200", "--stall", "120", "--grace", "3"];

/// What the record of each agent proves about a file that it read whole.
const PROOFS: [(&str, &str); 5] = [
    ("claude", "whole"),
    ("codex", "unsure"),
    ("gemini", "unsure"),
    ("opencode", "whole"),
    ("qwen", "unsure"),
];

/// Gemini loses a session that is loaded in the minute in which it began.
const LOSES_SESSIONS: &str = "gemini";

/// Drives an agent, and adds a row for each case.
pub(in crate::clients) fn check(
    agent: &'static KnownAgent,
    bin: &Path,
    rows: &mut Vec<Row>,
) -> Result<(), Error> {
    let driver = Driver::of_acp(agent.name, bin)?;
    let (took, session) = timed(|| reads(&driver))?;
    let row = |case, outcome: &str, took| {
        let outcome = outcome.to_owned();
        Row { client: agent.name, case, outcome, took }
    };
    rows.push(row("acp: reads", "answered", took));
    let (took, ()) = timed(|| is_asked_to_write(&driver, &session))?;
    rows.push(row("acp: resumed, and asked to write", "nothing written", took));
    let (took, ()) = timed(|| is_cancelled(&driver))?;
    rows.push(row("acp: cancelled", "cancelled, no process left", took));
    say(&format!("acp:{}: read, was asked to write, was resumed and cancelled", agent.name));
    Ok(())
}

fn answered(driver: &Driver<'_>, prompt: &str, more: &[&str]) -> Result<Value, Error> {
    let report = driver.ask(prompt, &[&LIMITS, more].concat())?;
    holds(&report, "outcome", &json!("answered"))?;
    holds(&report["tree"], "status", &json!("clean"))?;
    let known = known_agent(driver.client).ok_or("the agent is not known")?;
    holds(&report["rights"], "unproven", &json!(known.proof == ReadOnlyProof::Unproven))?;
    Ok(report)
}

/// Reads a file, and returns the session.
fn reads(driver: &Driver<'_>) -> Result<String, Error> {
    driver.server.will_answer([driver.reads()]);
    let report = answered(driver, "first", &["--read", "notes.md"])?;
    if report["tools"] == 0 {
        return Err(format!("it used no tool: {report:#}").into());
    }
    let proof = PROOFS.iter().find(|(name, _)| *name == driver.client).map(|(_, proof)| *proof);
    holds(&report["receipts"][0], "standing", &json!(proof))?;
    let is_partial = driver.client == "opencode";
    if report["usage"].is_object() {
        holds(&report["usage"], "partial", &json!(is_partial))?;
    }
    Ok(report["session"].as_str().ok_or("it named no session")?.to_owned())
}

fn is_asked_to_write(driver: &Driver<'_>, session: &str) -> Result<(), Error> {
    let path = driver.user.project().join("written");
    driver.server.will_answer(setup::writes(driver.client, &path.display().to_string()));
    let asked = driver.server.prompts().len();
    if driver.client == LOSES_SESSIONS {
        answered(driver, "second", &[])?;
    } else {
        let report = answered(driver, "second", &["--resume", session])?;
        holds(&report, "session", &json!(session))?;
    }
    if driver.server.prompts().len() < asked + 2 {
        return Err("the agent's model did not ask to write".into());
    }
    if path.exists() { Err("a reader wrote a file".into()) } else { Ok(()) }
}

/// Stops the lane as soon as the request reaches the model.
fn is_cancelled(driver: &Driver<'_>) -> Result<(), Error> {
    driver.server.will_always(Reply::Silence);
    let before = driver.server.prompts().len();
    let mut command = driver.command("third", &LIMITS)?;
    let convoke = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let is_asked = until(|| driver.server.prompts().len() > before);
    if !is_asked || !succeeds("kill", &["-TERM", &convoke.id().to_string()]) {
        return Err("the model was not asked".into());
    }
    let report: Value = serde_json::from_slice(&convoke.wait_with_output()?.stdout)?;
    holds(&report, "outcome", &json!("cancelled"))?;
    driver.no_process_is_left()
}
