//! `--otel`: telemetry of a command's lanes.

use convoke_service::telemetry::TelemetrySwitch;

use crate::app::App;

/// The wish for telemetry.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct OtelArgs {
    /// Send spans and metrics of the lanes to an OpenTelemetry collector, without prompts and
    /// answers: to `endpoint` of your own `[telemetry]`, else to `OTEL_EXPORTER_OTLP_ENDPOINT`, else
    /// to `http://127.0.0.1:4318`
    #[arg(long)]
    otel: bool,
}

impl OtelArgs {
    /// Returns the command's context with telemetry as the user wishes it.
    pub(super) fn context(self, app: &App) -> App {
        if !self.otel {
            return app.clone();
        }
        App { session: app.session.clone().with_telemetry(TelemetrySwitch::On), ..app.clone() }
    }
}
