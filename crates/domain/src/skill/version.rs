//! Which installed version of a skill collection is used.

use std::cmp::Ordering;

use semver::Version;

/// Returns the highest of some directory names.
///
/// Names that are versions, with or without a leading `v`, are compared as such, without their
/// build metadata; other names count only without any version, and are compared by their bytes.
pub fn highest<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names.into_iter().max_by(|one, other| compare(one, other))
}

fn compare(one: &str, other: &str) -> Ordering {
    match (version(one), version(other)) {
        (Some(one_version), Some(other_version)) => {
            one_version.cmp_precedence(&other_version).then_with(|| one.cmp(other))
        }
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => one.cmp(other),
    }
}

/// Reads a directory name as a version.
pub fn version(name: &str) -> Option<Version> {
    Version::parse(name.strip_prefix('v').unwrap_or(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-52
    #[test]
    fn versions_are_compared_as_versions() {
        let cases: [(&[&str], Option<&str>); 8] = [
            (&["4.0.0", "4.0.3", "3.6.2"], Some("4.0.3")),
            (&["4.9.0", "4.10.0"], Some("4.10.0")),
            (&["6.2.0", "6.2.0-rc.1"], Some("6.2.0")),
            (&["6.2.0-rc.2", "6.2.0-rc.10"], Some("6.2.0-rc.10")),
            (&["v5.0.0", "4.0.0"], Some("v5.0.0")),
            (&["5.0.0+a", "5.0.1+0"], Some("5.0.1+0")),
            (&["zzz", "0.0.1"], Some("0.0.1")),
            (&[], None),
        ];
        for (names, expected) in cases {
            assert_eq!(highest(names.iter().copied()), expected, "{names:?}");
        }
        assert_eq!(highest(["main", "dev"]), Some("main"));
    }
}
