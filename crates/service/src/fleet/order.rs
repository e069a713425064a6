//! What a worker must know of a lane beside its prompt.

use std::time::Duration;

use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::fleet_offer::FleetOffer;
use convoke_engine::lane::supervisor::Limits;
use serde::{Deserialize, Serialize};

/// The request of a remote lane. The store keeps it as JSON beside the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetOrder {
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

impl FleetOrder {
    /// Returns the order of a lane that may only read.
    pub fn new(offer: &FleetOffer, commit: Option<String>, limits: Limits) -> Self {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
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
        let Self { offer, commit, model, effort, wall_ms: _, stall_ms: _, grace_ms: _ } = self;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn order(seconds: u64) -> FleetOrder {
        let limit = Duration::from_secs(seconds);
        let limits = Limits { wall: limit, first_byte: limit, stall: limit, grace: limit };
        FleetOrder::new(&FleetOffer::parse("claude@app").unwrap(), Some("a".repeat(40)), limits)
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
