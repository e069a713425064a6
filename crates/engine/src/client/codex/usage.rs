//! Usage in Codex's records: the rollout files of `sessions` and `archived_sessions`.
//!
//! Codex counts a session's tokens from its beginning, and repeats the same count. A resumed session
//! goes on in its file. A forked one, and a subagent that knows its parent's conversation, counts on from
//! its parent's last count. Its file begins with a copy of the parent's lines, at the time of the fork, or
//! in later versions names the parent's file instead.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use convoke_domain::session_usage::AnswerTokens;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{more_tokens, owned, parse, string, tokens};
use crate::transcript::usage::{LineMarks, RecordedAnswer, UsageReader, is_called};

/// Every line that matters has one of these.
const MARKS: [&str; 3] = ["\"session_meta\"", "\"turn_context\"", "\"token_count\""];

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    forked_from_id: Option<&'a RawValue>,
    #[serde(borrow)]
    parent_thread_id: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    info: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Info<'a> {
    #[serde(borrow, rename = "total_token_usage")]
    total: Option<&'a RawValue>,
    #[serde(borrow, rename = "last_token_usage")]
    last: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Usage<'a> {
    #[serde(borrow, rename = "input_tokens")]
    input: Option<&'a RawValue>,
    #[serde(borrow, rename = "cached_input_tokens")]
    cached: Option<&'a RawValue>,
    #[serde(borrow, rename = "cache_write_input_tokens")]
    written: Option<&'a RawValue>,
    #[serde(borrow, rename = "output_tokens")]
    output: Option<&'a RawValue>,
    #[serde(borrow, rename = "reasoning_output_tokens")]
    reasoning: Option<&'a RawValue>,
}

/// A count of tokens from the beginning of a session, or of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
struct Counted {
    input: u64,
    cached: u64,
    /// Versions before 0.160 do not count them.
    written: Option<u64>,
    output: u64,
    reasoning: u64,
}

/// The counts of a session in the order of its file, as fingerprints.
type Counts = Vec<u64>;

pub(super) fn read(home: &Path, reader: &mut UsageReader) {
    let marks = LineMarks::new(&MARKS);
    let is_record = |name: &str| is_called(name, "rollout-", "jsonl");
    let places = ["sessions", "archived_sessions"].map(|place| home.join(place));
    let mut paths: Vec<_> = places
        .iter()
        .flat_map(|place| reader.find(place, super::MOST_FOLDERS_DEEP, &is_record))
        .collect();
    // The names begin with the time, so a parent comes before its forks.
    paths.sort_unstable_by(|one, other| one.file_name().cmp(&other.file_name()));
    let mut known: HashMap<String, Counts> = HashMap::new();
    for path in paths {
        let mut rollout = Rollout::default();
        reader.read_lines(&path, &marks, |line, reader| rollout.take(line, &known, reader));
        let Rollout { id, counts, .. } = rollout;
        // The same file may be in both places.
        known.entry(id).or_insert(counts);
    }
}

/// One rollout file, as far as it was read.
#[derive(Debug, Default)]
struct Rollout {
    id: String,
    /// The session that this one was forked from.
    parent: Option<String>,
    copied: Copied,
    project: Option<String>,
    model: Option<String>,
    /// The last count.
    total: Counted,
    /// How many answers there were.
    answers: u64,
    counts: Counts,
    /// The fingerprint of all counts.
    history: u64,
}

/// Which part of a file is a copy of the parent's.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Copied {
    /// None, or it is over.
    #[default]
    Over,
    /// It may begin with the next count.
    Possible,
    /// It goes on with this count of the parent's.
    Next(usize),
}

impl Rollout {
    fn take(
        &mut self,
        text: &str,
        known: &HashMap<String, Counts>,
        reader: &mut UsageReader,
    ) -> Option<()> {
        let line: Line<'_> = serde_json::from_str(text).ok()?;
        let payload: Payload<'_> = parse(line.payload)?;
        match string(line.kind).as_deref() {
            // A copy has the parent's line behind its own.
            Some("session_meta") if self.id.is_empty() => {
                self.id = owned(payload.id)?;
                self.parent =
                    owned(payload.forked_from_id).or_else(|| owned(payload.parent_thread_id));
                self.project = owned(payload.cwd);
                let is_known = self.parent.as_ref().is_some_and(|id| known.contains_key(id));
                self.copied = if is_known { Copied::Possible } else { Copied::Over };
            }
            Some("turn_context") => {
                self.model = owned(payload.model).or(self.model.take());
                self.project = owned(payload.cwd).or(self.project.take());
            }
            Some("event_msg") if string(payload.kind).as_deref() == Some("token_count") => {
                // Codex reports the limits of a plan in the same way, without a count.
                if let Some(info) = parse::<Info<'_>>(payload.info) {
                    self.count(&info, line.timestamp, known, reader)?;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn count(
        &mut self,
        info: &Info<'_>,
        timestamp: Option<&RawValue>,
        known: &HashMap<String, Counts>,
        reader: &mut UsageReader,
    ) -> Option<()> {
        let total = Counted::parse(info.total)?;
        let last = Counted::parse(info.last);
        let before = std::mem::replace(&mut self.total, total);
        if total == before {
            return Some(());
        }
        let newest = fingerprint(&(total, last));
        self.counts.push(newest);
        self.history = fingerprint(&(self.history, newest));
        if self.is_copied(newest, known) {
            return Some(());
        }
        // The first count of a fork includes its parent's. A count that runs backwards began anew.
        let is_first = self.counts.len() == 1 && self.parent.is_some();
        let difference = if is_first { None } else { total.since(before) };
        let used = difference.or(last).unwrap_or(total);
        self.answers += 1;
        let answer = RecordedAnswer {
            session: &self.id,
            model: self.model.as_deref(),
            project: self.project.as_deref(),
            at: string(timestamp).and_then(|at| at.parse().ok()),
            tokens: Some(used.tokens()),
        };
        match &self.parent {
            // The copy of a parent that is gone is all that is left of it, in each of its forks.
            Some(parent) if !known.contains_key(parent) => {
                reader.count(&["fork", parent, &self.history.to_string()], &answer);
            }
            _ => reader.count(&[&self.id, &self.answers.to_string()], &answer),
        }
        Some(())
    }

    /// Tells whether the newest count is a copy of the parent's.
    fn is_copied(&mut self, newest: u64, known: &HashMap<String, Counts>) -> bool {
        let Some(parent) = self.parent.as_ref().and_then(|id| known.get(id)) else { return false };
        let place = match self.copied {
            Copied::Over => None,
            Copied::Possible => parent.iter().position(|count| *count == newest),
            Copied::Next(place) => Some(place).filter(|place| parent.get(*place) == Some(&newest)),
        };
        self.copied = place.map_or(Copied::Over, |place| Copied::Next(place + 1));
        place.is_some()
    }
}

impl Counted {
    fn parse(value: Option<&RawValue>) -> Option<Self> {
        let usage: Usage<'_> = parse(value)?;
        Some(Self {
            input: tokens(usage.input)?,
            cached: more_tokens(usage.cached)?,
            written: tokens(usage.written),
            output: tokens(usage.output)?,
            reasoning: more_tokens(usage.reasoning)?,
        })
    }

    fn since(self, before: Self) -> Option<Self> {
        Some(Self {
            input: self.input.checked_sub(before.input)?,
            cached: self.cached.checked_sub(before.cached)?,
            written: match self.written {
                Some(written) => Some(written.checked_sub(before.written.unwrap_or_default())?),
                None => None,
            },
            output: self.output.checked_sub(before.output)?,
            reasoning: self.reasoning.checked_sub(before.reasoning)?,
        })
    }

    /// Returns the tokens: a cache's are part of the input, and reasoning is part of the output.
    const fn tokens(self) -> AnswerTokens {
        AnswerTokens {
            input: self.input,
            cached: Some(self.cached),
            cache_writes: self.written,
            output: self.output,
            reasoning: Some(self.reasoning),
            micro_dollars: None,
        }
    }
}

fn fingerprint(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
