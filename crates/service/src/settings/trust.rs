//! The settings that a file from a repository may change.
//!
//! `convoke.toml` is committed, so its author need not be the user: it may lower the user's limits
//! and make checks stricter, never the opposite, it may not lead out of the project, and it has no
//! say in the user's sessions, keys and addresses. `convoke.local.toml` is the user's own unless
//! git tracks it, or leaves out its whole folder. A value that a file may not set is left out, with
//! a remark that names the file, the key and the reason, never the value.

use std::path::Path;

use convoke_domain::dispatch::confirmation::ConfirmationLevel;
use convoke_domain::dispatch::role::{RoleName, Roles};
use convoke_domain::lane::budget::LaneBudget;
use convoke_engine::file::stays_inside;
use convoke_engine::git::tracked::{GitTracking, is_left_out, tracking};
use toml::{Table, Value};

use super::mcp::{WritingTool, tools};
use super::{LOCAL_FILE, whole};

/// The author of a file in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// The user, for this copy of the project.
    User,
    /// Any author who could commit to the repository.
    Committer,
}

/// A file's right to set one key.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// A committed file may set at most what the user set, or else this default.
    Lower(u64),
    /// A committed file may set at most what the user set; by default there is no limit.
    LowerBudget,
    /// A committed file may set a level of confirmation at least as strict as the user's, or else
    /// the default.
    Level,
    /// A committed file may not choose the original's reading where the user does not.
    NotSeed,
    /// A committed file may switch it on, and off only where the user did not switch it on.
    On,
    /// A committed file may list some of the tools that the user allows, or else of all.
    Fewer,
    /// A committed file may name a folder of the project.
    Inside,
    /// A committed file may add roles, and change known ones as far as that weakens no check.
    Roles,
    /// A committed file may not set it, for this reason.
    Own(&'static str),
    /// No file of a project may set it, for this reason.
    UsersFile(&'static str),
}

/// Every key that a committed file may not set freely.
const RULES: [(&str, &str, Rule); 24] = [
    ("brief", "dir", Rule::Inside),
    ("brief", "token_budget", Rule::Lower(20_000)),
    ("brief", "max_file_bytes", Rule::Lower(67_108_864)),
    ("wake", "wake_budget", Rule::Lower(8_000)),
    ("wake", "agent", Rule::Own("a committed file cannot bind your sessions to an agent")),
    ("wake", "orchestrator", Rule::Own("a committed file cannot choose which agent leads yours")),
    ("wake", "fit", Rule::NotSeed),
    ("wake", "next_action", Rule::NotSeed),
    ("wake", "skill_choice", Rule::NotSeed),
    ("wake", "namespace_strict", Rule::On),
    ("dispatch", "max_iterations", Rule::Lower(5)),
    ("dispatch", "confirmation", Rule::Level),
    ("dispatch", "roles", Rule::Roles),
    ("health", "remember_minutes", Rule::Lower(10)),
    ("health", "pause_seconds", Rule::Lower(10)),
    ("lane", "budget_per_day", Rule::LowerBudget),
    (
        "lane",
        "pass_env",
        Rule::Own("a committed file cannot pass variables of your environment to a client"),
    ),
    ("lane", "http", Rule::UsersFile("a project cannot choose where your prompts and keys go")),
    ("pack", "budget", Rule::Lower(12_000)),
    ("pack", "design_budget", Rule::Lower(12_000)),
    ("pack", "pointers_budget", Rule::Lower(2_000)),
    ("mcp", "allow", Rule::Fewer),
    ("mcp", "budget", Rule::LowerBudget),
    ("mcp", "in_lanes", Rule::Own("a committed file cannot give your lanes Convoke's tools")),
];

/// A project must not choose where a user's data is stored.
const STORE: &str = "a project cannot choose where your data is kept";

/// A project must not choose where a user's telemetry goes, nor what is in it.
const TELEMETRY: &str = "a project cannot choose where your data is sent";

/// A project must not choose which machines run a user's agents.
const MACHINES: &str = "a project cannot choose which machines run your agents";

/// A project must not choose which programs a user runs.
const PROGRAMS: &str = "a project cannot choose which programs you run";

const LOOSER: &str = "a committed file can make this check stricter, not looser";
const MORE: &str = "a committed file can switch tools off, not on";
const SEED: &str = "a committed file cannot choose the original's reading";
const OUTSIDE: &str = "a committed file cannot name a folder outside the project";
const KIND: &str = "a committed file cannot turn a known reviewer into another kind of role";

/// A key that was left out, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    /// The key with its section.
    pub(super) key: String,
    /// Why a file of this author may not set it.
    pub(super) reason: &'static str,
}

/// Returns the author of `convoke.local.toml`. It calls git only if the author matters.
pub(super) fn local_author(project: &Path, table: &Table) -> Author {
    let matters = RULES.iter().any(|(section, key, _)| at(table, section, key).is_some());
    match matters.then(|| tracking(project, LOCAL_FILE)) {
        Some(GitTracking::Tracked) => Author::Committer,
        // A project unpacked into an ignored folder, such as `node_modules`, has another author.
        Some(GitTracking::Untracked) if is_left_out(project) => Author::Committer,
        Some(GitTracking::Untracked) | None => Author::User,
    }
}

/// A project's file, and what its values are judged against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    /// The file's author.
    pub(super) author: Author,
    /// The project's folder.
    pub(super) project: &'a Path,
    /// The user's own file.
    pub(super) user: &'a Table,
}

/// Takes out of a project's file what its author may not set.
pub(super) fn sift(table: &mut Table, origin: Origin<'_>) -> Vec<Refused> {
    let mut refused = Vec::new();
    let sections =
        [("store", STORE), ("acp", PROGRAMS), ("telemetry", TELEMETRY), ("fleet", MACHINES)];
    for (section, reason) in sections {
        if table.remove(section).is_some() {
            refused.push(Refused { key: section.to_owned(), reason });
        }
    }
    for (section, key, rule) in RULES {
        let user = at(origin.user, section, key);
        let Some(Value::Table(values)) = table.get_mut(section) else { continue };
        if matches!((rule, origin.author), (Rule::Roles, Author::Committer)) {
            refused.extend(
                values.get_mut(key).map(|roles| sift_roles(roles, user)).into_iter().flatten(),
            );
            continue;
        }
        let Some(value) = values.get(key) else { continue };
        let Some(reason) = rule.refuses(value, user, origin) else { continue };
        values.remove(key);
        refused.push(Refused { key: format!("{section}.{key}"), reason });
    }
    refused
}

/// Removes from a committed table of roles the keys that weaken a role that the user knows: its
/// proof of reading, and whether it is a reviewer.
fn sift_roles(roles: &mut Value, user: Option<&Value>) -> Vec<Refused> {
    let known = Roles::default();
    let mut refused = Vec::new();
    for (name, role) in roles.as_table_mut().into_iter().flatten() {
        let Some(keys) = role.as_table_mut() else { continue };
        let own = |key: &str| user?.get(name)?.get(key);
        let built_in = RoleName::parse(name).ok().and_then(|name| known.find(&name));
        let is_known = built_in.is_some() || user.is_some_and(|roles| roles.get(name).is_some());
        let noun = || own("noun").and_then(Value::as_str).or(built_in.map(|role| role.noun.word()));
        let form = || own("form").and_then(Value::as_str).or(built_in.map(|role| role.form.name()));
        let differs = |key: &str, known: Option<&str>| {
            let given = keys.get(key).and_then(Value::as_str);
            is_known && given.is_some_and(|given| given != known.unwrap_or("review"))
        };
        let unproves = keys.get("require_proof") == Some(&Value::Boolean(false))
            && own("require_proof") == Some(&Value::Boolean(true));
        let found = [
            ("noun", differs("noun", noun()), KIND),
            ("form", differs("form", form()), KIND),
            ("require_proof", unproves, LOOSER),
        ];
        for (key, _, reason) in found.into_iter().filter(|(_, is_refused, _)| *is_refused) {
            keys.remove(key);
            let name = name.escape_debug();
            refused.push(Refused { key: format!("dispatch.roles.\"{name}\".{key}"), reason });
        }
    }
    refused
}

fn at<'a>(table: &'a Table, section: &str, key: &str) -> Option<&'a Value> {
    table.get(section)?.get(key)
}

impl Rule {
    /// Returns why a file may not set a value. A value of the wrong kind is an error later.
    fn refuses(
        self,
        value: &Value,
        user: Option<&Value>,
        origin: Origin<'_>,
    ) -> Option<&'static str> {
        let raises = || "a committed file can lower this limit, not raise it";
        match (self, origin.author) {
            (Self::UsersFile(reason), _) | (Self::Own(reason), Author::Committer) => Some(reason),
            (_, Author::User) | (Self::Roles, Author::Committer) => None,
            (Self::Lower(default), Author::Committer) => {
                let most = user.and_then(whole).unwrap_or(default);
                (whole(value)? > most).then(raises)
            }
            (Self::LowerBudget, Author::Committer) => {
                is_higher(budget(value)?, budget(user?)?).then(raises)
            }
            (Self::Level, Author::Committer) => {
                let least = user.and_then(level).unwrap_or_default();
                is_looser(level(value)?, least).then_some(LOOSER)
            }
            (Self::NotSeed, Author::Committer) => {
                let is_seed = |value: &Value| value.as_str() == Some("seed");
                (is_seed(value) && !user.is_some_and(is_seed)).then_some(SEED)
            }
            (Self::On, Author::Committer) => {
                (!value.as_bool()? && user?.as_bool()?).then_some(LOOSER)
            }
            (Self::Fewer, Author::Committer) => {
                let most = user.and_then(tools).unwrap_or(WritingTool::ALL.to_vec());
                (!tools(value)?.iter().all(|tool| most.contains(tool))).then_some(MORE)
            }
            (Self::Inside, Author::Committer) => {
                let folder = Path::new(value.as_str()?);
                (!stays_inside(origin.project, folder)).then_some(OUTSIDE)
            }
        }
    }
}

fn level(value: &Value) -> Option<ConfirmationLevel> {
    ConfirmationLevel::parse(value.as_str()?)
}

/// Levels are listed from the strictest on.
fn is_looser(level: ConfirmationLevel, than: ConfirmationLevel) -> bool {
    let place = |level| ConfirmationLevel::ALL.iter().position(|known| *known == level);
    place(level) > place(than)
}

fn budget(value: &Value) -> Option<LaneBudget> {
    LaneBudget::parse(value.as_str()?).ok()
}

/// Tokens and money cannot be compared; where a file limits one and the user the other, both hold.
fn is_higher(budget: LaneBudget, than: LaneBudget) -> bool {
    match (budget, than) {
        (LaneBudget::Tokens(one), LaneBudget::Tokens(other))
        | (LaneBudget::MicroDollars(one), LaneBudget::MicroDollars(other)) => one > other,
        (LaneBudget::Tokens(_), LaneBudget::MicroDollars(_))
        | (LaneBudget::MicroDollars(_), LaneBudget::Tokens(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Key, brief, dispatch, health, lane, pack, wake};
    use super::*;

    fn sifted(file: &str, author: Author, user: &str) -> (Table, String) {
        let mut table: Table = file.parse().unwrap();
        let (project, user) = (tempfile::tempdir().unwrap(), user.parse().unwrap());
        #[cfg(unix)]
        std::os::unix::fs::symlink("/", project.path().join("out")).unwrap();
        let origin = Origin { author, project: project.path(), user: &user };
        let refused = sift(&mut table, origin);
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
            ("pack.design_budget = 12001", "", "pack.design_budget"),
            ("pack.design_budget = 0", "", ""),
            ("pack.pointers_budget = 2001", "", "pack.pointers_budget"),
            ("pack.pointers_budget = 0", "", ""),
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
    fn a_committed_file_makes_checks_stricter_and_never_looser() {
        let role =
            |keys: &str| format!("dispatch.roles.'implement/security-reviewer' = {{ {keys} }}");
        let own = |keys: &str| format!("dispatch.roles.'x/y' = {{ {keys} }}");
        let security = |key: &str| format!("dispatch.roles.\"implement/security-reviewer\".{key}");
        let committed = |file: &str, user: &str| sifted(file, Author::Committer, user).1;
        for (file, user, refused) in [
            (
                "dispatch.confirmation = 'loose'".into(),
                String::new(),
                "dispatch.confirmation".into(),
            ),
            (
                "dispatch.confirmation = 'seed'".into(),
                String::new(),
                "dispatch.confirmation".into(),
            ),
            ("dispatch.confirmation = 'strict'".into(), String::new(), String::new()),
            (
                "dispatch.confirmation = 'loose'".into(),
                "dispatch.confirmation = 'seed'".into(),
                "dispatch.confirmation".into(),
            ),
            (
                "dispatch.confirmation = 'strict'".into(),
                "dispatch.confirmation = 'loose'".into(),
                String::new(),
            ),
            (
                "wake.namespace_strict = false".into(),
                "wake.namespace_strict = true".into(),
                "wake.namespace_strict".into(),
            ),
            ("wake.namespace_strict = true".into(), String::new(), String::new()),
            ("wake.fit = 'seed'".into(), String::new(), "wake.fit".into()),
            ("wake.fit = 'kept'".into(), "wake.fit = 'seed'".into(), String::new()),
            ("wake.next_action = 'seed'".into(), String::new(), "wake.next_action".into()),
            ("wake.skill_choice = 'seed'".into(), String::new(), "wake.skill_choice".into()),
            ("wake.fit = 'seed'".into(), "wake.fit = 'seed'".into(), String::new()),
            ("wake.orchestrator = 'x'".into(), String::new(), "wake.orchestrator".into()),
            (
                role("require_proof = false"),
                role("require_proof = true"),
                security("require_proof"),
            ),
            (role("require_proof = false"), String::new(), String::new()),
            (role("require_proof = true"), String::new(), String::new()),
            (role("noun = 'work'"), String::new(), security("noun")),
            (role("form = 'phase'"), String::new(), security("form")),
            (role("form = 'review', noun = 'review'"), String::new(), String::new()),
            (own("noun = 'work', form = 'fix'"), String::new(), String::new()),
            (own("noun = 'work'"), own("diff = true"), "dispatch.roles.\"x/y\".noun".into()),
            (own("noun = 'work'"), own("noun = 'work'"), String::new()),
        ] {
            assert_eq!(committed(&file, &user), refused, "{file} over {user}");
            assert_eq!(sifted(&file, Author::User, &user).1, "", "{file} is the user's own");
        }
    }

    #[test]
    fn a_committed_file_switches_tools_off_and_never_on() {
        for (file, user, refused) in [
            ("mcp.allow = ['say']", "", ""),
            ("mcp.allow = []", "mcp.allow = ['say']", ""),
            ("mcp.allow = ['run_start']", "mcp.allow = ['say']", "mcp.allow"),
            ("mcp.budget = '3M'", "mcp.budget = '2M'", "mcp.budget"),
            ("mcp.budget = '1M'", "mcp.budget = '2M'", ""),
            ("mcp.in_lanes = true", "", "mcp.in_lanes"),
        ] {
            assert_eq!(sifted(file, Author::Committer, user).1, refused, "{file} over {user}");
            assert_eq!(sifted(file, Author::User, user).1, "", "{file} is the user's own");
        }
    }

    #[test]
    fn a_committed_file_names_no_folder_outside_the_project() {
        for (dir, is_refused) in [
            ("docs/design", false),
            ("./a/../b", false),
            ("/etc", true),
            ("..", true),
            ("../notes", true),
            ("a/../../notes", true),
            ("a/b/../../../notes/deep", true),
            #[cfg(unix)]
            ("out", true),
            #[cfg(unix)]
            ("out/home/notes", true),
        ] {
            let file = format!("brief.dir = '{dir}'");
            let refused = if is_refused { "brief.dir" } else { "" };
            assert_eq!(sifted(&file, Author::Committer, "").1, refused, "{dir}");
            assert_eq!(sifted(&file, Author::User, "").1, "", "{dir}");
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
                pack::SECTION => shown(&pack::KEYS, key),
                _ => shown(&lane::KEYS, key),
            };
            assert_eq!(shown, Some(default), "{section}.{key}");
        }
    }
}
