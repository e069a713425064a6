//! `convoke mcp --listen`: who may call, and that calls work.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Project, set_mode};
use crate::mcp_client::McpClient;
use crate::mcp_runs::with_a_question;

const TOKEN: &str = "0123456789abcdef-of-a-test";

/// A server that runs, and what it said at its start.
struct HttpServer {
    process: Child,
    address: String,
    said: Vec<String>,
}

impl HttpServer {
    fn start(project: &Project, arguments: &[&str], lines: usize) -> Self {
        let arguments = [&["mcp", "--listen", "127.0.0.1:0"], arguments].concat();
        let mut command = project.command(Path::new(env!("CARGO_BIN_EXE_convoke")), &arguments);
        let mut process = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(process.stderr.take().unwrap());
        let said: Vec<_> = stderr.lines().map_while(Result::ok).take(lines).collect();
        let address = said[0].strip_prefix("listening on http://").unwrap();
        let address = address.strip_suffix("/mcp").unwrap().to_owned();
        Self { process, address, said }
    }

    /// Sends a request, and returns the status, the head and the body.
    fn send(&self, head: &str, body: &[u8]) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let length = body.len();
        let head = format!("{head}content-length: {length}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses a long body does not read all of it.
        stream.write_all(body).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, head.to_owned(), body.to_owned())
    }

    fn head(&self, token: &str, more: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             {more}",
            self.address
        )
    }

    /// Begins a session, and returns its headers.
    fn begin(&self, capabilities: &Value) -> (String, Value) {
        let (_, head, body) = self.post("", &hello_with(capabilities));
        let session = head.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:"));
        let session = format!("{}\r\nmcp-protocol-version: 2025-11-25\r\n", session.unwrap());
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&session, &ready).0, 202);
        (session, answer_in(&body, 1))
    }

    /// Calls a tool of a session, and returns its result. Every request of the server's has this answer.
    fn call_as_person(&self, session: &str, call: &Value, person: &Value) -> (Value, usize) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let body = call.to_string();
        let head = self.head(TOKEN, session);
        write!(stream, "{head}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
            .unwrap();
        let mut forms = 0;
        let mut lines = BufReader::new(stream).lines();
        loop {
            let line = lines.next().expect("the server answers").unwrap();
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let Ok(message) = serde_json::from_str::<Value>(data) else { continue };
            if message["id"] == call["id"] && message.get("method").is_none() {
                return (message["result"].clone(), forms);
            }
            if message["method"] == json!("elicitation/create") {
                forms += 1;
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": person});
                assert_eq!(self.post(session, &answer).0, 202);
            }
        }
    }

    fn post(&self, more: &str, message: &Value) -> (u16, String, String) {
        self.send(&self.head(TOKEN, more), message.to_string().as_bytes())
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn hello() -> Value {
    hello_with(&json!({}))
}

fn hello_with(capabilities: &Value) -> Value {
    let info = json!({"name": "test", "version": "1"});
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

/// Returns the message with this id in a body of events.
fn answer_in(body: &str, id: i64) -> Value {
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let messages = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    messages.into_iter().find(|message| message["id"] == json!(id)).unwrap_or_default()
}

#[test]
fn only_requests_with_the_token_and_from_this_machine_are_served() {
    let project = Project::new().variable("CONVOKE_MCP_TOKEN", TOKEN);
    let server = HttpServer::start(&project, &[], 1);
    let hello = hello();
    assert_eq!(server.post("", &hello).0, 200);
    let body = hello.to_string();
    for wrong in ["", "x", "0123456789abcdef-of-a-tesT"] {
        let (status, head, _) = server.send(&server.head(wrong, ""), body.as_bytes());
        assert_eq!(status, 401, "{wrong}");
        assert!(head.to_lowercase().contains("www-authenticate: bearer"), "{head}");
    }
    let twice = format!("authorization: Bearer {TOKEN}\r\n");
    assert_eq!(server.post(&twice, &hello).0, 401, "two tokens are none");
    for (origin, status) in [
        ("http://evil.example", 403),
        ("null", 403),
        ("https://localhost.evil.example", 403),
        ("http://localhost:6274", 200),
        ("http://127.0.0.1:80", 200),
    ] {
        assert_eq!(server.post(&format!("origin: {origin}\r\n"), &hello).0, status, "{origin}");
    }
    // A page that points its own name at this machine.
    let foreign = server.head(TOKEN, "").replace(&server.address, "evil.example");
    assert_eq!(server.send(&foreign, body.as_bytes()).0, 403);
    let elsewhere = server.head(TOKEN, "").replace("/mcp", "/");
    assert_eq!(server.send(&elsewhere, body.as_bytes()).0, 404);
    let long = vec![b' '; 10 * 1024 * 1024];
    let (status, ..) = server.send(&server.head(TOKEN, ""), &long);
    assert!(matches!(status, 0 | 413), "{status}");
    assert_eq!(server.post("", &hello).0, 200, "it lives on");
}

#[test]
fn tools_are_called_over_http() {
    let project = Project::new().on_branch("main").file("../token", TOKEN);
    let id = project.stdout(&["task", "add", "Write the model"]);
    let path = project.path("../token");
    set_mode(&path, 0o644);
    let file = path.display().to_string();
    let open = project.run(&["mcp", "--listen", "127.0.0.1:0", "--token-file", &file]);
    assert!(open.stderr.contains("other users can read the token"), "{open}");
    set_mode(&path, 0o600);
    let server = HttpServer::start(&project, &["--token-file", &file], 1);
    let (session, greeting) = server.begin(&json!({}));
    assert!(greeting["result"]["instructions"].as_str().unwrap().contains(&id), "{greeting}");
    let params = json!({"name": "tasks", "arguments": {}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let (status, _, body) = server.post(&session, &call);
    let tasks = answer_in(&body, 2)["result"]["structuredContent"]["tasks"].clone();
    assert_eq!((status, &tasks[0]["id"]), (200, &json!(id)), "{body}");
    // The server names what is next when a client begins.
    project.stdout(&["task", "done", &id]);
    let (_, greeting) = server.begin(&json!({}));
    let told = greeting["result"]["instructions"].as_str().unwrap();
    assert!(told.starts_with("You are @") && !told.contains(&id), "{told}");
}

// The server asks on the connection of the call, and the answer comes on another one.
#[test]
fn the_server_asks_the_person_over_http() {
    let (panel, run) = with_a_question();
    let path = panel.project.path("../token");
    std::fs::write(&path, TOKEN).unwrap();
    set_mode(&path, 0o600);
    let arguments = ["--token-file", &path.display().to_string()];
    let server = HttpServer::start(&panel.project, &arguments, 1);
    let params = json!({"name": "run_status", "arguments": {"run": run}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    // A person who says no in one client may say yes in another.
    let (session, _) = server.begin(&json!({"elicitation": {}}));
    let cancel = json!({"action": "cancel"});
    for forms in [1, 0] {
        assert_eq!(server.call_as_person(&session, &call, &cancel).1, forms);
    }
    let (session, _) = server.begin(&json!({"elicitation": {}}));
    let accept = json!({"action": "accept", "content": {"answer": "1"}});
    let (answered, forms) = server.call_as_person(&session, &call, &accept);
    assert_eq!(forms, 1, "{answered}");
    assert!(answered["structuredContent"]["answered"].is_string(), "{answered}");
    McpClient::start(&panel.project).wait_for(&run);
}

#[test]
fn a_server_that_others_can_reach_must_be_asked_for() {
    let project = Project::new();
    let refused = project.run(&["mcp", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("other machines can reach 0.0.0.0:0"), "{refused}");
    assert!(refused.stderr.contains("--any-address"), "{refused}");
    let alone = project.run(&["mcp", "--any-address"]);
    assert_eq!(alone.code, Some(2), "{alone}");
    // The server prints a new token once, where no program reads it by mistake.
    let server = HttpServer::start(&project, &[], 2);
    assert_eq!(server.said[1].strip_prefix("token: ").map(str::len), Some(64));
}
