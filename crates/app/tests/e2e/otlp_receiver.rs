//! A collector of the OpenTelemetry protocol that keeps what it receives.

use serde_json::{Map, Value};

use crate::scripted_server::{Reply, Server};

/// More requests than any run sends.
const MANY: usize = 200;

pub(crate) struct Collector {
    server: Server,
}

/// What a collector received.
#[derive(Default)]
pub(crate) struct Received {
    /// Every request: its head and its body.
    pub(crate) requests: Vec<String>,
    /// Every span, in the order of arrival.
    pub(crate) spans: Vec<Span>,
    /// Every metric, by its name.
    pub(crate) metrics: Vec<Value>,
    /// The facts about the process of the last document.
    pub(crate) resource: Map<String, Value>,
}

/// A span, with its attributes as a map.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) value: Value,
    pub(crate) attributes: Map<String, Value>,
}

/// Returns an answer that takes everything.
pub(crate) fn accepted(body: &str) -> Reply {
    answer("200 OK", body)
}

/// Returns an answer with a status.
pub(crate) fn answer(status: &str, body: &str) -> Reply {
    let length = body.len();
    Reply::Says(format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    ))
}

impl Collector {
    pub(crate) fn start() -> Self {
        Self { server: Server::start((0..MANY).map(|_| accepted("{}")).collect()) }
    }

    pub(crate) fn url(&self) -> String {
        self.server.origin()
    }

    /// Returns what came since the last call.
    pub(crate) fn received(&self) -> Received {
        let mut received = Received { requests: self.server.asked_so_far(), ..Received::default() };
        for request in &received.requests {
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            let body: Value = serde_json::from_str(body).unwrap();
            let head = head.to_lowercase();
            assert!(head.contains("\r\ncontent-type: application/json"), "{head}");
            let (kind, list) = if head.starts_with("post /v1/traces ") {
                ("resourceSpans", "scopeSpans")
            } else {
                assert!(head.starts_with("post /v1/metrics "), "{head}");
                ("resourceMetrics", "scopeMetrics")
            };
            let document = &body[kind][0];
            received.resource = attributes(&document["resource"]);
            let scope = &document[list][0];
            assert_eq!(scope["scope"]["name"], "convoke");
            let spans = scope["spans"].as_array().into_iter().flatten();
            received.spans.extend(
                spans.map(|value| Span { attributes: attributes(value), value: value.clone() }),
            );
            received.metrics.extend(scope["metrics"].as_array().into_iter().flatten().cloned());
        }
        received
    }
}

impl Received {
    /// Returns the points of a metric, each with its attributes.
    pub(crate) fn points(&self, name: &str) -> Vec<(Map<String, Value>, Value)> {
        let metrics = self.metrics.iter().filter(|metric| metric["name"] == name);
        let points = metrics.flat_map(|metric| {
            let data = metric.get("histogram").or(metric.get("sum")).unwrap();
            assert_eq!(data["aggregationTemporality"], 1, "{metric}");
            data["dataPoints"].as_array().unwrap()
        });
        points.map(|point| (attributes(point), point.clone())).collect()
    }

    /// Returns the spans as a tree without what differs between runs, a line each.
    pub(crate) fn tree(&self) -> String {
        let ids: Vec<_> = self.spans.iter().map(Span::id).collect();
        let is_top = |span: &&Span| span.parent().is_none_or(|parent| !ids.contains(&parent));
        let tops: Vec<_> = self.spans.iter().filter(is_top).collect();
        self.lines(tops, 0)
    }

    fn lines(&self, mut spans: Vec<&Span>, depth: usize) -> String {
        spans.sort_by_key(|span| (span.phase_order(), span.line()));
        let text = |span: &Span| {
            let children = self.spans.iter().filter(|child| child.parent() == Some(span.id()));
            let line = format!("{:indent$}{}\n", "", span.line(), indent = 2 * depth);
            line + &self.lines(children.collect(), depth + 1)
        };
        spans.into_iter().map(text).collect()
    }
}

impl Span {
    pub(crate) fn id(&self) -> &str {
        self.value["spanId"].as_str().unwrap()
    }

    pub(crate) fn trace(&self) -> &str {
        self.value["traceId"].as_str().unwrap()
    }

    pub(crate) fn parent(&self) -> Option<&str> {
        self.value.get("parentSpanId").map(|parent| parent.as_str().unwrap())
    }

    pub(crate) fn name(&self) -> &str {
        self.value["name"].as_str().unwrap()
    }

    /// Phases follow each other; everything else is in the order of its line.
    fn phase_order(&self) -> u64 {
        let is_phase = self.name().starts_with("phase ");
        let began = self.value["startTimeUnixNano"].as_str().unwrap().parse().unwrap();
        if is_phase { began } else { 0 }
    }

    fn line(&self) -> String {
        let kind = match self.value["kind"].as_u64() {
            Some(1) => "internal",
            Some(3) => "client",
            _ => "of an unknown kind",
        };
        let status = self.value.get("status").map(|status| format!(" status {status}"));
        let differs = ["convoke.lane.id", "convoke.run.id", "gen_ai.conversation.id"];
        let facts = self.attributes.iter().map(|(name, value)| {
            let value =
                if differs.contains(&name.as_str()) { "*".to_owned() } else { value.to_string() };
            format!(" {name}={value}")
        });
        let facts: String = facts.collect();
        format!("{} ({kind}){}{facts}", self.name(), status.unwrap_or_default())
    }
}

/// Returns attributes by name, each as the plain value; 64-bit numbers must be text.
fn attributes(of: &Value) -> Map<String, Value> {
    let pairs = of["attributes"].as_array().into_iter().flatten().map(|pair| {
        let (kind, value) = pair["value"].as_object().unwrap().iter().next().unwrap();
        assert!(kind != "intValue" || value.is_string(), "{pair}");
        (pair["key"].as_str().unwrap().to_owned(), value.clone())
    });
    pairs.collect()
}
