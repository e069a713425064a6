//! Sends telemetry in a thread of its own, so that no run waits for a collector.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use convoke_domain::text::one_line;
use serde::Deserialize;

use super::otlp::TelemetryBatch;
use crate::lane::http::endpoint::BaseUrl;
use crate::lane::http::{PostAnswer, Poster};

/// The longest answer of a collector that is read, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;

/// How much of a collector's words is shown, in characters.
const LONGEST_WORDS: usize = 200;

/// The shortest value of a header that is taken for a secret.
const SHORTEST_SECRET: usize = 4;

/// Where telemetry is sent.
#[derive(Clone)]
pub struct OtlpTarget {
    /// The base address of the collector.
    pub url: BaseUrl,
    /// Further headers of each request, which may hold keys.
    pub headers: Vec<(String, String)>,
    /// How long one request may take.
    pub limit: Duration,
}

/// A thread that sends batches, in order. After a failure it sends nothing more: a collector that is
/// down or slow costs a run one request.
pub struct Exporter {
    batches: Sender<TelemetryBatch>,
    result: Receiver<Result<(), String>>,
    limit: Duration,
}

impl Exporter {
    /// Starts the thread.
    pub fn start(target: OtlpTarget) -> std::io::Result<Self> {
        let (batches, waiting) = channel::<TelemetryBatch>();
        let (sender, result) = channel();
        let limit = target.limit;
        thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
            let poster = Poster::new(&target.url, target.limit);
            let mut warning = None;
            let sent = waiting.iter().try_for_each(|batch| {
                let remark = target.send(&poster, &batch)?;
                warning = warning.take().or(remark);
                Ok(())
            });
            // The receiver may have given up.
            sender.send(sent.and(warning.map_or(Ok(()), Err))).ok();
        })?;
        Ok(Self { batches, result, limit })
    }

    /// Takes a batch to send, without waiting.
    pub fn send(&self, batch: TelemetryBatch) {
        // The thread ends after a failure, which `finish` reports.
        self.batches.send(batch).ok();
    }

    /// Waits until all batches are sent, no longer than `most`. Returns in words why not all of them
    /// arrived.
    pub fn finish(self, most: Duration) -> Result<(), String> {
        drop(self.batches);
        let most = most.min(self.limit);
        match self.result.recv_timeout(most) {
            Ok(sent) => sent,
            Err(RecvTimeoutError::Timeout) => Err(format!("no answer within {most:?}")),
            Err(RecvTimeoutError::Disconnected) => Err("the sending thread ended".to_owned()),
        }
    }
}

impl OtlpTarget {
    /// Sends a batch; returns what the collector remarks on it.
    fn send(&self, poster: &Poster, batch: &TelemetryBatch) -> Result<Option<String>, String> {
        let mut remark = None;
        for (path, body) in [("/v1/traces", batch.traces()), ("/v1/metrics", batch.metrics())] {
            let Some(body) = body else { continue };
            tracing::debug!(path, bytes = body.len(), "sending telemetry");
            let found = self.post(poster, path, body)?;
            remark = remark.or(found);
        }
        Ok(remark)
    }

    fn post(&self, poster: &Poster, path: &str, body: String) -> Result<Option<String>, String> {
        let json = ("content-type".to_owned(), "application/json".to_owned());
        let headers: Vec<_> = std::iter::once(json).chain(self.headers.iter().cloned()).collect();
        let answer = poster.post(path, &headers, body, LONGEST_ANSWER);
        let PostAnswer { status, body } = answer.map_err(|error| self.shown(&error))?;
        let is_accepted = (200..300).contains(&status);
        if !is_accepted {
            let words = self.shown(&message(body.as_deref().unwrap_or_default()));
            let words = if words.is_empty() { words } else { format!(": {words}") };
            return Err(format!("the collector answers {status}{words}"));
        }
        let Some(body) = body else {
            return Err(format!("the collector's answer has more than {LONGEST_ANSWER} bytes"));
        };
        Ok(rejection(&body).map(|words| self.shown(&words)))
    }

    /// Makes a collector's words a short line without the values of our headers.
    fn shown(&self, words: &str) -> String {
        let secrets = self.headers.iter().map(|(_, value)| value);
        let parts =
            secrets.flat_map(|value| [value.as_str(), value.rsplit(' ').next().unwrap_or("")]);
        let hidden = parts
            .filter(|secret| secret.len() >= SHORTEST_SECRET)
            .fold(words.to_owned(), |words, secret| words.replace(secret, "***"));
        one_line(&hidden).chars().take(LONGEST_WORDS).collect()
    }
}

/// Returns what a refusal says: the message of its status, or its text.
fn message(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Refusal {
        message: String,
    }
    let refusal = serde_json::from_slice::<Refusal>(body).map(|refusal| refusal.message);
    refusal.unwrap_or_else(|_| String::from_utf8_lossy(body).trim().to_owned())
}

/// Returns what an answer says about data that the collector did not take.
fn rejection(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        partial_success: Option<PartialSuccess>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct PartialSuccess {
        #[serde(default)]
        error_message: String,
        rejected_spans: Option<serde_json::Value>,
        rejected_data_points: Option<serde_json::Value>,
    }
    let answer: Answer = serde_json::from_slice(body).ok()?;
    let partial = answer.partial_success?;
    // A number of 64 bits is text, and plain numbers are valid too.
    let count = |value: Option<serde_json::Value>| match value {
        Some(serde_json::Value::String(text)) => text.parse().unwrap_or_default(),
        value => value.and_then(|value| value.as_u64()).unwrap_or_default(),
    };
    let spans: u64 = count(partial.rejected_spans);
    let points: u64 = count(partial.rejected_data_points);
    let words = partial.error_message;
    let told = if words.is_empty() { String::new() } else { format!(": {words}") };
    match (spans, points) {
        (0, 0) if words.is_empty() => None,
        (0, 0) => Some(format!("the collector remarks{told}")),
        (0, points) => Some(format!("the collector rejected values ({points}){told}")),
        (spans, _) => Some(format!("the collector rejected spans ({spans}){told}")),
    }
}
