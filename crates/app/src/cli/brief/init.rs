//! `convoke brief init`: a design folder to write in.

use convoke_engine::brief::init::{InitError, Outcome, init};
use convoke_engine::brief::{Resolved, resolve};
use serde::Serialize;

use super::{BriefOptions, say_diagnostics};
use crate::app::{App, Format};
use crate::config::brief::layers;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;

#[derive(Serialize)]
struct Report {
    dir: String,
    created: Vec<String>,
    already_in_use: bool,
}

pub(super) fn run(options: &BriefOptions, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let Resolved { settings, diagnostics } = resolve(&app.project, layers(options.layer(), app)?);
    say_diagnostics(app, &diagnostics, output);
    let dir = settings.dir;
    let outcome = init(&app.project.join(dir.as_str())).map_err(refused)?;
    let display = format!("{}/", dir.display());
    let already_in_use = outcome == Outcome::AlreadyInUse;
    let created: Vec<_> = match outcome {
        Outcome::Created(paths) => paths.iter().map(|path| path.display().to_string()).collect(),
        Outcome::AlreadyInUse => Vec::new(),
    };
    if already_in_use {
        output
            .say(&format!("warning: {display} already contains files — skip template deployment"));
    }
    match app.format {
        Format::Text => created.iter().try_for_each(|path| output.data(&format!("{path}\n")))?,
        Format::Json => output.json(&Report { dir: display, created, already_in_use })?,
    }
    Ok(Exit::Done)
}

fn refused(error: InitError) -> Failure {
    let (class, hint) = match error {
        InitError::Reserved { .. } => {
            (ErrorClass::Refused, "that name belongs to another tool; rename the file")
        }
        InitError::Create { .. } | InitError::List { .. } => (
            ErrorClass::Prerequisite,
            "choose another folder with `--dir`, or make this one writable",
        ),
    };
    Failure::new(class, error).hint(hint)
}
