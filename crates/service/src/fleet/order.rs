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
