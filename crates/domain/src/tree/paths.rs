//! Lists of files as programs hand them on: relative to a repository, sorted, each once, with a NUL
//! behind each, because nothing else can be in no name.

use std::collections::BTreeSet;

/// Files of a repository, by their paths below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paths(BTreeSet<Vec<u8>>);

impl Paths {
    /// Reads a list; `None` if a path could lead out of the repository, or into git's own folder: a
    /// program that restores or deletes by the list must not touch files there.
    pub fn parse(stream: &[u8]) -> Option<Self> {
        let paths = stream.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let is_whole = stream.is_empty() || stream.ends_with(&[0]);
        let paths: BTreeSet<_> = paths.map(<[u8]>::to_vec).collect();
        (is_whole && paths.iter().all(|path| is_inside(path))).then_some(Self(paths))
    }

    /// Returns the list as it is written.
    pub fn stream(&self) -> Vec<u8> {
        self.0.iter().flat_map(|path| path.iter().copied().chain([0])).collect()
    }

    /// Tells whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds those of another list.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Leaves out those of another list.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).cloned().collect())
    }
}

/// Tells whether a path stays in the repository and out of git's own folder.
fn is_inside(path: &[u8]) -> bool {
    let is_own = |part: &[u8]| part.eq_ignore_ascii_case(b".git");
    let mut parts = path.split(|byte| *byte == b'/');
    !path.starts_with(b"/") && parts.all(|part| part != b".." && !is_own(part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // P-356
    #[test]
    fn nothing_leads_out_of_the_repository() {
        for stream in [
            "/etc/passwd\0",
            "a\0../b\0",
            "a/../../b\0",
            ".git/hooks/pre-commit\0",
            "sub/.git/config\0",
            ".GIT/config\0",
            "half a name",
        ] {
            assert_eq!(Paths::parse(stream.as_bytes()), None, "{stream:?}");
        }
        let odd = b"a\nb\0..c\0.gitignore\0\xff\0";
        assert_eq!(Paths::parse(odd).unwrap().stream(), b"..c\0.gitignore\0a\nb\0\xff\0");
    }

    // P-354
    #[test]
    fn lists_are_joined_and_told_apart() {
        let paths = |text: &str| Paths::parse(text.as_bytes()).unwrap();
        assert_eq!(paths("b\0").and(paths("a\0b\0")), paths("a\0b\0"));
        assert_eq!(paths("a\0b\0c\0").without(&paths("b\0x\0")), paths("a\0c\0"));
        assert!(paths("b\0").without(&paths("b\0")).is_empty());
    }

    proptest! {
        // P-357: a parsed list is written the same, in any order.
        #[test]
        fn a_written_list_is_read_back(stream in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Some(paths) = Paths::parse(&stream) {
                prop_assert_eq!(Paths::parse(&paths.stream()), Some(paths));
            }
        }
    }
}
