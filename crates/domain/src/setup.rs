//! The changes of `init` in a project, so that all of them can be reverted.

pub mod guidance;

use crate::client::Client;

/// One change that `init` made in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupStep {
    /// The absolute path of the file or folder.
    pub path: String,
    /// What Convoke did to it, so that `init --undo` can give it back.
    pub change: SetupChange,
}

/// A change to a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetupChange {
    /// A folder was made.
    Folder,
    /// Hook entries were added to a client's settings.
    Hooks(Client),
    /// The project's sessions were bound to an agent, for this client.
    Binding(Client),
    /// The line for agents was added to a file.
    Guidance {
        /// The file's text before; `None` if there was no file.
        original: Option<String>,
        /// The file's text afterwards.
        written: String,
    },
    /// A configuration file was made.
    Configuration {
        /// The file's text.
        written: String,
    },
}

impl SetupChange {
    /// Returns the word that the store keeps.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Hooks(_) => "hooks",
            Self::Binding(_) => "binding",
            Self::Guidance { .. } => "guidance",
            Self::Configuration { .. } => "configuration",
        }
    }
}
