//! A model's API on the loopback that answers any number of requests in parallel, by their items.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// The prompts so far, in the order of their arrival.
type Prompts = Arc<Mutex<Vec<String>>>;

/// What the server does with a prompt.
pub(crate) enum FanReply {
    Answer(String),
    /// The connection breaks.
    Broken,
    /// The limit is reached; with the value of `retry-after`.
    Limited(Option<String>),
}

/// A running server. It ends with its test.
pub(crate) struct FanServer {
    port: u16,
    prompts: Prompts,
}

impl FanServer {
    /// Starts a server that answers each prompt as told. `None` breaks the connection.
    pub(crate) fn start(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::replying(move |prompt| answer(prompt).map_or(FanReply::Broken, FanReply::Answer))
    }

    /// Starts a server that replies to each prompt as told.
    pub(crate) fn replying(answer: impl Fn(&str) -> FanReply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let prompts = Prompts::default();
        let (kept, answer) = (Arc::clone(&prompts), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                thread::spawn(move || serve(stream.unwrap(), &kept, &*answer));
            }
        });
        Self { port, prompts }
    }

    /// Returns the user's configuration of an API called `it`.
    pub(crate) fn config(&self) -> String {
        format!(
            "[lane.http.it]\napi = 'chat'\nurl = 'http://127.0.0.1:{}/v1'\nmodel = 'm-1'\n\
             key_env = 'IT_KEY'\n",
            self.port
        )
    }

    /// Returns the items of all requests so far, and forgets them.
    pub(crate) fn items(&self) -> Vec<String> {
        self.prompts().iter().map(|prompt| item_of(prompt)).collect()
    }

    /// Returns all prompts so far, and forgets them.
    pub(crate) fn prompts(&self) -> Vec<String> {
        std::mem::take(&mut *self.prompts.lock().unwrap())
    }
}

/// Returns the item of a prompt: what is between its last delimiters.
pub(crate) fn item_of(prompt: &str) -> String {
    let before = prompt.rsplit_once("</item-").unwrap().0;
    before.rsplit_once('>').unwrap().1.to_owned()
}

fn serve(mut stream: TcpStream, kept: &Prompts, answer: &dyn Fn(&str) -> FanReply) {
    let Some(body) = request_body(&mut stream) else { return };
    let body: Value = serde_json::from_str(&body).unwrap();
    let prompt = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let prompt = prompt.as_str().unwrap().to_owned();
    kept.lock().unwrap().push(prompt.clone());
    let text = match answer(&prompt) {
        FanReply::Answer(text) => text,
        FanReply::Broken => return,
        FanReply::Limited(later) => {
            let later = later.map_or(String::new(), |later| format!("retry-after: {later}\r\n"));
            let head = format!(
                "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\n{later}\
                 connection: close\r\n\r\n"
            );
            let body = json!({ "error": { "type": "rate_limit_error", "message": "slow down" } });
            stream.write_all(format!("{head}{body}").as_bytes()).ok();
            return;
        }
    };
    let message = json!({ "model": "m-1",
        "choices": [{ "message": { "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 80, "completion_tokens": 20 } });
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    // A client that was killed reads no more.
    stream.write_all(format!("{head}{message}").as_bytes()).ok();
}

/// Reads a request's body; nothing from a client that was killed meanwhile.
fn request_body(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.split("content-length: ").nth(1)?.lines().next()?.to_owned();
            if body.len() >= length.parse().unwrap() {
                return Some(body.to_owned());
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}
