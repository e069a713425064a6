//! Creates a design folder to write in.

use convoke_domain::brief::settings::BriefSettings;
use convoke_engine::brief::init::{BriefInitOutcome, InitError, init};
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

/// The files that `brief init` created.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BriefInitReport {
    /// The design folder.
    pub dir: String,
    /// The files and folders that were created.
    pub created: Vec<String>,
    /// Whether the folder held files, so that Convoke touched nothing.
    pub already_in_use: bool,
}

/// Creates the design folder with files to write in. It never overwrites: a folder that holds any file
/// that is not hidden stays as it is.
pub fn init_folder(
    session: &Session,
    settings: &BriefSettings,
) -> Result<BriefInitReport, Failure> {
    let outcome = init(&session.project.join(settings.dir.as_str())).map_err(refused)?;
    let dir = format!("{}/", settings.dir.display());
    let already_in_use = outcome == BriefInitOutcome::AlreadyInUse;
    let created: Vec<_> = match outcome {
        BriefInitOutcome::Created(paths) => {
            paths.iter().map(|path| path.display().to_string()).collect()
        }
        BriefInitOutcome::AlreadyInUse => Vec::new(),
    };
    Ok(BriefInitReport { dir, created, already_in_use })
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
