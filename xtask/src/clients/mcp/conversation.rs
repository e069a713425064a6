//! A session of a client whose model calls tools one by one, each call by the result of the last one.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::super::lanes::{setup, timed};
use super::super::user::finished;
use super::super::{claude, codex, gemini, opencode};
use super::Driver;
use crate::Error;
use crate::model_server::{Answer, Reply};

/// A tool of Convoke's that scripts call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Wake,
    Brief,
    TaskUpdate,
    RunStart,
    RunStatus,
    RunResult,
}

/// Longer than any call should take; only a client that hangs ever waits for it.
const PATIENCE: Duration = Duration::from_secs(170);

/// What a client calls the tools.
type Names = fn(Tool) -> &'static str;

/// Names the tools of a client that puts its own words before them.
macro_rules! names_behind {
    ($words:literal) => {
        |tool| match tool {
            Tool::Wake => concat!($words, "wake"),
            Tool::Brief => concat!($words, "brief"),
            Tool::TaskUpdate => concat!($words, "task_update"),
            Tool::RunStart => concat!($words, "run_start"),
            Tool::RunStatus => concat!($words, "run_status"),
            Tool::RunResult => concat!($words, "run_result"),
        }
    };
}

/// What the model gets for a call.
pub(super) struct ToolResult {
    pub(super) text: String,
    /// From the model's call to the client's next request.
    pub(super) took: Duration,
}

impl ToolResult {
    /// Fails unless the result says so.
    pub(super) fn says(&self, words: &str) -> Result<(), String> {
        if self.text.contains(words) { Ok(()) } else { Err(self.lacks(words)) }
    }

    pub(super) fn lacks(&self, words: &str) -> String {
        let shown: String = self.text.chars().take(1500).collect();
        format!("a result lacks `{words}`: {shown}")
    }

    /// Tells whether a status says so, as text or as facts.
    pub(super) fn is_state(&self, state: &str) -> bool {
        let plain = self.text.replace('\\', "");
        plain.contains(&format!("\"state\":\"{state}\""))
            || plain.contains(&format!("\"state\": \"{state}\""))
            || plain.contains(&format!("): {state}"))
    }
}

/// The script's end of a session.
pub(super) struct Conversation {
    calls: Sender<Option<(Tool, Value)>>,
    results: Receiver<String>,
}

impl Conversation {
    /// Has the model call a tool, and returns what it gets.
    pub(super) fn call(&self, tool: Tool, arguments: Value) -> Result<ToolResult, String> {
        let asked = arguments.to_string();
        let calls = || {
            self.calls.send(Some((tool, arguments))).map_err(|_| "the session is over")?;
            Ok(self.results.recv_timeout(PATIENCE))
        };
        let (duration, result) = timed(calls).map_err(|error| error.to_string())?;
        let text = result.map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("the client hangs in {tool:?} {asked}"),
            RecvTimeoutError::Disconnected => format!("the client ended in {tool:?} {asked}"),
        })?;
        Ok(ToolResult { text, took: duration })
    }
}

impl Driver<'_> {
    /// Adds the server to the client's settings.
    pub(super) fn install(&self) -> Result<(), Error> {
        match self.client {
            "claude" => {}
            "codex" => codex::configure(&self.user, &self.server)?,
            "gemini" => gemini::configure(&self.user, "{}")?,
            "qwen" => drop(setup::configure("qwen", &self.user, &self.server)?),
            _ => opencode::configure(&self.user, &self.server)?,
        }
        let install = ["mcp", "install", self.client, "--user"];
        // On a busy machine a program for tests starts slower than Codex waits by itself.
        let wait = (self.client == "codex").then_some("--wait");
        let words: Vec<&str> = install.into_iter().chain(wait).collect();
        self.user.convoke(&words).map(drop)
    }

    /// Runs a session whose model does what a script says.
    pub(super) fn converse<T: Send>(
        &self,
        script: impl FnOnce(&Conversation) -> Result<T, String> + Send,
    ) -> Result<T, Error> {
        let (names, mut command) = self.command()?;
        let (calls, next_call) = channel();
        let (results, result) = channel();
        let model = Mutex::new(Model { next_call, results, is_asked: false });
        self.server.will_know(move |_, body| {
            let request: Value = serde_json::from_str(body).ok()?;
            // Requests on the side, such as for a title, offer no tools.
            request["tools"].as_array().filter(|tools| !tools.is_empty())?;
            let mut model = model.lock().unwrap_or_else(PoisonError::into_inner);
            Some(Reply::Answer(model.answer(&request, names)))
        });
        let talk = Conversation { calls, results: result };
        let (told, printed) = thread::scope(|scope| {
            let told = scope.spawn(move || {
                let told = script(&talk);
                talk.calls.send(None).ok();
                told
            });
            let printed = finished(&mut command);
            // The model's end goes, so that a script whose client ended does not wait.
            self.server.will_know(|_, _| None);
            (told.join(), printed)
        });
        let told = told.map_err(|_| "the script broke off")?;
        told.map_err(|wrong| format!("{wrong}\nthe client printed: {printed:?}").into())
    }

    fn command(&self) -> Result<(Names, Command), Error> {
        let Self { client, bin, user, server, .. } = self;
        let bin: &Path = bin;
        Ok(match *client {
            "claude" => {
                let mut command = claude::command(user, bin, server);
                command.args(["-p", "hello", "--output-format", "json"]);
                command.args(["--allowedTools", "mcp__convoke"]);
                (names_behind!("mcp__convoke__"), command)
            }
            "codex" => {
                let mut command = codex::command(user, bin);
                command.arg("hello");
                (names_behind!("mcp__convoke/"), command)
            }
            "gemini" => {
                let mut command = gemini::command(user, bin, server);
                command.args(["-p", "hello", "--approval-mode", "yolo"]);
                (names_behind!("mcp_convoke_"), command)
            }
            "qwen" => {
                let mut command = user.scrubbed(&bin.join("qwen"));
                command.args(["-p", "hello", "--approval-mode", "yolo"]);
                command.envs(setup::qwen_variables(server));
                (names_behind!("mcp__convoke__"), command)
            }
            _ => (names_behind!("convoke_"), opencode::command(user, bin, "hello")?),
        })
    }
}

/// The model's end of a session.
struct Model {
    next_call: Receiver<Option<(Tool, Value)>>,
    results: Sender<String>,
    /// Whether a call was made whose result has not come.
    is_asked: bool,
}

impl Model {
    fn answer(&mut self, request: &Value, names: Names) -> Answer {
        if self.is_asked {
            self.results.send(last_result(request)).ok();
        }
        if let Ok(Some((tool, input))) = self.next_call.recv() {
            self.is_asked = true;
            Answer::Tool { name: names(tool), input }
        } else {
            self.is_asked = false;
            Answer::Text("Done.".to_owned())
        }
    }
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
    // A client may put the results of several calls into one message.
    let part = last.and_then(|message| {
        let parts = message["content"].as_array().or_else(|| message["parts"].as_array());
        parts.and_then(|parts| parts.iter().rev().find(is_result))
    });
    part.or(last).map(ToString::to_string).unwrap_or_default()
}
