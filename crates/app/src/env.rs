//! The one door to the environment. Every variable that Convoke reads is here.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// What the process was started with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Environment;

/// The start of every variable that is a setting.
const PREFIX: &str = "CONVOKE_";

impl Environment {
    /// Returns the folder the process was started in.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn current_dir(self) -> io::Result<PathBuf> {
        env::current_dir()
    }

    /// Returns this program as a shell would call it from anywhere.
    pub fn program(self) -> String {
        let path = env::current_exe().map(|path| path.display().to_string());
        let path = path.unwrap_or_else(|_| "convoke".to_owned());
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
        if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
    }

    /// Returns the user's own folder.
    pub fn home(self) -> Option<PathBuf> {
        variable("HOME").map(PathBuf::from)
    }

    /// Returns the user's configuration file: `$XDG_CONFIG_HOME/convoke/config.toml`, or the same
    /// below `~/.config`.
    pub fn user_config(self) -> Option<PathBuf> {
        let base = variable("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            // The XDG rules ignore relative folders.
            .filter(|path| path.is_absolute())
            .or_else(|| Some(self.home()?.join(".config")))?;
        Some(base.join("convoke").join("config.toml"))
    }

    /// Returns the agent that this process works for, if it was told.
    pub fn agent(self) -> Option<OsString> {
        variable("CONVOKE_AGENT")
    }

    /// Returns the store's file: `$CONVOKE_STORE`, or `convoke/store.db` below `$XDG_STATE_HOME` or
    /// `~/.local/state`.
    pub fn store(self) -> Option<PathBuf> {
        if let Some(path) = variable("CONVOKE_STORE") {
            return Some(PathBuf::from(path));
        }
        let state = variable("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| Some(self.home()?.join(".local/state")))?;
        Some(state.join("convoke").join("store.db"))
    }

    /// Returns the variable for a setting, such as `CONVOKE_BRIEF_DIR` for `brief` and `dir`.
    pub fn setting(self, section: &str, key: &str) -> Option<(String, OsString)> {
        let name = setting_name(section, key);
        variable(&name).map(|value| (name, value))
    }
}

/// Returns the name of the variable that sets `key` in `section`.
pub fn setting_name(section: &str, key: &str) -> String {
    format!("{PREFIX}{section}_{key}").to_ascii_uppercase()
}

/// An empty variable counts as not set.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
