//! The parts of an agent's messages that decide how a conversation continues. Each may be missing, or
//! of another type.

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct Greeting<'a> {
    #[serde(borrow, rename = "protocolVersion")]
    pub(super) version: Option<&'a RawValue>,
    #[serde(borrow, rename = "agentCapabilities")]
    pub(super) capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "authMethods")]
    pub(super) logins: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Capabilities<'a> {
    #[serde(borrow, rename = "loadSession")]
    pub(super) load: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Login<'a> {
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Opened<'a> {
    #[serde(borrow, rename = "sessionId")]
    pub(super) session: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Notified<'a> {
    #[serde(borrow, rename = "sessionId")]
    pub(super) session: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) update: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Ended<'a> {
    #[serde(borrow, rename = "stopReason")]
    pub(super) stop: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Update<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    pub(super) kind: Option<&'a RawValue>,
    #[serde(borrow, rename = "currentModeId")]
    pub(super) mode: Option<&'a RawValue>,
}
