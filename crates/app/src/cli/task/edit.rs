//! Changing what a task says, and its place.

use std::io;
use std::path::{Path, PathBuf};

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::order::SiblingPlace;
use convoke_domain::task::priority::TaskPriority;
use convoke_engine::{editor, file};
use convoke_store::error::StoreError;
use convoke_store::task_edit::TaskEdit;

use super::change::print;
use super::{OneTask, line, priority};
use crate::app::App;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::input;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// No body a person writes is larger.
const MAX_BODY: u64 = 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(super) struct EditArgs {
    #[command(flatten)]
    task: OneTask,

    /// The new title
    #[arg(long, value_name = "TEXT", value_parser = line)]
    title: Option<String>,

    /// The new body; an empty one removes it
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,

    /// Read the new body from a file; `-` reads stdin
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,

    /// How urgent it is among its siblings
    #[arg(long, value_parser = priority())]
    priority: Option<TaskPriority>,

    /// A task that comes before it; may be repeated, and replaces those named before
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

    /// Put it right behind this sibling
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    after: Option<TaskId>,

    /// Put it before all its siblings
    #[arg(long)]
    first: bool,

    /// Put it behind all its siblings
    #[arg(long)]
    last: bool,
}

#[derive(Debug, thiserror::Error)]
enum EditError {
    #[error("cannot put `{id}` beside itself")]
    BesideItself { id: TaskId },
    #[error("cannot edit `{id}`: nothing is to be changed")]
    Nothing { id: TaskId },
    #[error("cannot start an editor: neither VISUAL nor EDITOR is set")]
    NoEditor,
    #[error("cannot edit `{id}`: the editor failed; the task is unchanged")]
    EditorFailed { id: TaskId },
    #[error("cannot start the editor")]
    NotStarted(#[source] io::Error),
    #[error("cannot edit `{id}`: {why}")]
    NoTitle { id: TaskId, why: &'static str },
    #[error("cannot use this body: it has control characters")]
    Control,
    #[error("cannot read a body from stdin: it is not text, or longer than {MAX_BODY} bytes")]
    Stdin,
    #[error("cannot read the body: `{}` does not exist", path.display())]
    Absent { path: PathBuf },
    #[error("cannot read the body from `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
}

fn misused(error: EditError) -> Failure {
    Failure::new(ErrorClass::Usage, error)
}

/// Reads a body: any number of lines, without what a terminal would obey.
pub(super) fn body(text: &str) -> Result<String, Failure> {
    let body = text.replace("\r\n", "\n");
    let is_strange = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if body.contains(is_strange) {
        return Err(
            misused(EditError::Control).hint("write plain text; tabs and line ends may be in it")
        );
    }
    Ok(body.trim_end().trim_start_matches('\n').to_owned())
}

impl EditArgs {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Workspace { store, scope } = workspace;
        let (id, given_body) = (&self.task.id, self.given_body()?);
        let after = (!self.after.is_empty() || self.no_after).then_some(&self.after[..]);
        let is_empty = self.title.is_none() && given_body.is_none();
        let (title, body) = if is_empty && self.priority.is_none() && after.is_none() {
            let (title, body) = self.written(workspace, app, output)?;
            (Some(title), Some(body))
        } else {
            (self.title.clone(), given_body)
        };
        let edit = TaskEdit {
            title: title.as_deref(),
            body: body.as_deref(),
            priority: self.priority,
            after,
        };
        store.edit_task(scope, id, &edit, now()).map_err(refused)?;
        shown(workspace, app, id, output)
    }

    fn given_body(&self) -> Result<Option<String>, Failure> {
        let text = match (&self.body, &self.body_file) {
            (Some(text), _) => text.clone(),
            (None, None) => return Ok(None),
            (None, Some(path)) if path == Path::new("-") => {
                input::read(MAX_BODY).ok_or_else(|| misused(EditError::Stdin))?
            }
            (None, Some(path)) => read_file(path)?,
        };
        body(&text).map(Some)
    }

    /// Lets a person write the title and the body in an editor.
    fn written(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &Output,
    ) -> Result<(String, String), Failure> {
        let id = &self.task.id;
        if !input::has_person() || !output.is_terminal() {
            return Err(misused(EditError::Nothing { id: id.clone() })
                .hint("name what changes: --title, --body, --body-file, --priority or --after"));
        }
        let missing = || refused(StoreError::NoTask { id: id.clone() });
        let task = workspace.store.task(&workspace.scope, id).map_err(refused)?;
        let task = task.ok_or_else(missing)?;
        let editor = app.environment.editor().ok_or_else(|| {
            misused(EditError::NoEditor).hint("set EDITOR, or use --title and --body")
        })?;
        let text = format!("{}\n\n{}\n", task.content, task.body.unwrap_or_default());
        let written = editor::edit(&editor, &text);
        let written = written.map_err(|error| {
            Failure::new(ErrorClass::Prerequisite, EditError::NotStarted(error))
        })?;
        let failed =
            || Failure::new(ErrorClass::Refused, EditError::EditorFailed { id: id.clone() });
        let written = written.ok_or_else(failed)?;
        let (title, rest) = written.trim_start().split_once('\n').unwrap_or((written.trim(), ""));
        let title =
            line(title).map_err(|why| misused(EditError::NoTitle { id: id.clone(), why }))?;
        Ok((title, body(rest)?))
    }
}

fn read_file(path: &Path) -> Result<String, Failure> {
    let path = path.to_owned();
    match file::read(&path, MAX_BODY) {
        FileFinding::Text(text) => Ok(text),
        FileFinding::Absent => {
            Err(Failure::new(ErrorClass::Prerequisite, EditError::Absent { path }))
        }
        FileFinding::Unreadable(reason) => {
            Err(Failure::new(ErrorClass::Prerequisite, EditError::Unreadable { path, reason }))
        }
    }
}

impl ReorderArgs {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let beside = self.place.before.as_ref().or(self.place.after.as_ref());
        if beside == Some(&self.task.id) {
            let id = self.task.id.clone();
            return Err(misused(EditError::BesideItself { id })
                .hint("name another task: `convoke task tree` shows them"));
        }
        let place = match &self.place {
            PlaceArgs { before: Some(sibling), .. } => SiblingPlace::Before(sibling),
            PlaceArgs { after: Some(sibling), .. } => SiblingPlace::After(sibling),
            PlaceArgs { first: true, .. } => SiblingPlace::First,
            PlaceArgs { .. } => SiblingPlace::Last,
        };
        let Workspace { store, scope } = workspace;
        store.reorder_task(scope, &self.task.id, place, now()).map_err(refused)?;
        shown(workspace, app, &self.task.id, output)
    }
}

fn shown(
    workspace: &Workspace,
    app: &App,
    id: &TaskId,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let task = workspace.store.task(&workspace.scope, id).map_err(refused)?;
    task.map_or(Ok(Exit::Done), |task| print(&task, app, output))
}
