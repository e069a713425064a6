//! Drawing the word of a ballot's marker lines.

use std::hash::{BuildHasher, RandomState};

use convoke_domain::design::event::Chosen;
use convoke_domain::design::voting_block::MarkerWord;

use crate::lane::agent_ref::AgentRef;

/// Returns a word that no agent can know before its prompt. Recorded answers exist before the run,
/// so with a recording the first word is always the same; later ones are random.
pub fn marker_word(agents: &[Chosen], drawn_before: usize) -> MarkerWord {
    let is_recorded =
        |chosen: &Chosen| matches!(AgentRef::parse(&chosen.agent), Some(AgentRef::Replay(_)));
    if drawn_before == 0 && agents.iter().any(is_recorded) {
        return MarkerWord::for_recordings();
    }
    // The keys of a hash are the one source of chance in the standard library.
    MarkerWord::from_random(RandomState::new().hash_one(drawn_before))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(agent: &str) -> Chosen {
        Chosen { agent: agent.to_owned(), model: None }
    }

    #[test]
    fn every_ballot_has_a_word_of_its_own() {
        let agents = ["cursor", "http:local", "claude"].map(chosen);
        let words: Vec<_> = (0..50).map(|_| marker_word(&agents, 0).to_string()).collect();
        let different: std::collections::BTreeSet<_> = words.iter().collect();
        assert_eq!(different.len(), words.len());
        assert!(!words.contains(&MarkerWord::for_recordings().to_string()));
    }

    #[test]
    fn recordings_are_given_the_word_that_they_were_written_with() {
        let agents = ["cursor", "replay:answers.jsonl", "claude"].map(chosen);
        assert_eq!(marker_word(&agents, 0), MarkerWord::for_recordings());
        assert_ne!(marker_word(&agents, 1), MarkerWord::for_recordings());
    }
}
