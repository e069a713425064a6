//! Several rounds of one session, and several parallel sessions.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use super::{Driver, Row, holds, is_quick, setup, timed};
use crate::Error;
use crate::model_server::Reply;

/// How many lanes of one client run in parallel, for one user.
const AT_ONCE: usize = 4;

pub(super) fn check(client: &'static str, bin: &Path) -> Result<Vec<Row>, Error> {
    let driver = Driver::new(client, bin)?;
    let row = |case, (took, outcome): (_, String)| Row { client, case, outcome, took };
    let mut first = Value::Null;
    let begun = timed(|| {
        driver.server.will_answer([driver.reads()]);
        first = answered(&driver, "first", &[])?;
        Ok("answered".to_owned())
    })?;
    let session = first["session"].as_str().ok_or("it named no session")?.to_owned();
    let resumed = ["--resume", session.as_str()];
    let killed = timed(|| {
        driver.server.will_reply([Reply::Silence]);
        driver.ask_and_kill("second", &resumed)?;
        driver.no_process_is_left()?;
        Ok("no process left".to_owned())
    })?;
    let (mut second, mut answers) = (Value::Null, 1);
    let resumed = timed(|| {
        let path = driver.user.project().join("written").display().to_string();
        let writes = setup::writes(client, &path);
        answers += writes.len() as u64;
        driver.server.will_answer(writes);
        second = answered(&driver, "third", &resumed)?;
        holds(&second, "session", &json!(session))?;
        let is_written = Path::new(&path).exists();
        if is_written { Err("a reader wrote a file".into()) } else { Ok("answered".to_owned()) }
    })?;
    counted(&first, &second, answers)?;
    let demoted = timed(|| demoted(client, bin))?;
    let together = timed(|| at_once(client, bin))?;
    Ok(vec![
        row("begun, with a tool", begun),
        row("resumed, and ours killed", killed),
        row("resumed, and asked to write", resumed),
        row("begun as a writer, resumed as a reader", demoted),
        row("four at once, each resumed", together),
    ])
}

fn answered(driver: &Driver<'_>, prompt: &str, more: &[&str]) -> Result<Value, Error> {
    let report = driver.ask(prompt, more)?;
    holds(&report, "outcome", &json!("answered"))?;
    Ok(report)
}

/// The stand-in counts two tokens for every answer; a client may count those of earlier rounds
/// again.
fn counted(first: &Value, second: &Value, answers: u64) -> Result<(), Error> {
    let output = |report: &Value| report["usage"]["output_tokens"].as_u64().unwrap_or_default();
    let earlier = match second["usage"]["tokens_of"].as_str() {
        Some("session") => output(first),
        _ => 0,
    };
    if (output(first), output(second)) == (2 * 2, earlier + 2 * answers) {
        return Ok(());
    }
    Err(format!("miscounted: {first:#}{second:#}").into())
}

/// A read-only lane resumes a session that could write: it may no longer write.
fn demoted(client: &'static str, bin: &Path) -> Result<String, Error> {
    let driver = Driver::new(client, bin)?;
    let written = |name: &str| driver.user.project().join(name);
    let writes = |name: &str| setup::writes(client, &written(name).display().to_string());
    driver.server.will_answer(writes("as-writer"));
    let first = answered(&driver, "first", &["--write"])?;
    let session = first["session"].as_str().ok_or("it named no session")?.to_owned();
    driver.server.will_answer(writes("as-reader"));
    let second = answered(&driver, "second", &["--resume", &session])?;
    holds(&second, "session", &json!(session))?;
    match (written("as-writer").exists(), written("as-reader").exists()) {
        (_, true) => Err("a reader wrote a file, because it had been a writer".into()),
        (false, false) => Err("a writer wrote nothing, so nothing is shown".into()),
        (true, false) => Ok("wrote once".to_owned()),
    }
}

/// Parallel lanes of one user do not collide in their client's files: each has its own session, and
/// each session can be resumed.
fn at_once(client: &'static str, bin: &Path) -> Result<String, Error> {
    let driver = Driver::new(client, bin)?;
    if !is_quick(client) {
        // Clients create their session storage on their first start, and some of them cannot do
        // that in parallel.
        answered(&driver, "hello", &[])?;
    }
    let reports = all_at_once(&driver, &vec![Vec::new(); AT_ONCE])?;
    let sessions: BTreeSet<String> =
        reports.iter().filter_map(|report| Some(report["session"].as_str()?.to_owned())).collect();
    if sessions.len() != AT_ONCE {
        return Err(format!("not a session for each: {sessions:?}").into());
    }
    let resumes: Vec<_> =
        sessions.iter().map(|session| vec!["--resume".to_owned(), session.clone()]).collect();
    let again = all_at_once(&driver, &resumes)?;
    for (report, session) in again.iter().zip(&sessions) {
        holds(report, "session", &json!(session))?;
    }
    driver.no_process_is_left()?;
    Ok("answered".to_owned())
}

fn all_at_once(driver: &Driver<'_>, lanes: &[Vec<String>]) -> Result<Vec<Value>, Error> {
    let mut started = Vec::new();
    for more in lanes {
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let mut command = driver.command("hello", &more)?;
        started.push(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?);
    }
    let mut reports = Vec::new();
    for child in started {
        let Output { stdout, .. } = child.wait_with_output()?;
        let report = serde_json::from_slice(&stdout)?;
        holds(&report, "outcome", &json!("answered"))?;
        reports.push(report);
    }
    Ok(reports)
}
