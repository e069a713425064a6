//! Accepting browsers: a bounded number of connections, each with bounded time for its requests.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use convoke_page::layout::Access;
use convoke_service::dashboard::{DashboardRequest, DashboardRights, project_of};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::mcp_listen::AccessToken;
use convoke_service::session::Session;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::dashboard::Dashboard;
use crate::door::Door;
use crate::guess::Peer;
use crate::login::Guests;
use crate::routes::{Rooms, router};
use crate::secret::Secret;

/// How many connections are open in parallel; others wait until the system accepts them.
const MOST_CONNECTIONS: usize = 256;

/// How many blocking threads work.
const MOST_THREADS: usize = 16;

/// How long a browser may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a connection lives. Browsers connect again; one that reads nothing gives its place back.
const LONGEST_CONNECTION: Duration = Duration::from_mins(15);

/// Where the dashboard listens, and to whom.
#[derive(Debug)]
pub struct DashboardListen {
    /// The request of the user.
    pub request: DashboardRequest,
    /// The password, if there is one.
    pub password: Option<AccessToken>,
}

#[derive(Debug, thiserror::Error)]
enum ListenError {
    #[error("cannot listen on {address}")]
    Address { address: SocketAddr, source: io::Error },
    #[error("cannot start the server")]
    Runtime(#[source] io::Error),
}

/// Serves the dashboard until the session is stopped. Calls `ready` once, with the address and the path of the link that
/// lets one browser in.
pub fn serve_dashboard(
    session: &Session,
    listen: &DashboardListen,
    ready: &mut dyn FnMut(SocketAddr, &str),
) -> Result<(), Failure> {
    listen.request.check(session)?;
    let project = project_of(session)?;
    let prerequisite = |error| Failure::new(ErrorClass::Prerequisite, error);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MOST_THREADS)
        .build()
        .map_err(|error| prerequisite(ListenError::Runtime(error)))?;
    let outcome = runtime.block_on(async {
        let address = listen.request.address;
        let refused = |source| prerequisite(ListenError::Address { address, source });
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let rooms = rooms(session, project, listen, address)?;
        ready(address, &rooms.door.guests.link());
        tokio::select! {
            () = accept(listener, router(rooms)) => Ok(()),
            () = stopped(session) => Ok(()),
        }
    });
    runtime.shutdown_background();
    outcome
}

fn rooms(
    session: &Session,
    project: String,
    listen: &DashboardListen,
    address: SocketAddr,
) -> Result<Rooms, Failure> {
    let access = match listen.request.rights {
        DashboardRights::Change => Access::Full,
        DashboardRights::ReadOnly => Access::ReadOnly,
    };
    let browser = listen.request.browser;
    let guests = Guests::new(address.port(), listen.password.as_ref(), browser)?;
    let door = Door { address, hosts: listen.request.hosts.clone(), guests };
    let dashboard = Dashboard::new(session.clone(), project, access, Secret::random()?);
    Ok(Rooms { door, dashboard: Arc::new(dashboard) })
}

async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    // The place comes first: a browser beyond the limit waits, and is not turned away.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, address)) = listener.accept().await else {
            // Too many open files, for example.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let router = router.clone();
        tokio::spawn(async move {
            converse(stream, Peer(address.ip()), router).await;
            drop(place);
        });
    }
}

async fn converse(stream: TcpStream, peer: Peer, router: Router) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    if timeout(LONGEST_CONNECTION, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        timeout(PATIENCE, connection).await.ok();
    }
}

/// Waits until the session is stopped.
async fn stopped(session: &Session) {
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let stop = std::sync::Mutex::new(Some(stop));
    let _watch = session.cancel().watch(move || {
        let taken = stop.lock().ok().and_then(|mut stop| stop.take());
        if let Some(stop) = taken {
            stop.send(()).ok();
        }
    });
    stopped.await.ok();
}
