//! A stand-in for model APIs on the loopback: it gives the answers it was told to, and keeps what it
//! was asked. It proves what clients send and do, not that a vendor would accept it.

mod format;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use tiny_http::{Header, Request, Response, Server};

use self::format::Format;
use crate::Error;

/// What a prompt is said to have when nobody says otherwise.
const FEW_TOKENS: u64 = 10;

/// What the model says.
#[derive(Debug, Clone)]
pub enum Answer {
    /// This text, which ends its turn.
    Text(String),
    /// It wants this tool to be called.
    Tool {
        /// The client's name for the tool.
        name: &'static str,
        /// What it is to be called with.
        input: Value,
    },
}

/// What is said and kept from one request to the next.
#[derive(Default)]
struct Talk {
    answers: VecDeque<Answer>,
    next_count: Option<u64>,
    prompts: Vec<String>,
}

/// A running server; it stops when it is dropped.
pub struct ModelServer {
    server: Arc<Server>,
    talk: Arc<Mutex<Talk>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts on a free port. Until it is told otherwise, it answers every prompt alike.
    pub fn start() -> Result<Self, Error> {
        let server = Server::http("127.0.0.1:0").map_err(|error| error.to_string())?;
        let server = Arc::new(server);
        let talk = Arc::new(Mutex::new(Talk::default()));
        let (listening, kept) = (Arc::clone(&server), Arc::clone(&talk));
        let thread = thread::spawn(move || {
            for request in listening.incoming_requests() {
                // A client that went away does not want its answer.
                answer(request, &kept).ok();
            }
        });
        Ok(Self { server, talk, thread: Some(thread) })
    }

    /// Returns where it listens.
    pub fn url(&self) -> String {
        let address = self.server.server_addr().to_ip();
        let address = address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
        format!("http://{address}")
    }

    /// Gives these answers to the next prompts, in order.
    pub fn will_answer(&self, answers: impl IntoIterator<Item = Answer>) {
        locked(&self.talk).answers.extend(answers);
    }

    /// Says of the next prompt that it has this many tokens.
    pub fn will_count(&self, tokens: u64) {
        locked(&self.talk).next_count = Some(tokens);
    }

    /// Returns every prompt it was sent, as the JSON that the client sent. Requests on the side, such
    /// as for a title or a summary, offer no tools and are not among them.
    pub fn prompts(&self) -> Vec<String> {
        locked(&self.talk).prompts.clone()
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

fn locked(talk: &Mutex<Talk>) -> MutexGuard<'_, Talk> {
    talk.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(mut request: Request, talk: &Mutex<Talk>) -> Result<(), Error> {
    let mut body = String::new();
    request.as_reader().read_to_string(&mut body)?;
    let path = request.url().split('?').next().unwrap_or_default().to_owned();
    let (kind, text) = match Format::of(&path) {
        Some(format) => {
            let (answer, tokens) = next_answer(body, &mut locked(talk));
            format.write(&answer, tokens)
        }
        None => ("application/json", json!({ "input_tokens": 1, "data": [] }).to_string()),
    };
    let header = Header::from_bytes("content-type", kind).map_err(|()| "no header")?;
    Ok(request.respond(Response::from_string(text).with_header(header))?)
}

fn next_answer(body: String, talk: &mut Talk) -> (Answer, u64) {
    let parsed: Value = serde_json::from_str(&body).unwrap_or_default();
    let is_prompt = parsed["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let noted = || Answer::Text("Noted.".to_owned());
    if !is_prompt {
        return (noted(), FEW_TOKENS);
    }
    talk.prompts.push(body);
    let answer = talk.answers.pop_front().unwrap_or_else(noted);
    (answer, talk.next_count.take().unwrap_or(FEW_TOKENS))
}
