//! Changing what a task says, and its place.

use std::path::{Path, PathBuf};

use convoke_domain::task::id::TaskId;
use convoke_domain::task::order::SiblingPlace;
use convoke_domain::task::priority::TaskPriority;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::given_text::{edit_text, read_text};
use convoke_service::task::{
    EditRequest, ReadTask, TaskDesk, edit_task, filled_line, reorder_task,
};

use super::{OneTask, print_changed, priority};
use crate::app::App;
use crate::exit::CommandResult;
use crate::input;
use crate::output::Output;

/// No body a person writes is larger.
const MAX_BODY: u64 = 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(super) struct EditArgs {
    #[command(flatten)]
    task: OneTask,

    /// The new title
    #[arg(long, value_name = "TEXT", value_parser = filled_line)]
    title: Option<String>,

    /// The new description; an empty one removes it
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,

    /// Read the new description from a file; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,

    /// The priority among its siblings
    #[arg(long, value_parser = priority())]
    priority: Option<TaskPriority>,

    /// A task that must be finished before it; may be repeated, and replaces the earlier
    /// prerequisites
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    after: Vec<TaskId>,

    /// Remove all its prerequisites
    #[arg(long, conflicts_with = "after")]
    no_after: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ReorderArgs {
    #[command(flatten)]
    task: OneTask,

    #[command(flatten)]
    place: PlaceArgs,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct PlaceArgs {
    /// Put it right before this sibling
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    before: Option<TaskId>,

    /// Put it right after this sibling
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    after: Option<TaskId>,

    /// Put it before all its siblings
    #[arg(long)]
    first: bool,

    /// Put it after all its siblings
    #[arg(long)]
    last: bool,
}

#[derive(Debug, thiserror::Error)]
enum EditError {
    #[error("cannot edit `{id}`: no change was given")]
    Nothing { id: TaskId },
    #[error("cannot start an editor: neither VISUAL nor EDITOR is set")]
    NoEditor,
    #[error("cannot edit `{id}`: the editor failed; the task is unchanged")]
    EditorFailed { id: TaskId },
    #[error("cannot read a body from stdin: it is not text, or longer than {MAX_BODY} bytes")]
    Stdin,
}

fn misused(error: EditError) -> Failure {
    Failure::new(ErrorClass::Usage, error)
}

impl EditArgs {
    pub(super) fn run(&self, desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> CommandResult {
        let is_after = !self.after.is_empty() || self.no_after;
        let request = EditRequest {
            id: self.task.id.clone(),
            title: self.title.clone(),
            body: self.given_body()?,
            priority: self.priority,
            after: is_after.then(|| self.after.clone()),
        };
        let edited = edit_task(desk, &request, &mut |task| self.written(task, app, output))?;
        print_changed(&edited, desk, app, output)
    }

    fn given_body(&self) -> Result<Option<String>, Failure> {
        match (&self.body, &self.body_file) {
            (Some(text), _) => Ok(Some(text.clone())),
            (None, None) => Ok(None),
            (None, Some(path)) if path == Path::new("-") => {
                input::read(MAX_BODY).map(Some).ok_or_else(|| misused(EditError::Stdin))
            }
            (None, Some(path)) => read_text(path, MAX_BODY).map(Some),
        }
    }

    /// Lets a person write the title and the body in an editor.
    fn written(&self, task: &ReadTask<'_>, app: &App, output: &Output) -> Result<String, Failure> {
        let id = &self.task.id;
        if !input::has_person() || !output.is_terminal() {
            return Err(misused(EditError::Nothing { id: id.clone() })
                .hint("name what changes: --title, --body, --body-file, --priority or --after"));
        }
        let task = task()?;
        let editor = app.session.environment.editor().ok_or_else(|| {
            misused(EditError::NoEditor).hint("set EDITOR, or use --title and --body")
        })?;
        let text = format!("{}\n\n{}\n", task.content, task.body.unwrap_or_default());
        edit_text(&editor, &text)?.ok_or_else(|| {
            Failure::new(ErrorClass::Refused, EditError::EditorFailed { id: id.clone() })
        })
    }
}

impl ReorderArgs {
    pub(super) fn run(&self, desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> CommandResult {
        let place = match &self.place {
            PlaceArgs { before: Some(sibling), .. } => SiblingPlace::Before(sibling),
            PlaceArgs { after: Some(sibling), .. } => SiblingPlace::After(sibling),
            PlaceArgs { first: true, .. } => SiblingPlace::First,
            PlaceArgs { .. } => SiblingPlace::Last,
        };
        let task = reorder_task(desk, &self.task.id, place)?;
        print_changed(&task, desk, app, output)
    }
}
