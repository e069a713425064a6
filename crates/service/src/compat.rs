//! Single steps for scripts of the original workflows: the lines and the exit codes that those
//! read.
//!
//! Each function takes a script's words unparsed, because the contract defines the replies to
//! invalid ones. Other messages go to the session's observer.

mod branch_check;
mod cleanup;
mod diagram;
mod dirty_tree;
mod entry_gate;
mod ledger;
mod log_issue;
mod manifest;
mod preflight;
mod session_env;
mod session_setup;
mod timing;
mod tokens;

use std::time::Duration;

pub use self::branch_check::branch_check;
pub use self::cleanup::cleanup;
pub use self::diagram::check_diagram;
pub use self::dirty_tree::dirty_tree;
pub use self::entry_gate::entry_gate;
pub use self::log_issue::log_issue;
pub use self::manifest::{read_manifest, write_manifest};
pub use self::preflight::{clean_tree, preflight};
pub use self::session_env::{read_session_key, write_session_env};
pub use self::session_setup::session_setup;
pub use self::timing::timing;
pub use self::tokens::tokens;
use crate::failure::Failure;

/// How long a remote may take.
const FETCH_LIMIT: Duration = Duration::from_mins(2);

/// The reply to a script.
#[derive(Debug)]
pub struct ScriptReply {
    /// The standard output, byte for byte.
    pub out: String,
    /// How it ends.
    pub end: ScriptEnd,
}

/// How a step for a script ends.
#[derive(Debug)]
pub enum ScriptEnd {
    /// With an exit code of the contract.
    Code(u8),
    /// With an error for the user, and an exit code of the contract.
    Told(Failure, u8),
    /// With an error that has no code in the contract.
    Failed(Failure),
}

impl ScriptReply {
    /// Prints a text.
    fn text(out: impl Into<String>, code: u8) -> Self {
        Self { out: out.into(), end: ScriptEnd::Code(code) }
    }

    /// Prints lines.
    fn lines<'a>(lines: impl IntoIterator<Item = &'a String>, code: u8) -> Self {
        Self::text(joined(lines), code)
    }

    /// Prints nothing.
    fn code(code: u8) -> Self {
        Self::text("", code)
    }

    /// Prints nothing but an error that has no code in the contract.
    fn failed(failure: Failure) -> Self {
        Self { out: String::new(), end: ScriptEnd::Failed(failure) }
    }
}

/// Returns lines as one text.
fn joined<'a>(lines: impl IntoIterator<Item = &'a String>) -> String {
    lines.into_iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}
