//! The address of a PostgreSQL server's store, as a user writes it.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

/// How a URL of a server begins.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// What separates the scheme of any URL from the rest.
const SCHEME_END: &str = "://";

/// Parameters of `libpq` that an address cannot have here. Only these are named in an error: an unknown
/// name may be a piece of a password that was not percent-encoded.
const OF_LIBPQ: [&str; 12] = [
    "password",
    "passfile",
    "hostaddr",
    "connect_timeout",
    "client_encoding",
    "application_name",
    "fallback_application_name",
    "keepalives",
    "sslcert",
    "sslkey",
    "service",
    "target_session_attrs",
];

const DEFAULT_PORT: u16 = 5432;

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Keeps a password.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password(…)")
    }
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerHost {
    /// A host's name or address.
    Tcp(String),
    /// The folder of a Unix socket.
    Socket(PathBuf),
}

/// Whether a connection is encrypted, and the server proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encryption {
    /// Neither: the connection stays on this machine.
    Off,
    /// Both: a certificate authority that the user trusts vouches for the host's name.
    VerifyFull,
}

/// The address of a store on a PostgreSQL server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerAddress {
    pub(crate) host: ServerHost,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) encryption: Encryption,
    /// A file of certificate authorities; without one, those of the system count.
    pub(crate) root_certificate: Option<PathBuf>,
    pub(crate) options: Option<String>,
    pub(crate) password: Option<Password>,
}

/// An address that cannot be read. No value of it is repeated: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It names no user.
    #[error("it names no user: write postgres://USER@HOST/DATABASE")]
    NoUser,
    /// It names no host.
    #[error("it names no host: write postgres://USER@HOST/DATABASE, or `?host=` a socket's folder")]
    NoHost,
    /// The port is no port.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// A percent sign is not followed by two hexadecimal digits, or they make no text.
    #[error("its percent-encoding is wrong")]
    Encoding,
    /// It begins otherwise.
    #[error("it does not begin with postgres:// or postgresql://")]
    Scheme,
    /// A `/` or `?` comes before an `@`, so that it is not certain where the password ends.
    #[error(
        "its user or password has a `/` or `?`, or what follows the host has an `@`: \
         write them as %2F, %3F and %40"
    )]
    Login,
    /// A parameter of `libpq` is not one here.
    #[error(
        "it has the parameter `{0}`; known are host, port, user, dbname, sslmode, sslrootcert \
         and options"
    )]
    Unsupported(&'static str),
    /// A parameter is not known.
    #[error(
        "it has an unknown parameter; known are host, port, user, dbname, sslmode, sslrootcert \
         and options"
    )]
    Parameter,
    /// The mode of encryption is not known.
    #[error("its `sslmode` is unknown; write disable, prefer, require, verify-ca or verify-full")]
    Mode,
    /// The connection would leave this machine unencrypted.
    #[error(
        "its `sslmode` allows an unencrypted connection, which may only go to this machine \
         (loopback or a socket)"
    )]
    Unencrypted,
}

/// Tells whether a user names a server. Any URL counts, also a mistyped one: as a file's name it would be
/// shown with its password.
pub(crate) fn is_server(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_meant = |scheme: &&str| {
        let rest = name.strip_prefix(scheme.trim_end_matches(SCHEME_END));
        rest.is_some_and(|rest| rest.starts_with(':') || rest.starts_with("//"))
    };
    name.split_once(SCHEME_END).is_some_and(|(scheme, _)| !scheme.contains('/'))
        || SCHEMES.iter().any(is_meant)
}

impl ServerAddress {
    /// Reads a URL.
    pub(crate) fn parse(url: &str) -> Result<Self, AddressError> {
        let rest = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme));
        let rest = rest.ok_or(AddressError::Scheme)?;
        // Behind the last `@` there is nothing of the password.
        let (login, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
        if login.contains(['/', '?']) {
            return Err(AddressError::Login);
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, password) = match login.split_once(':') {
            Some((user, password)) => (user, Some(decoded(password)?)),
            None => (login, None),
        };
        let (host, port) = split_port(place);
        let mut parts = Parts {
            user: decoded(user)?,
            database: decoded(database)?,
            host: decoded(host)?,
            port: port.map(str::to_owned),
            ..Parts::default()
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            parts.set(name, decoded(value)?)?;
        }
        parts.address(password.filter(|text| !text.is_empty()).map(Password::new))
    }
}

/// Splits a port from a host, which may be an IPv6 address in brackets.
fn split_port(place: &str) -> (&str, Option<&str>) {
    if let Some(rest) = place.strip_prefix('[')
        && let Some((host, port)) = rest.split_once(']')
    {
        return (host, port.strip_prefix(':'));
    }
    place.rsplit_once(':').map_or((place, None), |(host, port)| (host, Some(port)))
}

#[derive(Default)]
struct Parts {
    user: String,
    database: String,
    host: String,
    port: Option<String>,
    mode: Option<String>,
    root_certificate: Option<PathBuf>,
    options: Option<String>,
}

impl Parts {
    fn set(&mut self, name: &str, value: String) -> Result<(), AddressError> {
        match name {
            "host" => self.host = value,
            "port" => self.port = Some(value),
            "user" => self.user = value,
            "dbname" => self.database = value,
            "sslmode" => self.mode = Some(value),
            "sslrootcert" => self.root_certificate = Some(value.into()),
            "options" => self.options = Some(value),
            _ => {
                let known = OF_LIBPQ.into_iter().find(|known| *known == name);
                return Err(known.map_or(AddressError::Parameter, AddressError::Unsupported));
            }
        }
        Ok(())
    }

    fn address(self, password: Option<Password>) -> Result<ServerAddress, AddressError> {
        if self.user.is_empty() {
            return Err(AddressError::NoUser);
        }
        let host = match self.host {
            host if host.is_empty() => return Err(AddressError::NoHost),
            host if host.starts_with('/') => ServerHost::Socket(host.into()),
            host => ServerHost::Tcp(host),
        };
        let port = self.port.filter(|port| !port.is_empty());
        let port = port.map_or(Ok(DEFAULT_PORT), |port| port.parse());
        let port = port.ok().filter(|port| *port > 0).ok_or(AddressError::Port)?;
        let encryption = encryption(self.mode.as_deref(), &host)?;
        let database = if self.database.is_empty() { self.user.clone() } else { self.database };
        Ok(ServerAddress {
            host,
            port,
            user: self.user,
            database,
            encryption,
            root_certificate: self.root_certificate,
            options: self.options,
            password,
        })
    }
}

/// Every mode that encrypts also verifies: an unverified server could be anyone's.
fn encryption(mode: Option<&str>, host: &ServerHost) -> Result<Encryption, AddressError> {
    let is_here = match host {
        ServerHost::Socket(_) => true,
        ServerHost::Tcp(host) => is_loopback(host),
    };
    match (mode, is_here) {
        (None | Some("disable" | "allow" | "prefer"), true) => Ok(Encryption::Off),
        (None, false) | (Some("require" | "verify-ca" | "verify-full"), _) => {
            Ok(Encryption::VerifyFull)
        }
        (Some("disable" | "allow" | "prefer"), false) => Err(AddressError::Unencrypted),
        (Some(_), _) => Err(AddressError::Mode),
    }
}

/// A name could lead anywhere, so only `localhost` itself counts beside addresses.
fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn decoded(text: &str) -> Result<String, AddressError> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or(AddressError::Encoding)?);
        rest = behind.get(2..).unwrap_or_default();
    }
    let text = String::from_utf8(bytes).map_err(|_| AddressError::Encoding)?;
    if text.contains('\0') { Err(AddressError::Encoding) } else { Ok(text) }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, user, database, .. } = self;
        match host {
            ServerHost::Tcp(host) if host.contains(':') => {
                write!(formatter, "postgres://{user}@[{host}]:{port}/{database}")
            }
            ServerHost::Tcp(host) => {
                write!(formatter, "postgres://{user}@{host}:{port}/{database}")
            }
            ServerHost::Socket(folder) => {
                let folder = folder.display();
                write!(formatter, "postgres://{user}@/{database}?host={folder}&port={port}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::location::StoreLocation;

    fn read(url: &str) -> Result<ServerAddress, AddressError> {
        ServerAddress::parse(url)
    }

    #[test]
    fn an_address_is_read_and_its_password_is_never_shown() {
        let address = read("postgres://ana:s%40cret%2F@db.example:6543/team?sslrootcert=/ca.pem");
        let address = address.unwrap();
        assert_eq!(address.to_string(), "postgres://ana@db.example:6543/team");
        assert_eq!(address.password, Some(Password::new("s@cret/")));
        assert_eq!(address.root_certificate, Some("/ca.pem".into()));
        assert!(!format!("{address:?}").contains("cret"));
        let socket = read("postgresql://ana@/team?host=/run/postgresql&port=5433").unwrap();
        assert_eq!(socket.to_string(), "postgres://ana@/team?host=/run/postgresql&port=5433");
        let v6 = read("postgres://ana@[::1]:5433").unwrap();
        assert_eq!(
            (v6.to_string().as_str(), v6.encryption),
            ("postgres://ana@[::1]:5433/ana", Encryption::Off)
        );
    }

    #[test]
    fn only_this_machine_is_reached_unencrypted() {
        for (url, expected) in [
            ("postgres://a@localhost/b", Ok(Encryption::Off)),
            ("postgres://a@127.0.0.1/b?sslmode=disable", Ok(Encryption::Off)),
            ("postgres://a@127.0.0.1/b?sslmode=verify-full", Ok(Encryption::VerifyFull)),
            ("postgres://a@/b?host=/run", Ok(Encryption::Off)),
            ("postgres://a@db/b", Ok(Encryption::VerifyFull)),
            ("postgres://a@db/b?sslmode=require", Ok(Encryption::VerifyFull)),
            ("postgres://a@db/b?sslmode=disable", Err(AddressError::Unencrypted)),
            ("postgres://a@db/b?sslmode=prefer", Err(AddressError::Unencrypted)),
            ("postgres://a@localhost.example/b?sslmode=disable", Err(AddressError::Unencrypted)),
            ("postgres://a@10.0.0.1/b?sslmode=off", Err(AddressError::Mode)),
        ] {
            assert_eq!(read(url).map(|address| address.encryption), expected, "{url}");
        }
    }

    #[test]
    fn a_wrong_address_is_refused_without_repeating_its_values() {
        for (url, expected) in [
            ("postgres://db/b", AddressError::NoUser),
            ("postgres://a@/b", AddressError::NoHost),
            ("postgres://a:hush@db:0/b", AddressError::Port),
            ("postgres://a:hush@db:x/b", AddressError::Port),
            ("postgres://a:hush%4@db/b", AddressError::Encoding),
            ("postgres://a:hush@db/b?passwd=hush", AddressError::Parameter),
            ("postgres://a@db/b?password=hush", AddressError::Unsupported("password")),
            ("postgres://a:hu?hush@db/team", AddressError::Login),
            ("postgres://a:hu/hush@db/team", AddressError::Login),
            ("postgres://a:h@u/hush@db/team", AddressError::Login),
            ("postgres://a:x@db/b?options=@hush", AddressError::Login),
            ("Postgres://a:hush@db/b", AddressError::Scheme),
            (" postgres://a:hush@db/b", AddressError::Scheme),
            ("postgres:a:hush@db/b", AddressError::Scheme),
            ("Postgres//a:hush@db/b", AddressError::Scheme),
        ] {
            let error = read(url).unwrap_err();
            assert_eq!(error, expected, "{url}");
            assert!(!error.to_string().contains("hush"));
        }
    }

    fn any_url() -> impl Strategy<Value = (String, String)> {
        let scheme = prop_oneof![
            Just("postgres://"),
            Just("postgresql://"),
            Just("POSTGRES://"),
            Just("'postgres://"),
            Just("postgres:"),
            Just("PostgreSQL//"),
        ];
        let end = prop_oneof![
            Just("@db.example/team"),
            Just("@db.example:5432/team?sslmode=verify-full"),
            Just("@db.example/team?"),
            Just("@[::1]:0/team"),
            Just("@/team?host=/run&colour=blue"),
            Just(""),
        ];
        let parts = prop::collection::vec("[a-z0-9]{2,4}|[@/?&=:#%\\[\\]]", 1..9);
        (scheme, parts, end).prop_map(|(scheme, parts, end)| {
            let password = parts.concat();
            (format!("{scheme}ana:Q{password}Q{end}"), format!("Q{password}Q"))
        })
    }

    proptest! {
        // Also pieces: where a password that is not percent-encoded ends is a guess.
        #[test]
        fn no_error_and_no_address_shows_a_piece_of_a_password((url, password) in any_url()) {
            let location = StoreLocation::parse(url.as_str());
            let said = match read(&url) {
                Err(error) => format!("{error} {error:?}"),
                Ok(address) => {
                    let hidden = decoded(&password).unwrap();
                    // Without an `@` all of it is a place, and no password.
                    if url.ends_with('Q') {
                        return Ok(());
                    }
                    prop_assert_eq!(&address.password, &Some(Password::new(hidden)));
                    address.to_string()
                }
            };
            let said = format!("{said} {location} {location:?}");
            // `Q` marks both ends of the password, and is in no error.
            for piece in password.split(|letter: char| !letter.is_ascii_alphanumeric()) {
                let is_end = piece.contains('Q') && piece.len() > 1;
                prop_assert!(!is_end || !said.contains(piece), "{url}: {said}");
            }
            prop_assert!(!said.contains(&password), "{}: {}", url, said);
        }
    }
}
