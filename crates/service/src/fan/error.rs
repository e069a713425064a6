//! Why a fan-out cannot be done.

use std::path::PathBuf;

use convoke_domain::fan::item::BadLine;
use convoke_domain::fan::template::TemplateError;
use convoke_domain::finding::Unreadable;
use convoke_domain::run::RunId;
use convoke_engine::fan::answer_schema::AnswerSchemaError;

/// Why a fan-out cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum FanError {
    /// The prompt is no template.
    #[error("cannot use the prompt: {0}")]
    Template(TemplateError),
    /// The prompt names something that items do not have.
    #[error("cannot use the prompt: items have no `{name}`")]
    UnknownName {
        /// The name between the braces of the prompt.
        name: String,
    },
    /// An item lacks a field that the prompt names.
    #[error("cannot fill the prompt: line {line} has no field `{name}`")]
    MissingField {
        /// The line, from 1.
        line: usize,
        /// The field.
        name: String,
    },
    /// A line is no item.
    #[error("cannot read the items: {0}")]
    Line(BadLine),
    /// A line is no JSON.
    #[error("cannot read the items: line {line} is not JSON")]
    JsonLine {
        /// The line, from 1.
        line: usize,
        /// The defect.
        source: serde_json::Error,
    },
    /// There are no items.
    #[error("there are no items: the input has no line with text")]
    NoItems,
    /// The schema cannot be used.
    #[error("cannot use the schema")]
    Schema(#[source] AnswerSchemaError),
    /// A file is outside of the project.
    #[error("cannot take `{}`: it is outside of the project", path.display())]
    Outside {
        /// The file.
        path: PathBuf,
    },
    /// A file's name is not UTF-8.
    #[error("cannot take `{}`: its name is not UTF-8", path.display())]
    Name {
        /// The file.
        path: PathBuf,
    },
    /// A file is gone.
    #[error("cannot read `{path}`: there is no such file")]
    Absent {
        /// The file.
        path: String,
    },
    /// A file cannot be read.
    #[error("cannot read `{path}`: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why not, in words for the user.
        reason: Unreadable,
    },
    /// A file has changed since the run listed it.
    #[error("`{path}` has changed since the run listed it")]
    Changed {
        /// The file.
        path: String,
    },
    /// The journal names an agent that does not exist.
    #[error("`{0}` is not an agent")]
    NoAgent(String),
    /// The run was begun, but its journal has no beginning.
    #[error("cannot use run {0}: its journal does not say how it began")]
    NotBegun(RunId),
    /// Another request has the same id.
    #[error("cannot use run {0}: another request has its id")]
    OtherRequest(RunId),
    /// The journal was changed.
    #[error("cannot use run {run}: its journal was changed at event {event}")]
    ChangedJournal {
        /// The run that cannot go on.
        run: RunId,
        /// The first event that is not as it was written.
        event: u64,
    },
    /// The project is on another commit.
    #[error("cannot resume `{run}`: it began on {began}, and the project is on {now}")]
    OtherCommit {
        /// The run that cannot go on here.
        run: RunId,
        /// The commit of the run.
        began: String,
        /// The present commit.
        now: String,
    },
    /// The run is of another kind.
    #[error("run {0} is not a fan-out")]
    NoFan(RunId),
}
