//! What the environment says about telemetry.

use std::collections::HashMap;
use std::sync::Arc;

use super::Environment;

/// The variable with the span around this process (W3C Trace Context).
const TRACEPARENT: &str = "TRACEPARENT";

impl Environment {
    /// Tells whether the user switched telemetry off for every program.
    pub fn is_telemetry_disabled(&self) -> bool {
        let disabled = self.variable("OTEL_SDK_DISABLED").unwrap_or_default();
        disabled.to_string_lossy().trim().eq_ignore_ascii_case("true")
    }

    /// Returns the base address of the collector that all programs send to.
    pub fn otlp_endpoint(&self) -> Option<String> {
        self.text("OTEL_EXPORTER_OTLP_ENDPOINT")
    }

    /// Returns the name that the user gives this program in telemetry.
    pub fn otel_service_name(&self) -> Option<String> {
        self.text("OTEL_SERVICE_NAME")
    }

    /// Returns facts about this process for telemetry, as `NAME=VALUE,NAME=VALUE`.
    pub fn otel_resource_attributes(&self) -> Option<String> {
        self.text("OTEL_RESOURCE_ATTRIBUTES")
    }

    /// Returns the span around this process.
    pub fn traceparent(&self) -> Option<String> {
        self.text(TRACEPARENT)
    }

    /// Returns the environment of a worker process inside of a span.
    #[must_use]
    pub fn in_span(&self, span: &str) -> Self {
        let mut variables = HashMap::clone(&self.variables);
        variables.insert(TRACEPARENT.into(), span.into());
        Self { variables: Arc::new(variables), ..self.clone() }
    }
}
