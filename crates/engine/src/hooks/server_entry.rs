//! The entry of Convoke's MCP server in a client's settings: putting it in, finding it, and taking it
//! out. Every byte that is not ours stays, and a server of the user's with our name is the user's.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use serde_json::{Value, json};

use super::document::{Item, Node, Shape};
use super::entries::{is_blank, take_members_out};
use super::splice::{Layout, apply};
use super::{FormerFile, SettingsError, around, bare, object, server_toml, unexpected};
use crate::client::{ServerForm, ServerWiring, SettingsOwner, SettingsPlace, adapter};

/// What clients call the server, and the name of the program.
pub(super) const NAME: &str = "convoke";

/// The arguments with which a client starts the server.
pub(super) const ARGUMENTS: [&str; 1] = ["mcp"];

fn wiring(client: Client) -> Result<&'static ServerWiring, SettingsError> {
    adapter(client).server.as_ref().ok_or(SettingsError::NoServers { client })
}

/// Returns the place of a client's file that lists servers; `None` if the user has no home.
pub fn server_place(
    client: Client,
    owner: SettingsOwner<'_>,
) -> Result<Option<SettingsPlace>, SettingsError> {
    let wiring = wiring(client)?;
    Ok(owner.place(wiring.project_file, &wiring.user_file))
}

/// Whether a client starts without the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerNeed {
    /// It starts, without the tools.
    Optional,
    /// It waits for the server, and does not start without it.
    Required,
}

/// Returns a file with our entry. `program` is how the settings name Convoke. In an entry that is there
/// only the program changes, because its user may have added to it, and the need if it is
/// [`ServerNeed::Required`].
pub fn put_server(
    current: Option<&str>,
    client: Client,
    program: &str,
    need: ServerNeed,
) -> Result<String, SettingsError> {
    let text = current.unwrap_or_default();
    match (&wiring(client)?.form, need) {
        (ServerForm::Json { section, entry }, ServerNeed::Optional) => {
            put_json(text, section, &entry(program), program)
        }
        (ServerForm::Json { .. }, ServerNeed::Required) => {
            Err(SettingsError::WaitsAnyway { client })
        }
        (ServerForm::Toml { beside, .. }, ServerNeed::Optional) => {
            server_toml::put(text, beside, program)
        }
        (ServerForm::Toml { beside, required }, ServerNeed::Required) => {
            let text = server_toml::put(text, beside, program)?;
            server_toml::require(&text, required)
        }
    }
}

/// Returns a file without our entry; `None` if Convoke made the file and nothing else is in it. `own` is
/// how the settings would name this program.
pub fn take_server(
    text: &str,
    former: FormerFile<'_>,
    client: Client,
    own: &str,
) -> Result<Option<String>, SettingsError> {
    match &wiring(client)?.form {
        ServerForm::Json { section, .. } => take_json(text, former, client, section, own),
        ServerForm::Toml { .. } => server_toml::take(text, former, own),
    }
}

/// Returns what must be remembered of a file so that [`take_server`] leaves it as it was. That is never
/// another value of the file: a user's settings can have secrets.
pub fn server_trace(text: &str, client: Client) -> Result<String, SettingsError> {
    let ServerForm::Json { section, .. } = &wiring(client)?.form else {
        return Ok(server_toml::trace(text));
    };
    let Some(root) = object(text)?.filter(|root| !root.items().is_empty()) else {
        return Ok(text.to_owned());
    };
    Ok(match root.member(section) {
        None => json!({ "": {} }).to_string(),
        Some(servers) if servers.items().is_empty() => {
            format!("{{{}:{}}}", Value::from(*section), &text[servers.span.clone()])
        }
        Some(_) => json!({ *section: { "": {} } }).to_string(),
    })
}

/// An entry of our name in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerEntry {
    /// Ours.
    Own {
        /// The program that the client starts.
        program: PathBuf,
    },
    /// One that Convoke did not write.
    Foreign,
}

impl ServerEntry {
    /// Tells our entry by its command. `own` is how the settings would name this program.
    pub(super) fn new(command: Option<&str>, arguments: &[&str], own: &str) -> Self {
        let is_convoke = |command: &&str| {
            *command == own || Path::new(command).file_name().is_some_and(|name| name == NAME)
        };
        match command.filter(is_convoke) {
            Some(command) if *arguments == ARGUMENTS => Self::Own { program: command.into() },
            Some(_) | None => Self::Foreign,
        }
    }
}

/// Finds the entry of our name in a file. `own` is how the settings would name this program.
pub fn find_server(
    text: &str,
    client: Client,
    own: &str,
) -> Result<Option<ServerEntry>, SettingsError> {
    match &wiring(client)?.form {
        ServerForm::Json { section, .. } => {
            let root = object(text)?;
            let servers = root.as_ref().and_then(|root| root.member(section));
            let entry = servers.and_then(|servers| servers.member(NAME));
            Ok(entry.map(|entry| owner(entry, own)))
        }
        ServerForm::Toml { .. } => server_toml::find(text, own),
    }
}

fn owner(entry: &Node, own: &str) -> ServerEntry {
    let texts = |list: Option<&Node>| -> Vec<_> {
        let list = list.filter(|list| matches!(list.shape, Shape::Array(_)));
        let items = list.map_or(&[][..], Node::items).iter();
        items.map(|item| item.value.text().unwrap_or_default().to_owned()).collect()
    };
    let command = program_node(entry).and_then(Node::text);
    // Some clients list the program and its arguments together.
    let behind = texts(entry.member("command")).into_iter().skip(1);
    let arguments: Vec<_> = behind.chain(texts(entry.member("args"))).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    ServerEntry::new(command, &arguments, own)
}

/// Returns the text that names the program.
fn program_node(entry: &Node) -> Option<&Node> {
    let command = entry.member("command")?;
    match &command.shape {
        Shape::Array(words) => words.first().map(|word| &word.value),
        Shape::Text(_) => Some(command),
        Shape::Object(_) | Shape::True | Shape::Other => None,
    }
}

fn put_json(
    text: &str,
    section: &'static str,
    entry: &Value,
    program: &str,
) -> Result<String, SettingsError> {
    let root = object(text)?;
    let layout = Layout::of(text, root.as_ref());
    let Some(root) = &root else {
        return Ok(layout.file_below(text, &json!({ section: { NAME: entry } })));
    };
    let edits = match root.member(section) {
        None => layout.append(root, &[(Some(section), json!({ NAME: entry }))]),
        Some(servers) if matches!(servers.shape, Shape::Object(_)) => match servers.member(NAME) {
            None => layout.append(servers, &[(Some(NAME), entry.clone())]),
            Some(present) => match (owner(present, program), program_node(present)) {
                (ServerEntry::Own { program: named }, _) if named == Path::new(program) => {
                    Vec::new()
                }
                (ServerEntry::Own { .. }, Some(named)) => {
                    vec![(named.span.clone(), Value::from(program).to_string())]
                }
                (ServerEntry::Own { .. } | ServerEntry::Foreign, _) => {
                    return Err(SettingsError::ForeignServer);
                }
            },
        },
        Some(_) => return Err(unexpected(section, "an object")),
    };
    Ok(apply(text, edits))
}

/// Returns a text without the blanks around it, and without a byte order mark.
fn take_json(
    text: &str,
    former: FormerFile<'_>,
    client: Client,
    section: &str,
    own: &str,
) -> Result<Option<String>, SettingsError> {
    let before = match former {
        FormerFile::Unknown => None,
        FormerFile::Absent => Some(""),
        FormerFile::Text(before) => Some(before),
    };
    let is_ours = |item: &Item| {
        item.key.as_deref() == Some(NAME)
            && matches!(owner(&item.value, own), ServerEntry::Own { .. })
    };
    let left = take_members_out(text, before, client, section, is_ours)?;
    if left == text {
        return Ok(Some(left));
    }
    let Some(root) = object(&left)?.filter(|root| is_blank(&left, root)) else {
        return Ok(Some(left));
    };
    let around = around(&left, &root);
    Ok(match former {
        FormerFile::Absent if bare(&around).is_empty() => None,
        // Convoke puts an object into a file without a value.
        FormerFile::Text(former) if object(former)?.is_none() && bare(&around) == bare(former) => {
            Some(former.to_owned())
        }
        FormerFile::Absent | FormerFile::Text(_) | FormerFile::Unknown => Some(left),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str, client: Client) -> Result<String, SettingsError> {
        put_server(Some(text), client, NAME, ServerNeed::Optional)
    }

    #[test]
    fn a_server_of_the_users_is_known_by_its_command() {
        let json = |entry: &str| format!("{{\"mcpServers\": {{\"convoke\": {entry}}}}}");
        let cases = [
            (r#"{"command": "convoke", "args": ["mcp"]}"#, Some("convoke")),
            (
                r#"{"command": "/a b/convoke", "args": ["mcp"], "env": {"A": "1"}}"#,
                Some("/a b/convoke"),
            ),
            (r#"{"command": "mine"}"#, None),
            (r#"{"command": "mine", "args": ["mcp"]}"#, None),
            (r#"{"command": "convoke", "args": ["mcp", "--listen", "127.0.0.1:1"]}"#, None),
            (r#"{"command": "convoke", "args": {"a": "mcp"}}"#, None),
            (r#"{"command": {"a": "convoke", "b": "mcp"}}"#, None),
            (r#"{"url": "http://127.0.0.1:4711/mcp"}"#, None),
            (r#"{"command": []}"#, None),
            ("1", None),
        ];
        for (entry, program) in cases {
            let text = json(entry);
            let expected = program.map_or(ServerEntry::Foreign, |program| ServerEntry::Own {
                program: program.into(),
            });
            assert_eq!(find_server(&text, Client::Claude, NAME).unwrap(), Some(expected), "{text}");
            if program.is_none() {
                assert_eq!(put(&text, Client::Claude), Err(SettingsError::ForeignServer), "{text}");
                for former in [FormerFile::Unknown, FormerFile::Absent, FormerFile::Text("{}")] {
                    let left = take_server(&text, former, Client::Claude, NAME).unwrap();
                    assert_eq!(left.as_deref(), Some(text.as_str()));
                }
            }
        }
        for text in ["[mcp_servers]\nconvoke = 1\n", "[mcp_servers.convoke]\ncommand = \"mine\"\n"]
        {
            assert_eq!(put(text, Client::Codex), Err(SettingsError::ForeignServer), "{text}");
            let left = take_server(text, FormerFile::Absent, Client::Codex, NAME).unwrap();
            assert_eq!(left.as_deref(), Some(text));
        }
        // A program of another name knows what it wrote itself.
        let renamed =
            put_server(None, Client::Opencode, "/opt/agents", ServerNeed::Optional).unwrap();
        let own = find_server(&renamed, Client::Opencode, "/opt/agents").unwrap();
        assert_eq!(own, Some(ServerEntry::Own { program: "/opt/agents".into() }));
    }

    // The user's additions to our entry outlive another install, and so do comments around it.
    #[test]
    fn only_the_program_of_an_entry_changes() {
        for client in Client::ALL.into_iter().filter(|client| adapter(*client).server.is_some()) {
            let first = put("", client).unwrap();
            let edited =
                first.replace("\"mcp\"]", "\"mcp\"] // mine").replace("// mine\n", "# mine\n");
            let edited = if client == Client::Codex {
                format!("# above\r\n{edited}env = {{ A = \"1\" }}\r\n# below\r\n[other]\n")
            } else {
                edited.replace("# mine", "// mine")
            };
            assert_eq!(put(&edited, client).unwrap(), edited, "{edited}");
            let optional = ServerNeed::Optional;
            let moved = put_server(Some(&edited), client, "/opt/convoke", optional).unwrap();
            assert_eq!(
                moved,
                edited
                    .replace("\"convoke\"", "\"/opt/convoke\"")
                    .replace("\"/opt/convoke\":", "\"convoke\":")
            );
        }
    }

    // A colleague has the project's file without the program: Codex must start there too.
    #[test]
    fn no_client_depends_on_the_server_unless_its_user_says_so() {
        let text = put("", Client::Codex).unwrap();
        assert!(!text.contains("required"), "{text}");
        let require =
            |text: &str, client| put_server(Some(text), client, NAME, ServerNeed::Required);
        let required = require("", Client::Codex).unwrap();
        assert!(required.contains("\nrequired = true\n"), "{required}");
        assert_eq!(require(&text, Client::Codex).unwrap(), required, "also later");
        assert_eq!(put(&required, Client::Codex).unwrap(), required, "an install keeps the line");
        let refused = required.replace("required = true", "required = false # mine");
        let again = require(&refused, Client::Codex).unwrap();
        assert_eq!(again, required.replace("required = true", "required = true # mine"));
        let taken = take_server(&required, FormerFile::Absent, Client::Codex, NAME).unwrap();
        assert_eq!(taken, None);
        for client in [Client::Claude, Client::Gemini, Client::Opencode, Client::Qwen] {
            assert_eq!(require("", client), Err(SettingsError::WaitsAnyway { client }));
        }
    }

    #[test]
    fn a_file_of_another_shape_is_left_alone() {
        for text in ["[]", "{", "{\"mcpServers\": []}"] {
            assert!(put(text, Client::Claude).is_err(), "{text}");
        }
        let inline = "mcp_servers = { other = { command = \"x\" } }\n";
        let error = put(inline, Client::Codex).unwrap_err().to_string();
        assert_eq!(error, "`mcp_servers` is an inline table, which Convoke cannot edit");
        let own = "mcp_servers = { convoke = { command = \"convoke\", args = [\"mcp\"] } }\n";
        let error = take_server(own, FormerFile::Unknown, Client::Codex, NAME).unwrap_err();
        let words = "`mcp_servers.convoke` is not a table with a header of its own";
        assert_eq!(error.to_string(), words);
        for text in ["mcp_servers = 1", "a = "] {
            assert!(put(text, Client::Codex).is_err(), "{text}");
        }
    }
}
