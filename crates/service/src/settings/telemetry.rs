//! The `[telemetry]` section. Only a user's own file may have it: a foreign project must not choose
//! where its user's data is sent.

use convoke_engine::lane::http::endpoint::BaseUrl;

use super::files::settle_once;
use super::{Key, read_layers, text, truth};
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "telemetry";

/// The variable with headers, unless another is named.
pub(crate) const HEADERS_VARIABLE: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// Where spans and metrics go, and how much they tell.
#[derive(Debug, Clone, Default)]
pub struct TelemetrySettings {
    /// The collector's base address; one that is configured switches telemetry on.
    pub endpoint: Option<BaseUrl>,
    /// The variable that holds headers of the requests.
    pub headers_env: Option<String>,
    /// Whether prompts and answers are sent, too.
    pub content: bool,
}

/// One place's opinion on these settings.
#[derive(Debug, Clone, Default)]
pub struct TelemetryLayer {
    endpoint: Option<BaseUrl>,
    headers_env: Option<String>,
    content: Option<bool>,
}

/// Every setting of telemetry.
pub const KEYS: [Key<TelemetryLayer>; 3] = [
    Key {
        name: "endpoint",
        expected: "an `http` or `https` address such as \"http://127.0.0.1:4318\", without a name, \
                   a password or a query",
        default: "none: nothing is sent",
        meaning: "the base address of an OpenTelemetry collector; setting it switches telemetry on",
        from_text: text,
        set: |layer, value| {
            layer.endpoint = Some(BaseUrl::parse(value.as_str()?).ok()?);
            Some(())
        },
    },
    Key {
        name: "headers_env",
        expected: "a variable's name",
        default: HEADERS_VARIABLE,
        meaning: "the variable that holds headers of the requests, such as a key: `NAME=VALUE,NAME=VALUE`",
        from_text: text,
        set: |layer, value| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = value.as_str().filter(|name| !name.is_empty())?;
            layer.headers_env = Some(name.chars().all(is_plain).then(|| name.to_owned())?);
            Some(())
        },
    },
    Key {
        name: "content",
        expected: "true or false",
        default: "false",
        meaning: "whether Convoke also sends prompts and answers",
        from_text: truth,
        set: |layer, value| {
            layer.content = Some(value.as_bool()?);
            Some(())
        },
    },
];

/// Collects what the environment and the user's file say about telemetry.
pub fn settings(session: &Session) -> Result<TelemetrySettings, Failure> {
    settle_once(&session.settings.files().telemetry, || settle(session))
}

fn settle(session: &Session) -> Result<TelemetrySettings, Failure> {
    let layers = read_layers(session, SECTION, &KEYS)?;
    Ok(TelemetrySettings {
        endpoint: layers.iter().find_map(|layer| layer.endpoint.clone()),
        headers_env: layers.iter().find_map(|layer| layer.headers_env.clone()),
        content: layers.iter().find_map(|layer| layer.content).unwrap_or_default(),
    })
}
