//! A server on the loopback with a scripted reply to every connection, exact to the byte.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// The reply to a connection.
pub(crate) enum Reply {
    /// This, and then it is closed.
    Says(String),
    /// This, and then nothing until the other side is gone.
    Hangs(String),
    /// The connection breaks before any reply.
    Resets,
}

/// A running server. It takes as many connections as it has replies.
pub(crate) struct Server {
    port: u16,
    asked: Receiver<String>,
}

impl Server {
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, asked) = channel();
        thread::spawn(move || {
            for reply in replies {
                let (stream, _) = listener.accept().unwrap();
                // A test that is over wants to know nothing more.
                answer(stream, &reply, |news| sender.send(news).unwrap_or_default());
            }
        });
        Self { port, asked }
    }

    /// Returns the base address of its API.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Returns its address without a path.
    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the requests so far that no test has taken.
    pub(crate) fn asked_so_far(&self) -> Vec<String> {
        self.asked.try_iter().collect()
    }

    /// Waits for the next request and returns it, or the word `gone` when a hanging client has
    /// disconnected.
    pub(crate) fn asked(&self) -> String {
        self.asked.recv().unwrap()
    }
}

fn answer(mut stream: TcpStream, reply: &Reply, tell: impl Fn(String)) {
    if matches!(reply, Reply::Resets) {
        // Closing a socket with unread input resets the connection.
        stream.read_exact(&mut [0]).unwrap();
        return;
    }
    tell(request(&mut stream));
    let (Reply::Says(text) | Reply::Hangs(text)) = reply else { return };
    // A client that has read enough disconnects in the middle.
    stream.write_all(text.as_bytes()).ok();
    if matches!(reply, Reply::Hangs(_)) {
        stream.read_to_end(&mut Vec::new()).ok();
        tell("gone".to_owned());
    }
}

/// Reads a request's head and body.
fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.split("content-length: ").nth(1);
            let length = length
                .and_then(|rest| rest.lines().next())
                .map_or(0, |number| number.parse().unwrap());
            if body.len() >= length {
                return text;
            }
        }
        let count = stream.read(&mut chunk).unwrap();
        assert!(count > 0, "a request was cut off");
        bytes.extend_from_slice(&chunk[..count]);
    }
}
