//! The manifest's writer and reader as scripts of the original workflow call them.
//!
//! The writer's exit code says what went wrong. The reader always exits 0, and its lines say it.

use std::path::PathBuf;

use convoke_domain::manifest::Rejection;
use convoke_engine::manifest::read::read;
use convoke_engine::manifest::write::{Order, Source, write};

use crate::app::App;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;

#[derive(Debug, thiserror::Error)]
enum AskedWrongly {
    #[error("cannot write a manifest: unknown flag `{0}`")]
    Unknown(String),
    #[error("cannot write a manifest: `{0}` needs a value")]
    NoValue(String),
    #[error("cannot write a manifest without `--design-tmpdir` and `--implement-tmpdir`")]
    NoFolders,
}

/// Exports a bundle, and prints where its manifest is.
pub(in crate::cli) fn plumbing_write(
    words: &[String],
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let wrong = |error| Failure::new(ErrorClass::Usage, error);
    let mut design = app.environment.design_folder();
    let mut implement = app.environment.implement_folder();
    let mut words = words.iter();
    while let Some(flag) = words.next() {
        let folder = match flag.as_str() {
            "--design-tmpdir" => &mut design,
            "--implement-tmpdir" => &mut implement,
            _ => return Err(wrong(AskedWrongly::Unknown(flag.clone()))),
        };
        let value = words.next().filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| wrong(AskedWrongly::NoValue(flag.clone())))?;
        *folder = Some(PathBuf::from(value));
    }
    let folders = design.zip(implement).ok_or_else(|| wrong(AskedWrongly::NoFolders))?;
    let session = app.environment.session_id();
    let order = Order {
        source: Source::Folder(&folders.0),
        parent: &folders.1,
        session_id: session.as_deref(),
        now: now(),
        record: None,
    };
    let manifest = write(&order).map_err(|error| Failure::new(ErrorClass::Refused, error))?;
    output.data(&format!("MANIFEST_WRITTEN={}\n", manifest.display()))?;
    Ok(Exit::Done)
}

/// Reads a bundle, and prints what is in it, or why it is refused.
pub(in crate::cli) fn plumbing_read(
    words: &[String],
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let implement = app.environment.implement_folder();
    output.data(&answer(words, implement).unwrap_or_else(|rejection| rejection.refused()))?;
    Ok(Exit::Done)
}

fn answer(words: &[String], mut implement: Option<PathBuf>) -> Result<String, Rejection> {
    let (mut manifest, mut breadcrumb) = (None, false);
    let mut words = words.iter();
    while let Some(flag) = words.next() {
        // A variable that is not set gives an empty word: then nothing was said.
        let mut value = || {
            let value = words.next().ok_or(Rejection::Internal)?;
            Ok((!value.is_empty()).then(|| PathBuf::from(value)))
        };
        match flag.as_str() {
            "--implement-tmpdir" => implement = value()?,
            "--manifest" => manifest = value()?,
            "--emit-load-breadcrumb" => breadcrumb = true,
            _ => return Err(Rejection::UnknownFlag),
        }
    }
    let implement = implement.ok_or(Rejection::NoFolder)?;
    let bundle = read(&implement, manifest.as_deref())?;
    let breadcrumb = if breadcrumb { bundle.manifest.breadcrumb() } else { String::new() };
    Ok(bundle.manifest.accepted() + &breadcrumb)
}
