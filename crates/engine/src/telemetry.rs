//! Telemetry on its way: the format of the OpenTelemetry protocol, and sending it.

mod exporter;
mod otlp;

pub use self::exporter::{Exporter, OtlpTarget};
pub use self::otlp::TelemetryBatch;
