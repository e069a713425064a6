//! Whether Codex runs Convoke's entries: it silently skips those that its user has not trusted.
//!
//! Trust is kept in `config.toml`, per file, event and place, with a hash of the entry. Convoke
//! only reads it; only the user can trust an entry.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use serde_json::{Value, json};
use toml::Table;

use crate::client::hook_wiring::START_AND_PROMPT;
use crate::hooks::command::is_ours;
use crate::skill::hash;

/// Codex's trust in Convoke's entries, from the worst to the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookTrust {
    /// The user has not decided, or refused.
    NotTrusted,
    /// An entry is not the one that was trusted.
    Changed,
    /// The user disabled one.
    Off,
    /// All of them run.
    Trusted,
}

impl HookTrust {
    /// Returns the words for it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotTrusted => "not trusted",
            Self::Changed => "changed since it was trusted",
            Self::Off => "switched off",
            Self::Trusted => "trusted",
        }
    }
}

/// Returns the lowest trust that Codex has in Convoke's entries of a settings file; `None` without
/// entries.
pub fn trust(settings: &str, path: &Path, config: &str) -> Option<HookTrust> {
    let settings: Value = serde_json::from_str(settings).ok()?;
    let config: Table = config.parse().unwrap_or_default();
    let state = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let mut all = Vec::new();
    for (event, groups) in settings.get("hooks")?.as_object()? {
        let groups = groups.as_array().into_iter().flatten();
        for (place, group) in groups.enumerate() {
            let entries = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            for (index, entry) in entries.enumerate().filter(|(_, entry)| is_our_entry(entry)) {
                let key = format!("{}:{}:{place}:{index}", path.display(), snake_case(event));
                all.push(of_entry(state.and_then(|state| state.get(&key)), event, group, entry));
            }
        }
    }
    all.into_iter().min()
}

/// Tells whether Codex reads the settings in a project's folder: the user has declared it trusted.
/// `roots` are the paths under which Codex may have recorded it.
pub fn trusts_folder(config: &str, roots: &[PathBuf]) -> bool {
    let config: Table = config.parse().unwrap_or_default();
    let level = |root: &PathBuf| {
        let project = config.get("projects")?.get(root.to_str()?)?;
        project.get("trust_level")?.as_str().map(str::to_owned)
    };
    roots.iter().find_map(level).as_deref() == Some("trusted")
}

fn is_our_entry(entry: &Value) -> bool {
    entry["command"]
        .as_str()
        .is_some_and(|command| is_ours(command, Client::Codex, START_AND_PROMPT))
}

fn of_entry(state: Option<&toml::Value>, event: &str, group: &Value, entry: &Value) -> HookTrust {
    let field = |name: &str| state.and_then(|state| state.get(name));
    let trusted = field("trusted_hash").and_then(toml::Value::as_str);
    let enabled = field("enabled").and_then(toml::Value::as_bool);
    match trusted {
        None => HookTrust::NotTrusted,
        Some(hash) if hash != fingerprint(event, group, entry) => HookTrust::Changed,
        Some(_) if enabled == Some(false) => HookTrust::Off,
        Some(_) => HookTrust::Trusted,
    }
}

/// The hash that Codex keeps: of the entry with its defaults, as compact JSON with sorted keys.
fn fingerprint(event: &str, group: &Value, entry: &Value) -> String {
    let own = |name: &str| entry.get(name).filter(|value| !value.is_null()).cloned();
    let mut command = BTreeMap::from([
        ("async", own("async").unwrap_or(json!(false))),
        ("command", entry["command"].clone()),
        ("timeout", own("timeout").unwrap_or(json!(600))),
        ("type", json!("command")),
    ]);
    command.extend(own("statusMessage").map(|words| ("statusMessage", words)));
    let mut identity =
        BTreeMap::from([("event_name", json!(snake_case(event))), ("hooks", json!([command]))]);
    let matcher = group.get("matcher").filter(|matcher| !matcher.is_null());
    // These events know no matchers.
    let matcher = matcher.filter(|_| !matches!(event, "UserPromptSubmit" | "Stop"));
    identity.extend(matcher.map(|matcher| ("matcher", matcher.clone())));
    format!("sha256:{}", hash(json!(identity).to_string()))
}

fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "/usr/bin/convoke hook codex SessionStart --part 1 --of 4";

    fn settings(command: &str) -> String {
        let entry = json!({ "type": "command", "command": command });
        json!({ "hooks": { "SessionStart": [{ "hooks": [entry] }] } }).to_string()
    }

    fn config(key: &str, rest: &str) -> String {
        let hash = fingerprint("SessionStart", &json!({}), &json!({ "command": COMMAND }));
        format!("[hooks.state.\"/p/hooks.json:{key}\"]\ntrusted_hash = \"{hash}\"\n{rest}")
    }

    #[test]
    fn a_folder_is_trusted_by_any_of_its_names() {
        let config = "[projects.\"/a/b\"]\ntrust_level = \"trusted\"\n[projects.\"/c\"]\n\
                      trust_level = \"untrusted\"\n";
        let trusts = |roots: &[&str]| {
            let roots: Vec<_> = roots.iter().map(PathBuf::from).collect();
            trusts_folder(config, &roots)
        };
        assert!(trusts(&["/a/b"]) && trusts(&["/link", "/a/b"]));
        assert!(!trusts(&["/c"]) && !trusts(&["/a"]) && !trusts(&[]));
        assert!(!trusts_folder("not toml [", &[PathBuf::from("/a/b")]));
    }

    // The least trusted entry counts, regardless of entries that others wrote.
    #[test]
    fn one_entry_that_is_not_trusted_is_enough() {
        let entry = |part: u8| {
            json!({ "type": "command",
            "command": COMMAND.replace("--part 1", &format!("--part {part}")) })
        };
        let settings = json!({ "hooks": {
            "Stop": [{ "matcher": "x" }, 5],
            "SessionStart": [{ "hooks": [entry(1), entry(2)] }],
        } });
        let trusted = config("session_start:0:0", "");
        let found = trust(&settings.to_string(), Path::new("/p/hooks.json"), &trusted);
        assert_eq!(found, Some(HookTrust::NotTrusted));
    }

    // Codex 0.166.0 wrote these hashes when a user trusted the entries.
    #[test]
    fn the_fingerprint_is_the_one_that_codex_keeps() {
        for (event, matcher, entry, hash) in [
            (
                "SessionStart",
                Some("startup"),
                json!({ "command": "/bin/true a" }),
                "93aca840ee037a8fdd23b84f3930acbafa56f6472b8690e7b85b80383d05bf9a",
            ),
            (
                "SessionStart",
                Some(""),
                json!({ "command": "/bin/true b", "timeout": 30 }),
                "f6ac1dbae824a0852e820b4305f5646b57b6b5c725e969e0ad3a139bff1977bb",
            ),
            (
                "SessionStart",
                Some("*"),
                json!({ "command": "/bin/true c", "timeout": 5, "statusMessage": "waking" }),
                "bcf2a092d843b6b5ddd451aff0acb3a5c7860df015b336f0fe3c2f6c7b9abf01",
            ),
            (
                "SessionStart",
                None,
                json!({ "command": "/bin/true é \"q\" / \\ <&>", "async": false }),
                "f346d82ec2d40cf68a1bd8bdce5958ad09060ec43d8625c1b37e4b7f50eddb75",
            ),
            (
                "UserPromptSubmit",
                Some("x"),
                json!({ "command": "/bin/true d" }),
                "840e6e07609e8a7059c4c3ff40efd8deb25831ab78430d21b4d4d600bfc4c930",
            ),
            (
                "Stop",
                None,
                json!({ "command": "/bin/true f", "timeout": 1200 }),
                "58f974b2f92f2e1aeb566bf57c38ff87bba1a0b42f7b6a5299ed3f64af2f398b",
            ),
        ] {
            let group = matcher.map_or(json!({}), |matcher| json!({ "matcher": matcher }));
            assert_eq!(fingerprint(event, &group, &entry), format!("sha256:{hash}"), "{entry}");
        }
    }

    #[test]
    fn trust_is_read_as_codex_keeps_it() {
        let path = Path::new("/p/hooks.json");
        let changed = settings(&COMMAND.replace("--of 4", "--of 5"));
        let ours = settings(COMMAND);
        let here = "session_start:0:0";
        for (settings, config, expected) in [
            (&ours, config(here, ""), Some(HookTrust::Trusted)),
            (&ours, config(here, "enabled = true"), Some(HookTrust::Trusted)),
            (&ours, config(here, "enabled = false"), Some(HookTrust::Off)),
            (&changed, config(here, ""), Some(HookTrust::Changed)),
            (&ours, config("session_start:1:0", ""), Some(HookTrust::NotTrusted)),
            (&ours, String::new(), Some(HookTrust::NotTrusted)),
            (&ours, "not toml [".to_owned(), Some(HookTrust::NotTrusted)),
            (&settings("echo"), config(here, ""), None),
            (&"{}".to_owned(), config(here, ""), None),
        ] {
            assert_eq!(trust(settings, path, &config), expected, "{settings} {config}");
        }
    }
}
