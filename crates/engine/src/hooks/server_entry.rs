//! The entry of Convoke's MCP server in a client's settings: putting it in, finding it, and taking it
//! out. Every byte that is not ours stays.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use serde_json::{Value, json};
use toml::Table;

use super::document::{Node, Shape};
use super::splice::{Layout, apply, take_out};
use super::{HooksLevel, SettingsError, object, unexpected};
use crate::client::{ServerForm, ServerWiring, adapter};

/// What clients call the server.
const NAME: &str = "convoke";

/// The table of a TOML file that lists servers.
const TOML_SECTION: &str = "mcp_servers";

/// The first line of our part of a TOML file.
const TOML_HEADER: &str = "[mcp_servers.convoke]";

fn wiring(client: Client) -> Result<&'static ServerWiring, SettingsError> {
    adapter(client).server.as_ref().ok_or(SettingsError::NoServers { client })
}

/// Returns the file of a client that lists servers, below a project's folder or a user's.
pub fn server_file(
    client: Client,
    level: HooksLevel,
    base: &Path,
) -> Result<PathBuf, SettingsError> {
    let wiring = wiring(client)?;
    Ok(base.join(match level {
        HooksLevel::Project => wiring.project_file,
        HooksLevel::User => wiring.user_file,
    }))
}

/// Returns a file with our entry as it should be. `program` is how the settings name Convoke.
pub fn put_server(
    current: Option<&str>,
    client: Client,
    program: &str,
) -> Result<String, SettingsError> {
    let bare = current.map(|text| take_server(text, client)).transpose()?.flatten();
    let text = bare.as_deref().unwrap_or_default();
    match &wiring(client)?.form {
        ServerForm::Json { section, entry } => put_json(text, section, &entry(program)),
        ServerForm::Toml { beside } => put_toml(text, beside, program),
    }
}

/// Returns a file without our entry; `None` if nothing else is in it.
pub fn take_server(text: &str, client: Client) -> Result<Option<String>, SettingsError> {
    match &wiring(client)?.form {
        ServerForm::Json { section, .. } => take_json(text, section),
        ServerForm::Toml { .. } => take_toml(text),
    }
}

/// Tells whether a file has an entry of our name.
pub fn has_server(text: &str, client: Client) -> Result<bool, SettingsError> {
    Ok(match &wiring(client)?.form {
        ServerForm::Json { section, .. } => {
            let root = object(text)?;
            let servers = root.as_ref().and_then(|root| root.member(section));
            servers.is_some_and(|servers| servers.member(NAME).is_some())
        }
        ServerForm::Toml { .. } => {
            servers(&parse_toml(text)?).is_some_and(|all| all.contains_key(NAME))
        }
    })
}

fn put_json(text: &str, section: &'static str, entry: &Value) -> Result<String, SettingsError> {
    let root = object(text)?;
    let layout = Layout::of(text, root.as_ref());
    let Some(root) = &root else {
        return Ok(layout.file(&json!({ section: { NAME: entry } })));
    };
    let edits = match root.member(section) {
        None => layout.append(root, &[(Some(section), json!({ NAME: entry }))]),
        Some(servers) if matches!(servers.shape, Shape::Object(_)) => {
            layout.append(servers, &[(Some(NAME), entry.clone())])
        }
        Some(_) => return Err(unexpected(section, "an object")),
    };
    Ok(apply(text, edits))
}

fn take_json(text: &str, section: &str) -> Result<Option<String>, SettingsError> {
    let Some(root) = object(text)? else { return Ok(Some(text.to_owned())) };
    let Some(servers) = root.member(section).filter(|servers| servers.member(NAME).is_some())
    else {
        return Ok(Some(text.to_owned()));
    };
    let named = |node: &Node, name: &str| -> Vec<bool> {
        node.items().iter().map(|item| item.key.as_deref() == Some(name)).collect()
    };
    let is_alone = |node: &Node, name: &str| named(node, name).iter().all(|is_named| *is_named);
    let edits = if !is_alone(servers, NAME) {
        take_out(text, servers, &named(servers, NAME))
    } else if !is_alone(&root, section) {
        take_out(text, &root, &named(&root, section))
    } else {
        return Ok(None);
    };
    Ok(Some(apply(text, edits)))
}

fn parse_toml(text: &str) -> Result<Table, SettingsError> {
    text.parse().map_err(|error: toml::de::Error| SettingsError::NotToml {
        why: error.message().lines().next().unwrap_or_default().to_owned(),
    })
}

fn servers(table: &Table) -> Option<&Table> {
    table.get(TOML_SECTION)?.as_table()
}

fn put_toml(text: &str, beside: &[&str], program: &str) -> Result<String, SettingsError> {
    let before = parse_toml(text)?;
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    // A string of JSON is one of TOML.
    let program = Value::from(program);
    let lines = [format!("{TOML_HEADER}\ncommand = {program}\nargs = [\"mcp\"]")];
    let lines = lines.into_iter().chain(beside.iter().map(|line| (*line).to_owned()));
    let after = format!("{text}{gap}{}\n", lines.collect::<Vec<_>>().join("\n"));
    without_ours(parse_toml(&after)?, &before).map(|()| after)
}

/// Takes out the lines from our header to the next one. What its user wrote among them is lost only if
/// it belongs to our entry.
fn take_toml(text: &str) -> Result<Option<String>, SettingsError> {
    let table = parse_toml(text)?;
    if !servers(&table).is_some_and(|all| all.contains_key(NAME)) {
        return Ok(Some(text.to_owned()));
    }
    let (mut kept, mut is_ours) = (String::new(), false);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with('[') {
            is_ours = trimmed.split('#').next().unwrap_or_default().trim() == TOML_HEADER;
        }
        if !is_ours {
            kept.push_str(line);
        }
    }
    without_ours(table, &parse_toml(&kept)?)?;
    let kept = kept.trim_end();
    Ok(if kept.is_empty() { None } else { Some(format!("{kept}\n")) })
}

/// Checks that a file differs from another by our entry alone.
fn without_ours(mut with: Table, without: &Table) -> Result<(), SettingsError> {
    let bare = |mut table: Table| {
        if servers(&table).is_some_and(Table::is_empty) {
            table.remove(TOML_SECTION);
        }
        table
    };
    if let Some(all) = with.get_mut(TOML_SECTION).and_then(toml::Value::as_table_mut) {
        all.remove(NAME);
    }
    if bare(with) == bare(without.clone()) {
        return Ok(());
    }
    Err(unexpected("mcp_servers.convoke", "a table of its own that begins with its header"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str, client: Client) -> String {
        put_server(Some(text).filter(|text| !text.is_empty()), client, NAME).unwrap()
    }

    #[test]
    fn an_entry_goes_in_and_out_without_a_trace() {
        let json = [
            "{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n",
            "{\"a\":1}",
            "{\n\t\"a\": 1\n}\n",
        ];
        let toml = ["model = \"m\"\n\n[mcp_servers.other]\ncommand = \"x\"\n", "# mine\na = 1\n"];
        let of = |client: Client| match &wiring(client).unwrap().form {
            ServerForm::Json { .. } => &json[..],
            ServerForm::Toml { .. } => &toml[..],
        };
        for client in Client::ALL.into_iter().filter(|client| adapter(*client).server.is_some()) {
            for text in of(client) {
                let with = put(text, client);
                assert!(has_server(&with, client).unwrap(), "{with}");
                assert_eq!(put(&with, client), with, "twice is once");
                assert_eq!(take_server(&with, client).unwrap().as_deref(), Some(*text));
            }
            let alone = put("", client);
            assert!(has_server(&alone, client).unwrap(), "{alone}");
            assert_eq!(take_server(&alone, client).unwrap(), None);
        }
    }

    #[test]
    fn a_file_of_another_shape_is_left_alone() {
        for text in ["[]", "{", "{\"mcpServers\": []}"] {
            assert!(put_server(Some(text), Client::Claude, NAME).is_err(), "{text}");
        }
        for text in ["mcp_servers = 1", "a = ", "mcp_servers = { convoke = { command = \"x\" } }"] {
            assert!(put_server(Some(text), Client::Codex, NAME).is_err(), "{text}");
        }
    }
}
