//! Finds a client's own record of a session whose printed events Convoke has.
//!
//! Printed events are for a person who watches. Codex prints the whole output of a command and
//! gives its agent less; Claude Code does not print the files that a prompt mentions. Their own
//! records hold what the agent received.

use std::fs;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;

use crate::client::adapter;

/// The folders in which clients keep their files.
#[derive(Debug, Clone, Default)]
pub struct ClientHomes(Vec<(Client, PathBuf)>);

impl ClientHomes {
    /// Returns the folder of a client, whether it exists or not.
    pub fn get(&self, client: Client) -> Option<&Path> {
        self.0.iter().find(|(of, _)| *of == client).map(|(_, folder)| folder.as_path())
    }
}

impl FromIterator<(Client, PathBuf)> for ClientHomes {
    fn from_iter<I: IntoIterator<Item = (Client, PathBuf)>>(folders: I) -> Self {
        Self(folders.into_iter().collect())
    }
}

/// Finds the record of a session by its id; `None` if the client keeps none that Convoke knows.
pub fn own_record(client: Client, session: &str, homes: &ClientHomes) -> Option<PathBuf> {
    // The id is from a record, and names no folder.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if session.is_empty() || session.len() > 128 || !session.chars().all(is_plain) {
        return None;
    }
    (adapter(client).transcript?.own_record?)(homes.get(client)?, session)
}

/// Finds a file by its name below a folder; the last by name where there are several.
pub(crate) fn newest(
    folder: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
    deep: usize,
) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    let mut names: Vec<_> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    let found = names.iter().filter(|name| is_wanted(name)).map(|name| folder.join(name));
    found.into_iter().find(|path| path.is_file()).or_else(|| {
        let folders = names.iter().filter(|_| deep > 0).map(|name| folder.join(name));
        folders.filter(|path| path.is_dir()).find_map(|path| newest(&path, is_wanted, deep - 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let codex = "codex/sessions/2026/11/16/rollout-2026-11-16T03-17-01-ab-12.jsonl";
        let archived = "codex/archived_sessions/rollout-2026-11-16T03-17-01-cd.jsonl";
        let claude = "claude/projects/-p/ab-12.jsonl";
        for name in [codex, archived, claude, "claude/projects/secret.jsonl", "ab-12.jsonl"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let homes = [Client::Claude, Client::Codex]
            .map(|client| (client, folder.path().join(client.name())));
        let homes = ClientHomes::from_iter(homes);
        for (client, id, expected) in [
            (Client::Codex, "ab-12", Some(codex)),
            (Client::Codex, "cd", Some(archived)),
            (Client::Codex, "12-ab", None),
            (Client::Claude, "ab-12", Some(claude)),
            (Client::Claude, "../secret", None),
            (Client::Claude, "", None),
            (Client::Gemini, "ab-12", None),
        ] {
            let expected = expected.map(|name| folder.path().join(name));
            assert_eq!(own_record(client, id, &homes), expected, "{client:?} {id}");
        }
        assert_eq!(own_record(Client::Codex, "ab-12", &ClientHomes::default()), None);
    }
}
