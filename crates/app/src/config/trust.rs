//! What a file that came with a repository may set.
//!
//! `convoke.toml` is committed, so its author need not be the user: it may lower the user's limits,
//! never raise them, and has no say in the user's sessions, keys and addresses. `convoke.local.toml`
//! is the user's own unless git tracks it. A value that a file may not set is left out, with a
//! remark that names the file, the key and the reason, never the value.

use std::path::Path;

use convoke_domain::lane::cap::Cap;
use convoke_engine::git::tracked::{Tracking, tracking};
use toml::{Table, Value};

use super::{LOCAL_FILE, whole};

/// Who wrote a file in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// The user, for this copy of the project.
    User,
    /// Anyone who could commit to the repository.
    Committer,
}

/// What a file may do with one key.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// A committed file may set at most what the user set, or else this default.
    Lower(u64),
    /// A committed file may set at most what the user set; by default there is no limit.
    LowerCap,
    /// A committed file may not set it, for this reason.
    Own(&'static str),
    /// No file of a project may set it, for this reason.
    UsersFile(&'static str),
}

/// Every key that a committed file may not set freely.
const RULES: [(&str, &str, Rule); 10] = [
    ("brief", "token_budget", Rule::Lower(20_000)),
    ("brief", "max_file_bytes", Rule::Lower(67_108_864)),
    ("wake", "wake_budget", Rule::Lower(8_000)),
    ("wake", "agent", Rule::Own("a committed file cannot bind your sessions to an agent")),
    ("dispatch", "max_iterations", Rule::Lower(5)),
    ("health", "remember_minutes", Rule::Lower(10)),
    ("health", "pause_seconds", Rule::Lower(10)),
    ("lane", "budget_per_day", Rule::LowerCap),
    (
        "lane",
        "pass_env",
        Rule::Own("a committed file cannot pass variables of your environment to a client"),
    ),
    ("lane", "http", Rule::UsersFile("a project cannot choose where your prompts and keys go")),
];

/// Where a user's data lies is never a project's to say.
const STORE: &str = "a project cannot choose where your data is kept";

/// A key that was left out, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// The key with its section.
    pub(super) key: String,
    /// Why a file of this author may not set it.
    pub(super) reason: &'static str,
}

/// Returns who wrote `convoke.local.toml`. Git is asked only if the answer matters.
pub(super) fn local_author(project: &Path, table: &Table) -> Author {
    let matters = RULES.iter().any(|(section, key, _)| at(table, section, key).is_some());
    match matters.then(|| tracking(project, LOCAL_FILE)) {
        Some(Tracking::Tracked) => Author::Committer,
        Some(Tracking::Untracked) | None => Author::User,
    }
}

/// Takes out of a project's file what its author may not set, given the user's own file.
pub(super) fn sift(table: &mut Table, author: Author, user: &Table) -> Vec<Refused> {
    let mut refused = Vec::new();
    if table.remove("store").is_some() {
        refused.push(Refused { key: "store".to_owned(), reason: STORE });
    }
    for (section, key, rule) in RULES {
        let Some(value) = at(table, section, key) else { continue };
        let Some(reason) = rule.refuses(value, at(user, section, key), author) else { continue };
        if let Some(Value::Table(section)) = table.get_mut(section) {
            section.remove(key);
        }
        refused.push(Refused { key: format!("{section}.{key}"), reason });
    }
    refused
}

fn at<'a>(table: &'a Table, section: &str, key: &str) -> Option<&'a Value> {
    table.get(section)?.get(key)
}

impl Rule {
    /// Returns why a value may not be set. What is no value of its kind at all is an error later.
    fn refuses(self, value: &Value, user: Option<&Value>, author: Author) -> Option<&'static str> {
        let raises = || "a committed file can lower this limit, not raise it";
        match (self, author) {
            (Self::UsersFile(reason), _) | (Self::Own(reason), Author::Committer) => Some(reason),
            (_, Author::User) => None,
            (Self::Lower(default), Author::Committer) => {
                let most = user.and_then(whole).unwrap_or(default);
                (whole(value)? > most).then(raises)
            }
            (Self::LowerCap, Author::Committer) => is_higher(cap(value)?, cap(user?)?).then(raises),
        }
    }
}

fn cap(value: &Value) -> Option<Cap> {
    Cap::parse(value.as_str()?).ok()
}

/// Tokens and money cannot be compared; where a file caps one and the user the other, both hold.
fn is_higher(cap: Cap, than: Cap) -> bool {
    match (cap, than) {
        (Cap::Tokens(one), Cap::Tokens(other))
        | (Cap::MicroDollars(one), Cap::MicroDollars(other)) => one > other,
        (Cap::Tokens(_), Cap::MicroDollars(_)) | (Cap::MicroDollars(_), Cap::Tokens(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Key, brief, dispatch, health, lane, wake};
    use super::*;

    fn sifted(file: &str, author: Author, user: &str) -> (Table, String) {
        let mut table: Table = file.parse().unwrap();
        let refused = sift(&mut table, author, &user.parse().unwrap());
        let keys: Vec<_> = refused.into_iter().map(|refused| refused.key).collect();
        (table, keys.join(" "))
    }

    #[test]
    fn a_committed_file_lowers_limits_and_never_raises_them() {
        let committed = |file: &str, user: &str| sifted(file, Author::Committer, user).1;
        for (file, user, refused) in [
            ("wake.wake_budget = 8000", "", ""),
            ("wake.wake_budget = 8001", "", "wake.wake_budget"),
            ("wake.wake_budget = 8001", "wake.wake_budget = 9000", ""),
            ("wake.wake_budget = 101", "wake.wake_budget = 100", "wake.wake_budget"),
            ("brief.token_budget = 20001", "", "brief.token_budget"),
            ("brief.max_file_bytes = 99999999", "", "brief.max_file_bytes"),
            ("dispatch.max_iterations = 6", "", "dispatch.max_iterations"),
            ("health.pause_seconds = 999999", "", "health.pause_seconds"),
            (
                "lane.budget_per_day = '999999M'",
                "lane.budget_per_day = '1M'",
                "lane.budget_per_day",
            ),
            ("lane.budget_per_day = '$9'", "lane.budget_per_day = '$8.99'", "lane.budget_per_day"),
            ("lane.budget_per_day = '$9'", "lane.budget_per_day = '1M'", ""),
            ("lane.budget_per_day = '999999M'", "", ""),
        ] {
            assert_eq!(committed(file, user), refused, "{file} over {user}");
        }
    }

    #[test]
    fn sessions_keys_and_addresses_are_not_a_committers_to_set() {
        let file = "wake.agent = 'june'\nlane.pass_env = ['K']\nlane.http.x.url = 'u'\n\
                    store.path = '/x'\nwake.mode = 'v0'\n";
        let (kept, refused) = sifted(file, Author::Committer, "");
        assert_eq!(refused, "store wake.agent lane.pass_env lane.http");
        assert_eq!(at(&kept, "wake", "mode"), Some(&Value::from("v0")));
        assert_eq!((at(&kept, "wake", "agent"), at(&kept, "lane", "pass_env")), (None, None));
        let (kept, refused) = sifted(file, Author::User, "");
        assert_eq!(refused, "store lane.http");
        assert_eq!(at(&kept, "wake", "agent"), Some(&Value::from("june")));
        assert!(at(&kept, "lane", "pass_env").is_some() && at(&kept, "lane", "http").is_none());
    }

    // The limits are the defaults that the reference page shows.
    #[test]
    fn a_limit_is_its_keys_default() {
        fn shown<L>(keys: &[Key<L>], name: &str) -> Option<u64> {
            keys.iter().find(|key| key.name == name).and_then(|key| key.default.parse().ok())
        }
        for (section, key, rule) in RULES {
            let Rule::Lower(default) = rule else { continue };
            let shown = match section {
                brief::SECTION => shown(&brief::KEYS, key),
                wake::SECTION => shown(&wake::KEYS, key),
                dispatch::SECTION => shown(&dispatch::KEYS, key),
                health::SECTION => shown(&health::KEYS, key),
                _ => shown(&lane::KEYS, key),
            };
            assert_eq!(shown, Some(default), "{section}.{key}");
        }
    }
}
