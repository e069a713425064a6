//! The entry of Convoke's MCP server in settings files of every odd shape: written, removed again, and
//! every other byte stays.
//!
//! The files are in `settings/` (JSON, those of the hooks) and `server_settings/` (TOML), one case each.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::fs;
use std::path::Path;

use convoke_domain::client::Client;
use convoke_engine::hooks::server_entry::{
    ServerEntry, ServerNeed, find_server, put_server as put_server_as, server_trace, take_server,
};
use convoke_engine::hooks::{FormerFile, SettingsError};
use proptest::prelude::*;

const OWN: &str = "convoke";

fn put_server(text: Option<&str>, client: Client, program: &str) -> Result<String, SettingsError> {
    put_server_as(text, client, program, ServerNeed::Optional)
}

fn read(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.map(|path| (named(&path), fs::read_to_string(path).unwrap())).collect()
}

/// Returns all cases; the hooks of a JSON file also as servers.
fn files() -> Vec<(Client, String, String)> {
    let mut all = Vec::new();
    for (client, section) in [(Client::Claude, "mcpServers"), (Client::Opencode, "mcp")] {
        for (name, text) in read("settings") {
            let servers = text.replace("\"hooks\"", &format!("\"{section}\""));
            all.extend([text, servers].map(|text| (client, name.clone(), text)));
        }
    }
    let toml = read("server_settings").into_iter();
    all.extend(toml.map(|(name, text)| (Client::Codex, name, text)));
    all
}

fn taken_out(text: &str, before: &str, client: Client) -> String {
    let trace = server_trace(before, client).unwrap();
    take_server(text, FormerFile::Text(&trace), client, OWN).unwrap().unwrap()
}

#[test]
fn every_byte_that_is_not_the_servers_stays() {
    for (client, name, before) in files() {
        let after = put_server(Some(&before), client, OWN).unwrap();
        let own = Some(ServerEntry::Own { program: OWN.into() });
        assert_eq!(find_server(&after, client, OWN).unwrap(), own, "{name}:\n{after}");
        assert_eq!(put_server(Some(&after), client, OWN).unwrap(), after, "{name}: twice is once");
        assert_eq!(taken_out(&after, &before, client), before, "{name}:\n{after}");
        let moved = put_server(Some(&after), client, "/opt/convoke").unwrap();
        assert_eq!(taken_out(&moved, &before, client), before, "{name}:\n{moved}");
        let unknown = take_server(&after, FormerFile::Unknown, client, OWN).unwrap();
        let unknown = unknown.unwrap();
        assert_eq!(find_server(&unknown, client, OWN).unwrap(), None, "{name}:\n{unknown}");
    }
}

// The user's lines around the entry are the user's, at any time.
#[test]
fn lines_that_were_added_since_stay() {
    for (client, name, before) in files() {
        let after = put_server(Some(&before), client, OWN).unwrap();
        let (above, below) = if client == Client::Codex {
            ("# above\n", "# below\n\n[new]\na = 1\n")
        } else {
            ("// above\n", "\n// below\n")
        };
        let edit = |text: &str| match text.strip_prefix('\u{feff}') {
            Some(text) => format!("\u{feff}{above}{text}{below}"),
            None => format!("{above}{text}{below}"),
        };
        let left = taken_out(&edit(&after), &before, client);
        let has_line_end = before.is_empty() || before.ends_with('\n');
        if client != Client::Codex && before.contains('{')
            || client == Client::Codex && has_line_end
        {
            assert_eq!(left, edit(&before), "{name}:\n{after}");
        }
        assert!(left.contains(above) && left.contains(below.trim_end()), "{name}: {left}");
    }
}

#[test]
fn a_file_that_convoke_made_is_gone_again() {
    for client in [Client::Claude, Client::Codex, Client::Gemini, Client::Opencode, Client::Qwen] {
        let made = put_server(None, client, OWN).unwrap();
        let left = |text: &str| take_server(text, FormerFile::Absent, client, OWN).unwrap();
        assert_eq!(left(&made), None);
        let comment = if client == Client::Codex { "# mine\n" } else { "// mine\n" };
        assert!(left(&format!("{made}{comment}")).unwrap().contains(comment));
    }
}

// The user's settings can have secrets, which the store must not copy.
#[test]
fn what_is_remembered_has_no_value_of_the_file() {
    for section in ["", ", \"mcpServers\": {}", ", \"mcpServers\": {\"x\": {\"env\": \"secret\"}}"]
    {
        let text = format!("{{\"key\": \"secret\"{section}}}");
        assert!(!server_trace(&text, Client::Claude).unwrap().contains("secret"), "{text}");
    }
    assert!(!server_trace("key = \"secret\"\n", Client::Codex).unwrap().contains("secret"));
}

proptest! {
    #[test]
    fn any_text_is_edited_or_refused(text in "(\\PC|[\\[\\]{}:,=#\"'\\\\\\n/*0-9.]|mcp_servers|convoke|mcp|\"mcpServers\"){0,40}") {
        for client in [Client::Claude, Client::Codex] {
            let Ok(after) = put_server(Some(&text), client, OWN) else { continue };
            prop_assert_eq!(&put_server(Some(&after), client, OWN).unwrap(), &after);
            if find_server(&text, client, OWN).unwrap().is_none() {
                prop_assert_eq!(taken_out(&after, &text, client), text.clone(), "{}", after);
            }
        }
    }
}
