//! The documents follow the protocol's mapping to JSON.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const DIGEST: &str = "5b8efff798038103d269b633813fc60c0123456789abcdef0123456789abcdef";

fn batch(attributes: Vec<Attribute>, error: Option<&'static str>) -> TelemetryBatch {
    let at = |text: &str| text.parse().unwrap();
    let span = FinishedSpan {
        id: SpanId::of_digest(DIGEST),
        parent: error.map(|_| SpanId::of_digest("ffffffffffffffff")),
        name: "invoke_agent claude".to_owned(),
        kind: SpanKind::Client,
        began: at("2018-12-13T14:51:00.3Z"),
        ended: at("2018-12-13T14:51:01.000000001Z"),
        attributes,
        error,
    };
    TelemetryBatch {
        resource: vec![Attribute::text("service.name", "convoke")],
        trace: TraceId::of_digest(DIGEST),
        spans: vec![span],
        metrics: Vec::new(),
        since: at("2018-12-13T14:51:00Z"),
        until: at("2018-12-13T14:51:01Z"),
    }
}

fn document(text: Option<String>) -> Value {
    serde_json::from_str(&text.unwrap()).unwrap()
}

fn sent(batch: &TelemetryBatch) -> Value {
    document(batch.traces())["resourceSpans"][0]["scopeSpans"][0]["spans"][0].clone()
}

#[test]
fn a_span_has_the_protocols_form() {
    let span = sent(&batch(vec![Attribute::whole("n", 7)], None));
    let expected = json!({
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "5b8efff798038103",
        "name": "invoke_agent claude",
        "kind": 3,
        "startTimeUnixNano": "1544712660300000000",
        "endTimeUnixNano": "1544712661000000001",
        "attributes": [{ "key": "n", "value": { "intValue": "7" } }],
    });
    assert_eq!(span, expected);
    let failed = sent(&batch(Vec::new(), Some("timed_out")));
    assert_eq!(failed["parentSpanId"], "ffffffffffffffff");
    assert_eq!(failed["status"], json!({ "code": 2, "message": "timed_out" }));
}

#[test]
fn every_kind_of_value_has_its_own_name() {
    let of = |value| Attribute { key: "k".to_owned(), value };
    let message =
        ChatMessage { role: "user", text: "a\"b".to_owned(), finish_reason: Some("stop") };
    for (value, expected) in [
        (AttributeValue::Text("a\u{0}\n".to_owned()), json!({ "stringValue": "a\u{0}\n" })),
        (AttributeValue::Whole(i64::MAX), json!({ "intValue": "9223372036854775807" })),
        (AttributeValue::Whole(-1), json!({ "intValue": "-1" })),
        (AttributeValue::Real(0.5), json!({ "doubleValue": 0.5 })),
        (AttributeValue::Truth(true), json!({ "boolValue": true })),
        (
            AttributeValue::Message(message),
            json!({ "stringValue": "[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\
                \"content\":\"a\\\"b\"}],\"finish_reason\":\"stop\"}]" }),
        ),
    ] {
        let span = sent(&batch(vec![of(value)], None));
        assert_eq!(span["attributes"][0]["value"], expected);
    }
}

// Counts are numbers: receivers that take them as text alone do not exist, and some drop the whole
// histogram for one.
#[test]
fn a_metric_has_the_protocols_form() {
    let point = HistogramPoint {
        attributes: Vec::new(),
        bounds: &[1.0, 4.0],
        counts: vec![1, 0, 2],
        sum: 12.5,
        min: 0.5,
        max: 6.0,
    };
    let cost = SumPoint { attributes: vec![Attribute::mark("k")], value: 0.25 };
    let metric = |data| Metric { name: "m", unit: "s", description: "d", data };
    let metrics =
        vec![metric(MetricData::Histogram(vec![point])), metric(MetricData::Sum(vec![cost]))];
    let document = document(TelemetryBatch { metrics, ..batch(Vec::new(), None) }.metrics());
    let scope = &document["resourceMetrics"][0]["scopeMetrics"][0];
    let times =
        [("startTimeUnixNano", "1544712660000000000"), ("timeUnixNano", "1544712661000000000")];
    let histogram = &scope["metrics"][0]["histogram"];
    assert_eq!(histogram["aggregationTemporality"], 1);
    let point = &histogram["dataPoints"][0];
    let numbers = ["count", "sum", "bucketCounts", "explicitBounds", "min", "max"];
    let expected =
        [json!(3), json!(12.5), json!([1, 0, 2]), json!([1.0, 4.0]), json!(0.5), json!(6.0)];
    assert_eq!(numbers.map(|name| point[name].clone()), expected);
    let sum = &scope["metrics"][1]["sum"];
    assert_eq!((&sum["isMonotonic"], &sum["aggregationTemporality"]), (&json!(true), &json!(1)));
    assert_eq!(sum["dataPoints"][0]["asDouble"], json!(0.25));
    for (name, time) in times {
        assert_eq!((&point[name], &sum["dataPoints"][0][name]), (&json!(time), &json!(time)));
    }
}

#[test]
fn an_empty_batch_is_no_document() {
    let empty = TelemetryBatch { spans: Vec::new(), ..batch(Vec::new(), None) };
    assert_eq!((empty.traces(), empty.metrics()), (None, None));
}

/// Returns the names of all keys, and the keys whose values are JSON numbers.
fn keys(value: &Value, found: &mut Vec<(String, bool)>) {
    match value {
        Value::Object(entries) => entries.iter().for_each(|(name, value)| {
            found.push((name.clone(), value.is_number()));
            keys(value, found);
        }),
        Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

proptest! {
    // 64-bit numbers are text, enumerations are numbers, and names are in camel case, for any facts.
    #[test]
    fn every_document_follows_the_mapping(text in "\\PC{0,30}", number in any::<u64>(), real in -1e9..1e9) {
        let attributes = vec![
            Attribute::text("a", &text),
            Attribute::whole("b", number),
            Attribute::real("c", real),
        ];
        let document = document(batch(attributes, Some("failed")).traces());
        let mut found = Vec::new();
        keys(&document, &mut found);
        for (name, is_number) in found {
            prop_assert!(!name.contains('_') && name.starts_with(|c: char| c.is_ascii_lowercase()));
            prop_assert_eq!(is_number, ["kind", "code", "doubleValue"].contains(&name.as_str()), "{}", name);
        }
        let values = &document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"];
        prop_assert_eq!(values[0]["value"]["stringValue"].as_str(), Some(text.as_str()));
        let whole = i64::try_from(number).unwrap_or(i64::MAX).to_string();
        prop_assert_eq!(values[1]["value"]["intValue"].as_str(), Some(whole.as_str()));
    }
}
