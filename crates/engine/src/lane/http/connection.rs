//! The only use of the network: makes a request and passes on its response, in a thread of its own.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use convoke_domain::lane::reset::{ResetHint, later_hint, reset_header, retry_after};
use ureq::Agent;
use ureq::http::header::{CONTENT_TYPE, RETRY_AFTER};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::endpoint::{BaseUrl, Endpoint};
use crate::lane::supervisor::Limits;

/// How much is read in one call.
const CHUNK: usize = 64 * 1024;

/// How much of a refusal is read.
const LONGEST_REFUSAL: usize = 64 * 1024;

/// How much longer than Convoke's limit a connection may last; the waiting thread gives up earlier,
/// and gives the reason.
const SLACK: Duration = Duration::from_secs(1);

/// The start of an answer.
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) is_stream: bool,
    pub(super) retry_after: Option<String>,
    /// When the limit ends that the server refuses for.
    pub(super) reset: Option<ResetHint>,
}

/// A message from the thread that talks to the server.
pub(super) enum News {
    Head(Head),
    Bytes(Vec<u8>),
    /// The end of the response.
    Closed,
    Broken {
        is_reset: bool,
        words: String,
    },
    /// The user stopped Convoke.
    Cancelled,
}

/// A request, as the thread that makes it needs it.
pub(super) struct Request {
    pub(super) address: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl Request {
    /// Makes the request and passes on the response, until the receiver is gone.
    pub(super) fn send(self, agent: &Agent, news: &SyncSender<News>) {
        let heard = self.exchange(agent, |piece| news.send(piece).is_ok());
        // The receiver may be gone.
        news.send(match heard {
            Ok(()) => News::Closed,
            Err(error) => broken(&error),
        })
        .ok();
    }

    fn exchange(self, agent: &Agent, hand_on: impl Fn(News) -> bool) -> Result<(), ureq::Error> {
        let post = agent.post(&self.address);
        let post = self.headers.iter().fold(post, |post, (name, value)| post.header(*name, value));
        let response = post.send(self.body)?;
        let header = |name| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let kind: Option<String> = header(CONTENT_TYPE);
        let is_events = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let is_answer = response.status().is_success();
        // A refusal is plain text, regardless of its content type.
        let is_stream = is_events && is_answer;
        let status = response.status().as_u16();
        let named = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let reset = reset_of(&named);
        let head = Head { status, is_stream, retry_after: header(RETRY_AFTER), reset };
        let mut goes_on = hand_on(News::Head(head));
        let mut reader = response.into_body().into_reader();
        let mut chunk = vec![0; CHUNK];
        // Of a refusal the beginning is enough, however much a server has to say.
        let mut wanted = if is_answer { usize::MAX } else { LONGEST_REFUSAL };
        while goes_on && wanted > 0 {
            let most = wanted.min(CHUNK);
            let count = reader.read(&mut chunk[..most])?;
            if count == 0 {
                break;
            }
            wanted -= count;
            goes_on = hand_on(News::Bytes(chunk[..count].to_vec()));
        }
        Ok(())
    }
}

/// A vendor's limits: the header with what is left of each, and the one with its end.
const LIMITS: [(&str, &str); 7] = [
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
];

/// The end of the limit of a subscription.
const UNIFIED_RESET: &str = "anthropic-ratelimit-unified-reset";

/// Returns when a limit ends: by the standard's header, else by a vendor's, of the limits that are used
/// up.
fn reset_of(header: &dyn Fn(&str) -> Option<String>) -> Option<ResetHint> {
    if let Some(hint) = header(RETRY_AFTER.as_str()).and_then(|value| retry_after(&value)) {
        return Some(hint);
    }
    if let Some(hint) = header(UNIFIED_RESET).and_then(|value| reset_header(&value)) {
        return Some(hint);
    }
    let used_up = LIMITS.iter().filter(|(left, _)| header(left).as_deref() == Some("0"));
    let mut last = None;
    for (_, end) in used_up {
        let hint = reset_header(&header(end)?)?;
        last = match last {
            Some(before) => Some(later_hint(before, hint)?),
            None => Some(hint),
        };
    }
    last
}

/// Checks whether an address answers, with any reply. It sends neither a key nor a prompt. Without
/// a reply, it returns the reason in words.
pub(super) fn is_answered(endpoint: &Endpoint, most: Duration) -> Result<(), String> {
    let limits = Limits { wall: most, first_byte: most, stall: most, grace: most };
    let answer = agent(&endpoint.url, limits).get(endpoint.url.to_string()).call();
    answer.map(drop).map_err(|error| in_words(&error))
}

/// Sends documents to one server, each in one request.
pub(crate) struct Poster {
    url: BaseUrl,
    agent: Agent,
}

/// A server's answer to a document.
pub(crate) struct PostAnswer {
    pub(crate) status: u16,
    /// The answer's body; `None` if it is longer than wanted.
    pub(crate) body: Option<Vec<u8>>,
}

impl Poster {
    /// Returns one whose requests take no longer than `most`, from the first byte to the last.
    pub(crate) fn new(url: &BaseUrl, most: Duration) -> Self {
        let limits = Limits { wall: most, first_byte: most, stall: most, grace: most };
        Self { url: url.clone(), agent: agent(url, limits) }
    }

    /// Sends a document to a path below the base address, and reads an answer of at most `longest`
    /// bytes. Returns in words why there is no answer.
    pub(crate) fn post(
        &self,
        path: &str,
        headers: &[(String, String)],
        body: String,
        longest: usize,
    ) -> Result<PostAnswer, String> {
        let post = self.agent.post(format!("{}{path}", self.url));
        let post = headers.iter().fold(post, |post, (name, value)| post.header(name, value));
        let response = post.send(body).map_err(|error| in_words(&error))?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let most = longest as u64 + 1;
        let read = response.into_body().into_reader().take(most).read_to_end(&mut body);
        read.map_err(|error| error.to_string())?;
        Ok(PostAnswer { status, body: (body.len() <= longest).then_some(body) })
    }
}

fn in_words(error: &ureq::Error) -> String {
    if let ureq::Error::Io(error) = error { error.to_string() } else { error.to_string() }
}

fn broken(error: &ureq::Error) -> News {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let ureq::Error::Io(error) = error else {
        return News::Broken { is_reset: false, words: error.to_string() };
    };
    let resets = [BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof];
    News::Broken { is_reset: resets.contains(&error.kind()), words: error.to_string() }
}

/// Returns the HTTP agent. It follows no redirect, keeps no connection, and uses no proxy for this
/// machine.
pub(super) fn agent(url: &BaseUrl, limits: Limits) -> Agent {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(0)
        .user_agent(concat!("convoke/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(limits.first_byte + SLACK))
        .timeout_global(Some(limits.wall + SLACK));
    if url.is_loopback() {
        config = config.proxy(None);
    }
    if url.is_encrypted() || !url.is_loopback() {
        config = config.tls_config(encryption());
    }
    config.build().into()
}

/// Trusts the certificates that the machine trusts.
fn encryption() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs();
    let roots = found.certs.iter().map(|root| Certificate::from_der(root).to_owned());
    TlsConfig::builder()
        .root_certs(RootCerts::from(roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    // P-401: a server's headers say when its limit ends.
    #[test]
    fn headers_say_when_a_limit_ends() {
        let at = |text: &str| Some(ResetHint::At(text.parse().unwrap()));
        let after = |seconds| Some(ResetHint::After(SignedDuration::from_secs(seconds)));
        let unified = ("anthropic-ratelimit-unified-reset", "1767801600");
        for (headers, expected) in [
            (&[][..], None),
            (&[("retry-after", "30"), unified], after(30)),
            (&[("retry-after", "soon"), unified], at("2026-01-07T16:00:00Z")),
            (
                &[
                    ("x-ratelimit-remaining-requests", "0"),
                    ("x-ratelimit-reset-requests", "20s"),
                    ("x-ratelimit-remaining-tokens", "0"),
                    ("x-ratelimit-reset-tokens", "6m0s"),
                ],
                after(360),
            ),
            (
                &[
                    ("x-ratelimit-remaining-requests", "0"),
                    ("x-ratelimit-reset-requests", "20s"),
                    ("x-ratelimit-remaining-tokens", "5"),
                    ("x-ratelimit-reset-tokens", "6m0s"),
                ],
                after(20),
            ),
            (
                &[
                    ("anthropic-ratelimit-tokens-remaining", "0"),
                    ("anthropic-ratelimit-tokens-reset", "2026-01-07T16:00:00Z"),
                ],
                at("2026-01-07T16:00:00Z"),
            ),
            // Of two limits that are used up, one is unknown.
            (
                &[
                    ("x-ratelimit-remaining-requests", "0"),
                    ("x-ratelimit-reset-requests", "20s"),
                    ("x-ratelimit-remaining-tokens", "0"),
                    ("x-ratelimit-reset-tokens", "soon"),
                ],
                None,
            ),
        ] {
            let find = |name: &str| {
                let found = headers.iter().find(|(header, _)| *header == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(reset_of(&find), expected, "{headers:?}");
        }
    }
}
