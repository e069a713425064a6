//! Drawing the word of a ballot's marker lines.

use std::hash::{BuildHasher, RandomState};

use convoke_domain::design::event::Settings;
use convoke_domain::design::voting_block::MarkerWord;

use crate::lane::agent_ref::AgentRef;

/// Returns a word that no agent can know before it is asked. Recorded answers were written before, so
/// where some take part the first word is always the same; the ones after it are drawn as usual.
pub(super) fn marker_word(settings: &Settings, drawn_before: usize) -> MarkerWord {
    let is_recorded = |agent: &str| matches!(AgentRef::parse(agent), Some(AgentRef::Replay(_)));
    let has_recorded = settings.agents.iter().any(|chosen| is_recorded(&chosen.agent));
    if has_recorded && drawn_before == 0 {
        return MarkerWord::recorded();
    }
    MarkerWord::from_random(RandomState::new().hash_one(drawn_before))
}
