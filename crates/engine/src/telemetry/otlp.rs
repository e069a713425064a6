//! The documents of the OpenTelemetry protocol (OTLP), as JSON.
//!
//! They follow the JSON mapping of proto3 with the protocol's exceptions: names in camel case,
//! 64-bit numbers as text, ids in hexadecimal digits, enumerations as numbers. The counts of a
//! histogram are numbers: the mapping has every reader take both, and the readers that are built on
//! `opentelemetry-proto` for Rust up to 0.31 drop the whole histogram where a count is text.

use convoke_domain::telemetry::metric::{HistogramPoint, Metric, MetricData, SumPoint};
use convoke_domain::telemetry::names;
use convoke_domain::telemetry::span::{
    Attribute, AttributeValue, ChatMessage, FinishedSpan, SpanKind,
};
use convoke_domain::telemetry::trace::{SpanId, TraceId};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

/// Values that count what happened since the last ones: `AGGREGATION_TEMPORALITY_DELTA`.
const DELTA: u8 = 1;

/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// What is sent at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct TelemetryBatch {
    /// Facts about the process and its project.
    pub resource: Vec<Attribute>,
    /// The trace of the spans.
    pub trace: TraceId,
    /// Spans that ended.
    pub spans: Vec<FinishedSpan>,
    /// Values since the last batch.
    pub metrics: Vec<Metric>,
    /// When the last batch was made.
    pub since: Timestamp,
    /// When this one was made.
    pub until: Timestamp,
}

impl TelemetryBatch {
    /// Returns the document for `/v1/traces`; `None` without spans.
    pub(super) fn traces(&self) -> Option<String> {
        if self.spans.is_empty() {
            return None;
        }
        let spans = self.spans.iter().map(|span| SpanJson::new(&self.trace, span)).collect();
        let scope_spans = [ScopeSpans { scope: Scope::OURS, spans }];
        let resource_spans = [ResourceSpans { resource: self.resource(), scope_spans }];
        serde_json::to_string(&Traces { resource_spans }).ok()
    }

    /// Returns the document for `/v1/metrics`; `None` without values.
    pub(super) fn metrics(&self) -> Option<String> {
        if self.metrics.is_empty() {
            return None;
        }
        let times = (nanoseconds(self.since), nanoseconds(self.until));
        let metrics = self.metrics.iter().map(|metric| MetricJson::new(metric, &times)).collect();
        let scope_metrics = [ScopeMetrics { scope: Scope::OURS, metrics }];
        let resource_metrics = [ResourceMetrics { resource: self.resource(), scope_metrics }];
        serde_json::to_string(&Metrics { resource_metrics }).ok()
    }

    fn resource(&self) -> Resource<'_> {
        Resource { attributes: key_values(&self.resource) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Traces<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Resource<'a>,
    scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Serialize)]
struct Resource<'a> {
    attributes: Vec<KeyValue<'a>>,
}

#[derive(Serialize)]
struct ScopeSpans<'a> {
    scope: Scope,
    spans: Vec<SpanJson<'a>>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

impl Scope {
    const OURS: Self = Self { name: names::CONVOKE, version: env!("CARGO_PKG_VERSION") };
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpanJson<'a> {
    trace_id: &'a str,
    span_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<&'a str>,
    name: &'a str,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<KeyValue<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status<'a>>,
}

#[derive(Serialize)]
struct Status<'a> {
    code: u8,
    message: &'a str,
}

impl<'a> SpanJson<'a> {
    fn new(trace: &'a TraceId, span: &'a FinishedSpan) -> Self {
        Self {
            trace_id: trace.as_str(),
            span_id: span.id.as_str(),
            parent_span_id: span.parent.as_ref().map(SpanId::as_str),
            name: &span.name,
            kind: match span.kind {
                SpanKind::Internal => 1,
                SpanKind::Client => 3,
            },
            start_time_unix_nano: nanoseconds(span.began),
            // A clock that was set back makes no span that ends before it begins.
            end_time_unix_nano: nanoseconds(span.ended.max(span.began)),
            attributes: key_values(&span.attributes),
            status: span.error.map(|message| Status { code: ERROR, message }),
        }
    }
}

#[derive(Serialize)]
struct KeyValue<'a> {
    key: &'a str,
    value: AnyValue<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::enum_variant_names, reason = "the protocol's names")]
enum AnyValue<'a> {
    StringValue(&'a str),
    #[serde(rename = "stringValue")]
    MessagesValue(String),
    IntValue(String),
    DoubleValue(f64),
    BoolValue(bool),
}

fn key_values(attributes: &[Attribute]) -> Vec<KeyValue<'_>> {
    attributes.iter().map(KeyValue::new).collect()
}

impl<'a> KeyValue<'a> {
    fn new(Attribute { key, value }: &'a Attribute) -> Self {
        let value = match value {
            AttributeValue::Text(text) => AnyValue::StringValue(text),
            AttributeValue::Whole(number) => AnyValue::IntValue(number.to_string()),
            AttributeValue::Real(number) => AnyValue::DoubleValue(*number),
            AttributeValue::Truth(truth) => AnyValue::BoolValue(*truth),
            AttributeValue::Message(message) => AnyValue::MessagesValue(messages(message)),
        };
        Self { key, value }
    }
}

/// Returns a list of messages in the form of the conventions, which is JSON in a text.
fn messages(ChatMessage { role, text, finish_reason }: &ChatMessage) -> String {
    let parts = [json!({ "type": "text", "content": text })];
    let mut message = json!({ "role": role, "parts": parts });
    if let Some(reason) = finish_reason {
        message["finish_reason"] = json!(reason);
    }
    json!([message]).to_string()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metrics<'a> {
    resource_metrics: [ResourceMetrics<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceMetrics<'a> {
    resource: Resource<'a>,
    scope_metrics: [ScopeMetrics<'a>; 1],
}

#[derive(Serialize)]
struct ScopeMetrics<'a> {
    scope: Scope,
    metrics: Vec<MetricJson<'a>>,
}

#[derive(Serialize)]
struct MetricJson<'a> {
    name: &'static str,
    unit: &'static str,
    description: &'static str,
    #[serde(flatten)]
    data: DataJson<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum DataJson<'a> {
    #[serde(rename_all = "camelCase")]
    Histogram { aggregation_temporality: u8, data_points: Vec<HistogramJson<'a>> },
    #[serde(rename_all = "camelCase")]
    Sum { aggregation_temporality: u8, is_monotonic: bool, data_points: Vec<SumJson<'a>> },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HistogramJson<'a> {
    attributes: Vec<KeyValue<'a>>,
    start_time_unix_nano: &'a str,
    time_unix_nano: &'a str,
    count: u64,
    sum: f64,
    bucket_counts: &'a [u64],
    explicit_bounds: &'static [f64],
    min: f64,
    max: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SumJson<'a> {
    attributes: Vec<KeyValue<'a>>,
    start_time_unix_nano: &'a str,
    time_unix_nano: &'a str,
    as_double: f64,
}

impl<'a> MetricJson<'a> {
    fn new(metric: &'a Metric, times: &'a (String, String)) -> Self {
        let data = match &metric.data {
            MetricData::Histogram(points) => DataJson::Histogram {
                aggregation_temporality: DELTA,
                data_points: points.iter().map(|point| HistogramJson::new(point, times)).collect(),
            },
            MetricData::Sum(points) => DataJson::Sum {
                aggregation_temporality: DELTA,
                is_monotonic: true,
                data_points: points.iter().map(|point| SumJson::new(point, times)).collect(),
            },
        };
        Self { name: metric.name, unit: metric.unit, description: metric.description, data }
    }
}

impl<'a> HistogramJson<'a> {
    fn new(point: &'a HistogramPoint, (since, until): &'a (String, String)) -> Self {
        Self {
            attributes: key_values(&point.attributes),
            start_time_unix_nano: since,
            time_unix_nano: until,
            count: point.counts.iter().sum(),
            sum: point.sum,
            bucket_counts: &point.counts,
            explicit_bounds: point.bounds,
            min: point.min,
            max: point.max,
        }
    }
}

impl<'a> SumJson<'a> {
    fn new(point: &'a SumPoint, (since, until): &'a (String, String)) -> Self {
        Self {
            attributes: key_values(&point.attributes),
            start_time_unix_nano: since,
            time_unix_nano: until,
            as_double: point.value,
        }
    }
}

/// Returns a time as the protocol writes it: nanoseconds since 1970, as text.
fn nanoseconds(at: Timestamp) -> String {
    at.as_nanosecond().max(0).to_string()
}

#[cfg(test)]
mod tests;
