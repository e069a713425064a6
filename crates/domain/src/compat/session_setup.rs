//! Sets up a session for a script: its options, its folder's name, and its output.

use super::session_env::is_plain_path;
use crate::lane::health::AgentHealth;
use crate::text::one_line;

/// A script's options.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct SessionOrder {
    /// The prefix of the folder's name.
    pub prefix: String,
    /// Whether nothing is checked first.
    pub skip_preflight: bool,
    /// Whether it does not matter which branch is checked out.
    pub skip_branch_check: bool,
    /// Whether to leave out the detection of the repository.
    pub skip_repo_check: bool,
    /// Whether to probe agents.
    pub check_reviewers: bool,
    /// Whether to leave out Codex's probe.
    pub skip_codex_probe: bool,
    /// Whether to leave out Cursor's probe.
    pub skip_cursor_probe: bool,
    /// The caller's session file, with facts it already has.
    pub caller_env: Option<String>,
    /// The file to write the agents' health to.
    pub write_health: Option<String>,
    /// The session file to write for the next workflow.
    pub write_session_env: Option<String>,
}

/// Invalid options of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionOrderError {
    /// The prefix is empty.
    #[error("session-setup: --prefix is required")]
    NoPrefix,
    /// The prefix would be a path.
    #[error("session-setup: --prefix must be a plain name")]
    BadPrefix,
    /// A flag without a value.
    #[error("session-setup: {0} requires a value")]
    MissingValue(String),
    /// An option that the script does not have.
    #[error("session-setup: unknown option: {0}")]
    UnknownOption(String),
}

impl SessionOrderError {
    /// The exit code.
    pub const CODE: u8 = 4;
}

impl SessionOrder {
    /// Reads a script's words.
    pub fn parse(words: &[String]) -> Result<Self, SessionOrderError> {
        let mut order = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                let value = words.next().filter(|word| !word.starts_with("--"));
                value.cloned().ok_or_else(|| SessionOrderError::MissingValue(word.clone()))
            };
            match word.as_str() {
                "--prefix" => order.prefix = value()?,
                "--caller-env" => order.caller_env = Some(value()?),
                "--write-health" => order.write_health = Some(value()?),
                "--write-session-env" => order.write_session_env = Some(value()?),
                "--skip-preflight" => order.skip_preflight = true,
                "--skip-branch-check" => order.skip_branch_check = true,
                "--skip-repo-check" => order.skip_repo_check = true,
                "--check-reviewers" => order.check_reviewers = true,
                "--skip-codex-probe" => order.skip_codex_probe = true,
                "--skip-cursor-probe" => order.skip_cursor_probe = true,
                _ => return Err(SessionOrderError::UnknownOption(word.clone())),
            }
        }
        match order.prefix.as_str() {
            "" => Err(SessionOrderError::NoPrefix),
            prefix if prefix.contains(|c: char| !is_plain(c) && c != '.') => {
                Err(SessionOrderError::BadPrefix)
            }
            _ => Ok(order),
        }
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Names a project in a folder's name.
pub fn clone_tag(folder_name: &str) -> String {
    let plain = |c: char| if is_plain(c) { c } else { '_' };
    let tag: String = folder_name.chars().map(plain).take(32).collect();
    if tag.is_empty() { "_".to_owned() } else { tag }
}

/// The owner of a session's folder.
#[derive(Debug, Clone, Copy)]
pub struct Keepalive<'a> {
    /// The process that made the session.
    pub pid: u32,
    /// The process that requested the session.
    pub parent: i32,
    /// The path of the project.
    pub clone_path: &'a str,
    /// The session's id.
    pub session_id: &'a str,
    /// The prefix of the folder's name.
    pub prefix: &'a str,
    /// When, in UTC.
    pub created: &'a str,
}

impl Keepalive<'_> {
    /// Returns the text that tells cleanup programs to keep the folder.
    pub fn text(&self) -> String {
        let Self { pid, parent, clone_path, session_id, prefix, created } = self;
        format!(
            "larch session keepalive\nPID={pid}\nPPID={parent}\nCLONE_PATH={}\n\
             SESSION_ID={session_id}\nPREFIX={prefix}\nCREATED={created}\n\
             NOTE=ext-cleaners-please-skip\n",
            one_line(clone_path)
        )
    }
}

/// Returns `owner/name` from a remote's address, if it is such a one.
pub fn repository_of(url: &str) -> Option<String> {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => url.split_once(':').filter(|(host, _)| !host.contains('/'))?.1,
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let parts: Vec<_> = path.split('/').collect();
    let is_name = |part: &&str| {
        !part.is_empty() && part.chars().all(|c| is_plain(c) || c == '.') && !part.starts_with('.')
    };
    (parts.len() == 2 && parts.iter().all(is_name)).then(|| path.to_owned())
}

/// The probe's result for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reviewer {
    /// Whether its program is there.
    pub is_available: bool,
    /// Whether the agent answers, if its health is known.
    pub is_healthy: Option<bool>,
    /// Why it does not answer.
    pub error: Option<String>,
}

impl Reviewer {
    /// Returns the result of a probe; an agent that was not probed counts as unavailable.
    pub fn asked(health: &AgentHealth) -> Self {
        let error = match health {
            AgentHealth::Sick(cause) => cause.as_ref().map(|cause| cause.line.clone()),
            AgentHealth::Missing | AgentHealth::NotAsked | AgentHealth::Healthy => None,
        };
        let is_available = *health != AgentHealth::Missing;
        Self { is_available, is_healthy: Some(health.may_work()), error }
    }
}

/// The results for both agents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reviewers {
    /// The result for Codex.
    pub codex: Reviewer,
    /// The result for Cursor.
    pub cursor: Reviewer,
    /// Why no agent could be probed.
    pub trouble: Option<String>,
}

impl Reviewers {
    /// Returns the output about both agents. An agent of unknown health counts as unhealthy.
    pub fn lines(&self) -> Vec<String> {
        let both = [("CODEX", &self.codex), ("CURSOR", &self.cursor)];
        let available =
            both.map(|(name, health)| format!("{name}_AVAILABLE={}", health.is_available));
        let healthy = both.map(|(name, health)| format!("{name}_HEALTHY={}", health.counts()));
        let errors = both.into_iter().filter_map(|(name, health)| {
            Some(format!("{name}_PROBE_ERROR={}", one_line(health.error.as_deref()?)))
        });
        let trouble = self.trouble.as_deref().map(one_line);
        let trouble = trouble.map(|trouble| format!("WAIT_INFRA_ERROR={trouble}"));
        let gone = ["GEMINI_HEALTHY=false", "GEMINI_AVAILABLE=false"].map(str::to_owned);
        available.into_iter().chain(healthy).chain(errors).chain(trouble).chain(gone).collect()
    }

    /// Returns the health file. An agent of unknown health counts as unhealthy.
    pub fn health_file(&self) -> String {
        let (codex, cursor) = (self.codex.counts(), self.cursor.counts());
        format!("CODEX_HEALTHY={codex}\nCURSOR_HEALTHY={cursor}\nGEMINI_HEALTHY=false\n")
    }
}

impl Reviewer {
    /// Tells whether it can be counted on.
    pub fn counts(&self) -> bool {
        self.is_healthy == Some(true)
    }
}

/// Tells whether a path is valid for a workflow's ledger of times: absolute, and plain.
pub fn is_ledger_path(path: &str) -> bool {
    path.starts_with('/') && is_plain_path(path) && !path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lane::health::ProbeFailure;

    fn parsed(line: &str) -> Result<SessionOrder, String> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        SessionOrder::parse(&words).map_err(|error| error.to_string())
    }

    // P-61, P-62
    #[test]
    fn a_session_is_requested_by_flags() {
        let order = parsed(
            "--prefix claude-design --skip-repo-check --check-reviewers --skip-branch-check \
             --caller-env /p/e --write-health /p/e.health --skip-codex-probe --skip-cursor-probe",
        );
        let order = order.unwrap();
        assert_eq!(order.prefix, "claude-design");
        assert_eq!(order.write_health.as_deref(), Some("/p/e.health"));
        assert!(order.skip_repo_check && order.skip_codex_probe && !order.skip_preflight);
        for (line, error) in [
            ("", "session-setup: --prefix is required"),
            ("--prefix", "session-setup: --prefix requires a value"),
            ("--prefix --check-reviewers", "session-setup: --prefix requires a value"),
            ("--prefix x --caller-env", "session-setup: --caller-env requires a value"),
            ("--prefix x --what", "session-setup: unknown option: --what"),
            ("--prefix ../x", "session-setup: --prefix must be a plain name"),
        ] {
            assert_eq!(parsed(line), Err(error.to_owned()), "{line}");
        }
    }

    // P-63
    #[test]
    fn a_folder_is_named_after_the_project() {
        assert_eq!(clone_tag("my app.v2"), "my_app_v2");
        assert_eq!(clone_tag(""), "_");
        assert_eq!(clone_tag(&"a".repeat(40)).len(), 32);
        assert_eq!(clone_tag("é"), "_");
    }

    // P-64
    #[test]
    fn a_folder_says_whose_it_is() {
        let text = Keepalive {
            pid: 7,
            parent: 6,
            clone_path: "/p",
            session_id: "s",
            prefix: "claude-design",
            created: "2026-03-04T05:06:07Z",
        };
        assert_eq!(
            text.text(),
            "larch session keepalive\nPID=7\nPPID=6\nCLONE_PATH=/p\nSESSION_ID=s\n\
             PREFIX=claude-design\nCREATED=2026-03-04T05:06:07Z\nNOTE=ext-cleaners-please-skip\n"
        );
    }

    // P-65, P-80, T-43
    #[test]
    fn unknown_health_is_not_healthy() {
        let sick = Reviewer::asked(&AgentHealth::Sick(Some(ProbeFailure::other("no\nanswer"))));
        let unknown = Reviewer { is_available: true, is_healthy: None, error: None };
        let found = Reviewers { codex: sick, cursor: unknown, trouble: Some("a=b".to_owned()) };
        assert_eq!(
            found.lines(),
            [
                "CODEX_AVAILABLE=true",
                "CURSOR_AVAILABLE=true",
                "CODEX_HEALTHY=false",
                "CURSOR_HEALTHY=false",
                "CODEX_PROBE_ERROR=no answer",
                "WAIT_INFRA_ERROR=a=b",
                "GEMINI_HEALTHY=false",
                "GEMINI_AVAILABLE=false",
            ]
        );
        assert_eq!(
            found.health_file(),
            "CODEX_HEALTHY=false\nCURSOR_HEALTHY=false\nGEMINI_HEALTHY=false\n"
        );
        let well = Reviewer::asked(&AgentHealth::Healthy);
        let missing = Reviewer::asked(&AgentHealth::Missing);
        assert!(well.is_available && well.counts() && !missing.is_available);
        assert!(!Reviewer::asked(&AgentHealth::NotAsked).counts());
    }

    #[test]
    fn a_repository_is_known_by_its_remote() {
        for (url, name) in [
            ("git@github.com:ann/app.git", Some("ann/app")),
            ("https://github.com/ann/app", Some("ann/app")),
            ("https://user@github.com/ann/app.v2.git/", Some("ann/app.v2")),
            ("ssh://git@github.com:22/ann/app.git", Some("ann/app")),
            ("https://example.org/a/b/c", None),
            ("/srv/git/app", None),
            ("../app", None),
            ("https://github.com/ann", None),
            ("https://github.com/ann/..", None),
        ] {
            assert_eq!(repository_of(url).as_deref(), name, "{url}");
        }
    }

    // P-67
    #[test]
    fn a_ledger_is_a_plain_absolute_path() {
        assert!(is_ledger_path("/tmp/x/timing.tsv"));
        for wrong in ["timing.tsv", "/tmp/../etc/x", "/tmp/a b", "/tmp/x\n", "~/x", ""] {
            assert!(!is_ledger_path(wrong), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn every_request_has_one_answer(
            words in prop::collection::vec("--[a-z-]{0,18}|--prefix|[a-z/.]{0,4}|.*", 0..8)
        ) {
            if let Ok(order) = SessionOrder::parse(&words) {
                prop_assert!(!order.prefix.is_empty() && !order.prefix.contains('/'));
            }
        }

        #[test]
        fn a_tag_is_plain(name in ".*") {
            let tag = clone_tag(&name);
            prop_assert!((1..=32).contains(&tag.len()) && tag.chars().all(is_plain));
            prop_assert!(repository_of(&name).is_none_or(|repository| repository.matches('/').count() == 1));
        }
    }
}
