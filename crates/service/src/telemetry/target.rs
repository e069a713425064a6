//! Where telemetry goes, and what it says about this process.

use std::time::Duration;

use convoke_domain::telemetry::names;
use convoke_domain::telemetry::pairs::PairList;
use convoke_domain::telemetry::span::Attribute;
use convoke_engine::lane::http::endpoint::BaseUrl;
use convoke_engine::telemetry::OtlpTarget;

use super::{NOT_SENT, TelemetrySwitch};
use crate::failure::Failure;
use crate::session::Session;
use crate::settings::telemetry::{HEADERS_VARIABLE, TelemetrySettings, settings};

/// How long a request may take.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// Where collectors listen.
const USUAL_ADDRESS: &str = "http://127.0.0.1:4318";

/// The user's wishes, once they are known.
pub(super) struct Wishes {
    pub(super) target: OtlpTarget,
    pub(super) content: bool,
}

/// Returns where to send telemetry; `None` if the user wants none, or cannot have it. Convoke says so
/// in the second case.
pub(super) fn wishes(
    session: &Session,
    switch: TelemetrySwitch,
) -> Result<Option<Wishes>, Failure> {
    let settings = settings(session)?;
    let is_wanted = switch == TelemetrySwitch::On || settings.endpoint.is_some();
    if !is_wanted {
        return Ok(None);
    }
    let reporter = session.reporter();
    if session.environment.is_telemetry_disabled() {
        if switch == TelemetrySwitch::On {
            reporter.warn(format!("{NOT_SENT}: OTEL_SDK_DISABLED is set"));
        }
        return Ok(None);
    }
    let content = settings.content;
    match target(session, settings) {
        Ok(target) => Ok(Some(Wishes { target, content })),
        Err(why) => {
            reporter.warn(format!("{NOT_SENT}: {why}"));
            Ok(None)
        }
    }
}

fn target(session: &Session, settings: TelemetrySettings) -> Result<OtlpTarget, String> {
    let TelemetrySettings { endpoint, headers_env, .. } = settings;
    let url = match endpoint {
        Some(url) => url,
        None => usual_address(session)?,
    };
    let variable = headers_env.as_deref().unwrap_or(HEADERS_VARIABLE);
    let value = session.environment.only([variable]).pop();
    let text = value.map(|(_, text)| text.to_string_lossy().into_owned()).unwrap_or_default();
    let PairList { pairs: headers, faults } = PairList::headers(&text);
    if let Some(number) = faults.first() {
        return Err(format!("entry {number} of {variable} is not `NAME=VALUE`"));
    }
    if !headers.is_empty() && url.is_open() {
        return Err(format!(
            "Convoke would send {variable} unencrypted to another machine; use `https`"
        ));
    }
    Ok(OtlpTarget { url, headers, limit: LIMIT })
}

fn usual_address(session: &Session) -> Result<BaseUrl, String> {
    let named = session.environment.otlp_endpoint();
    let address = named.as_deref().unwrap_or(USUAL_ADDRESS);
    BaseUrl::parse(address)
        .map_err(|error| format!("Convoke cannot use OTEL_EXPORTER_OTLP_ENDPOINT: {error}"))
}

/// Returns what is known of this process: the service, the project's name, and what the user adds.
pub(super) fn resource(session: &Session, project: &str) -> Vec<Attribute> {
    let environment = &session.environment;
    let own = environment.otel_resource_attributes().unwrap_or_default();
    let PairList { pairs, faults } = PairList::parse(&own);
    if let Some(number) = faults.first() {
        let words = format!("entry {number} of OTEL_RESOURCE_ATTRIBUTES is not `NAME=VALUE`");
        session.reporter().warn(words);
    }
    let named = environment.otel_service_name();
    let is_kept = |name: &str| named.is_none() || name != names::SERVICE_NAME;
    let own = pairs.iter().filter(|(name, _)| is_kept(name));
    let mut all: Vec<_> = own.map(|(name, value)| Attribute::text(name, value)).collect();
    for (key, value) in [
        (names::SERVICE_NAME, named.as_deref().unwrap_or(names::CONVOKE)),
        (names::SERVICE_VERSION, env!("CARGO_PKG_VERSION")),
        (names::PROJECT_NAME, project),
    ] {
        if !all.iter().any(|attribute| attribute.key == key) {
            all.push(Attribute::text(key, value));
        }
    }
    all
}
