//! Convoke's entries in clients' settings: adds, counts and removes them.
//!
//! These functions turn one text into another by inserting and cutting; every other byte stays. A
//! file that is not the JSON its client expects is refused and left alone. A client's
//! [`HookWiring`] holds its events and its form.

pub mod binding;
pub(crate) mod command;
pub(crate) mod document;
mod entries;
pub mod server_entry;
mod server_toml;
mod splice;

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use serde_json::{Value, json};

use self::document::{Node, Shape};
use self::splice::{Edit, Layout, apply};
use crate::client::{
    EntryCount, HookWiring, PluginFile, SettingsForm, SettingsOwner, SettingsPlace, adapter,
};

/// The member of a settings file that has all hooks.
const HOOKS: &str = "hooks";

/// The member without which Cursor reads no hooks.
const VERSION: &str = "version";

/// A settings file that cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// It is not JSON.
    #[error("it is not valid JSON: line {line}, column {column}: {why}")]
    Malformed {
        /// In which line, from one.
        line: usize,
        /// At which character of it, from one.
        column: usize,
        /// The error.
        why: &'static str,
    },
    /// It is another plugin.
    #[error("the file is not Convoke's plugin; rename it, or delete it")]
    ForeignPlugin,
    /// It is Convoke's plugin, but not as this version writes it.
    #[error("the plugin differs from what this version of Convoke writes; delete the file by hand")]
    EditedPlugin,
    /// It is JSON of another shape.
    #[error("`{place}` is not {expected}")]
    Unexpected {
        /// The place in the file.
        place: String,
        /// The expected value.
        expected: &'static str,
    },
    /// It is not TOML.
    #[error("it is not valid TOML: {why}")]
    NotToml {
        /// What is wrong.
        why: String,
    },
    /// It has a server of the user's with Convoke's name.
    #[error("it has a server named `convoke` that Convoke did not write")]
    ForeignServer,
    /// It lists its servers in an inline table.
    #[error("`{place}` is an inline table, which Convoke cannot edit")]
    InlineTable {
        /// The table.
        place: &'static str,
    },
    /// Its client waits for its servers anyway.
    #[error("{client} waits for its MCP servers by itself")]
    WaitsAnyway {
        /// The client that was named.
        client: Client,
    },
    /// Its client takes no MCP server from Convoke.
    #[error("Convoke does not know where {client} lists MCP servers")]
    NoServers {
        /// The client that was named.
        client: Client,
    },
    /// Its client has no hooks that Convoke can use.
    #[error("{client} has no hooks that Convoke can use")]
    NoHooks {
        /// The client that was named.
        client: Client,
    },
}

fn wiring(client: Client) -> Result<&'static HookWiring, SettingsError> {
    adapter(client).hooks.as_ref().ok_or(SettingsError::NoHooks { client })
}

/// The level of the settings that hold the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HooksLevel {
    /// Those of a project.
    Project,
    /// Those of a user.
    User,
}

/// Returns the place of a client's settings file; `None` if the user has no home.
pub fn settings_place(
    client: Client,
    owner: SettingsOwner<'_>,
) -> Result<Option<SettingsPlace>, SettingsError> {
    let hooks = wiring(client)?;
    Ok(owner.place(hooks.project_file, &hooks.user_file))
}

/// Returns a file with Convoke's entries. `current` is its text; `bare`, its text without Convoke's
/// entries ([`original`]). Correct entries stay where they are, because some clients trust an entry
/// by its place.
pub fn install(
    current: Option<&str>,
    bare: Option<&str>,
    client: Client,
    program: &Path,
    entries: usize,
) -> Result<String, SettingsError> {
    let hooks = wiring(client)?;
    if let SettingsForm::Plugin(plugin) = hooks.form {
        return match current {
            Some(text) if !(plugin.is_ours)(text) => Err(SettingsError::ForeignPlugin),
            Some(_) | None => Ok((plugin.text)(program)),
        };
    }
    let entries = match hooks.entries {
        EntryCount::Several => entries,
        EntryCount::One => 1,
    };
    let wanted = Wanted { client, hooks, program, entries };
    match current {
        Some(text) if wanted.is_there(text)? => Ok(text.to_owned()),
        Some(_) | None => wanted.put_into(bare.unwrap_or_default()),
    }
}

/// The entries that a file is to have.
struct Wanted<'a> {
    client: Client,
    hooks: &'static HookWiring,
    program: &'a Path,
    entries: usize,
}

impl Wanted<'_> {
    fn commands(&self, event: &str) -> impl Iterator<Item = String> {
        (1..=self.entries)
            .map(move |part| command::line(self.program, self.client, event, part, self.entries))
    }

    fn is_there(&self, text: &str) -> Result<bool, SettingsError> {
        let root = object(text)?;
        let present = root.as_ref().map(|root| entries::ours(root, self.client));
        let present = present.unwrap_or_default();
        let is_right = |event: &&str| {
            let of_event = present.iter().filter(|(at, _)| at == event);
            of_event.map(|(_, command)| *command).eq(self.commands(event))
        };
        let events = self.hooks.events;
        Ok(present.len() == events.len() * self.entries && events.iter().all(is_right))
    }

    fn put_into(&self, text: &str) -> Result<String, SettingsError> {
        let root = object(text)?;
        let layout = Layout::of(text, root.as_ref());
        let Some(root) = &root else {
            let members = self.root_members(None).into_iter();
            let members = members.map(|(key, value)| (key.unwrap_or_default().to_owned(), value));
            return Ok(layout.file_below(text, &Value::Object(members.collect())));
        };
        let mut edits = layout.append(root, &self.root_members(Some(root)));
        if let Some(hooks) = root.member(HOOKS) {
            edits.extend(self.put_into_hooks(&layout, hooks)?);
        }
        Ok(apply(text, edits))
    }

    /// Returns the missing members at the top of a file.
    fn root_members(&self, root: Option<&Node>) -> Vec<(Option<&'static str>, Value)> {
        let is_missing = |key: &str| root.is_none_or(|root| root.member(key).is_none());
        let mut members = Vec::new();
        if matches!(self.hooks.form, SettingsForm::Entries) && is_missing(VERSION) {
            members.push((Some(VERSION), json!(1)));
        }
        if is_missing(HOOKS) {
            let all = self.hooks.events.iter();
            let all = all.map(|event| ((*event).to_owned(), Value::Array(self.list(event))));
            members.push((Some(HOOKS), Value::Object(all.collect())));
        }
        members
    }

    fn put_into_hooks(
        &self,
        layout: &Layout<'_>,
        hooks: &Node,
    ) -> Result<Vec<Edit>, SettingsError> {
        if !matches!(hooks.shape, Shape::Object(_)) {
            return Err(unexpected(HOOKS, "an object"));
        }
        let (mut edits, mut missing) = (Vec::new(), Vec::new());
        for event in self.hooks.events {
            match hooks.member(event) {
                None => missing.push((Some(*event), Value::Array(self.list(event)))),
                Some(list) if matches!(list.shape, Shape::Array(_)) => {
                    let items: Vec<_> =
                        self.list(event).into_iter().map(|value| (None, value)).collect();
                    edits.extend(layout.append(list, &items));
                }
                Some(_) => return Err(unexpected(event, "a list")),
            }
        }
        edits.extend(layout.append(hooks, &missing));
        Ok(edits)
    }

    /// Returns what the list of an event is to have.
    fn list(&self, event: &str) -> Vec<Value> {
        let named = |name: Option<&str>| {
            self.commands(event).map(|command| entry(name, &command)).collect::<Vec<_>>()
        };
        match self.hooks.form {
            SettingsForm::Entries => named(None),
            SettingsForm::Groups { name } => vec![json!({ "hooks": named(name) })],
            SettingsForm::Plugin(_) => Vec::new(),
        }
    }
}

fn entry(name: Option<&str>, command: &str) -> Value {
    match name {
        Some(name) => json!({ "type": "command", "name": name, "command": command }),
        None => json!({ "type": "command", "command": command }),
    }
}

/// Returns a file's text without Convoke's entries. `remembered` is its text before and after the
/// last install; a file that did not change since returns to its earlier text, byte for byte.
pub fn original(
    current: Option<&str>,
    remembered: Option<(Option<&str>, &str)>,
    client: Client,
) -> Result<Option<String>, SettingsError> {
    match (current, remembered) {
        (Some(current), Some((before, installed))) if current == installed => {
            let former = before.map_or(FormerFile::Absent, FormerFile::Text);
            // A text that is not valid settings was not recorded by Convoke.
            let left = uninstall(current, former, client)
                .or_else(|_| uninstall(current, FormerFile::Unknown, client))?;
            Ok(trusted(before, left))
        }
        (Some(current), remembered) if count(current, client)? > 0 => {
            let former = match remembered {
                None => FormerFile::Unknown,
                Some((None, _)) => FormerFile::Absent,
                Some((Some(before), _)) => FormerFile::Text(before),
            };
            uninstall(current, former, client)
        }
        (current, _) => Ok(current.map(str::to_owned)),
    }
}

/// Returns the recorded original text of a file, unless it differs in more than blanks and commas
/// from the file without Convoke's entries: an imported store could hold any text.
pub fn trusted(remembered: Option<&str>, left: Option<String>) -> Option<String> {
    let bare = |text: Option<&str>| {
        let is_kept = |c: &char| !c.is_whitespace() && !",\u{feff}".contains(*c);
        text.unwrap_or_default().chars().filter(is_kept).collect::<String>()
    };
    if bare(remembered) == bare(left.as_deref()) { remembered.map(str::to_owned) } else { left }
}

/// A file's text before Convoke's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormerFile<'a> {
    /// That was not remembered.
    Unknown,
    /// There was no file.
    Absent,
    /// It held this.
    Text(&'a str),
}

/// Removes Convoke's entries, and nothing else. Containers that become empty are removed too,
/// unless they were empty before, as far as that is known. `None` if the file held nothing else.
pub fn uninstall(
    settings: &str,
    former: FormerFile<'_>,
    client: Client,
) -> Result<Option<String>, SettingsError> {
    if let SettingsForm::Plugin(plugin) = wiring(client)?.form {
        return without_plugin(settings, plugin);
    }
    let (text, bare_root) = entries::take_out(settings, former, client)?;
    let Some(root) = bare_root else { return Ok(Some(text)) };
    let around = around(&text, &root);
    Ok(match former {
        FormerFile::Absent if bare(&around).is_empty() => None,
        // Convoke puts an object into a file without a value; comments around it are the user's.
        FormerFile::Text(former) if object(former)?.is_none() => {
            let is_as_before = bare(&around) == bare(former);
            Some(if is_as_before { former.to_owned() } else { around })
        }
        FormerFile::Absent | FormerFile::Text(_) | FormerFile::Unknown => Some(text),
    })
}

/// Returns a text without the value in it.
fn around(text: &str, value: &Node) -> String {
    format!("{}{}", &text[..value.span.start], &text[value.span.end..])
}

/// Returns a text without the blanks and the mark around it.
fn bare(text: &str) -> &str {
    text.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
}

/// Removes Convoke's plugin from a file; `None` if nothing else is in it. The user's text behind it
/// stays.
fn without_plugin(text: &str, plugin: &PluginFile) -> Result<Option<String>, SettingsError> {
    let Some(program) = (plugin.program)(text) else {
        return if (plugin.is_ours)(text) {
            Err(SettingsError::EditedPlugin)
        } else {
            Ok(Some(text.to_owned()))
        };
    };
    match text.strip_prefix((plugin.text)(&program).as_str()) {
        Some(rest) if rest.trim().is_empty() => Ok(None),
        Some(rest) => Ok(Some(rest.to_owned())),
        None => Err(SettingsError::EditedPlugin),
    }
}

/// Returns the programs that Convoke's entries call; a bare name is searched on the PATH.
pub fn programs(settings: &str, client: Client) -> Result<Vec<PathBuf>, SettingsError> {
    if let SettingsForm::Plugin(plugin) = wiring(client)?.form {
        return Ok((plugin.program)(settings).into_iter().collect());
    }
    let Some(root) = object(settings)? else { return Ok(Vec::new()) };
    let ours = entries::ours(&root, client).into_iter();
    Ok(ours.filter_map(|(_, command)| command::program(command)).collect())
}

/// Counts Convoke's entries.
pub fn count(settings: &str, client: Client) -> Result<usize, SettingsError> {
    if let SettingsForm::Plugin(plugin) = wiring(client)?.form {
        return Ok(usize::from((plugin.is_ours)(settings)));
    }
    Ok(object(settings)?.map_or(0, |root| entries::ours(&root, client).len()))
}

/// Returns the commands of a user that call Convoke's hook in words of their own; they stay.
pub fn commands_of_user(settings: &str, client: Client) -> Result<Vec<String>, SettingsError> {
    if let SettingsForm::Plugin(_) = wiring(client)?.form {
        return Ok(Vec::new());
    }
    let Some(root) = object(settings)? else { return Ok(Vec::new()) };
    Ok(entries::of_user(&root, client).into_iter().map(str::to_owned).collect())
}

/// Reads a settings file; `None` if there is no value in it.
fn object(settings: &str) -> Result<Option<Node>, SettingsError> {
    match document::parse(settings)? {
        Some(root) if !matches!(root.shape, Shape::Object(_)) => {
            Err(unexpected("the file", "an object"))
        }
        root => Ok(root),
    }
}

fn unexpected(place: &str, expected: &'static str) -> SettingsError {
    SettingsError::Unexpected { place: place.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONVOKE: &str = "/usr/bin/convoke";

    fn installed(text: Option<&str>, client: Client, entries: usize) -> String {
        install(text, text, client, Path::new(CONVOKE), entries).unwrap()
    }

    // The user's text between or behind Convoke's lines stays.
    #[test]
    fn comments_of_the_user_outlive_our_entries() {
        let text = installed(Some("{}\n"), Client::Claude, 2);
        let between = text.find("--part 2").unwrap();
        let line = text[..between].rfind('{').unwrap();
        let noted = format!("{}// my note\n{}", &text[..line], &text[line..]);
        let left = uninstall(&noted, FormerFile::Text("{}\n"), Client::Claude).unwrap().unwrap();
        assert!(left.contains("// my note") && !left.contains("convoke hook"), "{left}");
        assert_eq!(count(&left, Client::Claude).unwrap(), 0);
        let ours = installed(None, Client::Opencode, 1);
        let gone = |text: &str| uninstall(text, FormerFile::Absent, Client::Opencode);
        assert_eq!(gone(&ours).unwrap(), None);
        assert_eq!(gone(&format!("{ours}// mine\n")).unwrap().as_deref(), Some("// mine\n"));
        let edited = ours.replacen("const PROGRAM", "// mine\nconst PROGRAM", 1);
        assert_eq!(gone(&edited), Err(SettingsError::EditedPlugin));
        assert_eq!(gone(&format!("// mine\n{ours}")), Err(SettingsError::EditedPlugin));
        assert_eq!(gone("// another\n").unwrap().as_deref(), Some("// another\n"));
    }

    #[test]
    fn entries_are_written_as_the_file_around_them() {
        let tabs =
            "{\r\n\t\"model\": \"opus\", // mine\r\n\t\"big\": 12345678901234567890123\r\n}\r\n";
        let after = installed(Some(tabs), Client::Gemini, 1);
        let command = command::line(Path::new(CONVOKE), Client::Gemini, "BeforeAgent", 1, 1);
        let expected = format!(
            "{{\r\n\t\"model\": \"opus\", // mine\r\n\t\"big\": 12345678901234567890123,\r\n\
             \t\"hooks\": {{\r\n\t\t\"BeforeAgent\": [\r\n\t\t\t{{\r\n\t\t\t\t\"hooks\": [\r\n\
             \t\t\t\t\t{{\r\n\t\t\t\t\t\t\"type\": \"command\",\r\n\
             \t\t\t\t\t\t\"name\": \"convoke\",\r\n\t\t\t\t\t\t\"command\": {}\r\n\t\t\t\t\t}}\r\n\
             \t\t\t\t]\r\n\t\t\t}}\r\n\t\t]\r\n\t}}\r\n}}\r\n",
            json!(command)
        );
        assert_eq!(after, expected);
        let tight = installed(Some("{\"a\":1}"), Client::Gemini, 1);
        assert!(
            tight.starts_with("{\"a\":1,\"hooks\":{\"BeforeAgent\":[{\"hooks\":[{\"type\""),
            "{tight}"
        );
    }

    #[test]
    fn each_client_has_its_own_shape() {
        let cursor = installed(None, Client::Cursor, 1);
        let value: Value = serde_json::from_str(&cursor).unwrap();
        assert_eq!(value["version"], 1);
        let command = "[ -x /usr/bin/convoke ] && exec /usr/bin/convoke hook cursor preCompact \
                       --part 1 --of 1 || true";
        assert_eq!(value["hooks"]["preCompact"][0]["command"], command);
        let gemini = installed(Some(""), Client::Gemini, 1);
        assert_eq!(count(&gemini, Client::Gemini).unwrap(), 1);
        assert_eq!(
            uninstall(&gemini, FormerFile::Unknown, Client::Gemini).unwrap().unwrap(),
            "{}\n"
        );
    }

    #[test]
    fn a_file_of_another_shape_is_refused() {
        for text in ["{", "[]", "5", r#"{"hooks":[]}"#, r#"{"hooks":{"SessionStart":{}}}"#] {
            let done = install(Some(text), Some(text), Client::Claude, Path::new(CONVOKE), 1);
            assert!(done.is_err(), "{text}");
        }
        assert!(uninstall("{\"a\": 1 \"b\"}", FormerFile::Unknown, Client::Claude).is_err());
    }

    // A user's additions since the last install are never lost.
    #[test]
    fn a_file_becomes_what_it_would_be_without_us() {
        let mine = "{ \"model\":\"a\" }";
        let ours = installed(Some(mine), Client::Claude, 1);
        let changed = ours.replacen("\"a\"", "\"b\"", 1);
        let remembered = Some((Some(mine), ours.as_str()));
        let of = |current: Option<&str>, remembered| {
            original(current, remembered, Client::Claude).unwrap()
        };
        assert_eq!(of(Some(&ours), remembered).as_deref(), Some(mine));
        assert_eq!(of(Some(&changed), remembered).as_deref(), Some("{ \"model\":\"b\" }"));
        assert_eq!(of(Some("{\"new\":2}"), remembered).as_deref(), Some("{\"new\":2}"));
        assert_eq!(of(None, remembered), None);
        let alone = installed(None, Client::Claude, 1);
        assert_eq!(of(Some(&alone), Some((None, &alone))), None);
        // A memory that does not fit the file takes nothing away.
        assert_eq!(of(Some(&ours), Some((None, &ours))).as_deref(), Some(mine));
    }

    // Codex trusts an entry by its place, so a correct entry stays where it is.
    #[test]
    fn installing_again_changes_nothing() {
        let ours = installed(None, Client::Codex, 2);
        let mut root: Value = serde_json::from_str(&ours).unwrap();
        let group = json!({ "hooks": [{ "type": "command", "command": "echo" }] });
        root["hooks"]["SessionStart"].as_array_mut().unwrap().push(group);
        let theirs_behind = root.to_string();
        assert_eq!(installed(Some(&theirs_behind), Client::Codex, 2), theirs_behind);
        let bare = uninstall(&theirs_behind, FormerFile::Unknown, Client::Codex).unwrap();
        let convoke = Path::new(CONVOKE);
        let moved =
            install(Some(&theirs_behind), bare.as_deref(), Client::Codex, convoke, 3).unwrap();
        assert_eq!(count(&moved, Client::Codex).unwrap(), 6);
    }

    // Entries of an older form are known, replaced and taken out.
    #[test]
    fn older_entries_are_replaced() {
        let old = r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"/old/convoke hook claude SessionStart --part 1 --of 1"}]}],"UserPromptSubmit":[{"hooks":[{"type":"command","command":"/old/convoke hook claude UserPromptSubmit --part 1 --of 1"}]}]}}"#;
        assert_eq!(count(old, Client::Claude).unwrap(), 2);
        assert_eq!(programs(old, Client::Claude).unwrap()[0], Path::new("/old/convoke"));
        let bare = original(Some(old), None, Client::Claude).unwrap();
        assert_eq!(bare.as_deref(), Some("{}"));
        let convoke = Path::new("convoke");
        let new = install(Some(old), bare.as_deref(), Client::Claude, convoke, 1).unwrap();
        assert!(!new.contains("/old") && count(&new, Client::Claude).unwrap() == 2, "{new}");
    }
}
