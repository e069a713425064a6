//! The server over HTTP: every request needs the token, a host that is ours, and no foreign origin.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use convoke_engine::skill::hash;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::mcp_listen::AccessToken;
use convoke_service::session::Session;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::server::{Server, run, stopped};

/// The path of the server.
const PATH: &str = "/mcp";

/// How many connections are open in parallel; further ones are closed.
const MOST_CONNECTIONS: usize = 64;

/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// The names by which a machine calls itself.
const OURSELVES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The pages that a browser on this machine may have loaded.
const OWN_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// Where the server listens, and to whom.
#[derive(Debug)]
pub struct HttpListen {
    /// The address; port 0 is any free one.
    pub address: SocketAddr,
    /// What every request must know.
    pub token: AccessToken,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
struct CannotListen {
    address: SocketAddr,
    source: io::Error,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves clients over HTTP until the session is stopped. Calls `ready` once, with the address.
pub fn serve_http(
    session: &Session,
    listen: &HttpListen,
    ready: &mut dyn FnMut(SocketAddr),
) -> Result<(), Failure> {
    let door = Arc::new(Door::new(Server::new(session)?, listen));
    run(async {
        let refused = |source| {
            let error = CannotListen { address: listen.address, source };
            Failure::new(ErrorClass::Prerequisite, error)
        };
        let listener = TcpListener::bind(listen.address).await.map_err(refused)?;
        ready(listener.local_addr().map_err(refused)?);
        tokio::select! {
            () = accept(listener, door) => Ok(()),
            () = stopped(session) => Ok(()),
        }
    })
}

async fn accept(listener: TcpListener, door: Arc<Door>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, for example.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let door = Arc::clone(&door);
        tokio::spawn(async move {
            door.serve(stream).await;
            drop(place);
        });
    }
}

/// What a request passes before it reaches a tool.
struct Door {
    /// Hashes are compared, so that the time it takes tells nothing about the token.
    token: String,
    service: StreamableHttpService<Server, LocalSessionManager>,
}

impl Door {
    fn new(server: Server, listen: &HttpListen) -> Self {
        let ip = listen.address.ip();
        let named = (!ip.is_unspecified()).then(|| ip.to_string());
        let hosts = OURSELVES.iter().map(|host| (*host).to_owned()).chain(named);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(OWN_ORIGINS)
            .enforce_origin_validation();
        let factory = move || Ok(server.clone());
        let service =
            StreamableHttpService::new(factory, Arc::new(LocalSessionManager::default()), config);
        Self { token: hash(listen.token.text()), service }
    }

    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let answer = |request| {
            let door = Arc::clone(&self);
            async move { Ok::<_, Infallible>(door.answer(request).await) }
        };
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .serve_connection(TokioIo::new(stream), service_fn(answer))
            .await
            .ok();
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "the server is at /mcp\n");
        }
        if !self.knows(request.headers()) {
            let words = "the request needs the header `Authorization: Bearer TOKEN`\n";
            let mut answer = refusal(StatusCode::UNAUTHORIZED, words);
            let scheme = hyper::header::HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return answer;
        }
        self.service.handle(request).await
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let (Some(one), None) = (given.next(), given.next()) else { return false };
        let words = one.to_str().ok().and_then(|words| words.trim().split_once(' '));
        words.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case("bearer") && hash(token.trim()) == self.token
        })
    }
}

fn refusal(status: StatusCode, words: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(words.as_bytes())).boxed());
    *answer.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
