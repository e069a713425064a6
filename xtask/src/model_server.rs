//! A stand-in for model APIs on the loopback: it gives the configured answers, misbehaves as
//! configured, and keeps the requests. It proves what clients send and do, not that a vendor would
//! accept it.

mod format;

use std::collections::VecDeque;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use tiny_http::{Header, Request, Response, Server};

use self::format::{Delivery, Format};
use crate::Error;

/// The reported size of a prompt, unless set otherwise.
const FEW_TOKENS: u64 = 10;

/// The model's answer.
#[derive(Debug, Clone)]
pub enum Answer {
    /// This text, which ends its turn.
    Text(String),
    /// It wants this tool to be called.
    Tool {
        /// The client's name for the tool; `SPACE/NAME` where names are in a space of their own.
        name: &'static str,
        /// The arguments of the call.
        input: Value,
    },
}

/// The reply to a prompt.
#[derive(Debug, Clone)]
pub enum Reply {
    /// The server answers.
    Answer(Answer),
    /// The server refuses with this status; for 429 and 529 it tells the client to retry
    /// immediately.
    Status(u16),
    /// The server sends nothing, and keeps the connection open.
    Silence,
    /// The server sends the first half of an answer, and keeps the connection open.
    Half,
    /// The server sends the first half of an answer, and breaks the connection.
    Broken,
    /// An answer is begun, and ends in an error.
    ErrorEvent,
}

/// Replies to prompts by what they say, and where they are sent.
type Knows = dyn Fn(&str, &str) -> Option<Reply> + Send;

/// The server's state between requests.
#[derive(Default)]
struct Talk {
    /// Replies to known prompts, including those that offer no tools.
    knows: Option<Box<Knows>>,
    replies: VecDeque<Reply>,
    /// The reply to every prompt when no other is left.
    always: Option<Reply>,
    next_count: Option<u64>,
    prompts: Vec<String>,
    /// Connections on which more is waited for.
    held: Vec<Box<dyn Write + Send>>,
}

/// A running server; it stops when it is dropped.
pub struct ModelServer {
    server: Arc<Server>,
    talk: Arc<Mutex<Talk>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts on a free port. By default, it answers every prompt alike.
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
        self.will_reply(answers.into_iter().map(Reply::Answer));
    }

    /// Replies so to the next prompts, in order.
    pub fn will_reply(&self, replies: impl IntoIterator<Item = Reply>) {
        locked(&self.talk).replies.extend(replies);
    }

    /// Sets the reply to every prompt without another one.
    pub fn will_always(&self, reply: Reply) {
        locked(&self.talk).always = Some(reply);
    }

    /// Sets replies that depend on the path and the JSON of a request.
    pub fn will_know(&self, knows: impl Fn(&str, &str) -> Option<Reply> + Send + 'static) {
        locked(&self.talk).knows = Some(Box::new(knows));
    }

    /// Sets the reported size of the next prompt, in tokens.
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
    let Some(format) = Format::of(&path) else {
        return respond(request, 200, JSON, json!({ "input_tokens": 1, "data": [] }).to_string());
    };
    let parsed: Value = serde_json::from_str(&body).unwrap_or_default();
    let is_streamed = parsed["stream"] == json!(true);
    let delivery = if is_streamed { Delivery::Streamed } else { Delivery::Whole };
    let (reply, tokens) = next_reply(&path, body, &parsed, &mut locked(talk));
    match reply {
        Reply::Answer(answer) => {
            let (kind, text) = format.write(&answer, tokens, delivery);
            respond(request, 200, kind, text)
        }
        Reply::Status(status) => respond(request, status, JSON, refusal(status)),
        Reply::ErrorEvent => respond(request, 200, "text/event-stream", format.write_error(tokens)),
        Reply::Silence => {
            locked(talk).held.push(request.into_writer());
            Ok(())
        }
        Reply::Half | Reply::Broken => {
            let (kind, text) = format.write(&noted(), tokens, Delivery::Streamed);
            let half = text.split_inclusive("\n\n").take(2).collect::<String>();
            let mut writer = request.into_writer();
            let length = half.len();
            write!(writer, "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n")?;
            write!(writer, "transfer-encoding: chunked\r\n\r\n{length:x}\r\n{half}\r\n")?;
            if matches!(reply, Reply::Broken) {
                // An invalid chunk length: the reader cannot go on.
                write!(writer, "broken\r\n")?;
            }
            writer.flush()?;
            locked(talk).held.push(writer);
            Ok(())
        }
    }
}

const JSON: &str = "application/json";

fn respond(request: Request, status: u16, kind: &str, text: String) -> Result<(), Error> {
    let header = |name: &str, value: &str| {
        Header::from_bytes(name, value).map_err(|()| Error::from("no header"))
    };
    let mut response = Response::from_string(text)
        .with_status_code(status)
        .with_header(header("content-type", kind)?);
    if matches!(status, 429 | 529) {
        response = response.with_header(header("retry-after", "0")?);
    }
    Ok(request.respond(response)?)
}

/// Returns a refusal with the fields of every API.
fn refusal(status: u16) -> String {
    let words = format!("the stand-in says {status}");
    let error = json!({ "type": "stand_in", "message": words, "code": status });
    json!({ "type": "error", "error": error }).to_string()
}

fn noted() -> Answer {
    Answer::Text("Noted.".to_owned())
}

fn next_reply(path: &str, body: String, parsed: &Value, talk: &mut Talk) -> (Reply, u64) {
    if let Some(reply) = talk.knows.as_ref().and_then(|knows| knows(path, &body)) {
        talk.prompts.push(body);
        return (reply, FEW_TOKENS);
    }
    let is_prompt = parsed["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    if !is_prompt {
        return (Reply::Answer(noted()), FEW_TOKENS);
    }
    talk.prompts.push(body);
    let reply = talk.replies.pop_front().or_else(|| talk.always.clone());
    (reply.unwrap_or_else(|| Reply::Answer(noted())), talk.next_count.take().unwrap_or(FEW_TOKENS))
}
