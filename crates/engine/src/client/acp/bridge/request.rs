//! The request that the bridge reads from its stdin.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::command::Rights;

/// A conversation that the bridge should hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BridgeRequest {
    /// The path of the agent's program.
    pub program: String,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// The absolute path of the folder that the agent works in.
    pub folder: String,
    /// The prompt's text.
    pub prompt: String,
    /// The model to choose.
    pub model: Option<String>,
    /// The effort to choose, if the agent offers a choice.
    pub effort: Option<String>,
    /// The session to load.
    pub resume: Option<String>,
    /// The mode without which no prompt is sent.
    pub mode: Option<String>,
    /// Whether the agent may change files.
    pub may_write: bool,
    /// The `_meta` of the session's beginning.
    pub session_meta: Option<Value>,
    /// Whether text without the id of a message is a notice of the agent's, and never the answer.
    pub answers_have_ids: bool,
    /// The command by which a person logs in.
    pub login: Option<String>,
}

impl BridgeRequest {
    /// Returns it as the bridge reads it.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the agent's rights.
    pub const fn rights(&self) -> Rights {
        if self.may_write { Rights::Write } else { Rights::ReadOnly }
    }

    /// Reads it.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}
