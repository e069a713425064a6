//! What identifies a repository, independent of its folder.

use std::collections::BTreeSet;

/// The longest address of a remote that is kept.
const LONGEST: usize = 512;

/// Identifies the repository of a project by its history, not its folder: clones have the same.
/// Anyone can imitate it, so it is only ever a reason to name a project to the user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepositoryId {
    /// The commits without parents that the checked-out one comes from; none if only a part of the
    /// history is there.
    pub roots: BTreeSet<String>,
    /// Where it is fetched from, as [`plain_remote`] writes it.
    pub remote: Option<String>,
}

impl RepositoryId {
    /// Tells whether both are one repository, as far as can be known: they have a first commit in
    /// common, or, where one has none, the remote; and no two different remotes.
    pub fn is_same(&self, other: &Self) -> bool {
        let remotes = self.remote.as_ref().zip(other.remote.as_ref());
        let same_remote = remotes.map(|(one, two)| one == two);
        if self.roots.is_empty() || other.roots.is_empty() {
            return same_remote == Some(true);
        }
        same_remote != Some(false) && !self.roots.is_disjoint(&other.roots)
    }

    /// Tells whether both are certainly two repositories: they have no first commit in common, and not
    /// the remote either. A history can be rewritten, and a remote can move, but seldom both.
    pub fn is_certainly_other(&self, other: &Self) -> bool {
        let remotes = self.remote.as_ref().zip(other.remote.as_ref());
        !self.roots.is_empty()
            && !other.roots.is_empty()
            && self.roots.is_disjoint(&other.roots)
            && remotes.is_none_or(|(one, two)| one != two)
    }
}

/// Writes a remote's address in one way: without scheme, user, password, port, `.git` and slashes at
/// its end. `None` if that leaves nothing that could be shown.
pub fn plain_remote(address: &str) -> Option<String> {
    let address = address.trim();
    if address.len() > LONGEST || address.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return None;
    }
    let (has_scheme, rest) = match address.split_once("://") {
        Some(("file", path)) => (false, path),
        Some((_, rest)) => (true, rest),
        None => (false, address),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = match rest.split_once([':', '/']) {
        _ if rest.starts_with(['/', '.']) => ("", rest),
        // `host:22/path` has a port, `host:path` of ssh has none.
        Some((host, path)) if has_scheme => {
            let (host, path) = rest.split_once('/').unwrap_or((host, path));
            (host, path)
        }
        Some((host, path)) if rest[host.len()..].starts_with(':') => (host, path),
        Some(_) | None => ("", rest),
    };
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    let path = if host.is_empty() { path } else { path.trim_start_matches('/') };
    match (host.is_empty(), path.is_empty()) {
        (true, true) => None,
        (true, false) => Some(path.to_owned()),
        (false, true) => Some(host),
        (false, false) => Some(format!("{host}/{path}")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_remote_is_written_in_one_way() {
        for address in [
            "https://github.com/ana/app.git",
            "https://ana:secret@GitHub.com/ana/app",
            "ssh://git@github.com:22/ana/app.git/",
            "git@github.com:ana/app.git",
            "github.com:ana/app",
            "git://github.com/ana/app",
            "https://github.com/ana/app.git?token=secret",
        ] {
            assert_eq!(plain_remote(address).as_deref(), Some("github.com/ana/app"), "{address}");
        }
        for (address, expected) in [
            ("/srv/git/app.git", Some("/srv/git/app")),
            ("file:///srv/git/app.git/", Some("/srv/git/app")),
            ("../app", Some("../app")),
            ("", None),
            ("https://", None),
            ("a b", None),
            ("a\u{1b}[2J", None),
        ] {
            assert_eq!(plain_remote(address).as_deref(), expected, "{address}");
        }
        assert_eq!(plain_remote(&"x".repeat(600)), None);
    }

    proptest! {
        #[test]
        fn no_password_is_kept(user in "[a-z]{1,8}", host in "[a-z]{1,8}\\.com", path in "[a-z/]{1,12}") {
            let address = format!("https://{user}:Hunter2@{host}/{path}");
            let plain = plain_remote(&address).unwrap_or_default();
            prop_assert!(!plain.contains("Hunter2"), "{plain}");
        }

        #[test]
        fn any_address_can_be_read(address in ".{0,40}") {
            if let Some(plain) = plain_remote(&address) {
                prop_assert_eq!(plain_remote(&plain).is_some(), true);
                prop_assert!(!plain.contains(char::is_control));
            }
        }
    }

    #[test]
    fn a_repository_is_known_by_its_first_commits_and_its_remote() {
        let id = |roots: &str, remote: &str| RepositoryId {
            roots: roots.split_whitespace().map(str::to_owned).collect(),
            remote: Some(remote.to_owned()).filter(|remote| !remote.is_empty()),
        };
        for (one, other, expected) in [
            (id("a", "x"), id("a", "x"), (true, false)),
            (id("a b", ""), id("b c", "x"), (true, false)),
            (id("a", "x"), id("a", "y"), (false, false)),
            (id("a", "x"), id("b", "x"), (false, false)),
            (id("a", "x"), id("b", "y"), (false, true)),
            (id("a", ""), id("b", ""), (false, true)),
            (id("a", ""), id("b", "x"), (false, true)),
            (id("", "x"), id("b", "x"), (true, false)),
            (id("", "x"), id("b", "y"), (false, false)),
            (id("", ""), id("", ""), (false, false)),
            (id("", ""), id("b", ""), (false, false)),
        ] {
            for (one, other) in [(&one, &other), (&other, &one)] {
                let found = (one.is_same(other), one.is_certainly_other(other));
                assert_eq!(found, expected, "{one:?} {other:?}");
            }
        }
    }
}
