//! How Convoke's MCP server is entered in a client's settings.

use std::fmt;

use serde_json::{Value, json};

use super::server_approval::{ApprovalPlaces, ServerApproval};
use super::user_file::UserFile;

/// How Convoke's MCP server is entered in a client's settings.
pub struct ServerWiring {
    /// The file that lists servers, below a project's folder.
    pub(crate) project_file: &'static str,
    /// The same of a user.
    pub user_file: UserFile,
    /// What an entry looks like.
    pub(crate) form: ServerForm,
    /// Tells whether the client starts the server without asking its user.
    pub approval: fn(&ApprovalPlaces) -> ServerApproval,
}

/// What an entry of a server looks like. `program` is how the settings name Convoke.
pub(crate) enum ServerForm {
    /// A member of an object in a JSON file.
    Json {
        /// The member of the file that lists all servers.
        section: &'static str,
        /// Makes the entry.
        entry: fn(program: &str) -> Value,
    },
    /// A table below `mcp_servers` in a TOML file.
    Toml {
        /// The lines beside the command.
        beside: &'static [&'static str],
        /// The line with which the client waits for the server, and does not start without it.
        required: &'static str,
    },
}

impl ServerWiring {
    /// The wiring of a client that lists servers in `mcpServers` of a JSON file.
    pub(crate) const fn servers_in(
        project_file: &'static str,
        user_file: UserFile,
        approval: fn(&ApprovalPlaces) -> ServerApproval,
    ) -> Self {
        let form = ServerForm::Json { section: "mcpServers", entry: command_and_arguments };
        Self { project_file, user_file, form, approval }
    }
}

fn command_and_arguments(program: &str) -> Value {
    json!({ "command": program, "args": ["mcp"] })
}

impl fmt::Debug for ServerWiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerWiring").field("file", &self.project_file).finish_non_exhaustive()
    }
}
