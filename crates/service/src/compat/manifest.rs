//! The manifest's writer and reader as scripts of the original workflow call them.
//!
//! The writer's exit code shows the error. The reader always exits 0, and its lines show it.

use std::path::PathBuf;

use convoke_domain::manifest::Rejection;
use convoke_engine::manifest::read::read;
use convoke_engine::manifest::write::{ArtifactSource, BundleOrder, write};

use super::ScriptReply;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

#[derive(Debug, thiserror::Error)]
enum ManifestWordError {
    #[error("cannot write a manifest: unknown flag `{0}`")]
    Unknown(String),
    #[error("cannot write a manifest: `{0}` needs a value")]
    NoValue(String),
    #[error("cannot write a manifest without `--design-tmpdir` and `--implement-tmpdir`")]
    NoFolders,
}

/// Exports a bundle, and prints where its manifest is.
pub fn write_manifest(session: &Session, words: &[String]) -> ScriptReply {
    match export(session, words) {
        Ok(manifest) => ScriptReply::text(format!("MANIFEST_WRITTEN={}\n", manifest.display()), 0),
        Err(failure) => ScriptReply::failed(failure),
    }
}

fn export(session: &Session, words: &[String]) -> Result<PathBuf, Failure> {
    let wrong = |error| Failure::new(ErrorClass::Usage, error);
    let mut design = session.environment.design_folder();
    let mut implement = session.environment.implement_folder();
    let mut words = words.iter();
    while let Some(flag) = words.next() {
        let folder = match flag.as_str() {
            "--design-tmpdir" => &mut design,
            "--implement-tmpdir" => &mut implement,
            _ => return Err(wrong(ManifestWordError::Unknown(flag.clone()))),
        };
        let value = words.next().filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| wrong(ManifestWordError::NoValue(flag.clone())))?;
        *folder = Some(PathBuf::from(value));
    }
    let folders = design.zip(implement).ok_or_else(|| wrong(ManifestWordError::NoFolders))?;
    let session_id = session.environment.session_id();
    let order = BundleOrder {
        source: ArtifactSource::Folder(&folders.0),
        parent: &folders.1,
        session_id: session_id.as_deref(),
        now: session.now(),
        record: None,
    };
    write(&order).map_err(|error| Failure::new(ErrorClass::Refused, error))
}

/// Reads a bundle, and prints its entries, or why Convoke refuses it.
pub fn read_manifest(session: &Session, words: &[String]) -> ScriptReply {
    let implement = session.environment.implement_folder();
    let text = answer(words, implement).unwrap_or_else(|rejection| rejection.refused());
    ScriptReply::text(text, 0)
}

fn answer(words: &[String], mut implement: Option<PathBuf>) -> Result<String, Rejection> {
    let (mut manifest, mut breadcrumb) = (None, false);
    let mut words = words.iter();
    while let Some(flag) = words.next() {
        // An unset variable gives an empty word, which counts as absent.
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
