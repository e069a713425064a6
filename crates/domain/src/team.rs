//! The members of a team that shares a store.

use std::fmt;

/// The longest name of a member; the server keeps 63 bytes of a role's name.
const LONGEST: usize = 40;

/// Names that the server or Convoke gives another meaning.
const RESERVED: [&str; 6] = ["human", "none", "owner", "postgres", "public", "unknown"];

/// A member's name, which is also the name of the member's role on the server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberName(String);

/// A text that cannot be the name of a member.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a valid member name: a name has up to 40 ASCII letters in lower case, digits, \
     `_` and `-`, and begins with a letter; `pg_…`, `human`, `none`, `owner`, `postgres`, `public` \
     and `unknown` have another meaning"
)]
pub struct InvalidMemberName {
    given: String,
}

impl MemberName {
    /// Reads a name.
    pub fn parse(given: &str) -> Result<Self, InvalidMemberName> {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        let is_usable = given.len() <= LONGEST
            && given.starts_with(|c: char| c.is_ascii_lowercase())
            && given.chars().all(is_letter)
            && !given.starts_with("pg_")
            && !RESERVED.contains(&given);
        if is_usable {
            Ok(Self(given.to_owned()))
        } else {
            Err(InvalidMemberName { given: given.to_owned() })
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemberName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_needs_no_quotes_and_means_no_other_role() {
        for name in ["ana", "b2", "build-server_1"] {
            assert_eq!(MemberName::parse(name).map(|name| name.to_string()), Ok(name.to_owned()));
        }
        let long = "a".repeat(41);
        for name in
            ["", "Ana", "1ana", "-a", "a b", "a\"b", "a'b", "a;b", "pg_x", "human", "é", &long]
        {
            assert!(MemberName::parse(name).is_err(), "{name}");
        }
    }
}
