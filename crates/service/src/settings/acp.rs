//! The `[acp.NAME]` sections: agents that speak the Agent Client Protocol. Only a user's own file may
//! have them: a foreign project must not choose which programs its user runs.

use std::path::{Path, PathBuf};

use convoke_engine::client::acp::{KNOWN_AGENTS, known_agent};
use convoke_engine::lane::agent_ref::is_name;
use toml::{Table, Value};

use super::lane::is_passable;
use super::{unknown, wrong};
use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "acp";

/// Every setting of an agent: its name, what its value must be, and what it is for.
const KEYS: [(&str, &str, &str); 3] = [
    (
        "command",
        "a list of words such as [\"my-agent\", \"--acp\"]",
        "the program, by its name on the PATH or its absolute path, and its arguments; required",
    ),
    (
        "read_mode",
        "a mode of the agent",
        "the mode of lanes that may only read; without it, the agent's own. It stays unproven",
    ),
    (
        "variables",
        "a list of variables such as [\"MY_AGENT_KEY\"]",
        "environment variables that the agent may see beside those that every program needs",
    ),
];

/// An agent of the user's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredAgent {
    /// The program's name or absolute path.
    pub program: String,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// The mode of lanes that may only read.
    pub read_mode: Option<String>,
    /// Variables that it may see in addition.
    pub variables: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
enum AcpError {
    #[error("cannot find `[acp.{name}]` in your configuration")]
    Unknown { name: String },
    #[error("cannot use `acp.{name}`: command is missing")]
    NoCommand { name: String },
}

/// Returns an agent of the user's configuration, by any of its names; `None` for a known agent that
/// is not configured.
pub fn agent(session: &Session, name: &str) -> Result<Option<ConfiguredAgent>, Failure> {
    let (file, table) = users_file(session)?;
    let all = section(&table, &file)?;
    let known = known_agent(name);
    let aliases = known.into_iter().flat_map(|known| known.aliases.iter().copied());
    let mut names = std::iter::once(name).chain(aliases);
    let found = names.find_map(|name| Some((name, all?.get(name)?)));
    match (found, known) {
        (Some((name, values)), _) => read(name, values, &file).map(Some),
        (None, Some(_)) => Ok(None),
        (None, None) => {
            let mine = all.into_iter().flat_map(Table::keys).map(String::as_str);
            let names: Vec<_> = KNOWN_AGENTS.iter().map(|known| known.name).chain(mine).collect();
            let error = AcpError::Unknown { name: name.to_owned() };
            Err(Failure::new(ErrorClass::Usage, error)
                .maybe_hint(did_you_mean(name, names.iter().copied()))
                .hint(format!("put its command into `{}`", file.display()))
                .hint(format!("known agents: {}", names.join(", "))))
        }
    }
}

/// Returns the agents of the user's configuration, each with its name.
pub fn agents(session: &Session) -> Result<Vec<(String, ConfiguredAgent)>, Failure> {
    let (file, table) = users_file(session)?;
    let all = section(&table, &file)?.into_iter().flatten();
    all.map(|(name, values)| Ok((name.clone(), read(name, values, &file)?))).collect()
}

/// Returns a line for each mistake in the section of a file.
pub(super) fn mistakes(value: &Value, path: &Path) -> Vec<Failure> {
    let table = Table::from_iter([(SECTION.to_owned(), value.clone())]);
    match section(&table, path) {
        Err(failure) => vec![failure],
        Ok(all) => {
            let all = all.into_iter().flatten();
            all.filter_map(|(name, values)| read(name, values, path).err()).collect()
        }
    }
}

/// Returns the only file that may name agents, and what it says.
fn users_file(session: &Session) -> Result<(PathBuf, Table), Failure> {
    let files = session.settings.files();
    let Some(file) = files.user(session) else { return Ok((PathBuf::new(), Table::new())) };
    Ok((file.path.clone(), file.table()?.clone()))
}

fn section<'a>(table: &'a Table, file: &Path) -> Result<Option<&'a Table>, Failure> {
    let Some(all) = table.get(SECTION) else { return Ok(None) };
    let place = |name: &str| format!("{name}` in `{}", file.display());
    let all = all.as_table().ok_or_else(|| wrong(place(SECTION), "a table"))?;
    match all.keys().find(|name| !is_name(name)) {
        Some(name) => {
            let place = place(&format!("acp.{name}"));
            Err(wrong(place, "named with letters, digits, `-` and `_`"))
        }
        None => Ok(Some(all)),
    }
}

fn read(name: &str, values: &Value, file: &Path) -> Result<ConfiguredAgent, Failure> {
    let place = |key: &str| format!("acp.{name}{key}` in `{}", file.display());
    let Value::Table(values) = values else { return Err(wrong(place(""), "a table")) };
    let names = KEYS.map(|(key, ..)| key);
    if let Some(key) = values.keys().find(|key| !names.contains(&key.as_str())) {
        return Err(unknown(key, file, "key", &names));
    }
    let bad = |key: &str| {
        let expected = KEYS.iter().find(|(known, ..)| *known == key).map_or("", |known| known.1);
        wrong(place(&format!(".{key}")), expected)
    };
    let Some(command) = values.get("command") else {
        let error = AcpError::NoCommand { name: name.to_owned() };
        return Err(
            Failure::new(ErrorClass::Usage, error).hint(format!("add it in `{}`", file.display()))
        );
    };
    let mut words =
        list(command).filter(|words| is_command(words)).ok_or_else(|| bad("command"))?;
    let program = words.remove(0);
    let read_mode = match values.get("read_mode") {
        None => None,
        Some(mode) => Some(word(mode).ok_or_else(|| bad("read_mode"))?),
    };
    let variables = match values.get("variables") {
        None => Vec::new(),
        Some(value) => list(value)
            .filter(|names| names.iter().all(|name| is_passable(name)))
            .ok_or_else(|| bad("variables"))?,
    };
    Ok(ConfiguredAgent { program, arguments: words, read_mode, variables })
}

/// A program is known by its name or its whole path: a relative one would depend on the project.
fn is_command(words: &[String]) -> bool {
    let is_program = |program: &String| {
        !program.trim().is_empty() && (!program.contains('/') || Path::new(program).is_absolute())
    };
    words.first().is_some_and(is_program) && words.iter().all(|word| !word.contains('\0'))
}

fn list(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

fn word(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    (!text.is_empty() && !text.contains(char::is_control)).then(|| text.to_owned())
}

/// Renders the section's part of the reference page.
pub fn reference() -> String {
    let rows =
        KEYS.map(|(name, expected, meaning)| format!("| `{name}` | {expected} | {meaning} |\n"));
    format!(
        "## `[acp.NAME]`\n\n\
         An agent that speaks the Agent Client Protocol, for `--agent acp:NAME`. Only your own `config.toml` may have these sections: a project must not choose which programs you run. \
         With the name of a known agent ({}), the section replaces its command and keeps its safe mode.\n\n\
         | key | value | meaning |\n|---|---|---|\n{}",
        KNOWN_AGENTS.iter().map(|known| format!("`{}`", known.name)).collect::<Vec<_>>().join(", "),
        rows.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ConfiguredAgent, String> {
        let table: Table = text.parse().unwrap();
        let (name, values) = table[SECTION].as_table().unwrap().iter().next().unwrap();
        super::read(name, values, Path::new("/c")).map_err(|failure| failure.error.to_string())
    }

    #[test]
    fn an_agent_is_a_command_and_what_it_may_see() {
        let text =
            "[acp.mine]\ncommand = ['mine', '--acp']\nread_mode = 'ask'\nvariables = ['MINE_KEY']";
        let expected = ConfiguredAgent {
            program: "mine".to_owned(),
            arguments: vec!["--acp".to_owned()],
            read_mode: Some("ask".to_owned()),
            variables: vec!["MINE_KEY".to_owned()],
        };
        assert_eq!(read(text), Ok(expected));
    }

    #[test]
    fn a_mistake_is_named() {
        for (line, words) in [
            ("read_mode = 'ask'", "command is missing"),
            ("command = 'mine'", "acp.x.command"),
            ("command = []", "acp.x.command"),
            ("command = ['./mine']", "acp.x.command"),
            ("command = ['bin/mine']", "acp.x.command"),
            ("command = [7]", "acp.x.command"),
            ("command = ['mine']\nread_mode = ''", "acp.x.read_mode"),
            ("command = ['mine']\nvariables = ['LD_PRELOAD']", "acp.x.variables"),
            ("command = ['mine']\nmode = 'x'", "no such key"),
        ] {
            let error = read(&format!("[acp.x]\n{line}")).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
