//! Events of a fan-out in the journal's form: a kind and a JSON body.
//!
//! A later version must be able to read an earlier one's events, so changes only ever add names.

use convoke_domain::fan::FanSource;
use convoke_domain::fan::event::{FanAnswer, FanEvent, FanFailure, FanSettings, FanTerms};
use convoke_domain::fan::item::{ItemKey, ListedItem};
use convoke_domain::fan::stop::FanStop;
use convoke_domain::lane::budget::WrittenBudget;
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::outcome::LaneOutcome;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::design::codec::CodecError;

#[derive(Serialize, Deserialize)]
struct SettingsBody {
    digest: String,
    template: String,
    source: String,
    agent: String,
    model: Option<String>,
    effort: Option<String>,
    schema: Option<String>,
    commit: Option<String>,
    fresh_at: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct ItemBody {
    key: String,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct ItemsBody {
    items: Vec<ItemBody>,
}

#[derive(Serialize, Deserialize)]
struct ListedBody {
    digest: String,
    count: usize,
}

#[derive(Serialize, Deserialize)]
struct TermsBody {
    budget: Option<String>,
    parallel: usize,
    limit_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct UsageBody {
    input: u64,
    cached: u64,
    output: u64,
    reasoning: u64,
    micro_dollars: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct AnswerBody {
    key: String,
    text: String,
    misfit: Option<String>,
    lane: Option<i64>,
    model: Option<String>,
    usage: Option<UsageBody>,
    took_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct FailureBody {
    key: String,
    outcome: String,
    why: String,
    lane: Option<i64>,
}

/// Why a process stopped early. Early journals have a sentence.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoppedBody {
    Fact(StopFact),
    Sentence { why: String },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "stop", rename_all = "snake_case")]
enum StopFact {
    Incomplete,
    OverBudget { words: String },
    Hopeless { outcome: String, words: String },
    Parked { until_ms: i64, words: String },
    ManyFailures { count: usize, outcome: String, words: String },
    Signal,
    Broken { error: String },
}

/// Returns an event's kind and body.
pub fn encode(event: &FanEvent) -> (&'static str, String) {
    match event {
        FanEvent::Begun(settings) => ("fan_begun", body(&SettingsBody::new(settings))),
        FanEvent::ListBegun => ("list_begun", "{}".to_owned()),
        FanEvent::Items(items) => {
            let items = items.iter().map(ItemBody::new).collect();
            ("items", body(&ItemsBody { items }))
        }
        FanEvent::Listed { digest, count } => {
            ("listed", body(&ListedBody { digest: digest.clone(), count: *count }))
        }
        FanEvent::Opened(terms) => {
            let FanTerms { budget, parallel, limit_ms } = terms.clone();
            let budget = budget.map(|budget| budget.text().to_owned());
            ("opened", body(&TermsBody { budget, parallel, limit_ms }))
        }
        FanEvent::Answered(answer) => ("answered", body(&AnswerBody::new(answer))),
        FanEvent::Failed(failure) => ("failed", body(&FailureBody::new(failure))),
        FanEvent::Stopped(stop) => ("stopped", body(&StoppedBody::from(stop.clone()))),
    }
}

/// Reads an event.
pub fn decode(kind: &str, text: &str) -> Result<FanEvent, CodecError> {
    let read = Reader { kind, text };
    Ok(match kind {
        "fan_begun" => FanEvent::Begun(Box::new(read.body::<SettingsBody>()?.settings(&read)?)),
        "list_begun" => FanEvent::ListBegun,
        "items" => {
            let items = read.body::<ItemsBody>()?.items.into_iter();
            FanEvent::Items(items.map(|item| item.item(&read)).collect::<Result<_, _>>()?)
        }
        "listed" => {
            let ListedBody { digest, count } = read.body()?;
            FanEvent::Listed { digest, count }
        }
        "opened" => {
            let TermsBody { budget, parallel, limit_ms } = read.body()?;
            let known = |text: String| read.known(&text, WrittenBudget::parse(&text).ok());
            let budget = budget.map(known).transpose()?;
            FanEvent::Opened(FanTerms { budget, parallel, limit_ms })
        }
        "answered" => FanEvent::Answered(Box::new(read.body::<AnswerBody>()?.answer(&read)?)),
        "failed" => FanEvent::Failed(Box::new(read.body::<FailureBody>()?.failure(&read)?)),
        "stopped" => FanEvent::Stopped(read.body::<StoppedBody>()?.stop(&read)?),
        _ => return Err(CodecError::Kind(kind.to_owned())),
    })
}

/// Serializes a body. None of these types can fail.
fn body(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

struct Reader<'a> {
    kind: &'a str,
    text: &'a str,
}

impl<'a> Reader<'a> {
    fn body<T: Deserialize<'a>>(&self) -> Result<T, CodecError> {
        serde_json::from_str(self.text)
            .map_err(|source| CodecError::Body { kind: self.kind.to_owned(), source })
    }

    fn known<T>(&self, value: &str, found: Option<T>) -> Result<T, CodecError> {
        let error = || CodecError::Value { kind: self.kind.to_owned(), value: value.to_owned() };
        found.ok_or_else(error)
    }

    fn key(&self, digits: &str) -> Result<ItemKey, CodecError> {
        self.known(digits, ItemKey::parse(digits))
    }
}

impl SettingsBody {
    fn new(settings: &FanSettings) -> Self {
        let settings = settings.clone();
        Self {
            digest: settings.digest,
            template: settings.template,
            source: settings.source.name().to_owned(),
            agent: settings.agent,
            model: settings.model,
            effort: settings.effort,
            schema: settings.schema,
            commit: settings.commit,
            fresh_at: settings.fresh_at,
        }
    }

    fn settings(self, read: &Reader<'_>) -> Result<FanSettings, CodecError> {
        Ok(FanSettings {
            source: read.known(&self.source, FanSource::parse(&self.source))?,
            digest: self.digest,
            template: self.template,
            agent: self.agent,
            model: self.model,
            effort: self.effort,
            schema: self.schema,
            commit: self.commit,
            fresh_at: self.fresh_at,
        })
    }
}

impl ItemBody {
    fn new(item: &ListedItem) -> Self {
        let ListedItem { key, text, sha256 } = item.clone();
        Self { key: key.to_string(), text, sha256 }
    }

    fn item(self, read: &Reader<'_>) -> Result<ListedItem, CodecError> {
        Ok(ListedItem { key: read.key(&self.key)?, text: self.text, sha256: self.sha256 })
    }
}

impl From<Usage> for UsageBody {
    fn from(usage: Usage) -> Self {
        let Usage { input, cached, output, reasoning, micro_dollars } = usage;
        Self { input, cached, output, reasoning, micro_dollars }
    }
}

impl From<UsageBody> for Usage {
    fn from(body: UsageBody) -> Self {
        let UsageBody { input, cached, output, reasoning, micro_dollars } = body;
        Self { input, cached, output, reasoning, micro_dollars }
    }
}

impl AnswerBody {
    fn new(answer: &FanAnswer) -> Self {
        let FanAnswer { key, text, misfit, lane, model, usage, took_ms } = answer.clone();
        let (key, usage) = (key.to_string(), usage.map(UsageBody::from));
        Self { key, text, misfit, lane, model, usage, took_ms }
    }

    fn answer(self, read: &Reader<'_>) -> Result<FanAnswer, CodecError> {
        Ok(FanAnswer {
            key: read.key(&self.key)?,
            text: self.text,
            misfit: self.misfit,
            lane: self.lane,
            model: self.model,
            usage: self.usage.map(Usage::from),
            took_ms: self.took_ms,
        })
    }
}

impl From<FanStop> for StoppedBody {
    fn from(stop: FanStop) -> Self {
        Self::Fact(match stop {
            FanStop::Incomplete => StopFact::Incomplete,
            FanStop::OverBudget(words) => StopFact::OverBudget { words },
            FanStop::Hopeless { outcome, why } => {
                StopFact::Hopeless { outcome: outcome.name().to_owned(), words: why }
            }
            FanStop::Parked { until, why } => {
                StopFact::Parked { until_ms: until.as_millisecond(), words: why }
            }
            FanStop::ManyFailures { count, outcome, why } => {
                StopFact::ManyFailures { count, outcome: outcome.name().to_owned(), words: why }
            }
            FanStop::Signal => StopFact::Signal,
            FanStop::Broken(error) => StopFact::Broken { error },
            FanStop::Sentence(why) => return Self::Sentence { why },
        })
    }
}

impl StoppedBody {
    fn stop(self, read: &Reader<'_>) -> Result<FanStop, CodecError> {
        let fact = match self {
            Self::Sentence { why } => return Ok(FanStop::Sentence(why)),
            Self::Fact(fact) => fact,
        };
        let known = |name: &str| read.known(name, LaneOutcome::parse(name));
        Ok(match fact {
            StopFact::Incomplete => FanStop::Incomplete,
            StopFact::OverBudget { words } => FanStop::OverBudget(words),
            StopFact::Hopeless { outcome, words } => {
                FanStop::Hopeless { outcome: known(&outcome)?, why: words }
            }
            StopFact::Parked { until_ms, words } => {
                let until = Timestamp::from_millisecond(until_ms).ok();
                FanStop::Parked { until: read.known(&until_ms.to_string(), until)?, why: words }
            }
            StopFact::ManyFailures { count, outcome, words } => {
                FanStop::ManyFailures { count, outcome: known(&outcome)?, why: words }
            }
            StopFact::Signal => FanStop::Signal,
            StopFact::Broken { error } => FanStop::Broken(error),
        })
    }
}

impl FailureBody {
    fn new(failure: &FanFailure) -> Self {
        let FanFailure { key, outcome, why, lane } = failure.clone();
        Self { key: key.to_string(), outcome: outcome.name().to_owned(), why, lane }
    }

    fn failure(self, read: &Reader<'_>) -> Result<FanFailure, CodecError> {
        Ok(FanFailure {
            key: read.key(&self.key)?,
            outcome: read.known(&self.outcome, LaneOutcome::parse(&self.outcome))?,
            why: self.why,
            lane: self.lane,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_read_as_it_was_written() {
        let key = ItemKey::parse(&"0f".repeat(16)).unwrap();
        let usage = Usage { input: 1, cached: 2, output: 3, reasoning: 4, micro_dollars: Some(5) };
        let settings = FanSettings {
            digest: "d".to_owned(),
            template: "{{item}}\n".to_owned(),
            source: FanSource::Files,
            agent: "claude".to_owned(),
            model: Some("m".to_owned()),
            effort: None,
            schema: Some("{}".to_owned()),
            commit: None,
            fresh_at: Some(-1),
        };
        let item = ListedItem { key: key.clone(), text: "ä\0".into(), sha256: Some("s".into()) };
        let answer = FanAnswer {
            key: key.clone(),
            text: "\u{2028}\"".to_owned(),
            misfit: Some("no".to_owned()),
            lane: Some(7),
            model: None,
            usage: Some(usage),
            took_ms: 9,
        };
        let (outcome, why) = (LaneOutcome::RateLimited, "later".to_owned());
        let budget = Some(WrittenBudget::parse("$2").unwrap());
        let terms = FanTerms { budget, parallel: 3, limit_ms: 1 };
        let events = [
            FanEvent::Begun(Box::new(settings)),
            FanEvent::ListBegun,
            FanEvent::Items(vec![item]),
            FanEvent::Listed { digest: "x".to_owned(), count: 1 },
            FanEvent::Opened(terms),
            FanEvent::Answered(Box::new(answer)),
            FanEvent::Stopped(FanStop::Incomplete),
            FanEvent::Stopped(FanStop::OverBudget("used 2 of 1 tokens".to_owned())),
            FanEvent::Stopped(FanStop::Hopeless { outcome, why: why.clone() }),
            FanEvent::Stopped(FanStop::ManyFailures { count: 5, outcome, why: why.clone() }),
            FanEvent::Stopped(FanStop::Parked { until: Timestamp::UNIX_EPOCH, why: why.clone() }),
            FanEvent::Stopped(FanStop::Signal),
            FanEvent::Stopped(FanStop::Broken("disk full".to_owned())),
            FanEvent::Failed(Box::new(FanFailure { key, outcome, why, lane: None })),
        ];
        for event in events {
            let (kind, body) = encode(&event);
            assert_eq!(decode(kind, &body).unwrap(), event, "{kind} {body}");
            assert!(kind == "list_begun" || decode(kind, "{").is_err());
        }
        assert!(decode("begun", "{}").is_err(), "a design's event");
        let early = r#"{"why":"stopped by a signal"}"#;
        assert_eq!(encode(&decode("stopped", early).unwrap()), ("stopped", early.to_owned()));
        let far = r#"{"stop":"parked","until_ms":9223372036854775807,"words":"x"}"#;
        for wrong in [far, r#"{"stop":"bored"}"#, r#"{"stop":"hopeless","words":"x"}"#] {
            assert!(decode("stopped", wrong).is_err(), "{wrong}");
        }
    }

    // A run that lost its budget would spend without one.
    #[test]
    fn a_budget_that_cannot_be_read_is_no_missing_budget() {
        let opened = |budget: &str| {
            decode("opened", &format!(r#"{{"budget":{budget},"parallel":1,"limit_ms":1}}"#))
        };
        for wrong in ["\"two dollars\"", "\"\"", "\"-1\"", "\"$\""] {
            let error = opened(wrong).unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "cannot read `{}` in an event of kind `opened`",
                    &wrong[1..wrong.len() - 1]
                )
            );
        }
        assert!(matches!(opened("null").unwrap(), FanEvent::Opened(FanTerms { budget: None, .. })));
    }
}
