//! Real clients that call Convoke's tools over MCP: their model is told what to call, and every result
//! must reach it.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::lanes::{Row, timed};
use super::user::{User, finished};
use super::{claude, codex, gemini, opencode};
use crate::Error;
use crate::model_server::{Answer, ModelServer, Reply};

/// What clients call the tools.
struct Names {
    wake: &'static str,
    brief: &'static str,
    task_update: &'static str,
    run_start: &'static str,
    run_status: &'static str,
    run_result: &'static str,
}

const CLAUDE: Names = Names {
    wake: "mcp__convoke__wake",
    brief: "mcp__convoke__brief",
    task_update: "mcp__convoke__task_update",
    run_start: "mcp__convoke__run_start",
    run_status: "mcp__convoke__run_status",
    run_result: "mcp__convoke__run_result",
};

const CODEX: Names = Names {
    wake: "mcp__convoke/wake",
    brief: "mcp__convoke/brief",
    task_update: "mcp__convoke/task_update",
    run_start: "mcp__convoke/run_start",
    run_status: "mcp__convoke/run_status",
    run_result: "mcp__convoke/run_result",
};

const GEMINI: Names = Names {
    wake: "mcp_convoke_wake",
    brief: "mcp_convoke_brief",
    task_update: "mcp_convoke_task_update",
    run_start: "mcp_convoke_run_start",
    run_status: "mcp_convoke_run_status",
    run_result: "mcp_convoke_run_result",
};

const OPENCODE: Names = Names {
    wake: "convoke_wake",
    brief: "convoke_brief",
    task_update: "convoke_task_update",
    run_start: "convoke_run_start",
    run_status: "convoke_run_status",
    run_result: "convoke_run_result",
};

/// The clients that are driven, one by one.
pub(super) const CLIENTS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// The most calls of `run_status` for one run.
const MOST_LOOKS: u64 = 20;

/// A document of 300 KB, which no client shows whole.
const LINES: usize = 12_000;

/// How every design's plan begins.
const PLAN: &str = "## Implementation Plan";

/// Has a client call tools, and adds a row, also if that went wrong.
pub(super) fn check(client: &'static str, bin: &Path, rows: &mut Vec<Row>) -> Result<(), Error> {
    let (took, ended) = timed(|| Ok(drive(client, bin)))?;
    let outcome = if ended.is_ok() { "called, started, read" } else { "WRONG" }.to_owned();
    rows.push(Row { client, case: "tools over MCP", outcome, took });
    ended.map_err(|error| format!("{client}, tools over MCP: {error}").into())
}

fn drive(client: &str, bin: &Path) -> Result<(), Error> {
    let (user, server) = (User::new()?, ModelServer::start()?);
    let page = (0..LINES).map(|line| format!("line {line} of a long page\n"));
    user.write("project/long.md", &page.collect::<String>())?;
    let (names, mut command) = prepare(client, &user, bin, &server)?;
    let script = Script { names, task: task(&user)?, state: Arc::default() };
    let state = Arc::clone(&script.state);
    server.will_know(move |_, body| script.next(body).map(Reply::Answer));
    let printed = finished(&mut command)?;
    let state = state.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(wrong) = &state.wrong {
        return Err(wrong.clone().into());
    }
    if state.step < STEPS {
        return Err(format!("it stopped before step {}: {printed}", state.step).into());
    }
    let listed = user.convoke(&["task", "list"])?;
    let runs = user.convoke(&["runs"])?;
    let is_done = listed.contains("in progress") || listed.contains("in_progress");
    if is_done && runs.contains(state.run.as_deref().unwrap_or("no run")) {
        return Ok(());
    }
    Err(format!("the store does not know what was done:\n{listed}\n{runs}").into())
}

/// Adds the server to a client's settings, and returns the names of its tools and how it is asked.
fn prepare(
    client: &str,
    user: &User,
    bin: &Path,
    server: &ModelServer,
) -> Result<(&'static Names, Command), Error> {
    match client {
        "claude" => {}
        "codex" => codex::configure(user, server)?,
        "gemini" => gemini::configure(user, "{}")?,
        _ => opencode::configure(user, server)?,
    }
    user.convoke(&["mcp", "install", client, "--user"])?;
    Ok(match client {
        "claude" => {
            let mut command = claude::command(user, bin, server);
            command.args(["-p", "hello", "--output-format", "json"]);
            command.args(["--allowedTools", "mcp__convoke"]);
            (&CLAUDE, command)
        }
        "codex" => {
            let mut command = codex::command(user, bin);
            command.arg("hello");
            (&CODEX, command)
        }
        "gemini" => {
            let mut command = gemini::command(user, bin, server);
            command.args(["-p", "hello", "--approval-mode", "yolo"]);
            (&GEMINI, command)
        }
        _ => (&OPENCODE, opencode::command(user, bin, "hello")?),
    })
}

/// Returns the id of the user's task.
fn task(user: &User) -> Result<String, Error> {
    let listed: Value = serde_json::from_str(&user.convoke(&["--json", "task", "list"])?)?;
    let id = listed.pointer("/tasks/0/id").or_else(|| listed.pointer("/0/id"));
    Ok(id.and_then(Value::as_str).ok_or("there is no task")?.to_owned())
}

/// How many calls the model makes, without looks at a run.
const STEPS: usize = 7;

#[derive(Default)]
struct State {
    step: usize,
    looks: u64,
    run: Option<String>,
    wrong: Option<String>,
}

/// What the model calls, one by one; each call depends on the result of the last one.
struct Script {
    names: &'static Names,
    task: String,
    state: Arc<Mutex<State>>,
}

impl Script {
    /// Returns the answer to a prompt; nothing to one on the side.
    fn next(&self, body: &str) -> Option<Answer> {
        let request: Value = serde_json::from_str(body).ok()?;
        let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        if !has_tools {
            return None;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = last_result(&request);
        if let Err(wrong) = state.hold(&result) {
            state.wrong = Some(wrong);
            return Some(Answer::Text("Something is wrong.".to_owned()));
        }
        Some(self.call(&mut state))
    }

    fn call(&self, state: &mut State) -> Answer {
        let names = self.names;
        let run = state.run.clone().unwrap_or_default();
        let (name, input) = match state.step {
            0 => (names.wake, json!({})),
            1 => (names.task_update, json!({"id": self.task, "action": "start"})),
            2 => (names.run_status, json!({"run": "../../etc/passwd"})),
            3 => (names.brief, json!({"documents": ["long.md"], "budget": 1_000_000})),
            4 => (names.run_start, json!({"kind": "design", "key": "a", "rehearse": true})),
            // Each call has other arguments, because clients tell calls apart by these here.
            5 => (names.run_status, json!({"run": run, "wait_s": 45 - state.looks})),
            6 => (names.run_result, json!({"run": run})),
            _ => return Answer::Text("Done.".to_owned()),
        };
        Answer::Tool { name, input }
    }
}

impl State {
    /// Takes in the result of the last call, and goes on to the next one.
    fn hold(&mut self, result: &str) -> Result<(), String> {
        let wanted: &[&str] = match self.step {
            // The first prompt has no result.
            0 if !result.contains("unread messages for @june") => return Ok(()),
            0 => &["Build the parser"],
            1 => &["in_progress"],
            2 => &["cannot use the argument `run`"],
            3 => &["line 20 of a long page", "next_from"],
            4 => &["run_status"],
            5 => &["state"],
            6 => &[PLAN],
            _ => &[],
        };
        if let Some(missing) = wanted.iter().find(|words| !result.contains(**words)) {
            let shown: String = result.chars().take(1500).collect();
            return Err(format!("the result of step {} lacks `{missing}`: {shown}", self.step));
        }
        if self.step == 4 {
            self.run = run_id(result);
        }
        let goes_on = self.step == 5 && ["running", "starting"].iter().any(|s| is_state(result, s));
        if goes_on && self.looks < MOST_LOOKS {
            self.looks += 1;
        } else {
            self.step += 1;
        }
        Ok(())
    }
}

/// Tells whether a status says so, as text or as facts.
fn is_state(result: &str, state: &str) -> bool {
    let plain = result.replace('\\', "");
    plain.contains(&format!("\"state\":\"{state}\""))
        || plain.contains(&format!("(design): {state}"))
}

/// Finds an id such as `20261116-195552-cc6d4`.
fn run_id(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    let mut words = text.split(|c: char| !is_part(c));
    let is_run = |word: &&str| {
        let parts: Vec<_> = word.split('-').map(str::len).collect();
        parts == [8, 6, 5]
    };
    words.find(is_run).map(str::to_owned)
}

/// Returns the result of the last call, as the model gets it.
fn last_result(request: &Value) -> String {
    let lists = [&request["messages"], &request["input"], &request["contents"]];
    let messages = lists.iter().find_map(|list| list.as_array());
    let is_result = |message: &&Value| {
        let text = message.to_string();
        ["tool_result", "function_call_output", "functionResponse", "\"role\":\"tool\""]
            .iter()
            .any(|mark| text.contains(mark))
    };
    let last = messages.and_then(|messages| messages.iter().rev().find(is_result));
    last.map(ToString::to_string).unwrap_or_default()
}
