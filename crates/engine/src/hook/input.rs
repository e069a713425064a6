//! A client's input about an event.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

/// The fields that are read.
const FIELDS: [&str; 9] = [
    "session_id",
    "conversation_id",
    "cwd",
    "directory",
    "workspace_roots",
    "source",
    "trigger",
    "transcript_path",
    "transcriptPath",
];

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
        let KnownFields(object) = serde_json::from_str(text).ok()?;
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

/// The known fields of an object. Others, such as a prompt, may hold what no `String` can: clients write
/// half an emoji as it is in their memory.
struct KnownFields(Map<String, Value>);

impl<'de> Deserialize<'de> for KnownFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldVisitor).map(Self)
    }
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = Map<String, Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            if FIELDS.contains(&name.as_str()) {
                fields.insert(name, access.next_value()?);
            } else {
                access.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}
