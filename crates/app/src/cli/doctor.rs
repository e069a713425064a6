//! `convoke doctor`: everything that keeps Convoke from working here, each with what mends it.

use convoke_service::doctor::{ApiCheck, CheckLevel, DoctorCheck, DoctorRequest, examine};
use convoke_service::failure::{ErrorClass, Failure};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Check everything that keeps convoke from working here, and say how to mend it
///
/// Exits 0 if nothing fails, and 3 if something is missing that a job needs. Warnings are no failure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Do not try whether anybody listens where models' APIs are configured to be
    #[arg(long)]
    no_probe: bool,
}

impl Args {
    /// Runs every check.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let apis = if self.no_probe { ApiCheck::Configured } else { ApiCheck::Contacted };
        let checks = match examine(app, &DoctorRequest { apis }) {
            Ok(checks) => checks,
            // The user who stopped it wants to read no more.
            Err(failure) if failure.class == ErrorClass::Interrupted => {
                return Ok(Exit::Interrupted);
            }
            Err(failure) => return Err(failure),
        };
        match app.format {
            Format::Json => output.json(&checks)?,
            Format::Text => {
                for DoctorCheck { name, level, found, fix } in &checks {
                    output.lines(&format!("{:<4}  {name}: {found}\n", level.name()), 8)?;
                    if let Some(fix) = fix {
                        output.lines(&format!("      fix: {fix}\n"), 8)?;
                    }
                }
            }
        }
        let has_failed = checks.iter().any(|check| check.level == CheckLevel::Fail);
        Ok(if has_failed { Exit::Surroundings } else { Exit::Done })
    }
}
