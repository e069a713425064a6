//! The door to Temporal: one connection, and the lane as Temporal knows it.

use std::time::Duration;

use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::session::Session;
use convoke_service::settings::fleet::{FleetSettings, settings};
use serde::{Deserialize, Serialize};
use temporalio_client::errors::ClientConnectError;
use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions, TlsOptions};
use tokio::runtime::Runtime;
use tokio::time::sleep;
use url::Url;

/// How long the first connection may take, all attempts together.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// All that Temporal learns of a lane. It stays far below the 64 KiB that go through Temporal at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LaneTicket {
    /// The lane's id in the store.
    pub(crate) lane: String,
    /// How often it was submitted; an earlier ticket does nothing.
    pub(crate) generation: u64,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum TemporalError {
    #[error("cannot reach other machines: `fleet.temporal` is not set")]
    NoFleet,
    #[error("cannot use `{address}` as the address of Temporal")]
    Address { address: String, source: url::ParseError },
    #[error("cannot reach Temporal at {address}")]
    Away {
        address: String,
        #[source]
        source: Box<ClientConnectError>,
    },
    #[error("cannot start the threads that talk to Temporal")]
    Threads(#[source] std::io::Error),
    #[error("stopped before Temporal answered")]
    Stopped,
    #[error("cannot work with Temporal")]
    Client {
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl TemporalError {
    pub(crate) fn failure(self) -> Failure {
        let failure = |class| move |error: Self| Failure::new(class, error);
        match self {
            Self::NoFleet => failure(ErrorClass::Usage)(self)
                .hint("name the address of your Temporal server in `[fleet]` of your config.toml"),
            Self::Address { .. } => failure(ErrorClass::Usage)(self),
            Self::Stopped => failure(ErrorClass::Interrupted)(self),
            Self::Away { .. } | Self::Threads(_) | Self::Client { .. } => {
                failure(ErrorClass::Prerequisite)(self)
            }
        }
    }
}

/// Returns the settings of the fleet, and the threads that talk to Temporal.
pub(crate) fn prepare(session: &Session) -> Result<(FleetSettings, Runtime), Failure> {
    let settings = settings(session)?;
    if settings.temporal.is_none() {
        return Err(TemporalError::NoFleet.failure());
    }
    let threads =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    Ok((settings, threads.map_err(|error| TemporalError::Threads(error).failure())?))
}

/// Connects. A server that is starting again is waited for.
pub(crate) async fn connect(
    session: &Session,
    settings: &FleetSettings,
) -> Result<Client, Failure> {
    let address = settings.temporal.as_ref().map(ToString::to_string).unwrap_or_default();
    let target = Url::parse(&address)
        .map_err(|source| TemporalError::Address { address: address.clone(), source }.failure())?;
    let tls = (target.scheme() == "https").then(TlsOptions::default);
    let mut waited = Duration::ZERO;
    loop {
        let options = ConnectionOptions::new(target.clone())
            .maybe_tls_options(tls.clone())
            .connect_timeout(PATIENCE)
            .build();
        let source = match Connection::connect(options).await {
            Ok(connection) => {
                let options = ClientOptions::new(settings.namespace.clone()).build();
                let client = Client::new(connection, options);
                return client.map_err(|source| {
                    TemporalError::Client { source: Box::new(source) }.failure()
                });
            }
            Err(source) => source,
        };
        if session.is_stopped() {
            return Err(TemporalError::Stopped.failure());
        }
        if waited >= PATIENCE {
            let source = Box::new(source);
            return Err(TemporalError::Away { address, source }.failure());
        }
        sleep(PAUSE).await;
        waited += PAUSE;
    }
}
