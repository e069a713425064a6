//! Our entries in clients' settings: adding them, counting them, and taking them out again.
//!
//! These functions turn one text into another; nothing else in a settings file is touched. A file
//! that is not the JSON its client expects is refused and left alone. opencode has no entries: it
//! loads a plugin, which is a file of our own.

pub mod claude_plugin;
mod plugin;
pub mod trust;

use std::path::{Path, PathBuf};

use convoke_domain::hook::Client;
use serde_json::{Map, Value, json};

use self::plugin::{is_our_plugin, plugin, plugin_program};

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

/// Whose settings hooks are written into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Those of a project.
    Project,
    /// Those of a user.
    User,
}

/// Returns a client's settings file below a project's folder, or a user's.
pub fn settings_file(client: Client, level: Level, base: &Path) -> PathBuf {
    base.join(match (client, level) {
        (Client::Claude, _) => ".claude/settings.json",
        (Client::Codex, _) => ".codex/hooks.json",
        (Client::Gemini, _) => ".gemini/settings.json",
        (Client::Cursor, _) => ".cursor/hooks.json",
        (Client::Opencode, Level::Project) => ".opencode/plugins/convoke.js",
        (Client::Opencode, Level::User) => ".config/opencode/plugins/convoke.js",
    })
}

/// Returns a program as a shell would call it.
fn shell_word(program: &Path) -> String {
    let path = program.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// The events that a client's sessions lose and regain their memory at.
const fn events(client: Client) -> &'static [&'static str] {
    match client {
        Client::Claude | Client::Codex => &["SessionStart", "UserPromptSubmit"],
        Client::Gemini => &["BeforeAgent"],
        Client::Cursor => &["sessionStart", "beforeSubmitPrompt", "preCompact"],
        Client::Opencode => &[],
    }
}

/// Adds our entries, in place of any that are there. Entries that are right already stay where they
/// are, because some clients trust an entry by its place.
pub fn install(
    settings: Option<&str>,
    client: Client,
    program: &Path,
    entries: usize,
) -> Result<String, SettingsError> {
    if client == Client::Opencode {
        return match settings {
            Some(text) if !is_our_plugin(text) => Err(unexpected("the file", "a plugin of ours")),
            Some(_) | None => Ok(plugin(program)),
        };
    }
    let program = shell_word(program);
    let entries = if client.cuts() { entries } else { 1 };
    let mut root = parse(settings.unwrap_or("{}"))?;
    let command = |event: &str, part| {
        format!("{program} hook {} {event} --part {part} --of {entries}", client.name())
    };
    let wanted = events(client).iter().flat_map(|event| (1..=entries).map(|it| command(event, it)));
    let wanted: Vec<_> = wanted.collect();
    let present = Value::Object(root.clone());
    let present = commands(&present).filter(|command| is_ours(command, client));
    if let Some(settings) = settings
        && present.eq(wanted.iter().map(String::as_str))
    {
        return Ok(settings.to_owned());
    }
    remove(&mut root, client)?;
    if client == Client::Cursor {
        root.entry("version").or_insert(json!(1));
    }
    let hooks = object(root.entry("hooks").or_insert(json!({})), "hooks")?;
    for event in events(client) {
        let ours = (1..=entries).map(|part| entry(client, &command(event, part)));
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

fn entry(client: Client, command: &str) -> Value {
    match client {
        // Gemini lists hooks by their names.
        Client::Gemini => json!({ "type": "command", "name": "convoke", "command": command }),
        Client::Claude | Client::Codex | Client::Cursor | Client::Opencode => {
            json!({ "type": "command", "command": command })
        }
    }
}

/// Returns what a file would hold without us. `remembered` is what it held before and after the last
/// install; while nobody has changed it since, it becomes what it was, byte for byte.
pub fn original(
    current: Option<&str>,
    remembered: Option<(Option<&str>, &str)>,
    client: Client,
) -> Result<Option<String>, SettingsError> {
    match (current, remembered) {
        (Some(current), Some((before, installed))) if current == installed => {
            Ok(before.map(str::to_owned))
        }
        (Some(current), _) if count(current, client)? > 0 => uninstall(current, client),
        (current, _) => Ok(current.map(str::to_owned)),
    }
}

/// Takes our entries out, and whatever is empty without them; `None` for a plugin, which is all ours.
pub fn uninstall(settings: &str, client: Client) -> Result<Option<String>, SettingsError> {
    if client == Client::Opencode {
        return Ok((!is_our_plugin(settings)).then(|| settings.to_owned()));
    }
    let mut root = parse(settings)?;
    remove(&mut root, client)?;
    Ok(Some(print(&root)))
}

/// Returns the programs that our entries call; a bare name is looked for on the PATH.
pub fn programs(settings: &str, client: Client) -> Result<Vec<PathBuf>, SettingsError> {
    if client == Client::Opencode {
        return Ok(plugin_program(settings).into_iter().collect());
    }
    let root = Value::Object(parse(settings)?);
    let ours = commands(&root).filter(|command| is_ours(command, client));
    Ok(ours.filter_map(called).collect())
}

/// Returns the program of a command that [`shell_word`] begins.
fn called(command: &str) -> Option<PathBuf> {
    let (word, _) = command.split_once(" hook ")?;
    let quoted = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\''));
    Some(PathBuf::from(quoted.map_or_else(|| word.to_owned(), |it| it.replace("'\\''", "'"))))
}

/// Counts our entries.
pub fn count(settings: &str, client: Client) -> Result<usize, SettingsError> {
    if client == Client::Opencode {
        return Ok(usize::from(is_our_plugin(settings)));
    }
    let before = parse(settings)?;
    Ok(commands(&Value::Object(before)).filter(|command| is_ours(command, client)).count())
}

fn remove(root: &mut Map<String, Value>, client: Client) -> Result<(), SettingsError> {
    let Some(hooks) = root.get_mut("hooks") else { return Ok(()) };
    let hooks = object(hooks, "hooks")?;
    let ours = |entry: &Value| {
        entry.get("command").and_then(Value::as_str).is_some_and(|it| is_ours(it, client))
    };
    let events: Vec<_> = hooks.keys().cloned().collect();
    for event in &events {
        let Some(list) = hooks.get_mut(event) else { continue };
        let before = list.clone();
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
        // A list that somebody else left empty stays.
        if list.is_empty() && before.as_array().is_some_and(|before| !before.is_empty()) {
            hooks.shift_remove(event);
        }
    }
    if hooks.is_empty() {
        root.shift_remove("hooks");
    }
    Ok(())
}

/// Tells our commands: whatever ends in the words we write, wherever the program lies and whatever
/// it is called, and whatever begins by calling `convoke hook`.
fn is_ours(command: &str, client: Client) -> bool {
    let words: Vec<_> = command.split_whitespace().collect();
    let written = match words.as_slice() {
        [_, .., "hook", name, _, "--part", _, "--of", _] => *name == client.name(),
        _ => false,
    };
    let program = words.first().map(|word| word.trim_matches(['\'', '"']));
    let is_convoke = program.and_then(|it| it.rsplit('/').next()) == Some("convoke");
    written || is_convoke && words.get(1..3) == Some(&["hook", client.name()])
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CONVOKE: &str = "/usr/bin/convoke";

    #[test]
    fn entries_are_added_beside_others_and_taken_out_again() {
        let before = r#"{"model":"x","hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"mine"}]}],"Stop":[]},"z":1}"#;
        let after = install(Some(before), Client::Claude, Path::new(CONVOKE), 2).unwrap();
        let value: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(value["hooks"]["SessionStart"][0]["hooks"][0]["command"], "mine");
        assert_eq!(
            value["hooks"]["SessionStart"][1]["hooks"][1]["command"],
            "/usr/bin/convoke hook claude SessionStart --part 2 --of 2"
        );
        assert_eq!(count(&after, Client::Claude).unwrap(), 4);
        assert_eq!(count(&after, Client::Codex).unwrap(), 0);
        let again = install(Some(&after), Client::Claude, Path::new(CONVOKE), 2).unwrap();
        assert_eq!(again, after, "installing twice changes nothing");
        let out = uninstall(&after, Client::Claude).unwrap().unwrap();
        let (out, before): (Value, Value) =
            (serde_json::from_str(&out).unwrap(), serde_json::from_str(before).unwrap());
        assert_eq!(out, before);
    }

    #[test]
    fn each_client_has_its_own_shape() {
        let cursor = install(None, Client::Cursor, Path::new(CONVOKE), 1).unwrap();
        let value: Value = serde_json::from_str(&cursor).unwrap();
        assert_eq!(value["version"], 1);
        let command = "/usr/bin/convoke hook cursor preCompact --part 1 --of 1";
        assert_eq!(value["hooks"]["preCompact"][0]["command"], command);
        let gemini = install(Some(""), Client::Gemini, Path::new(CONVOKE), 1).unwrap();
        assert_eq!(count(&gemini, Client::Gemini).unwrap(), 1);
        assert_eq!(uninstall(&gemini, Client::Gemini).unwrap().unwrap(), "{}\n");
    }

    #[test]
    fn a_file_of_another_shape_is_refused() {
        for text in ["{", "[]", "5", r#"{"hooks":[]}"#, r#"{"hooks":{"SessionStart":{}}}"#] {
            assert!(install(Some(text), Client::Claude, Path::new(CONVOKE), 1).is_err(), "{text}");
        }
        assert!(uninstall("// comment\n{}", Client::Claude).is_err());
    }

    // What a user added since the last install is never lost.
    #[test]
    fn a_file_becomes_what_it_would_be_without_us() {
        let convoke = Path::new(CONVOKE);
        let mine = "{ \"model\":\"a\" }";
        let ours = install(Some(mine), Client::Claude, convoke, 1).unwrap();
        let changed = ours.replacen("\"a\"", "\"b\"", 1);
        let remembered = Some((Some(mine), ours.as_str()));
        let of = |current: Option<&str>, remembered| {
            original(current, remembered, Client::Claude).unwrap()
        };
        assert_eq!(of(Some(&ours), remembered).as_deref(), Some(mine));
        let without = of(Some(&changed), remembered).unwrap();
        assert!(without.contains("\"b\"") && !without.contains("hooks"), "{without}");
        assert_eq!(of(Some("{\"new\":2}"), remembered).as_deref(), Some("{\"new\":2}"));
        assert_eq!(of(None, remembered), None);
        assert_eq!(of(Some(&ours), Some((None, &ours))), None);
    }

    // Codex trusts an entry by its place, so what is right already stays where it is.
    #[test]
    fn installing_again_changes_nothing() {
        let convoke = Path::new(CONVOKE);
        let ours = install(None, Client::Codex, convoke, 2).unwrap();
        let mut root: Value = serde_json::from_str(&ours).unwrap();
        let group = json!({ "hooks": [{ "type": "command", "command": "echo" }] });
        root["hooks"]["SessionStart"].as_array_mut().unwrap().push(group);
        let theirs_behind = root.to_string();
        assert_eq!(
            install(Some(&theirs_behind), Client::Codex, convoke, 2).unwrap(),
            theirs_behind
        );
        let moved = install(Some(&theirs_behind), Client::Codex, convoke, 3).unwrap();
        assert_eq!(count(&moved, Client::Codex).unwrap(), 6);
    }

    #[test]
    fn only_our_own_commands_are_ours() {
        for (command, expected) in [
            ("convoke hook claude SessionStart", true),
            ("'/opt/my tools/convoke' hook claude X --part 1 --of 4", true),
            ("env A=1 /x/convoke hook claude X --part 1 --of 4", true),
            ("./renamed hook claude SessionStart --part 2 --of 4", true),
            ("logger convoke hook claude done", false),
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
            let after = install(Some(&before), Client::Claude, Path::new(CONVOKE), 3).unwrap();
            prop_assert_eq!(uninstall(&after, Client::Claude).unwrap().unwrap(), before);
        }
    }
}
