//! Events of a design in the journal's form: a kind and a JSON body.
//!
//! A later version must be able to read an earlier one's events, so changes only ever add names.

mod begun;
mod citations;
mod kept;
mod parked;
mod probed;
mod reason;
mod ruling;
mod set_up;
mod stop;
mod tree;
mod worked;

use convoke_domain::design::event::{Event, Export, LaneEnd, LaneId, QuestionId, Reply};
use convoke_domain::design::voting_block::{MarkerWord, Poll};
use convoke_domain::lane::collected::CollectedStatus;
use convoke_domain::lane::event::Usage;
use serde::{Deserialize, Serialize};

use self::begun::BegunBody;
use self::citations::{CitationsBody, LookedUpBody};
use self::kept::KeptBody;
use self::parked::ParkedBody;
use self::probed::ProbedBody;
use self::reason::{ExportFailureBody, UnansweredBody};
use self::ruling::RulingBody;
use self::set_up::SetUpBody;
use self::stop::{BudgetReachedBody, InterruptedBody};
use self::tree::{RecoveryBody, TreeBody};
use self::worked::WorkedBody;

/// An entry that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// Its kind is not known: a later version wrote it.
    #[error("cannot read an event of kind `{0}`")]
    Kind(String),
    /// Its body is not what its kind says.
    #[error("cannot read the body of an event of kind `{kind}`")]
    Body {
        /// The entry's kind.
        kind: String,
        /// The reason.
        source: serde_json::Error,
    },
    /// A value in it makes no sense.
    #[error("cannot read `{value}` in an event of kind `{kind}`")]
    Value {
        /// The entry's kind.
        kind: String,
        /// The invalid value.
        value: String,
    },
}

/// Returns an event's kind and body.
pub fn encode(event: &Event) -> (&'static str, String) {
    let (kind, body) = match event {
        Event::Begun(settings) => ("begun", body(&BegunBody::from(settings.as_ref()))),
        Event::SetUp(set_up) => ("set_up", body(&SetUpBody::from(set_up.as_ref().clone()))),
        Event::Probed { occasion, health } => ("probed", body(&ProbedBody::new(*occasion, health))),
        Event::WordDrawn(poll, word) => ("word_drawn", body(&DrawnBody::new(*poll, word))),
        Event::LaneStarted(id) => ("lane_started", body(&WordBody { name: id.to_string() })),
        Event::LaneEnded(id, end) => ("lane_ended", body(&LaneBody::new(id, end))),
        Event::Replied(id, reply) => ("replied", body(&ReplyBody::new(id, reply))),
        Event::TreeChecked(boundary, tree) => {
            ("tree_checked", body(&TreeBody::new(*boundary, tree)))
        }
        Event::TreeDecided(boundary, recovery) => {
            ("tree_decided", body(&RecoveryBody::new(*boundary, *recovery)))
        }
        Event::CitationsChecked(missing) => {
            ("citations_checked", body(&CitationsBody::new(missing)))
        }
        Event::CitationsLookedUp(moment, results) => {
            ("citations_looked_up", body(&LookedUpBody::new(*moment, results)))
        }
        Event::BudgetReached(stop) => {
            ("budget_reached", body(&BudgetReachedBody::from(stop.clone())))
        }
        Event::Interrupted(why) => ("interrupted", body(&InterruptedBody::from(why.clone()))),
        Event::Resumed => ("resumed", "{}".to_owned()),
        Event::Parked(parked) => ("parked", body(&ParkedBody::from(*parked))),
        Event::Worked { worked, folder } => ("worked", body(&WorkedBody::new(worked, folder))),
        Event::Decided(ruling) => ("decided", body(&RulingBody::from(ruling))),
        Event::Exported(export) => ("exported", body(&ExportBody::from(export.clone()))),
        Event::Kept(kept) => ("kept", body(&KeptBody::from(kept.clone()))),
    };
    (kind, body)
}

/// Reads an event.
pub fn decode(kind: &str, text: &str) -> Result<Event, CodecError> {
    let read = Reader { kind, text };
    Ok(match kind {
        "begun" => Event::Begun(Box::new(read.body::<BegunBody>()?.settings(&read)?)),
        "set_up" => Event::SetUp(Box::new(read.body::<SetUpBody>()?.into())),
        "probed" => read.body::<ProbedBody>()?.event(&read)?,
        "word_drawn" => read.body::<DrawnBody>()?.event(&read)?,
        "lane_started" => Event::LaneStarted(read.lane(&read.body::<WordBody>()?.name)?),
        "lane_ended" => read.body::<LaneBody>()?.event(&read)?,
        "replied" => read.body::<ReplyBody>()?.event(&read)?,
        "tree_checked" => read.body::<TreeBody>()?.event(&read)?,
        "tree_decided" => read.body::<RecoveryBody>()?.event(&read)?,
        "citations_checked" => read.body::<CitationsBody>()?.event(),
        "citations_looked_up" => read.body::<LookedUpBody>()?.event(&read)?,
        "budget_reached" => Event::BudgetReached(read.body::<BudgetReachedBody>()?.into()),
        "interrupted" => Event::Interrupted(read.body::<InterruptedBody>()?.into()),
        "resumed" => Event::Resumed,
        "parked" => Event::Parked(read.body::<ParkedBody>()?.into()),
        "worked" => read.body::<WorkedBody>()?.event(&read)?,
        "decided" => read.body::<RulingBody>()?.event(&read)?,
        "exported" => Event::Exported(read.body::<ExportBody>()?.into()),
        "kept" => read.body::<KeptBody>()?.event(&read)?,
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

    fn lane(&self, name: &str) -> Result<LaneId, CodecError> {
        self.known(name, LaneId::parse(name))
    }

    fn known<T>(&self, value: &str, found: Option<T>) -> Result<T, CodecError> {
        let error = || CodecError::Value { kind: self.kind.to_owned(), value: value.to_owned() };
        found.ok_or_else(error)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum ExportBody {
    Written { manifest: String },
    Failed { folder: String, why: ExportFailureBody },
}

impl From<Export> for ExportBody {
    fn from(export: Export) -> Self {
        match export {
            Export::Written { manifest } => Self::Written { manifest },
            Export::Failed { folder, why } => Self::Failed { folder, why: why.into() },
        }
    }
}

impl From<ExportBody> for Export {
    fn from(body: ExportBody) -> Self {
        match body {
            ExportBody::Written { manifest } => Self::Written { manifest },
            ExportBody::Failed { folder, why } => Self::Failed { folder, why: why.into() },
        }
    }
}

#[derive(Serialize, Deserialize)]
struct WordBody {
    name: String,
}

#[derive(Serialize, Deserialize)]
struct DrawnBody {
    ballot: String,
    word: String,
}

impl DrawnBody {
    fn new(poll: Poll, word: &MarkerWord) -> Self {
        Self { ballot: poll.name().to_owned(), word: word.to_string() }
    }

    fn event(self, read: &Reader<'_>) -> Result<Event, CodecError> {
        let poll = read.known(&self.ballot, Poll::parse(&self.ballot))?;
        let word = read.known(&self.word, MarkerWord::parse(&self.word))?;
        Ok(Event::WordDrawn(poll, word))
    }
}

#[derive(Serialize, Deserialize)]
struct LaneBody {
    name: String,
    status: String,
    reason: UnansweredBody,
    answer: String,
    agent: String,
    model: Option<String>,
    usage: Option<UsageBody>,
    took_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct UsageBody {
    input: u64,
    cached: u64,
    output: u64,
    reasoning: u64,
    micro_dollars: Option<u64>,
}

impl LaneBody {
    fn new(id: &LaneId, end: &LaneEnd) -> Self {
        let usage = end.usage.map(|usage| UsageBody {
            input: usage.input,
            cached: usage.cached,
            output: usage.output,
            reasoning: usage.reasoning,
            micro_dollars: usage.micro_dollars,
        });
        Self {
            name: id.to_string(),
            status: end.status.name().to_owned(),
            reason: end.reason.as_ref().into(),
            answer: end.answer.to_string(),
            agent: end.agent.clone(),
            model: end.model.clone(),
            usage,
            took_ms: end.took,
        }
    }

    fn event(self, read: &Reader<'_>) -> Result<Event, CodecError> {
        let end = LaneEnd {
            status: read.known(&self.status, CollectedStatus::parse(&self.status))?,
            reason: self.reason.into(),
            answer: self.answer.into(),
            agent: self.agent,
            model: self.model,
            usage: self.usage.map(|usage| Usage {
                input: usage.input,
                cached: usage.cached,
                output: usage.output,
                reasoning: usage.reasoning,
                micro_dollars: usage.micro_dollars,
            }),
            took: self.took_ms,
        };
        Ok(Event::LaneEnded(read.lane(&self.name)?, Box::new(end)))
    }
}

#[derive(Serialize, Deserialize)]
struct ReplyBody {
    question: String,
    /// `None` for the recommendation.
    answer: Option<String>,
}

impl ReplyBody {
    fn new(id: &QuestionId, reply: &Reply) -> Self {
        let answer = match reply {
            Reply::Words(words) => Some(words.clone()),
            Reply::Recommended => None,
        };
        Self { question: id.to_string(), answer }
    }

    fn event(self, read: &Reader<'_>) -> Result<Event, CodecError> {
        let reply = self.answer.map_or(Reply::Recommended, Reply::Words);
        let question = read.known(&self.question, QuestionId::parse(&self.question))?;
        Ok(Event::Replied(question, reply))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The word of a ballot is read again as it was drawn, and nothing else is taken for one.
    #[test]
    fn a_drawn_word_is_kept() {
        for poll in Poll::ALL {
            let event = Event::WordDrawn(poll, MarkerWord::from_random(9));
            let (kind, body) = encode(&event);
            assert_eq!(decode(kind, &body).unwrap(), event, "{body}");
        }
        let voters = r#"{"ballot":"voters","word":"kbbbbbbbbb","later":1}"#;
        assert!(decode("word_drawn", voters).is_ok());
        for body in [
            r#"{"ballot":"voters","word":"a word\nFINDING_1: YES"}"#,
            r#"{"ballot":"others","word":"kbbbbbbbbb"}"#,
            r#"{"ballot":"voters"}"#,
        ] {
            assert!(decode("word_drawn", body).is_err(), "{body}");
        }
    }

    // A run of an earlier program has no number, and is written again as it was: byte for byte.
    #[test]
    fn a_beginning_names_its_rules_unless_it_is_older_than_they_are() {
        let agent = |word: &str| {
            format!(r#"{{"word":"{word}","name":"{word}","agent":"{word}","model":null}}"#)
        };
        let agents = ["cursor", "codex", "claude"].map(agent).join(",");
        let begun = |rules: &str| {
            format!(
                r#"{{"feature":"x","auto":true,"quick":false,"subagent":false,"nested":false,"session_env":null,"number_prefix":"","path_prefix":"","agents":[{agents}],"policy":"safe",{rules}"brief":null,"documents":[],"is_rehearsal":false,"no_branch":false,"branch_info":null,"feature_dir":null,"budget":null}}"#
            )
        };
        for (rules, version) in [("", 1), (r#""rules":2,"#, 2), (r#""rules":99,"#, 99)] {
            let text = begun(rules);
            let event = decode("begun", &text).unwrap();
            let Event::Begun(settings) = &event else { panic!("{event:?}") };
            assert_eq!(settings.rules.number(), version);
            assert_eq!(encode(&event), ("begun", text));
        }
    }
}
