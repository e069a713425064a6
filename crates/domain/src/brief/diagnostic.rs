//! Remarks for the person who maintains the configuration. They never enter the block.

use super::name::BriefName;

/// One remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Diagnostic {
    /// A configuration file could not be parsed.
    ConfigError {
        /// The parser's message.
        detail: String,
    },
    /// A key's value cannot be used, so its default is.
    ConfigInvalid {
        /// The key whose default is used instead.
        key: &'static str,
        /// The expected value.
        expected: &'static str,
    },
    /// A project's file requests more than the user allows, so the user's value counts.
    ConfigRaises {
        /// The key whose value the user's configuration limits.
        key: &'static str,
    },
    /// A project names a folder outside itself, which only the user may do.
    ConfigOutside {
        /// The key that names the folder.
        key: &'static str,
    },
    /// An entry of the priority list is not a bare name.
    PriorityRejected {
        /// The entry as written.
        entry: String,
    },
    /// The priority list is not the default one. Convoke follows it.
    PriorityCustom,
    /// The design folder exists but cannot be read.
    DirUnreadable {
        /// The operating system's message.
        detail: String,
    },
    /// The design folder holds documents, and none of them is in the priority list.
    NoneListed {
        /// The folder as citations name it.
        dir: String,
        /// The documents in the folder.
        found: Vec<String>,
        /// The names in the priority list.
        listed: Vec<String>,
    },
    /// A document holds NUL characters: it may have been saved as UTF-16.
    ContainsNul {
        /// The document with NUL characters.
        name: BriefName,
    },
}

impl Diagnostic {
    /// Returns the stable code, for programs.
    pub fn code(&self) -> String {
        match self {
            Self::ConfigError { .. } => "config_error".to_owned(),
            Self::ConfigInvalid { key, .. } => format!("config_invalid:{key}"),
            Self::ConfigRaises { key } => format!("config_raises:{key}"),
            Self::ConfigOutside { key } => format!("config_outside:{key}"),
            Self::PriorityRejected { .. } => "priority_rejected".to_owned(),
            Self::PriorityCustom => "priority_custom".to_owned(),
            Self::DirUnreadable { .. } => "dir_unreadable".to_owned(),
            Self::NoneListed { .. } => "none_listed".to_owned(),
            Self::ContainsNul { name } => format!("contains_nul:{name}"),
        }
    }

    /// Returns the remark in a person's words.
    pub fn message(&self) -> String {
        match self {
            Self::ConfigError { detail } => format!("cannot use the configuration: {detail}"),
            Self::ConfigInvalid { key, expected } => {
                format!("`{key}` must be {expected}; using its default")
            }
            Self::ConfigRaises { key } => {
                format!("`{key}` is above your own limit; using yours")
            }
            Self::ConfigOutside { key } => {
                format!(
                    "Convoke ignores `{key}`, which leads out of the project; set it in your own config.toml"
                )
            }
            Self::PriorityRejected { entry } => {
                format!("`{}` in `priority` is not a bare name; left out", entry.escape_debug())
            }
            Self::PriorityCustom => "`priority` differs from the default list".to_owned(),
            Self::DirUnreadable { detail } => format!("cannot read the design folder: {detail}"),
            Self::NoneListed { dir, found, listed } => none_listed(dir, found, listed),
            Self::ContainsNul { name } => {
                format!("`{name}` holds NUL characters; was it saved as UTF-16?")
            }
        }
    }
}

fn none_listed(dir: &str, found: &[String], listed: &[String]) -> String {
    const MOST: usize = 5;
    let names = found.iter().take(MOST).map(|name| name.escape_debug().to_string());
    let names = names.collect::<Vec<_>>().join(", ");
    let more = if found.len() > MOST { ", …" } else { "" };
    let documents =
        if found.len() == 1 { "1 document" } else { &format!("{} documents", found.len()) };
    format!(
        "`{dir}` holds {documents} ({names}{more}), and none is in the priority list ({}); run \
         `convoke brief '{dir}/*.md'`, or set `priority` under `[brief]` in convoke.toml",
        listed.join(", "),
    )
}
