//! A snapshot of a working tree from before the agents' work, for the process that resumes the
//! work.
//!
//! A killed process can no longer compare. Its snapshot is in a file, so that the next process can
//! find the differences; their author it cannot know.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A stored snapshot of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptTree {
    /// The branch, if one was checked out.
    pub branch: Option<String>,
    /// A digest of all that is in the tree, committed or not.
    pub files: String,
    /// Git's settings and hooks by their names, each with a digest.
    pub settings: BTreeMap<String, String>,
}

impl KeptTree {
    /// Returns it as a file. Names are without line breaks.
    pub fn text(&self) -> String {
        let files = Some(format!("files={}\n", self.files));
        let branch = self.branch.as_ref().map(|branch| format!("branch={branch}\n"));
        let setting = |(name, digest): (&String, &String)| format!("setting={digest} {name}\n");
        let settings = self.settings.iter().map(setting);
        let lines = files.into_iter().chain(branch).chain(settings);
        lines.chain(["end\n".to_owned()]).collect()
    }

    /// Reads the file; `None` if it is not whole.
    pub fn parse(text: &str) -> Option<Self> {
        let mut kept = Self::default();
        for line in text.strip_suffix("end\n")?.lines() {
            match line.split_once('=')? {
                ("files", digest) => digest.clone_into(&mut kept.files),
                ("branch", name) => kept.branch = Some(name.to_owned()),
                ("setting", setting) => {
                    let (digest, name) = setting.split_once(' ')?;
                    kept.settings.insert(name.to_owned(), digest.to_owned());
                }
                _ => return None,
            }
        }
        (!kept.files.is_empty()).then_some(kept)
    }

    /// Describes the differences. Settings, hooks and another branch decide what git does next, so
    /// they are a warning; files change whenever a person works.
    pub fn differences(&self, now: &Self) -> Vec<KeptTreeChange> {
        let names: BTreeSet<_> = self.settings.keys().chain(now.settings.keys()).collect();
        let differs = |name: &&&String| self.settings.get(**name) != now.settings.get(**name);
        let mut changed: Vec<_> =
            names.iter().filter(differs).map(|name| (*name).clone()).collect();
        if self.branch != now.branch {
            let name = |branch: &Option<String>| {
                branch.clone().unwrap_or_else(|| "a commit without a branch".to_owned())
            };
            changed.push(format!(
                ".git/HEAD (from {} to {})",
                name(&self.branch),
                name(&now.branch)
            ));
        }
        let settings = (!changed.is_empty()).then_some(KeptTreeChange::Settings(changed));
        let files = (self.files != now.files).then_some(KeptTreeChange::Files);
        settings.into_iter().chain(files).collect()
    }
}

/// What changed in a working tree while no process of the run watched it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptTreeChange {
    /// What decides how git works: these files, and the branch. An agent may have done it.
    Settings(Vec<String>),
    /// Files of the working tree, as happens whenever a person works on them.
    Files,
}

impl fmt::Display for KeptTreeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(changed) => write!(
                f,
                "changed since the run was interrupted, by an agent or a person: {}",
                changed.join(", ")
            ),
            Self::Files => {
                f.write_str("files of the working tree changed since the run was interrupted")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tree(branch: Option<&str>, files: &str, settings: &[(&str, &str)]) -> KeptTree {
        let pair = |(name, digest): &(&str, &str)| ((*name).to_owned(), (*digest).to_owned());
        KeptTree {
            branch: branch.map(str::to_owned),
            files: files.to_owned(),
            settings: settings.iter().map(pair).collect(),
        }
    }

    #[test]
    fn what_differs_is_named() {
        let before = tree(Some("main"), "1", &[(".git/config", "a"), (".git/hooks/old", "b")]);
        assert_eq!(before.differences(&before), []);
        let after = tree(None, "2", &[(".git/config", "c"), (".git/hooks/new hook", "d")]);
        let changes = before.differences(&after);
        assert!(matches!(changes[..], [KeptTreeChange::Settings(_), KeptTreeChange::Files]));
        assert_eq!(
            changes[0].to_string(),
            "changed since the run was interrupted, by an agent or a person: .git/config, \
             .git/hooks/new hook, .git/hooks/old, .git/HEAD (from main to a commit without a branch)"
        );
        let committed = KeptTree { files: "2".to_owned(), ..before.clone() };
        assert_eq!(before.differences(&committed), [KeptTreeChange::Files]);
    }

    #[test]
    fn half_a_file_says_nothing() {
        let whole = tree(Some("main"), "1", &[(".git/config", "a")]).text();
        assert!(KeptTree::parse(&whole).is_some());
        for end in 0..whole.len() {
            assert_eq!(KeptTree::parse(&whole[..end]), None, "{}", &whole[..end]);
        }
        assert_eq!(KeptTree::parse("files=1\nwhat=2\nend\n"), None);
    }

    proptest! {
        #[test]
        fn a_kept_tree_is_read_again(
            branch in proptest::option::of("[a-z/=]{1,8}"),
            settings in proptest::collection::btree_map("[a-z /=.]{1,8}", "[0-9a-f]{4}", 0..4),
            wild in any::<String>(),
        ) {
            let kept = KeptTree { branch, files: "1f".to_owned(), settings };
            prop_assert_eq!(KeptTree::parse(&kept.text()), Some(kept));
            prop_assert!(KeptTree::parse(&wild).is_none_or(|kept| !kept.files.is_empty()));
        }
    }
}
