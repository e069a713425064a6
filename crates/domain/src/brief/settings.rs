//! The settings of a brief, and how layers from several places combine.

use crate::pack::PackPolicy;
use crate::token::{Budget, Vocabulary};

use super::name::DocumentPriority;

/// The design folder as the user wrote it: not empty, and printable on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignDir(String);

impl DesignDir {
    /// The documents' folder unless configured otherwise.
    pub const DEFAULT: &'static str = ".moai/design";

    /// Takes any text that a citation line can hold.
    pub fn parse(dir: &str) -> Option<Self> {
        let usable = !dir.is_empty() && !dir.contains(char::is_control);
        usable.then(|| Self(dir.to_owned()))
    }

    /// Returns the folder as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the folder as it is cited: without trailing slashes.
    pub fn display(&self) -> &str {
        self.0.trim_end_matches('/')
    }
}

impl Default for DesignDir {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

/// Whether any configuration file mentions design documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Configured {
    /// At least one does.
    Somewhere,
    /// None does, which the log mentions.
    Nowhere,
}

/// Everything decided about a brief before a document is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BriefSettings {
    /// The design folder.
    pub dir: DesignDir,
    /// Whether a workflow may load the brief without a request.
    pub auto_load: bool,
    /// The most tokens the documents may cost.
    pub budget: Budget,
    /// Which documents, most important first.
    pub priority: DocumentPriority,
    /// Which documents are cut or dropped when not all fit.
    pub policy: PackPolicy,
    /// How tokens are counted.
    pub tokenizer: Vocabulary,
    /// Whether citations name the default folder even when another one was read.
    pub literal_source: bool,
    /// The largest file that is read, in bytes.
    pub max_file_bytes: u64,
    /// Whether any configuration file mentions design documents.
    pub configured: Configured,
}

impl BriefSettings {
    /// Returns the folder as citations name it.
    pub fn cited_dir(&self) -> &str {
        if self.literal_source { DesignDir::DEFAULT } else { self.dir.display() }
    }
}

/// One place's opinion on the settings; what it does not mention stays open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    /// See [`BriefSettings::dir`].
    pub dir: Option<DesignDir>,
    /// See [`BriefSettings::auto_load`].
    pub auto_load: Option<bool>,
    /// See [`BriefSettings::budget`].
    pub budget: Option<Budget>,
    /// See [`BriefSettings::priority`].
    pub priority: Option<DocumentPriority>,
    /// See [`BriefSettings::policy`].
    pub policy: Option<PackPolicy>,
    /// See [`BriefSettings::tokenizer`].
    pub tokenizer: Option<Vocabulary>,
    /// See [`BriefSettings::literal_source`].
    pub literal_source: Option<bool>,
    /// See [`BriefSettings::max_file_bytes`].
    pub max_file_bytes: Option<u64>,
}

/// The budget unless configured otherwise.
pub const DEFAULT_BUDGET: Budget = Budget::at_least_one(20_000);

/// The size of the largest file that is read, unless configured otherwise.
pub const DEFAULT_MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

impl Layer {
    /// Returns this layer with its open questions answered by a weaker one.
    #[must_use]
    pub fn over(self, weaker: Self) -> Self {
        Self {
            dir: self.dir.or(weaker.dir),
            auto_load: self.auto_load.or(weaker.auto_load),
            budget: self.budget.or(weaker.budget),
            priority: self.priority.or(weaker.priority),
            policy: self.policy.or(weaker.policy),
            tokenizer: self.tokenizer.or(weaker.tokenizer),
            literal_source: self.literal_source.or(weaker.literal_source),
            max_file_bytes: self.max_file_bytes.or(weaker.max_file_bytes),
        }
    }

    /// Tells whether this layer answers one of the four questions of the original contract.
    pub fn configures_design_docs(&self) -> bool {
        self.dir.is_some()
            || self.auto_load.is_some()
            || self.budget.is_some()
            || self.priority.is_some()
    }

    /// Fills the values that are still open with the defaults.
    pub fn settle(self, configured: Configured) -> BriefSettings {
        BriefSettings {
            dir: self.dir.unwrap_or_default(),
            auto_load: self.auto_load.unwrap_or(true),
            budget: self.budget.unwrap_or(DEFAULT_BUDGET),
            priority: self.priority.unwrap_or_default(),
            policy: self.policy.unwrap_or_default(),
            tokenizer: self.tokenizer.unwrap_or_default(),
            literal_source: self.literal_source.unwrap_or(false),
            max_file_bytes: self.max_file_bytes.unwrap_or(DEFAULT_MAX_FILE_BYTES),
            configured,
        }
    }
}
