//! Places in the folder of what Convoke keeps.

use std::path::PathBuf;

use super::Environment;

impl Environment {
    /// Returns the default place of the store: `convoke/store.db` below
    /// `$XDG_STATE_HOME` or `~/.local/state`.
    pub fn default_store(&self) -> Option<PathBuf> {
        Some(self.state()?.join("store.db"))
    }

    /// Returns where the folders of runs are: `convoke/runs` below the same folder.
    pub fn runs(&self) -> Option<PathBuf> {
        Some(self.state()?.join("runs"))
    }

    /// Returns where the folders of background runs are: `convoke/background` below the same folder.
    pub fn background_runs(&self) -> Option<PathBuf> {
        Some(self.state()?.join("background"))
    }

    /// Returns where the dashboard puts backups of the store: `convoke/backups` below the same folder.
    pub fn store_backups(&self) -> Option<PathBuf> {
        Some(self.state()?.join("backups"))
    }

    /// Returns where running lanes leave what they do at the moment: `convoke/lanes` in that folder.
    pub fn lane_pulses(&self) -> Option<PathBuf> {
        Some(self.state()?.join("lanes"))
    }

    /// Returns where hooks leave the reason for which they delivered nothing: `convoke/hook-failures`
    /// below the same folder.
    pub fn hook_failures(&self) -> Option<PathBuf> {
        Some(self.state()?.join("hook-failures"))
    }

    /// Returns the file by which the processes of Convoke take turns at editing settings.
    pub fn settings_lock(&self) -> Option<PathBuf> {
        Some(self.state()?.join("settings-lock"))
    }

    /// Returns the folder of what Convoke keeps: `convoke` below `$XDG_STATE_HOME` or `~/.local/state`.
    pub fn state(&self) -> Option<PathBuf> {
        let state = self
            .variable("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| Some(self.home()?.join(".local/state")))?;
        Some(state.join("convoke"))
    }
}
