//! A small client of the Model Context Protocol: JSON-RPC lines over a server's stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::Project;

/// Longer than any call should take; only a server that hangs ever waits for it.
const DEADLINE: Duration = Duration::from_mins(1);

/// How a client begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lifecycle {
    /// With `initialize`, once.
    Handshake,
    /// With `server/discover`; every request says all that matters.
    Stateless,
}

/// A server that runs, and our end of it.
pub(crate) struct McpClient {
    server: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    lifecycle: Lifecycle,
    last_id: i64,
    /// What the server said at the beginning.
    pub(crate) greeting: Value,
    /// Notifications since the beginning.
    pub(crate) notices: Vec<Value>,
    /// What the person at the client answers to each form; without it, the client shows none.
    person: Option<Value>,
    /// How many forms the client has shown.
    pub(crate) forms: usize,
}

impl McpClient {
    /// Starts a server in a project, and begins as most clients do.
    pub(crate) fn start(project: &Project) -> Self {
        Self::begin(project, Lifecycle::Handshake)
    }

    pub(crate) fn begin(project: &Project, lifecycle: Lifecycle) -> Self {
        let command = project.command(Path::new(env!("CARGO_BIN_EXE_convoke")), &["mcp"]);
        Self::begin_with(command, lifecycle)
    }

    /// Begins with a server that another command starts.
    pub(crate) fn begin_with(command: Command, lifecycle: Lifecycle) -> Self {
        Self::begin_as(command, lifecycle, None)
    }

    /// Begins as a client with a person, who answers each form so.
    pub(crate) fn with_person(project: &Project, lifecycle: Lifecycle, person: Value) -> Self {
        let command = project.command(Path::new(env!("CARGO_BIN_EXE_convoke")), &["mcp"]);
        Self::begin_as(command, lifecycle, Some(person))
    }

    fn begin_as(mut command: Command, lifecycle: Lifecycle, person: Option<Value>) -> Self {
        let mut server = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdout = BufReader::new(server.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = server.stdin.take();
        let (greeting, notices) = (Value::Null, Vec::new());
        let mut client = Self {
            server,
            stdin,
            lines,
            lifecycle,
            last_id: 0,
            greeting,
            notices,
            person,
            forms: 0,
        };
        let abilities = client.abilities();
        client.greeting = match lifecycle {
            Lifecycle::Handshake => {
                let info = json!({"name": "test", "version": "1"});
                let params = json!({
                    "protocolVersion": "2025-06-18", "capabilities": abilities, "clientInfo": info,
                });
                let greeting = client.request("initialize", params);
                client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
                greeting
            }
            Lifecycle::Stateless => client.request("server/discover", json!({})),
        };
        client
    }

    fn abilities(&self) -> Value {
        if self.person.is_some() { json!({"elicitation": {}}) } else { json!({}) }
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    /// Sends a line as it is.
    pub(crate) fn send(&mut self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).unwrap();
    }

    /// Sends a request, and returns its id.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        let mut meta = json!({"progressToken": id});
        if self.lifecycle == Lifecycle::Stateless {
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = self.abilities();
        }
        params["_meta"] = meta;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: i64) -> Value {
        // Answers to calls in parallel come in any order.
        let early = self.notices.iter().position(|message| message["id"] == json!(id));
        let mut early = early.map(|place| self.notices.remove(place));
        loop {
            let next = || self.lines.recv_timeout(DEADLINE).expect("the server answers");
            let message = early.take().unwrap_or_else(next);
            if message["method"] == json!("elicitation/create") {
                self.forms += 1;
                let result = self.person.clone().unwrap();
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
                continue;
            }
            if message["id"] == json!(id) {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
            self.notices.push(message);
        }
    }

    /// Waits for the answer to a start of a run, and repeats the call as long as other starts are in its
    /// way.
    pub(crate) fn answer_to_start(&mut self, mut id: i64, call: &Value) -> Value {
        loop {
            let result = self.answer(id);
            if !text_of(&result).contains("call run_start again with the same key") {
                return result;
            }
            id = self.ask("tools/call", call.clone());
        }
    }

    /// Waits for the error that answers a request.
    pub(crate) fn refusal(&mut self, id: i64) -> Value {
        loop {
            let message = self.lines.recv_timeout(DEADLINE).expect("the server answers");
            if message["id"] == json!(id) {
                assert!(message.get("result").is_none(), "{message}");
                return message["error"].clone();
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Calls a tool, and returns its whole result.
    pub(crate) fn call_any(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let (text, facts) = (text_of(&result), result["structuredContent"].to_string());
        assert!(text.len() <= 8192 && facts.len() <= 8192, "{tool}: {text}\n{facts}");
        result
    }

    /// Calls a tool that must succeed, and returns its facts.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call_any(tool, arguments);
        assert_ne!(result["isError"], json!(true), "{tool} {arguments}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls `run_status` until the run does not go on any more.
    pub(crate) fn wait_for(&mut self, run: &str) -> Value {
        loop {
            let status = self.call("run_status", &json!({"run": run, "wait_s": 45}));
            if status.get("poll_after_s").is_none() {
                return status;
            }
        }
    }

    /// Kills the server, as a client that crashes does.
    pub(crate) fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Closes the server's input, and tells whether it ended well.
    pub(crate) fn close(mut self) -> bool {
        drop(self.stdin.take());
        self.server.wait().unwrap().success()
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

/// Returns the text of a result.
pub(crate) fn text_of(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}
