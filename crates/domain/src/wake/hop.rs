//! Limits chains of wake-ups: agents that wake each other must stop.

/// The longest chain of wake-ups. Convoke stores a message further down the chain and starts no
/// agent for it.
pub const MOST_HOPS: u32 = 8;

/// The remark on a message that starts no agent.
pub const WAKE_LOOP: &str = "wake_loop";

/// Returns how far down a chain a message is, whose speaker answers a wake-up of this hop or none.
pub const fn hop_of_message(answering: Option<u32>) -> u32 {
    match answering {
        Some(hop) => hop.saturating_add(1),
        None => 0,
    }
}

/// Tells whether a message may wake those that it is to.
pub const fn wakes(hop: u32) -> bool {
    hop <= MOST_HOPS
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-22
    #[test]
    fn a_chain_comes_to_an_end() {
        let mut hop = hop_of_message(None);
        let mut woken = 0;
        while wakes(hop) {
            woken += 1;
            hop = hop_of_message(Some(hop));
        }
        assert_eq!((woken, hop), (9, 9), "hops 0 to 8 wake an agent");
        assert!(!wakes(hop_of_message(Some(u32::MAX))));
    }
}
