//! Where the MCP server listens, and the token that every request must know.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use convoke_engine::file;

use crate::environment::MCP_TOKEN;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

/// The fewest characters of a token.
const SHORTEST: usize = 16;

/// The most bytes of a token's file.
const MAX_BYTES: u64 = 4096;

/// How many random bytes a new token has.
const NEW_BYTES: usize = 32;

/// Where the system gives random bytes.
const RANDOM: &str = "/dev/urandom";

/// Which addresses the server may listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenReach {
    /// Only those that this machine alone can reach.
    Loopback,
    /// All: the user said so.
    Any,
}

/// A wish to serve over HTTP.
#[derive(Debug, Clone)]
pub struct McpListenRequest {
    /// The address; port 0 is any free one.
    pub address: SocketAddr,
    /// The file with the token; without it, the variable's, or else a new one.
    pub token_file: Option<PathBuf>,
    /// Which addresses are allowed.
    pub reach: ListenReach,
}

/// What every request must know.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    text: String,
    /// Whether it is new, so that its user has to be told.
    pub is_new: bool,
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken").field("is_new", &self.is_new).finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
enum ListenError {
    #[error("other machines can reach {0}")]
    Reachable(SocketAddr),
    #[error("cannot read a token from {}", .0.display())]
    NoToken(PathBuf),
    #[error("other users can read the token in {}", .0.display())]
    Open(PathBuf),
    #[error(
        "the token in {0} has fewer than {SHORTEST} characters, or some that no header can have"
    )]
    Weak(String),
    #[error("cannot make a token")]
    NoChance(#[source] io::Error),
}

impl McpListenRequest {
    /// Refuses an address that other machines can reach, unless the user wants that.
    pub fn check(&self) -> Result<(), Failure> {
        if self.address.ip().is_loopback() || self.reach == ListenReach::Any {
            return Ok(());
        }
        let failure = Failure::new(ErrorClass::Refused, ListenError::Reachable(self.address));
        Err(failure.hint(
            "listen on 127.0.0.1, or add `--any-address`; the connection is not encrypted, so the \
             token would cross the network in the clear",
        ))
    }
}

impl AccessToken {
    /// Returns the token of a file, else that of the variable, else a new one.
    pub fn settle(session: &Session, file: Option<&Path>) -> Result<Self, Failure> {
        match (file, session.environment.mcp_token()) {
            (Some(path), _) => Self::in_file(path),
            (None, Some(text)) => Self::usable(&text, MCP_TOKEN.to_owned()),
            (None, None) => Self::random(),
        }
    }

    /// Returns the token of a file that no other user may read.
    pub(crate) fn in_file(path: &Path) -> Result<Self, Failure> {
        let refused = |error: fn(PathBuf) -> ListenError| {
            Failure::new(ErrorClass::Refused, error(path.to_owned()))
        };
        let text = file::text(path, MAX_BYTES).ok_or_else(|| refused(ListenError::NoToken))?;
        let mode = fs::metadata(path).map(|found| found.permissions().mode());
        if mode.is_ok_and(|mode| mode & 0o077 != 0) {
            let hint = format!("chmod 600 {}", path.display());
            return Err(refused(ListenError::Open).hint(hint));
        }
        Self::usable(&text, path.display().to_string())
    }

    fn usable(text: &str, place: String) -> Result<Self, Failure> {
        let text = text.trim();
        let is_usable = text.len() >= SHORTEST && text.chars().all(|c| c.is_ascii_graphic());
        if !is_usable {
            return Err(Failure::new(ErrorClass::Refused, ListenError::Weak(place)));
        }
        Ok(Self { text: text.to_owned(), is_new: false })
    }

    /// Makes a token that no one can guess.
    pub fn random() -> Result<Self, Failure> {
        let mut bytes = [0; NEW_BYTES];
        File::open(RANDOM).and_then(|mut source| source.read_exact(&mut bytes)).map_err(
            |error| Failure::new(ErrorClass::Prerequisite, ListenError::NoChance(error)),
        )?;
        let text = bytes.map(|byte| format!("{byte:02x}")).concat();
        Ok(Self { text, is_new: true })
    }

    /// Returns the token itself.
    pub fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_can_reach_the_server_unless_its_user_says_so() {
        let check = |address: &str, reach| {
            let request =
                McpListenRequest { address: address.parse().unwrap(), token_file: None, reach };
            request.check().is_ok()
        };
        for address in ["127.0.0.1:0", "127.9.9.9:80", "[::1]:4711"] {
            assert!(check(address, ListenReach::Loopback), "{address}");
        }
        for address in ["0.0.0.0:0", "192.168.1.2:80", "[::]:1", "[fe80::1]:1"] {
            assert!(!check(address, ListenReach::Loopback), "{address}");
            assert!(check(address, ListenReach::Any), "{address}");
        }
    }

    #[test]
    fn a_token_is_private_and_long_enough() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = |text: &str, mode: u32| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            AccessToken::in_file(&path).map(|token| token.text).ok()
        };
        let long = "0123456789abcdef";
        assert_eq!(token(&format!("{long}\n"), 0o600).as_deref(), Some(long));
        assert_eq!(token(long, 0o644), None);
        for weak in ["", "short", "0123456789abcde\u{e9}", "0123456789 abcdef"] {
            assert_eq!(token(weak, 0o600), None, "{weak}");
        }
        let [one, other] = [AccessToken::random().unwrap(), AccessToken::random().unwrap()];
        assert!(one.is_new && one.text.len() == 2 * NEW_BYTES && one != other);
        assert!(!format!("{one:?}").contains(&one.text));
    }
}
