//! The name of a feature's folder.

use std::fmt;

/// A feature's name without its number: a single part of a path, easy to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureName(String);

impl Default for FeatureName {
    fn default() -> Self {
        Self("first-feature".to_owned())
    }
}

impl FeatureName {
    const LONGEST: usize = 60;

    /// Takes small letters, digits and hyphens, with a letter in front.
    pub fn parse(name: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let usable = name.len() <= Self::LONGEST
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(plain)
            && !name.ends_with('-');
        usable.then(|| Self(name.to_owned()))
    }

    /// Returns the folder's name: the one that has this name already, or else a new one with the next
    /// number.
    pub fn folder(&self, known: &[String]) -> String {
        let parts = |folder: &str| {
            let (number, name) = folder.split_once('-')?;
            Some((number.parse::<u32>().ok()?, name.to_owned()))
        };
        let is_this = |folder: &&String| {
            **folder == self.0 || parts(folder).is_some_and(|(_, name)| name == self.0)
        };
        if let Some(folder) = known.iter().find(is_this) {
            return folder.clone();
        }
        let last = known.iter().filter_map(|folder| parts(folder)).map(|(number, _)| number).max();
        format!("{:03}-{self}", last.unwrap_or(0).saturating_add(1))
    }
}

impl fmt::Display for FeatureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D-92
    #[test]
    fn a_feature_is_found_again_or_gets_the_next_number() {
        let folder = |name: &str, known: &[&str]| {
            let known: Vec<_> = known.iter().map(|name| (*name).to_owned()).collect();
            FeatureName::parse(name).unwrap().folder(&known)
        };
        assert_eq!(folder("search", &[]), "001-search");
        assert_eq!(folder("search", &["001-login", "12-cart", "notes"]), "013-search");
        assert_eq!(folder("search", &["007-search", "008-login"]), "007-search");
        assert_eq!(folder("search", &["search"]), "search");
    }

    // D-92
    #[test]
    fn a_name_is_one_plain_part_of_a_path() {
        for name in ["", "../x", "a/b", "Search", "a b", "-a", "a-", "1a", "é", &"a".repeat(61)] {
            assert_eq!(FeatureName::parse(name), None, "{name}");
        }
        assert!(FeatureName::parse("offline-drafts-2").is_some());
    }
}
