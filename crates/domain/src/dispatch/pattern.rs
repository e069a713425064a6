//! Paths and patterns of files that a role must read.

use std::fmt;

/// A path in a project, or a pattern: `*` and `?` within a part, `**` for any number of parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern(Vec<String>);

/// Why a text is no such path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPattern {
    /// Nothing is left of it.
    #[error("it is empty")]
    Empty,
    /// It begins at the root, or is written for another system.
    #[error("it must be relative to the project, with `/` between its parts")]
    NotRelative,
    /// It has a part `..`.
    #[error("it must not lead out of the project")]
    LeadsOut,
    /// It would break a line of a prompt.
    #[error("it must not hold control characters")]
    Control,
    /// `**` beside other characters.
    #[error("`**` must be a whole part, as in `docs/**/*.md`")]
    HalfStars,
}

impl PathPattern {
    /// Reads `docs/adr/**/*.md` or `src/main.rs`.
    pub fn parse(given: &str) -> Result<Self, InvalidPattern> {
        if given.chars().any(char::is_control) {
            return Err(InvalidPattern::Control);
        }
        if given.starts_with(['/', '~']) || given.contains('\\') || given.contains(':') {
            return Err(InvalidPattern::NotRelative);
        }
        let parts = given.split('/').filter(|part| !part.is_empty() && *part != ".");
        let parts: Vec<_> = parts.map(str::to_owned).collect();
        if parts.is_empty() {
            Err(InvalidPattern::Empty)
        } else if parts.iter().any(|part| part == "..") {
            Err(InvalidPattern::LeadsOut)
        } else if parts.iter().any(|part| part != "**" && part.contains("**")) {
            Err(InvalidPattern::HalfStars)
        } else {
            Ok(Self(parts))
        }
    }

    /// Returns the path, if it names one file.
    pub fn path(&self) -> Option<String> {
        let is_plain = !self.0.iter().any(|part| part.contains(['*', '?']));
        is_plain.then(|| self.to_string())
    }

    /// Tells whether a file's path, relative to the project, fits.
    pub fn matches(&self, path: &str) -> bool {
        let parts: Vec<_> = path.split('/').collect();
        // Which lengths of the path the pattern so far can cover; `**` covers all from the first.
        let mut reached = vec![false; parts.len() + 1];
        reached[0] = true;
        for wanted in &self.0 {
            let mut next = vec![false; parts.len() + 1];
            for at in 0..=parts.len() {
                next[at] = match (wanted.as_str(), at) {
                    ("**", 0) => reached[0],
                    ("**", _) => reached[at] || next[at - 1],
                    (_, 0) => false,
                    (wanted, _) => reached[at - 1] && fits(wanted, parts[at - 1]),
                };
            }
            reached = next;
        }
        reached[parts.len()]
    }
}

/// Tells whether a name fits a part with `*` and `?`.
fn fits(wanted: &str, name: &str) -> bool {
    let (wanted, name): (Vec<_>, Vec<_>) = (wanted.chars().collect(), name.chars().collect());
    let (mut at, mut from) = (0, 0);
    // Where the last star is, and how much of the name it covers.
    let mut star = None;
    while from < name.len() {
        match wanted.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[from] => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((place, covered)) = star else { return false };
                star = Some((place, covered + 1));
                at = place + 1;
                from = covered + 1;
            }
        }
    }
    wanted[at..].iter().all(|c| *c == '*')
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pattern_fits_paths() {
        for (pattern, path, expected) in [
            ("src/main.rs", "src/main.rs", true),
            ("./src//main.rs", "src/main.rs", true),
            ("src/main.rs", "src/main.rs.bak", false),
            ("src/*.rs", "src/main.rs", true),
            ("src/*.rs", "src/cli/main.rs", false),
            ("src/**/*.rs", "src/main.rs", true),
            ("src/**/*.rs", "src/a/b/c/main.rs", true),
            ("**/*.md", "README.md", true),
            ("**", "a/b", true),
            ("docs/**", "docs/adr/1.md", true),
            ("docs/**/adr/**/*.md", "docs/x/adr/y/z/1.md", true),
            ("docs/**/adr/**/*.md", "docs/x/y/1.md", false),
            ("a?c.t*t", "abc.test", true),
            ("a?c", "ac", false),
            ("*", "a/b", false),
            ("[id].tsx", "[id].tsx", true),
            ("docs/übersicht-*.md", "docs/übersicht-ä.md", true),
        ] {
            let found = PathPattern::parse(pattern).unwrap().matches(path);
            assert_eq!(found, expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_stays_in_the_project() {
        for (given, why) in [
            ("", InvalidPattern::Empty),
            ("./", InvalidPattern::Empty),
            ("/etc/passwd", InvalidPattern::NotRelative),
            ("~/.ssh/id_rsa", InvalidPattern::NotRelative),
            ("C:/x", InvalidPattern::NotRelative),
            ("a\\b", InvalidPattern::NotRelative),
            ("a/../../b", InvalidPattern::LeadsOut),
            ("..", InvalidPattern::LeadsOut),
            ("a\n## Orders", InvalidPattern::Control),
            ("a**/b", InvalidPattern::HalfStars),
        ] {
            assert_eq!(PathPattern::parse(given), Err(why), "{given}");
        }
    }

    // Neither many stars nor many parts make it slow.
    #[test]
    fn a_hostile_pattern_ends() {
        let stars = PathPattern::parse(&"*a".repeat(200)).unwrap();
        assert!(!stars.matches(&("a".repeat(5000) + "b")));
        let parts = PathPattern::parse(&"**/a/".repeat(100)).unwrap();
        assert!(!parts.matches(&"b/".repeat(500)));
    }

    proptest! {
        #[test]
        fn a_plain_path_fits_itself_alone(path in "[a-c]{1,3}(/[a-c.]{1,3}){0,3}", other in "[a-c/]{1,6}") {
            if let Ok(pattern) = PathPattern::parse(&path)
                && let Some(plain) = pattern.path()
            {
                prop_assert!(pattern.matches(&plain));
                prop_assert_eq!(pattern.matches(&other), plain == other);
            }
        }
    }
}
