//! How Convoke's hooks are wired into a client.

use std::fmt;
use std::path::{Path, PathBuf};

use convoke_domain::hook::Moment;
use serde_json::{Value, json};

use super::user_file::UserFile;

/// How Convoke's hooks are wired into a client.
pub struct HookWiring {
    /// The file that holds hooks, below a project's folder.
    pub(crate) project_file: &'static str,
    /// The same of a user.
    pub(crate) user_file: UserFile,
    /// The form of that file.
    pub(crate) form: SettingsForm,
    /// The events at which the client's sessions lose and regain their memory.
    pub(crate) events: &'static [&'static str],
    /// Those of them at which no prompt is on its way: the user may leave without one, and then no
    /// model has seen the answer.
    pub(crate) before_prompt: &'static [&'static str],
    /// How many bytes of injected text the client passes on completely, per hook entry. Where the
    /// limit is in characters or in quarters of bytes, this is below either.
    pub(crate) most_bytes: usize,
    /// How many entries a text needs.
    pub(crate) entries: EntryCount,
    /// Whether the client says when a session was compacted.
    pub(crate) compactions: Compactions,
    /// Reads what an event means for an agent's memory, by its name and the client's word for why
    /// a session begins or is compacted.
    pub(crate) moment: fn(&str, Option<&str>) -> Option<Moment>,
    /// Wraps a text for an event in the client's format.
    pub(crate) answer: fn(&str, &str) -> Value,
}

impl HookWiring {
    /// The wiring of a client that takes its hooks as Claude Code does, in a file of
    /// this name below a project's folder and in one of a user.
    pub(crate) const fn like_claude(project_file: &'static str, user_file: UserFile) -> Self {
        Self {
            project_file,
            user_file,
            form: SettingsForm::Groups { name: None },
            events: START_AND_PROMPT,
            before_prompt: &[],
            most_bytes: 9_900,
            entries: EntryCount::Several,
            compactions: Compactions::Announced,
            moment: start_or_prompt,
            answer: additional_context,
        }
    }

    /// Reads what an event means for an agent's memory. `cause` is the client's word for why a
    /// session begins or is compacted.
    pub fn moment(&self, event: &str, cause: Option<&str>) -> Option<Moment> {
        (self.moment)(event, cause)
    }
}

impl fmt::Debug for HookWiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookWiring").field("file", &self.project_file).finish_non_exhaustive()
    }
}

/// How many hook entries a text needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryCount {
    /// One: the client passes on complete texts.
    One,
    /// Any number: the client limits the text of one entry.
    Several,
}

/// Whether a client says when a session was compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compactions {
    /// It announces a compaction.
    Announced,
    /// Only its record of the session shows it.
    Silent,
}

/// The form of a file with hooks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SettingsForm {
    /// JSON, with groups of entries below each event.
    Groups {
        /// The name by which the client lists Convoke's entries.
        name: Option<&'static str>,
    },
    /// JSON with a version, and entries right below each event.
    Entries,
    /// A file of Convoke's that the client loads.
    Plugin(&'static PluginFile),
}

/// A file of Convoke's that a client loads.
#[derive(Debug)]
pub(crate) struct PluginFile {
    /// Returns the file that calls a program.
    pub(crate) text: fn(&Path) -> String,
    /// Recognizes Convoke's file.
    pub(crate) is_ours: fn(&str) -> bool,
    /// Returns the program that Convoke's file calls; `None` for another file.
    pub(crate) program: fn(&str) -> Option<PathBuf>,
}

/// The answer that Claude Code began with and others took over.
pub(super) fn additional_context(event: &str, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
}

/// The events of Claude Code, which Codex took over. The client reports a compaction afterwards, as
/// a start of the session.
pub(super) const START_AND_PROMPT: &[&str] = &["SessionStart", "UserPromptSubmit"];

/// Returns the meaning of those events.
pub(super) fn start_or_prompt(event: &str, cause: Option<&str>) -> Option<Moment> {
    match event {
        "SessionStart" => Some(Moment::of_start(cause)),
        "UserPromptSubmit" => Some(Moment::Prompted),
        _ => None,
    }
}
