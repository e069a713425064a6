//! Numbers that no other process or machine draws.

use std::hash::{BuildHasher, RandomState};

/// Draws a number.
pub fn random_number() -> u64 {
    // The keys of a hash are the one source of chance in the standard library; the system provides them.
    RandomState::new().hash_one(0_u8)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_do_not_repeat() {
        let drawn: HashSet<_> = (0..1000).map(|_| random_number() & 0xffff_ffff).collect();
        assert!(drawn.len() > 990);
    }
}
