//! Versions of clients, as numbers that can be compared.

use std::fmt;

/// A version of a client: its first three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientRelease {
    major: u32,
    minor: u32,
    patch: u32,
}

impl ClientRelease {
    /// Returns a version.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// Finds the version in what a program says about itself; a third number may be missing.
    pub fn find(said: &str) -> Option<Self> {
        let words = said.split(|c: char| !c.is_ascii_digit() && c != '.');
        let mut versions = words.filter_map(|word| {
            let mut numbers = word.split('.').map(str::parse);
            let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
            let patch = numbers.next().and_then(Result::ok).unwrap_or_default();
            Some(Self { major, minor, patch })
        });
        versions.next()
    }

    /// Tells whether it is of an earlier series: patches within a series are taken for compatible.
    pub const fn is_of_earlier_series(self, other: Self) -> bool {
        self.major < other.major || self.major == other.major && self.minor < other.minor
    }
}

impl fmt::Display for ClientRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_a_program_says() {
        for (said, found) in [
            ("2.1.325 (Claude Code)", Some("2.1.325")),
            ("codex-cli 0.166.0", Some("0.166.0")),
            ("v1.18", Some("1.18.0")),
            ("0.61.0-nightly.20261116", Some("0.61.0")),
            ("no idea", None),
            ("version 7", None),
            ("99999999999.1.1", None),
            ("", None),
        ] {
            let shown = ClientRelease::find(said).map(|version| version.to_string());
            assert_eq!(shown.as_deref(), found, "{said}");
        }
    }

    #[test]
    fn a_patch_does_not_make_an_earlier_series() {
        let of = ClientRelease::new;
        assert!(of(2, 0, 400).is_of_earlier_series(of(2, 1, 325)));
        assert!(of(1, 9, 0).is_of_earlier_series(of(2, 1, 325)));
        assert!(!of(2, 1, 3).is_of_earlier_series(of(2, 1, 325)));
        assert!(!of(2, 2, 0).is_of_earlier_series(of(2, 1, 325)));
    }
}
