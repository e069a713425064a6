//! `convoke brief init`: a design folder to write in.

use convoke_engine::brief::ResolvedBriefSettings;
use convoke_service::brief::{brief_settings, init_folder};
use convoke_service::failure::Failure;

use super::{BriefOptions, say_diagnostics};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

pub(super) fn run(options: &BriefOptions, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let ResolvedBriefSettings { settings, diagnostics } =
        brief_settings(&app.session, options.layer())?;
    say_diagnostics(app, &diagnostics, output);
    let report = init_folder(&app.session, &settings)?;
    match app.format {
        Format::Text if report.already_in_use => {
            output.say(&format!("note: {} has files already; Convoke wrote nothing", report.dir));
        }
        Format::Text => {
            report.created.iter().try_for_each(|path| output.data(&format!("{path}\n")))?;
        }
        Format::Json => {
            if report.already_in_use {
                // Programs know the original's line.
                let warning = "already contains files — skip template deployment";
                output.say(&format!("warning: {} {warning}", report.dir));
            }
            output.json(&report)?;
        }
    }
    Ok(Exit::Done)
}
