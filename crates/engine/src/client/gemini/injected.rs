//! Which injected texts an agent of Gemini CLI still has, by its record of the session.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use crate::transcript::each_line;
use crate::transcript::injected::{InjectedTexts, MARK, plain, strings};

/// Reads which of Convoke's texts the agent still has. A later line may bring back what an earlier
/// one took away, so the whole record is read.
pub(super) fn injected(transcript: &Path, _: u64) -> Option<InjectedTexts> {
    let mut replay = Replay::default();
    each_line(transcript, 0, |line| replay.line(line))?;
    Some(replay.finish())
}

/// Every line adds a message, changes one, or replaces all of them; the remaining messages are
/// those that the agent has. Only Convoke's text of each message is kept.
#[derive(Default)]
struct Replay {
    messages: Vec<Option<String>>,
    places: HashMap<String, usize>,
}

impl Replay {
    fn line(&mut self, line: &str) {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return };
        if let Some(all) = value.pointer("/$set/messages").and_then(Value::as_array) {
            *self = Self::default();
            for message in all {
                self.message(message);
            }
        } else if let Some(id) = value.get("$rewindTo").and_then(Value::as_str) {
            let place = self.places.get(id).copied().unwrap_or(self.messages.len());
            self.messages.truncate(place);
            self.places.retain(|_, other| *other < place);
        } else if value.get("id").is_some() {
            self.message(&value);
        }
    }

    fn message(&mut self, message: &Value) {
        let is_users = message["type"] == "user";
        let texts = strings(&message["content"]);
        let ours =
            texts.iter().find(|text| is_users && text.contains(MARK)).map(|text| plain(text));
        let id = message["id"].as_str().unwrap_or_default();
        if let Some(place) = self.places.get(id) {
            self.messages[*place] = ours;
        } else {
            self.places.insert(id.to_owned(), self.messages.len());
            self.messages.push(ours);
        }
    }

    fn finish(self) -> InjectedTexts {
        // A record without any message was not understood.
        let complete_until = (!self.messages.is_empty()).then_some(Timestamp::MAX);
        InjectedTexts::of(self.messages.into_iter().flatten().collect(), complete_until)
    }
}
