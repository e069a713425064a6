//! Our entries in clients' settings: adding them, counting them, and taking them out again.
//!
//! These functions turn one text into another; nothing else in a settings file is touched. A file
//! that is not the JSON its client expects is refused and left alone.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use convoke_domain::hook::Client;
use serde_json::{Map, Value, json};

/// A settings file that cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// It is not JSON.
    #[error("it is not valid JSON: {detail}")]
    Malformed {
        /// What is wrong with it.
        detail: String,
    },
    /// It is JSON of another shape.
    #[error("`{place}` is not {expected}")]
    Unexpected {
        /// Where.
        place: String,
        /// What should be there.
        expected: &'static str,
    },
}

/// Returns a client's settings file below a project or home; `None` if it has none that we know.
pub fn settings_file(client: Client, base: &Path) -> Option<PathBuf> {
    let file = match client {
        Client::Claude => ".claude/settings.json",
        Client::Codex => ".codex/hooks.json",
        Client::Gemini => ".gemini/settings.json",
        Client::Cursor => ".cursor/hooks.json",
        Client::Opencode => return None,
    };
    Some(base.join(file))
}

/// The events that a client's sessions lose and regain their memory at.
const fn events(client: Client) -> &'static [&'static str] {
    match client {
        Client::Claude | Client::Codex => &["SessionStart", "UserPromptSubmit"],
        Client::Gemini => &["SessionStart", "BeforeAgent", "PreCompress"],
        Client::Cursor => &["sessionStart", "beforeSubmitPrompt", "preCompact"],
        Client::Opencode => &[],
    }
}

/// Adds our entries, in place of any that are there.
pub fn install(
    settings: Option<&str>,
    client: Client,
    program: &str,
    entries: usize,
) -> Result<String, SettingsError> {
    let mut root = parse(settings.unwrap_or("{}"))?;
    remove(&mut root, client)?;
    if client == Client::Cursor {
        root.entry("version").or_insert(json!(1));
    }
    let hooks = object(root.entry("hooks").or_insert(json!({})), "hooks")?;
    for event in events(client) {
        let ours = (1..=entries).map(|part| {
            let command =
                format!("{program} hook {} {event} --part {part} --of {entries}", client.name());
            json!({ "type": "command", "command": command })
        });
        let list = hooks.entry(*event).or_insert(json!([]));
        let list = array(list, event)?;
        match client {
            Client::Cursor => list.extend(ours),
            Client::Claude | Client::Codex | Client::Gemini | Client::Opencode => {
                list.push(json!({ "hooks": ours.collect::<Vec<_>>() }));
            }
        }
    }
    Ok(print(&root))
}

/// Takes our entries out, and whatever is empty without them.
pub fn uninstall(settings: &str, client: Client) -> Result<String, SettingsError> {
    let mut root = parse(settings)?;
    remove(&mut root, client)?;
    Ok(print(&root))
}

/// Counts our entries.
pub fn count(settings: &str, client: Client) -> Result<usize, SettingsError> {
    let before = parse(settings)?;
    Ok(commands(&Value::Object(before)).filter(|command| is_ours(command, client)).count())
}

fn remove(root: &mut Map<String, Value>, client: Client) -> Result<(), SettingsError> {
    let Some(hooks) = root.get_mut("hooks") else { return Ok(()) };
    let hooks = object(hooks, "hooks")?;
    let ours = |entry: &Value| {
        entry.get("command").and_then(Value::as_str).is_some_and(|it| is_ours(it, client))
    };
    for event in events(client) {
        let Some(list) = hooks.get_mut(*event) else { continue };
        let list = array(list, event)?;
        list.retain(|entry| !ours(entry));
        for group in list.iter_mut() {
            if let Some(Value::Array(entries)) = group.get_mut("hooks") {
                let before = entries.len();
                entries.retain(|entry| !ours(entry));
                if entries.is_empty() && before > 0 {
                    *group = Value::Null;
                }
            }
        }
        list.retain(|group| !group.is_null());
        if list.is_empty() {
            hooks.shift_remove(*event);
        }
    }
    if hooks.is_empty() {
        root.shift_remove("hooks");
    }
    Ok(())
}

/// Tells our commands by their program and words, wherever the program lies.
fn is_ours(command: &str, client: Client) -> bool {
    let words: Vec<_> = command.split_whitespace().collect();
    let is_program =
        |word: &&str| word.trim_matches(['\'', '"']).rsplit('/').next() == Some("convoke");
    words.windows(3).any(|it| is_program(&it[0]) && it[1] == "hook" && it[2] == client.name())
}

fn commands(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("command").and_then(Value::as_str);
            Box::new(own.into_iter().chain(fields.values().flat_map(commands)))
        }
        Value::Array(items) => Box::new(items.iter().flat_map(commands)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Box::new(std::iter::empty())
        }
    }
}

fn parse(settings: &str) -> Result<Map<String, Value>, SettingsError> {
    let text = if settings.trim().is_empty() { "{}" } else { settings };
    let value: Value = serde_json::from_str(text)
        .map_err(|error| SettingsError::Malformed { detail: error.to_string() })?;
    match value {
        Value::Object(root) => Ok(root),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(unexpected("the file", "an object"))
        }
    }
}

fn print(root: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(root).unwrap_or_default() + "\n"
}

fn object<'a>(
    value: &'a mut Value,
    place: &str,
) -> Result<&'a mut Map<String, Value>, SettingsError> {
    value.as_object_mut().ok_or_else(|| unexpected(place, "an object"))
}

fn array<'a>(value: &'a mut Value, place: &str) -> Result<&'a mut Vec<Value>, SettingsError> {
    value.as_array_mut().ok_or_else(|| unexpected(place, "a list"))
}

fn unexpected(place: &str, expected: &'static str) -> SettingsError {
    SettingsError::Unexpected { place: place.to_owned(), expected }
}

/// Replaces a file in one step, so that nobody ever reads half of it.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // A link is replaced where it points to, not itself.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut file = tempfile::NamedTempFile::new_in(target.parent().unwrap_or(folder))?;
    file.write_all(text.as_bytes())?;
    if let Ok(metadata) = fs::metadata(&target) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROGRAM: &str = "/usr/bin/convoke";

    #[test]
    fn entries_are_added_beside_others_and_taken_out_again() {
        let before = r#"{"model":"x","hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"mine"}]}],"Stop":[]},"z":1}"#;
        let after = install(Some(before), Client::Claude, PROGRAM, 2).unwrap();
        let value: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(value["hooks"]["SessionStart"][0]["hooks"][0]["command"], "mine");
        assert_eq!(
            value["hooks"]["SessionStart"][1]["hooks"][1]["command"],
            "/usr/bin/convoke hook claude SessionStart --part 2 --of 2"
        );
        assert_eq!(count(&after, Client::Claude).unwrap(), 4);
        assert_eq!(count(&after, Client::Codex).unwrap(), 0);
        let again = install(Some(&after), Client::Claude, PROGRAM, 2).unwrap();
        assert_eq!(again, after, "installing twice changes nothing");
        let out = uninstall(&after, Client::Claude).unwrap();
        let (out, before): (Value, Value) =
            (serde_json::from_str(&out).unwrap(), serde_json::from_str(before).unwrap());
        assert_eq!(out, before);
    }

    #[test]
    fn each_client_has_its_own_shape() {
        let cursor = install(None, Client::Cursor, PROGRAM, 1).unwrap();
        let value: Value = serde_json::from_str(&cursor).unwrap();
        assert_eq!(value["version"], 1);
        let command = "/usr/bin/convoke hook cursor preCompact --part 1 --of 1";
        assert_eq!(value["hooks"]["preCompact"][0]["command"], command);
        let gemini = install(Some(""), Client::Gemini, PROGRAM, 1).unwrap();
        assert_eq!(count(&gemini, Client::Gemini).unwrap(), 3);
        assert_eq!(uninstall(&gemini, Client::Gemini).unwrap(), "{}\n");
    }

    #[test]
    fn a_file_of_another_shape_is_refused() {
        for text in ["{", "[]", "5", r#"{"hooks":[]}"#, r#"{"hooks":{"SessionStart":{}}}"#] {
            assert!(install(Some(text), Client::Claude, PROGRAM, 1).is_err(), "{text}");
        }
        assert!(uninstall("// comment\n{}", Client::Claude).is_err());
    }

    #[test]
    fn only_our_own_commands_are_ours() {
        for (command, expected) in [
            ("convoke hook claude SessionStart", true),
            ("'/opt/my tools/convoke' hook claude X", true),
            ("env A=1 /x/convoke hook claude X", true),
            ("convoke hook codex X", false),
            ("other-convoke hook claude X", false),
            ("echo convoke", false),
        ] {
            assert_eq!(is_ours(command, Client::Claude), expected, "{command}");
        }
    }

    proptest! {
        #[test]
        fn any_settings_survive_the_round_trip(
            keys in prop::collection::vec("[a-z]{1,6}", 0..5), commands in prop::collection::vec("[a-z ]{0,9}", 0..4),
        ) {
            let mut root = Map::new();
            for key in keys.iter().filter(|key| *key != "hooks") {
                root.insert(key.clone(), json!([key, { "x": null }]));
            }
            if !commands.is_empty() {
                let entries: Vec<_> = commands.iter().map(|it| json!({ "type": "command", "command": it })).collect();
                root.insert("hooks".to_owned(), json!({ "SessionStart": [{ "hooks": entries }] }));
            }
            let before = print(&root);
            let after = install(Some(&before), Client::Claude, PROGRAM, 3).unwrap();
            prop_assert_eq!(uninstall(&after, Client::Claude).unwrap(), before);
        }
    }
}
