//! Connections to a server, encrypted wherever they leave this machine.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::ServerFailure;
use crate::address::{Encryption, Password, ServerAddress, ServerHost};

/// After this time without an answer to it, the system probes whether the other side is still there.
const PROBE_AFTER: Duration = Duration::from_secs(30);

/// Connects, and lets the connection run beside the callers of `client`.
pub(super) async fn connect(address: &ServerAddress) -> Result<Client, ServerFailure> {
    let config = config(address);
    match address.encryption {
        Encryption::Off => {
            let (client, connection) = config.connect(NoTls).await.map_err(ServerFailure::of)?;
            tokio::spawn(connection);
            Ok(client)
        }
        Encryption::VerifyFull => {
            let tls = MakeRustlsConnect::new(verifying(address.root_certificate.as_deref())?);
            let (client, connection) = config.connect(tls).await.map_err(ServerFailure::of)?;
            tokio::spawn(connection);
            Ok(client)
        }
    }
}

fn config(address: &ServerAddress) -> Config {
    let mut config = Config::new();
    match &address.host {
        ServerHost::Tcp(host) => config.host(host),
        ServerHost::Socket(folder) => config.host_path(folder),
    };
    config.port(address.port).user(&address.user).dbname(&address.database);
    config.application_name("convoke").keepalives_idle(PROBE_AFTER);
    config.ssl_mode(match address.encryption {
        Encryption::Off => SslMode::Disable,
        Encryption::VerifyFull => SslMode::Require,
    });
    if let Some(password) = address.password.as_ref().map(Password::reveal) {
        config.password(password);
    }
    if let Some(options) = &address.options {
        config.options(options);
    }
    config
}

/// Accepts a server only if an authority vouches for the name that it was called by.
fn verifying(authorities: Option<&Path>) -> Result<ClientConfig, ServerFailure> {
    let mut trusted = RootCertStore::empty();
    if let Some(path) = authorities {
        let wrong = |source| ServerFailure::Authorities { path: path.to_owned(), source };
        let found = CertificateDer::pem_file_iter(path);
        for certificate in found.map_err(|error| wrong(io::Error::other(error)))? {
            let certificate = certificate.map_err(|error| wrong(io::Error::other(error)))?;
            trusted.add(certificate).map_err(|error| wrong(io::Error::other(error)))?;
        }
        if trusted.is_empty() {
            return Err(wrong(io::ErrorKind::InvalidData.into()));
        }
    } else {
        trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if trusted.is_empty() {
            return Err(ServerFailure::NoAuthorities);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ServerFailure::Untrusted(io::Error::other(error)))?;
    Ok(config.with_root_certificates(trusted).with_no_client_auth())
}
