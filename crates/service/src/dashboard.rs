//! Where the dashboard listens, who may open it, and becoming its program.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use convoke_engine::server_program::{ServerProgram, become_server};

use crate::failure::{ErrorClass, Failure};
use crate::mcp_listen::AccessToken;
use crate::person::refuse_dashboard;
use crate::session::Session;
use crate::workspace::Workspace;

/// The longest name of a host.
const LONGEST_HOST: usize = 253;

/// Whether the dashboard can change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DashboardRights {
    /// Its forms act as the user.
    Change,
    /// It only shows.
    ReadOnly,
}

/// Whether the dashboard opens a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserStart {
    /// It opens the user's.
    Open,
    /// It prints the address.
    Print,
}

/// A wish to serve the dashboard.
#[derive(Debug, Clone)]
pub struct DashboardRequest {
    /// The address; port 0 is any free one.
    pub address: SocketAddr,
    /// The file with the password; an address beyond this machine needs one.
    pub token_file: Option<PathBuf>,
    /// Further names by which browsers may call the machine.
    pub hosts: Vec<String>,
    /// Whether it can change something.
    pub rights: DashboardRights,
    /// Whether it opens a browser.
    pub browser: BrowserStart,
}

#[derive(Debug, thiserror::Error)]
enum DashboardError {
    #[error("other machines can reach {0}, and the dashboard has no password")]
    Open(SocketAddr),
    #[error("`{0}` is not the name of a host")]
    Host(String),
}

/// Returns the name of the project that the dashboard shows; fails if its store cannot be opened.
pub fn project_of(session: &Session) -> Result<String, Failure> {
    Ok(Workspace::open(session, None)?.scope.project)
}

impl DashboardRequest {
    /// Refuses an agent's process, an address without protection, and names that no host can have.
    pub fn check(&self, session: &Session) -> Result<(), Failure> {
        refuse_dashboard(session)?;
        for host in &self.hosts {
            if !is_host(host) {
                let error = DashboardError::Host(host.clone());
                let failure = Failure::new(ErrorClass::Usage, error);
                return Err(failure.hint("name a host without scheme and port: `--host dev.local`"));
            }
        }
        if !self.is_exposed() || self.token_file.is_some() {
            return Ok(());
        }
        let failure = Failure::new(ErrorClass::Refused, DashboardError::Open(self.address));
        Err(failure.hint(
            "listen on 127.0.0.1, or name a private file with a password: `--token-file FILE`; \
             the connection is not encrypted",
        ))
    }

    /// Tells whether other machines can reach the address.
    pub const fn is_exposed(&self) -> bool {
        !is_loopback(self.address.ip())
    }

    /// Returns the password, if a file has one.
    pub fn password(&self) -> Result<Option<AccessToken>, Failure> {
        self.token_file.as_deref().map(AccessToken::in_file).transpose()
    }

    /// Returns the request in words for the dashboard's program.
    fn words(&self) -> Vec<OsString> {
        let rights = match self.rights {
            DashboardRights::Change => "change",
            DashboardRights::ReadOnly => "read-only",
        };
        let browser = match self.browser {
            BrowserStart::Open => "open",
            BrowserStart::Print => "print",
        };
        let file = self.token_file.as_deref().map(absolute).unwrap_or_default();
        let fixed = [self.address.to_string().into(), rights.into(), browser.into(), file];
        fixed.into_iter().chain(self.hosts.iter().map(OsString::from)).collect()
    }

    /// Reads what [`become_dashboard`] wrote; `None` for anything else.
    pub fn of_words(words: &[OsString]) -> Option<Self> {
        let ([address, rights, browser, file], hosts) = words.split_first_chunk()?;
        let rights = match rights.to_str()? {
            "change" => DashboardRights::Change,
            "read-only" => DashboardRights::ReadOnly,
            _ => return None,
        };
        let browser = match browser.to_str()? {
            "open" => BrowserStart::Open,
            "print" => BrowserStart::Print,
            _ => return None,
        };
        let hosts: Option<Vec<_>> = hosts.iter().map(|host| Some(host.to_str()?.into())).collect();
        Some(Self {
            address: address.to_str()?.parse().ok()?,
            token_file: (!file.is_empty()).then(|| PathBuf::from(file)),
            hosts: hosts?,
            rights,
            browser,
        })
    }
}

const fn is_loopback(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback(),
    }
}

fn is_host(text: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !text.is_empty() && text.len() <= LONGEST_HOST && text.chars().all(is_usual)
}

/// The program runs in the project's folder, which need not be where its user named a file.
fn absolute(path: &Path) -> OsString {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).into_os_string()
}

/// Becomes the dashboard's program. Returns only if that fails. Only the user may do this.
pub fn become_dashboard(session: &Session, request: &DashboardRequest) -> Failure {
    if let Err(failure) = request.check(session).and_then(|()| request.password().map(drop)) {
        return failure;
    }
    let environment = &session.environment;
    let project = session.absolute_project();
    let mut arguments = vec![env!("CARGO_PKG_VERSION").into(), project.clone().into_os_string()];
    arguments.extend(request.words());
    let (program, variables) = (environment.program(), environment.for_worker());
    let error = become_server(ServerProgram::Web, &program, &arguments, variables, &project);
    Failure::new(ErrorClass::Prerequisite, error)
        .hint("install it beside `convoke`, from the same release")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(address: &str) -> DashboardRequest {
        DashboardRequest {
            address: address.parse().unwrap(),
            token_file: None,
            hosts: Vec::new(),
            rights: DashboardRights::Change,
            browser: BrowserStart::Print,
        }
    }

    #[test]
    fn the_program_reads_the_request_that_convoke_wrote() {
        let full = DashboardRequest {
            token_file: Some("/tmp/a b".into()),
            hosts: vec!["dev.local".into(), "x".into()],
            rights: DashboardRights::ReadOnly,
            browser: BrowserStart::Open,
            ..request("[::1]:80")
        };
        for request in [request("127.0.0.1:0"), full] {
            let read = DashboardRequest::of_words(&request.words()).unwrap();
            assert_eq!(format!("{read:?}"), format!("{request:?}"));
        }
        assert!(DashboardRequest::of_words(&["127.0.0.1:0".into()]).is_none());
    }

    #[test]
    fn only_loopback_needs_no_password() {
        for (address, is_exposed) in
            [("127.0.0.1:0", false), ("[::1]:1", false), ("0.0.0.0:0", true), ("10.1.1.1:1", true)]
        {
            assert_eq!(request(address).is_exposed(), is_exposed, "{address}");
        }
    }

    #[test]
    fn a_host_is_a_name_without_scheme_and_port() {
        for (name, is_good) in [
            ("dev.local", true),
            ("a-b_c", true),
            ("", false),
            ("a:80", false),
            ("http://a", false),
        ] {
            assert_eq!(is_host(name), is_good, "{name}");
        }
    }
}
