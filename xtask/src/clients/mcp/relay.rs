//! A relay in front of the server, for programs that cannot send a token: it adds the token to every
//! request, and changes nothing else that matters.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use crate::Error;

/// The longest head of a request.
const LONGEST_HEAD: usize = 64 * 1024;

/// Starts a relay to a server, and returns its address. It works as long as this program does.
pub(super) fn start(server: SocketAddr, token: &str) -> Result<SocketAddr, Error> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let token = token.to_owned();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let token = token.clone();
            // A connection that breaks is for its two ends to notice.
            thread::spawn(move || relay(client, server, &token).ok());
        }
    });
    Ok(address)
}

/// Relays one request and its answer: a header has the server close the connection behind it.
fn relay(mut client: TcpStream, server: SocketAddr, token: &str) -> io::Result<()> {
    let (head, rest) = read_head(&mut client)?;
    let mut server = TcpStream::connect(server)?;
    server.write_all(with_token(&head, token).as_bytes())?;
    server.write_all(&rest)?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        io::copy(&mut from, &mut to).ok();
        to.shutdown(Shutdown::Write).ok();
    });
    io::copy(&mut server, &mut client)?;
    client.shutdown(Shutdown::Both)
}

/// Reads to the end of the head, and returns it with what came behind it.
fn read_head(client: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let count = client.read(&mut part)?;
        bytes.extend_from_slice(&part[..count]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            return Ok((String::from_utf8_lossy(&bytes).into_owned(), rest));
        }
        if count == 0 || bytes.len() > LONGEST_HEAD {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn with_token(head: &str, token: &str) -> String {
    let is_ours = |line: &&str| !line.to_ascii_lowercase().starts_with("connection:");
    let lines: Vec<_> = head.trim_end().split("\r\n").filter(is_ours).collect();
    format!("{}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n", lines.join("\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_gets_the_token_and_keeps_its_headers() {
        let head = "POST /mcp HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n";
        let expected = "POST /mcp HTTP/1.1\r\nHost: a\r\nauthorization: Bearer t\r\n\
             connection: close\r\n\r\n";
        assert_eq!(with_token(head, "t"), expected);
    }
}
