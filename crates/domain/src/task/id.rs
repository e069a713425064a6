//! Tasks' ids.

use std::fmt;

/// A task's id: `t-` and five hexadecimal digits when Convoke makes it, any short word when it is
/// imported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(String);

/// A text that is not a task's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a task's id")]
pub struct InvalidTaskId {
    given: String,
}

impl TaskId {
    const LONGEST: usize = 64;

    /// Reads an id: letters, digits, `-`, `_` and `.`.
    pub fn parse(given: &str) -> Result<Self, InvalidTaskId> {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let usable = !given.is_empty() && given.len() <= Self::LONGEST && given.chars().all(word);
        if usable {
            Ok(Self(given.to_owned()))
        } else {
            Err(InvalidTaskId { given: given.to_owned() })
        }
    }

    /// Makes an id from a random number; its low 20 bits are used.
    pub fn from_random(number: u64) -> Self {
        Self(format!("t-{:05x}", number & 0xf_ffff))
    }

    /// Returns the id as it is typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-2
    #[test]
    fn an_id_is_short_and_can_be_typed() {
        assert_eq!(TaskId::from_random(0x1_23ab_cdef).as_str(), "t-bcdef");
        assert_eq!(TaskId::from_random(7).as_str(), "t-00007");
        for id in ["t-00007", "2a", "T.1_b"] {
            assert_eq!(TaskId::parse(id).unwrap().as_str(), id);
        }
        for id in ["", "a b", "../x", "é", &"x".repeat(65)] {
            assert!(TaskId::parse(id).is_err(), "{id}");
        }
    }
}
