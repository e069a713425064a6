//! What a worker must know of a lane beside its prompt.

use std::time::Duration;

use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::fleet_offer::FleetOffer;
use convoke_engine::lane::supervisor::Limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The request of a remote lane. The store keeps it as JSON beside the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetOrder {
    /// The version of Convoke that wrote it; empty if it did not say so.
    #[serde(default)]
    pub written_by: String,
    /// The agent and its repository, as a worker offers them.
    pub offer: String,
    /// The commit that the agent works on; none without a repository.
    pub commit: Option<String>,
    /// The model, instead of the client's own choice.
    pub model: Option<String>,
    /// The model's effort, in the client's own words.
    pub effort: Option<String>,
    /// The most time that it may take, in milliseconds.
    pub wall_ms: u64,
    /// The most time without output, in milliseconds.
    pub stall_ms: u64,
    /// The time between asking a client to stop and killing it, in milliseconds.
    pub grace_ms: u64,
}

/// Every field, for a worker that must say which ones of a later version it does not know.
const FIELDS: [&str; 8] =
    ["written_by", "offer", "commit", "model", "effort", "wall_ms", "stall_ms", "grace_ms"];

/// This program's version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why this version cannot run what another version asks for.
#[derive(Debug, thiserror::Error)]
pub(super) enum OrderError {
    #[error("{writer} wrote it with {fields}, which this worker's convoke {VERSION} does not know")]
    Unknown { writer: String, fields: String },
    #[error(
        "{writer} asks for agent `{offer}`, which this worker's convoke {VERSION} does not know"
    )]
    Agent { writer: String, offer: String },
    #[error("{writer} wrote it in a form that this worker's convoke {VERSION} cannot read")]
    Form {
        writer: String,
        #[source]
        source: serde_json::Error,
    },
}

/// Returns who wrote an order, in words.
fn writer(version: Option<&str>) -> String {
    let version = version.filter(|version| !version.is_empty());
    version
        .map_or_else(|| "another version of convoke".to_owned(), |name| format!("convoke {name}"))
}

impl FleetOrder {
    /// Reads an order that the store keeps, with the agent and repository that it names.
    pub(super) fn read(text: &str) -> Result<(Self, FleetOffer), OrderError> {
        let order: Self = serde_json::from_str(text).map_err(|source| unread(text, source))?;
        let Some(offer) = order.offer() else {
            let writer = writer(Some(&order.written_by));
            return Err(OrderError::Agent { writer, offer: order.offer });
        };
        Ok((order, offer))
    }

    /// Returns the order of a lane that may only read.
    pub fn new(offer: &FleetOffer, commit: Option<String>, limits: Limits) -> Self {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            written_by: VERSION.to_owned(),
            offer: offer.to_string(),
            commit,
            model: None,
            effort: None,
            wall_ms: milliseconds(limits.wall),
            stall_ms: milliseconds(limits.stall),
            grace_ms: milliseconds(limits.grace),
        }
    }

    /// Returns the agent and its repository.
    pub fn offer(&self) -> Option<FleetOffer> {
        FleetOffer::parse(&self.offer)
    }

    /// Returns the key of its permits: the agent, in any repository.
    pub fn permit_key(&self) -> String {
        self.offer().map_or_else(|| self.offer.clone(), |offer| AgentRef::to_string(&offer.agent))
    }

    /// Tells whether this order asks for the same work as the order that the store has: the same agent on
    /// the same commit, with the same model. Limits may differ. An order that this version cannot read
    /// is the same only word for word.
    pub(super) fn is_same_work(&self, stored: &str) -> bool {
        let Ok(other) = serde_json::from_str::<Self>(stored) else { return stored == self.text() };
        let Self { offer, commit, model, effort, .. } = self;
        (offer, commit, model, effort) == (&other.offer, &other.commit, &other.model, &other.effort)
    }

    pub(super) fn limits(&self) -> Limits {
        let stall = Duration::from_millis(self.stall_ms);
        Limits {
            wall: Duration::from_millis(self.wall_ms),
            first_byte: stall,
            stall,
            grace: Duration::from_millis(self.grace_ms),
        }
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Returns why an order cannot be read: what this version does not know of it, as far as that can be said.
fn unread(text: &str, source: serde_json::Error) -> OrderError {
    let read: Value = serde_json::from_str(text).unwrap_or_default();
    let writer = writer(read["written_by"].as_str());
    let fields = read.as_object().into_iter().flat_map(serde_json::Map::keys);
    let unknown = fields.filter(|name| !FIELDS.contains(&name.as_str()));
    let unknown: Vec<_> = unknown.map(|name| format!("`{}`", name.escape_debug())).collect();
    if unknown.is_empty() {
        return OrderError::Form { writer, source };
    }
    OrderError::Unknown { writer, fields: unknown.join(", ") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::failure::with_causes;

    fn order(seconds: u64) -> FleetOrder {
        let limit = Duration::from_secs(seconds);
        let limits = Limits { wall: limit, first_byte: limit, stall: limit, grace: limit };
        FleetOrder::new(&FleetOffer::parse("claude@app").unwrap(), Some("a".repeat(40)), limits)
    }

    #[test]
    fn every_field_is_known() {
        let written: Value = serde_json::from_str(&order(60).text()).unwrap();
        let names: BTreeSet<_> = written.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, BTreeSet::from(FIELDS));
        assert_eq!(FleetOrder::read(&order(60).text()).unwrap().0, order(60));
    }

    #[test]
    fn a_worker_says_what_it_does_not_know_and_who_wrote_it() {
        let text = order(60).text();
        let said = |text: &str| with_causes(&FleetOrder::read(text).unwrap_err());
        let later = text.replace(VERSION, "9.1.0");
        let novel = later.replace('{', "{\"fast\":true,\"rights\":\"write\",");
        let words = said(&novel);
        for part in ["convoke 9.1.0", "`fast`, `rights`", VERSION] {
            assert!(words.contains(part), "{part}: {words}");
        }
        let agent = later.replace("claude@app", "cloud:claude@app");
        assert!(said(&agent).contains("convoke 9.1.0 asks for agent `cloud:claude@app`"));
        let form = later.replace("60000", "\"1 h\"");
        assert!(said(&form).contains("invalid type"), "{}", said(&form));
        let silent = text.replace("\"written_by\"", "\"writer\"");
        assert!(said(&silent).contains("another version of convoke"), "{}", said(&silent));
        assert!(said("").contains("another version of convoke"));
    }

    #[test]
    fn another_limit_is_the_same_work_and_another_model_is_not() {
        let asked = order(60);
        assert!(asked.is_same_work(&order(60).text()));
        assert!(asked.is_same_work(&order(90).text()), "only the limits differ");
        for other in [
            FleetOrder { model: Some("opus".to_owned()), ..order(60) },
            FleetOrder { effort: Some("high".to_owned()), ..order(60) },
            FleetOrder { commit: None, ..order(60) },
            FleetOrder { offer: "codex@app".to_owned(), ..order(60) },
        ] {
            assert!(!asked.is_same_work(&other.text()), "{other:?}");
        }
        let later = asked.text().replace('{', "{\"novel\":1,");
        assert!(!asked.is_same_work(&later), "what it asks for is unknown");
    }
}
