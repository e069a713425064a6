//! A stand-in for model APIs on the loopback: it answers every prompt alike and keeps what it was
//! sent. It proves what clients send, not that a vendor would accept it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use tiny_http::{Header, Response, Server};

use crate::Error;

const ANSWER: &str = "Noted.";

/// A running server; it stops when it is dropped.
pub(super) struct ModelServer {
    server: Arc<Server>,
    bodies: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts on a free port.
    pub(super) fn start() -> Result<Self, Error> {
        let server = Server::http("127.0.0.1:0").map_err(|error| error.to_string())?;
        let server = Arc::new(server);
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let (listening, kept) = (Arc::clone(&server), Arc::clone(&bodies));
        let thread = thread::spawn(move || serve(&listening, &kept));
        Ok(Self { server, bodies, thread: Some(thread) })
    }

    /// Returns where it listens.
    pub(super) fn url(&self) -> String {
        let address = self.server.server_addr().to_ip();
        let address = address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
        format!("http://{address}")
    }

    /// Returns every prompt it was sent, as the JSON that the client sent.
    pub(super) fn prompts(&self) -> Vec<String> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            // Its work is over; whether it panicked does not matter any more.
            thread.join().ok();
        }
    }
}

fn serve(server: &Server, bodies: &Mutex<Vec<String>>) {
    for mut request in server.incoming_requests() {
        let mut body = String::new();
        if request.as_reader().read_to_string(&mut body).is_err() {
            continue;
        }
        let path = request.url().split('?').next().unwrap_or_default().to_owned();
        let events = match path.as_str() {
            "/v1/messages" => messages_events(),
            "/v1/responses" => responses_events(),
            _ => Vec::new(),
        };
        let (kind, text) = if events.is_empty() {
            ("application/json", json!({ "input_tokens": 1, "data": [] }).to_string())
        } else {
            bodies.lock().unwrap_or_else(PoisonError::into_inner).push(body);
            ("text/event-stream", events.iter().map(event).collect::<Vec<_>>().concat())
        };
        let mut response = Response::from_string(text);
        if let Ok(header) = Header::from_bytes("content-type", kind) {
            response = response.with_header(header);
        }
        // A client that went away does not want its answer.
        request.respond(response).ok();
    }
}

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}

/// The events of an answer in the Anthropic Messages API.
fn messages_events() -> Vec<Value> {
    let usage = json!({ "input_tokens": 10, "output_tokens": 2 });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage
    });
    vec![
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0,
                "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 0,
                "delta": { "type": "text_delta", "text": ANSWER } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "usage": usage,
                "delta": { "stop_reason": "end_turn", "stop_sequence": null } }),
        json!({ "type": "message_stop" }),
    ]
}

/// The events of an answer in the OpenAI Responses API.
fn responses_events() -> Vec<Value> {
    let content = json!([{ "type": "output_text", "text": ANSWER, "annotations": [] }]);
    let item = json!({ "type": "message", "id": "msg_1", "role": "assistant",
                       "status": "completed", "content": content });
    let usage = json!({ "input_tokens": 10, "output_tokens": 2, "total_tokens": 12,
                        "input_tokens_details": { "cached_tokens": 0 },
                        "output_tokens_details": { "reasoning_tokens": 0 } });
    let response = json!({ "id": "resp_1", "object": "response", "status": "completed",
                           "model": "stand-in", "output": [item], "usage": usage });
    vec![
        json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
                "content_index": 0, "delta": ANSWER }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": response }),
    ]
}
