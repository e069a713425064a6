//! A client's input about an event.

use std::path::PathBuf;

use serde_json::Value;

/// A client's input about an event. Other fields are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookInput {
    /// The client's id of the session.
    pub session_id: Option<String>,
    /// The folder of the session.
    pub cwd: Option<PathBuf>,
    /// Why a session begins or is compacted.
    pub cause: Option<String>,
    /// The client's own record of the session.
    pub transcript: Option<PathBuf>,
}

impl HookInput {
    /// Reads a client's JSON; `None` for anything that is not an object.
    pub fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let object = value.as_object()?;
        let field = |names: [&str; 2]| {
            let found = names.iter().find_map(|name| object.get(*name)?.as_str());
            found.map(str::to_owned)
        };
        let first_root = || Some(object.get("workspace_roots")?.get(0)?.as_str()?.to_owned());
        Some(Self {
            session_id: field(["session_id", "conversation_id"]),
            cwd: field(["cwd", "directory"]).or_else(first_root).map(PathBuf::from),
            cause: field(["source", "trigger"]),
            transcript: field(["transcript_path", "transcriptPath"]).map(PathBuf::from),
        })
    }
}
