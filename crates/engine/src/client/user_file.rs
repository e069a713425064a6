//! Where a client's user has settings: below the home folder, or where a variable moves them.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// A settings file of a client's user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserFile {
    /// The file below the user's home.
    usual: &'static str,
    /// The variable that names another folder, and the file below that one.
    moved: Option<(&'static str, &'static str)>,
}

/// A settings file, and the folder that existed before the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsPlace {
    /// The project's folder, the user's home, or the folder that a variable names.
    pub base: PathBuf,
    /// The file below it.
    pub path: PathBuf,
}

/// Whose settings are meant.
#[derive(Clone, Copy)]
pub enum SettingsOwner<'a> {
    /// The project in this folder.
    Project(&'a Path),
    /// The user whose variables have these values.
    User(&'a dyn Fn(&str) -> Option<OsString>),
}

impl fmt::Debug for SettingsOwner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(folder) => f.debug_tuple("Project").field(folder).finish(),
            Self::User(_) => f.write_str("User"),
        }
    }
}

impl SettingsOwner<'_> {
    /// Returns the place of a file; `None` if the user has no home.
    pub(crate) fn place(&self, project_file: &str, user_file: &UserFile) -> Option<SettingsPlace> {
        match self {
            Self::Project(folder) => Some(SettingsPlace::below(folder, project_file)),
            Self::User(variable) => user_file.place(*variable),
        }
    }
}

impl SettingsPlace {
    /// Returns the place of a file below a folder.
    pub(crate) fn below(base: &Path, file: &str) -> Self {
        Self { base: base.to_owned(), path: base.join(file) }
    }
}

impl UserFile {
    /// A file that no variable moves.
    pub(crate) const fn below_home(usual: &'static str) -> Self {
        Self { usual, moved: None }
    }

    /// A file that is at `moved` below the folder that `variable` names, if that is set.
    pub(crate) const fn moved_by(
        usual: &'static str,
        variable: &'static str,
        moved: &'static str,
    ) -> Self {
        Self { usual, moved: Some((variable, moved)) }
    }

    /// Returns the file's place by the values of the user's variables; `None` without a home. A
    /// relative folder is below the current one, as it is for the client.
    pub fn place(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<SettingsPlace> {
        let moved = self.moved.and_then(|(name, file)| Some((variable(name)?, file)));
        let (folder, file) = match moved {
            Some(moved) => moved,
            None => (variable("HOME")?, self.usual),
        };
        let folder = PathBuf::from(folder);
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        Some(SettingsPlace::below(&folder, file))
    }
}

#[cfg(test)]
mod tests {
    use convoke_domain::client::Client;

    use super::*;
    use crate::client::adapter;

    /// Returns where a client's user lists servers and hooks with such variables.
    fn places(client: Client, variables: &[(&str, &str)]) -> [Option<String>; 2] {
        let value = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let shown = |file: &UserFile| Some(file.place(&value)?.path.display().to_string());
        let adapter = adapter(client);
        [
            adapter.server.as_ref().and_then(|server| shown(&server.user_file)),
            adapter.hooks.as_ref().and_then(|hooks| shown(&hooks.user_file)),
        ]
    }

    // `claude mcp add -s user` 2.1.325, `codex mcp add` 0.166.0, `gemini mcp add -s user` 0.61.0 and
    // `opencode debug config` 1.18.33 use these files. opencode reads `OPENCODE_CONFIG` and
    // `OPENCODE_CONFIG_DIR` beside its usual file, so they move nothing.
    #[test]
    fn a_clients_variable_moves_its_users_settings() {
        let home = ("HOME", "/home/me");
        for (client, variable, usual, moved) in [
            (
                Client::Claude,
                "CLAUDE_CONFIG_DIR",
                [".claude.json", ".claude/settings.json"],
                [".claude.json", "settings.json"],
            ),
            (
                Client::Codex,
                "CODEX_HOME",
                [".codex/config.toml", ".codex/hooks.json"],
                ["config.toml", "hooks.json"],
            ),
            (
                Client::Gemini,
                "GEMINI_CLI_HOME",
                [".gemini/settings.json", ".gemini/settings.json"],
                [".gemini/settings.json", ".gemini/settings.json"],
            ),
            (
                Client::Opencode,
                "XDG_CONFIG_HOME",
                [".config/opencode/opencode.json", ".config/opencode/plugins/convoke.js"],
                ["opencode/opencode.json", "opencode/plugins/convoke.js"],
            ),
        ] {
            let below =
                |folder: &str, files: [&str; 2]| files.map(|file| Some(format!("{folder}/{file}")));
            assert_eq!(places(client, &[home]), below("/home/me", usual), "{client}");
            let named = [home, (variable, "/else")];
            assert_eq!(places(client, &named), below("/else", moved), "{client}");
            assert_eq!(places(client, &named[1..]), below("/else", moved), "{client}");
            assert_eq!(places(client, &[]), [None, None], "{client}");
            let others = [home, ("OPENCODE_CONFIG", "/else"), ("OPENCODE_CONFIG_DIR", "/else")];
            assert_eq!(places(client, &others), below("/home/me", usual), "{client}");
        }
        let qwen = |variables: &[(&str, &str)]| places(Client::Qwen, variables)[0].clone();
        assert_eq!(qwen(&[home]).unwrap(), "/home/me/.qwen/settings.json");
        // That one moves the records of sessions alone.
        let runtime = ("QWEN_RUNTIME_DIR", "/runtime");
        assert_eq!(qwen(&[home, runtime]).unwrap(), "/home/me/.qwen/settings.json");
        let moved = [home, runtime, ("QWEN_HOME", "/else")];
        assert_eq!(qwen(&moved).unwrap(), "/else/settings.json");
    }

    #[test]
    fn a_relative_folder_is_below_the_current_one() {
        let file = UserFile::moved_by(".x/a", "X_HOME", "a");
        let place = file.place(&|name| (name == "X_HOME").then(|| "x".into())).unwrap();
        assert_eq!(place.path, std::path::absolute("x/a").unwrap());
        assert_eq!(place.base, std::path::absolute("x").unwrap());
    }
}
